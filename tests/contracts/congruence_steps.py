"""The steps that ``test_congruence`` runs on a knowledge base here and on a server: at least one for each operation.

The name of a step is the operation, and behind a colon what is wrong where an error is expected.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pymupdf
from PIL import Image

from core.api import AnswersApi, KnowledgeBaseApi
from core.model import Filters, JobFilter, JobState, Query, RecordingPart, Right, VersionRef
from core.snn.recording import save
from tests.doubles import tiny_recording

LEAVE = "# Leave\n\nEach colleague has {} days of leave in the first year.\n\nIt is asked for in writing.\n"
LONG = "".join(f"Line {number} speaks of machines.\n" for number in range(1_000))
LEAVE_QUERY = Query("How many days of leave in the first year?", filters=Filters(doc_keys=("leave.md",)))
NOBODY = "0" * 32
QUESTIONS = b"question,doc,answers,answerable\nHow many days of leave are there?,leave.md,15 days,yes\n"
SOON = datetime(2035, 1, 1, tzinfo=UTC)


@dataclass
class Side:
    """A knowledge base, what answers its questions, a folder, and what the steps so far have found out."""

    kb: KnowledgeBaseApi
    answers: AnswersApi
    folder: Path
    known: dict[str, str] = field(default_factory=dict)

    def indexed(self, receipt: Any) -> Any:
        """Return a receipt once its document is indexed."""
        if receipt.job_id:
            self.kb.finish(receipt.job_id, 60)
        return receipt

    def note(self, name: str, value: str) -> str:
        self.known[name] = value
        return value

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


@dataclass(frozen=True)
class Step:
    name: str
    run: Callable[[Side], Any]

    @property
    def operation(self) -> str:
        return self.name.partition(":")[0].partition(" ")[0]


def noted(name: str, value: Callable[[Side], Any], attribute: str = "id") -> Callable[[Side], Any]:
    """Return what runs a step and remembers the id of its result."""

    def run(side: Side) -> Any:
        found = value(side)
        side.note(name, found if isinstance(found, str) else getattr(found, attribute))
        return found

    return run


def nothing(_: int, __: int, remark: str = "") -> None: ...


@cache
def illustrated() -> bytes:
    """Return a document with a picture."""
    picture, written = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (64, 64), "black").save(picture, "PNG")
    document = docx.Document()
    document.add_paragraph("The machine is black.")
    document.add_picture(picture)
    document.save(written)
    return written.getvalue()


@cache
def packed() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("one.txt", "The first machine is green.\n")
        archive.writestr("two.txt", "The second machine is red.\n")
    return written.getvalue()


@cache
def paged() -> bytes:
    """Return a PDF with two pages."""
    document = pymupdf.open()
    for line in ("The pump is red and loud.", "The valve is blue and quiet."):
        document.new_page(width=300, height=200).insert_text((30, 60), line)
    written: bytes = document.tobytes()
    return written


def members(archive: Iterator[bytes]) -> list[str]:
    """Return the names of the members of a backup; what names itself by chance is known by its folder."""
    with tarfile.open(fileobj=io.BytesIO(b"".join(archive))) as opened:
        return sorted(name if "recordings/" not in name else "recordings" for name in opened.getnames())


def documents() -> Iterator[Step]:
    yield Step(
        "add_file",
        lambda s: s.indexed(
            s.kb.add_file(
                "Leave.md", io.BytesIO(LEAVE.format(14).encode()), tags=["rules", " b "], note="first", label="1"
            )
        ),
    )
    yield Step("add_file again", lambda s: s.kb.add_file("leave.md", io.BytesIO(LEAVE.format(14).encode())))
    yield Step(
        "add_file draft",
        lambda s: s.indexed(s.kb.add_file("leave.md", io.BytesIO(LEAVE.format(15).encode()), draft=True)),
    )
    yield Step(
        "add_file in parts", lambda s: s.indexed(s.kb.add_file("long.txt", io.BytesIO(LONG.encode()), priority=2))
    )
    yield Step("add_file illustrated", lambda s: s.indexed(s.kb.add_file("machine.docx", io.BytesIO(illustrated()))))
    yield Step("add_file of pages", lambda s: s.indexed(s.kb.add_file("pump.pdf", io.BytesIO(paged()))))
    yield Step("add_file: a name that is none", lambda s: s.kb.add_file("..", io.BytesIO(b"x")))
    yield Step("add_file: of a type that is not read", lambda s: s.kb.add_file("a.exe", io.BytesIO(b"MZ")))
    yield Step("add_file: empty", lambda s: s.kb.add_file("empty.txt", io.BytesIO(b"")))
    yield Step("add_file: a tag that is too long", lambda s: s.kb.add_file("t.txt", io.BytesIO(b"x"), tags=["t" * 500]))
    yield Step(
        "add_file: a note that is too long", lambda s: s.kb.add_file("t.txt", io.BytesIO(b"x"), note="t" * 9_000)
    )
    yield Step("add_file: a priority that is none", lambda s: s.kb.add_file("t.txt", io.BytesIO(b"x"), priority=99))
    yield Step(
        "add_file: to be shown in the past",
        lambda s: s.kb.add_file("t.txt", io.BytesIO(b"x"), publish_at=datetime(2001, 1, 1, tzinfo=UTC)),
    )
    yield Step(
        "add_path", lambda s: s.indexed(s.kb.add_path(s.file("Path.txt", b"A path to the sea.\n"), tags=["sea"]))
    )
    yield Step("add_path of a name", lambda s: s.kb.add_path(str(s.folder / "Path.txt")))
    yield Step("add_path: nothing there", lambda s: s.kb.add_path(s.folder / "nothing.txt"))
    yield Step(
        "add_archive",
        noted("archive", lambda s: s.indexed(s.kb.add_archive("pack.zip", io.BytesIO(packed()), tags=["m"])), "job_id"),
    )
    yield Step("add_archive: no archive", lambda s: s.kb.add_archive("pack.txt", io.BytesIO(b"plain")))
    yield Step("add_archive: broken", lambda s: s.kb.add_archive("broken.zip", io.BytesIO(b"PK\x03\x04 and no more")))
    yield Step(
        "add_text",
        noted(
            "text",
            lambda s: s.indexed(s.kb.add_text("Note", "A note on trains.", title="Trains", tags=["rail"])),
            "job_id",
        ),
    )
    yield Step("add_text: empty", lambda s: s.kb.add_text("Void", " "))
    yield Step("add_text: without a name", lambda s: s.kb.add_text("", "A text."))
    yield Step(
        "add_texts",
        lambda s: [s.indexed(each) for each in s.kb.add_texts([("a", "", "Apples."), ("b", "B", "Pears.")])],
    )
    yield Step("add_texts: one of them empty", lambda s: s.kb.add_texts([("c", "", "Plums."), ("d", "", "")]))
    yield Step("sample_left_out", lambda s: s.kb.sample_left_out())
    yield Step("documents", lambda s: s.kb.documents())
    yield Step("documents by word", lambda s: s.kb.documents("LEAVE"))
    yield Step("documents few", lambda s: s.kb.documents(limit=2))
    yield Step("documents none", lambda s: s.kb.documents(limit=0))
    yield Step("document", lambda s: s.kb.document("leave.md"))
    yield Step("document: unknown", lambda s: s.kb.document("nothing.md"))
    yield Step("preview", lambda s: s.kb.preview("leave.md", 1))
    yield Step("preview of a stretch", lambda s: s.kb.preview("long.txt", 1, 1, 2))
    yield Step("preview of nothing", lambda s: s.kb.preview("long.txt", 1, -1, 0))
    yield Step("preview: unknown", lambda s: s.kb.preview("leave.md", 7))
    yield Step("text_of", lambda s: s.kb.text_of("leave.md"))
    yield Step("text_of a version", lambda s: s.kb.text_of("leave.md", 2))
    yield Step("text_of an entry", lambda s: s.kb.text_of("note.txt"))
    yield Step("text_of: unknown", lambda s: s.kb.text_of("leave.md", 7))
    yield Step("texts", lambda s: list(s.kb.texts()))
    yield Step("download", lambda s: s.kb.download("leave.md", 1, s.folder / "got.md").read_bytes())
    yield Step("download into a folder", lambda s: s.kb.download("leave.md", 2, s.folder).name)
    yield Step("download: unknown", lambda s: s.kb.download("leave.md", 7, s.folder / "x"))
    yield Step("image", lambda s: s.kb.image("machine.docx", 1, 1, s.folder / "got.png").read_bytes())
    yield Step("image: unknown", lambda s: s.kb.image("machine.docx", 1, 2, s.folder / "none.png"))
    yield Step("has_pages", lambda s: [s.kb.has_pages("pump.pdf", 1), s.kb.has_pages("leave.md", 1)])
    yield Step("pages", lambda s: s.kb.pages("pump.pdf", 1))
    yield Step("pages: none", lambda s: s.kb.pages("leave.md", 1))
    yield Step("page_image", lambda s: s.kb.page_image("pump.pdf", 1, 1, s.folder / "p.webp", width=700).read_bytes())
    yield Step("page_image: too wide", lambda s: s.kb.page_image("pump.pdf", 1, 1, s.folder / "p.webp", width=2401))
    yield Step("page_image: unknown", lambda s: s.kb.page_image("pump.pdf", 1, 3, s.folder / "none.webp"))
    yield Step("page_text", lambda s: s.kb.page_text("pump.pdf", 1, 1, start=0, end=10))
    yield Step("find_on_pages", lambda s: s.kb.find_on_pages("pump.pdf", 1, "pump is RED"))
    yield Step("tags", lambda s: s.kb.tags())
    yield Step("set_tags", lambda s: s.kb.set_tags("leave.md", ["z", "a", " a "]))
    yield Step("set_tags: unknown", lambda s: s.kb.set_tags("nothing.md", ["z"]))
    yield Step("set_tags: too long", lambda s: s.kb.set_tags("leave.md", ["z" * 500]))


def versions() -> Iterator[Step]:
    yield Step("versions", lambda s: s.kb.versions("leave.md"))
    yield Step("versions: unknown", lambda s: s.kb.versions("nothing.md"))
    yield Step("version", lambda s: s.kb.version("leave.md", 2))
    yield Step("version: unknown", lambda s: s.kb.version("leave.md", 7))
    yield Step("annotate", lambda s: s.kb.annotate("leave.md", 2, note=" later ", label="2"))
    yield Step("annotate nothing", lambda s: s.kb.annotate("leave.md", 2))
    yield Step("annotate: too long", lambda s: s.kb.annotate("leave.md", 2, note="x" * 9_000))
    yield Step("annotate: unknown", lambda s: s.kb.annotate("leave.md", 7, note="x"))
    yield Step("schedule", lambda s: s.kb.schedule("leave.md", 2, SOON))
    yield Step("schedule nothing", lambda s: s.kb.schedule("leave.md", 2, None))
    yield Step("schedule: the past", lambda s: s.kb.schedule("leave.md", 2, datetime(2001, 1, 1, tzinfo=UTC)))
    yield Step("schedule: without a zone", lambda s: s.kb.schedule("leave.md", 2, SOON.replace(tzinfo=None)))
    yield Step("schedule: shown", lambda s: s.kb.schedule("leave.md", 1, SOON))
    yield Step("schedule: unknown", lambda s: s.kb.schedule("leave.md", 7, SOON))
    yield Step("publish", lambda s: s.kb.publish("leave.md", 2, note="now"))
    yield Step("publish: shown", lambda s: s.kb.publish("leave.md", 2))
    yield Step("publish: unknown", lambda s: s.kb.publish("leave.md", 7))
    yield Step("publish: a note that is too long", lambda s: s.kb.publish("leave.md", 1, note="x" * 9_000))
    yield Step("rollback", lambda s: s.kb.rollback("leave.md"))
    yield Step("rollback to one", lambda s: s.kb.rollback("leave.md", 2, note="back"))
    yield Step("rollback: nothing earlier", lambda s: s.kb.rollback("long.txt"))
    yield Step("unpublish", lambda s: s.kb.unpublish("long.txt"))
    yield Step("unpublish: nothing shown", lambda s: s.kb.unpublish("long.txt"))
    yield Step("delete", lambda s: s.kb.delete("long.txt", note="gone"))
    yield Step("delete: unknown", lambda s: s.kb.delete("nothing.md"))
    yield Step("documents deleted", lambda s: s.kb.documents("long", include_deleted=True))
    yield Step("restore", lambda s: s.kb.restore("long.txt"))
    yield Step("restore: shown", lambda s: s.kb.restore("long.txt"))
    yield Step("publications", lambda s: s.kb.publications("leave.md"))
    yield Step("publications: unknown", lambda s: s.kb.publications("nothing.md"))
    yield Step("audit", lambda s: s.kb.audit())
    yield Step("audit of one", lambda s: s.kb.audit(key="leave.md", action="publish", limit=1))
    yield Step("audit before", lambda s: s.kb.audit(before=4))
    yield Step("audit of nothing", lambda s: s.kb.audit(limit=0))
    yield Step("audit: unknown", lambda s: s.kb.audit(key="nothing.md"))
    yield Step("sequence", lambda s: s.kb.sequence())
    yield Step("compare", lambda s: compared(s.kb.compare("leave.md", 1, 2)))
    yield Step("compare two documents", lambda s: compared(s.kb.compare("leave.md", 1, 1, other="note.txt")))
    yield Step("comparison_progress", lambda s: s.kb.comparison_progress("leave.md", 1, 2))
    yield Step("comparison_progress: unknown", lambda s: s.kb.comparison_progress("leave.md", 1, 7))
    yield Step("cancel_comparison", lambda s: s.kb.cancel_comparison("leave.md", 1, 2))
    yield Step("cancel_comparison: unknown", lambda s: s.kb.cancel_comparison("leave.md", 1, 7))
    yield Step("compare: unknown", lambda s: s.kb.compare("leave.md", 1, 7))
    yield Step("diff", lambda s: compared(s.kb.diff("leave.md", 2, 1)))
    for form in ("patch", "old", "new", "html"):
        yield Step(f"export {form}", lambda s, form=form: "".join(s.kb.export(s.kb.compare("leave.md", 1, 2), form)))
    yield Step("export: no such form", lambda s: s.kb.export(s.kb.compare("leave.md", 1, 2), "pdf"))
    yield Step("purge", lambda s: s.kb.purge("leave.md", 1, note="wrong"))
    yield Step("purge: shown", lambda s: s.kb.purge("leave.md", 2))
    yield Step("purge: purged", lambda s: s.kb.purge("leave.md", 1))
    yield Step("purge of all", lambda s: s.kb.purge("two.txt"))
    yield Step("text_of: purged", lambda s: s.kb.text_of("leave.md", 1))
    yield Step("preview: purged", lambda s: s.kb.preview("leave.md", 1))
    yield Step("compare: purged", lambda s: s.kb.compare("leave.md", 1, 2))
    yield Step("annotate: purged", lambda s: s.kb.annotate("leave.md", 1, note="x"))
    yield Step("publish: purged", lambda s: s.kb.publish("leave.md", 1))


def compared(comparison: Any) -> tuple[Any, ...]:
    return (
        comparison.summary,
        comparison.count,
        comparison.rows(0, 10_000),
        comparison.rows(1, 2),
        comparison.rows(-5, 1),
    )


def jobs() -> Iterator[Step]:
    yield Step("jobs", lambda s: s.kb.jobs())
    yield Step("jobs chosen", lambda s: s.kb.jobs(JobFilter(states=(JobState.DONE,), search="leave"), limit=1))
    yield Step("jobs none", lambda s: s.kb.jobs(limit=0))
    yield Step("jobs of an archive", lambda s: s.kb.jobs(JobFilter(parent_id=s.known["archive"])))
    yield Step("jobs by id", lambda s: s.kb.jobs(ids=[s.known["text"], NOBODY]))
    yield Step("jobs by no id", lambda s: s.kb.jobs(ids=[]))
    yield Step("jobs before", lambda s: s.kb.jobs(before=s.known["text"]))
    yield Step("jobs: before nothing", lambda s: s.kb.jobs(before=NOBODY))
    yield Step("jobs active", lambda s: s.kb.jobs(active=True))
    yield Step("job", lambda s: s.kb.job(s.known["text"]))
    yield Step("job: unknown", lambda s: s.kb.job(NOBODY))
    yield Step("job_log", lambda s: logged(s.kb.job_log(s.known["text"])))
    yield Step("job_log after", lambda s: s.kb.job_log(s.known["text"], 10**9))
    yield Step("job_log: unknown", lambda s: s.kb.job_log(NOBODY))
    yield Step("wait", lambda s: s.kb.wait([s.known["text"], s.known["archive"]], 30))
    yield Step("wait for one", lambda s: s.kb.wait(s.known["text"], 30))
    yield Step("wait: unknown", lambda s: s.kb.wait([NOBODY], 1))
    yield Step("finish", lambda s: s.kb.finish(s.known["text"], 30))
    yield Step("finish: no job", lambda s: s.kb.finish(None))
    yield Step("finish: unknown", lambda s: s.kb.finish(NOBODY, 1))
    yield Step(
        "add_file that fails",
        noted("failed", lambda s: s.kb.add_file("bad.pdf", io.BytesIO(b"%PDF-1.4\nnothing")), "job_id"),
    )
    yield Step("finish: failed", lambda s: s.kb.finish(s.known["failed"], 60))
    yield Step("job failed", lambda s: s.kb.job(s.known["failed"]))
    yield Step("retry", lambda s: (s.kb.retry(s.known["failed"]), s.kb.wait([s.known["failed"]], 60))[1])
    yield Step("retry: done", lambda s: s.kb.retry(s.known["text"]))
    yield Step("retry: unknown", lambda s: s.kb.retry(NOBODY))
    yield Step("retry_failed", lambda s: [each.id for each in s.kb.retry_failed(JobFilter(search="bad"))])
    yield Step(
        "retry_failed none", lambda s: (s.kb.wait([s.known["failed"]], 60), s.kb.retry_failed(JobFilter(search="x")))[1]
    )
    yield Step("cancel done", lambda s: s.kb.cancel(s.known["text"]))
    yield Step("cancel: unknown", lambda s: s.kb.cancel(NOBODY))
    yield Step("prioritise: done", lambda s: s.kb.prioritise(s.known["text"], 3))
    yield Step("prioritise: none", lambda s: s.kb.prioritise(s.known["text"], 99))
    yield Step("prioritise: unknown", lambda s: s.kb.prioritise(NOBODY, 3))


def logged(lines: list[Any]) -> tuple[Any, ...]:
    """Return the lines of a log and whether they are in order; their numbers count those of all jobs."""
    return [replace(line, seq=0) for line in lines], lines == sorted(lines, key=lambda line: line.seq)


def questions() -> Iterator[Step]:
    yield Step("answers.ask", noted("trace", lambda s: s.answers.ask(LEAVE_QUERY)))
    yield Step("answers.ask plainly", lambda s: s.answers.ask("How many days of leave are there?"))
    yield Step("answers.ask again", lambda s: s.answers.ask(LEAVE_QUERY))
    yield Step("answers.ask unkept", lambda s: s.answers.ask(replace(LEAVE_QUERY, fresh=True), keep=False))
    yield Step("answers.ask: nothing", lambda s: s.answers.ask(" "))
    yield Step("answers.ask: too long", lambda s: s.answers.ask("x" * 100_000))
    yield Step("answers.ask: too many passages", lambda s: s.answers.ask(replace(LEAVE_QUERY, top_k=10_000)))
    yield Step("answers.ask: a generator that is none", lambda s: s.answers.ask(replace(LEAVE_QUERY, generator="poet")))
    yield Step(
        "answers.ask in no time",
        lambda s: s.answers.ask(
            replace(LEAVE_QUERY, filters=Filters(updated_after=SOON, updated_before=SOON - timedelta(1)))
        ),
    )
    yield Step(
        "answers.ask: of a version that is none",
        lambda s: s.answers.ask(replace(LEAVE_QUERY, as_of=VersionRef("leave.md", 9))),
    )
    yield Step("answers.ask: in no conversation", lambda s: s.answers.ask(replace(LEAVE_QUERY, conversation_id=NOBODY)))
    yield Step("answers.ask_events", lambda s: list(s.answers.ask_events(replace(LEAVE_QUERY, fresh=True), keep=False)))
    yield Step("answers.search", lambda s: s.answers.search(LEAVE_QUERY))
    yield Step("answers.search plainly", lambda s: s.answers.search("machine"))
    yield Step(
        "answers.search otherwise",
        lambda s: s.answers.search(Query("machine", top_k=2, fusion="mix", alpha=0.3, rerank="none")),
    )
    yield Step("answers.search: nothing", lambda s: s.answers.search(""))
    yield Step(
        "answers.compare_answers",
        lambda s: s.answers.compare_answers(
            "What is it?", VersionRef("leave.md", 2), VersionRef("note.txt", 1), alone=True, top_k=2
        ),
    )
    yield Step(
        "answers.compare_answers: unknown",
        lambda s: s.answers.compare_answers("What?", VersionRef("leave.md", 2), VersionRef("x", 1)),
    )
    yield Step("history", lambda s: s.kb.history())
    yield Step("history one", lambda s: s.kb.history(1))
    yield Step("history none", lambda s: s.kb.history(0))
    yield Step("trace", lambda s: s.kb.trace(s.known["trace"]))
    yield Step("trace: unknown", lambda s: s.kb.trace(NOBODY))
    yield Step("save_question", noted("saved", lambda s: s.kb.save_question("How many days of leave are there?")))
    yield Step("save_question again", lambda s: s.kb.save_question("How many days of leave are there?"))
    yield Step("save_question: nothing", lambda s: s.kb.save_question(" "))
    yield Step("saved_questions", lambda s: s.kb.saved_questions())
    yield Step("share_question: unknown", lambda s: s.kb.share_question(NOBODY, True))
    yield Step(
        "answers.impact",
        lambda s: (
            s.indexed(s.kb.add_text("leave.md", LEAVE.format(30), draft=True)),
            list(s.answers.impact("leave.md", 3, s.kb.saved_questions(), nothing)),
        )[1],
    )
    yield Step("answers.impact: unknown", lambda s: list(s.answers.impact("leave.md", 9, s.kb.saved_questions())))
    yield Step("forget_question: unknown", lambda s: s.kb.forget_question(NOBODY))


def conversations() -> Iterator[Step]:
    yield Step("conversations.create", noted("talk", lambda s: s.kb.conversations.create(" About  leave ")))
    yield Step("conversations.create unnamed", noted("other", lambda s: s.kb.conversations.create()))
    yield Step("conversations.create: too long", lambda s: s.kb.conversations.create("x" * 500))
    yield Step("answers.ask in one", lambda s: s.answers.ask(replace(LEAVE_QUERY, conversation_id=s.known["talk"])))
    yield Step(
        "answers.ask further",
        lambda s: s.answers.ask(replace(LEAVE_QUERY, text="And in the second?", conversation_id=s.known["talk"])),
    )
    yield Step("conversations.get", lambda s: s.kb.conversations.get(s.known["talk"]))
    yield Step("conversations.get: unknown", lambda s: s.kb.conversations.get(NOBODY))
    yield Step("conversations.turns", lambda s: s.kb.conversations.turns(s.known["talk"]))
    yield Step("conversations.turns: unknown", lambda s: s.kb.conversations.turns(NOBODY))
    yield Step("conversations.list", lambda s: s.kb.conversations.list())
    yield Step("conversations.list after", lambda s: s.kb.conversations.list(5, s.known["talk"]))
    yield Step("conversations.list none", lambda s: s.kb.conversations.list(0))
    yield Step("conversations.list: after nothing", lambda s: s.kb.conversations.list(5, NOBODY))
    yield Step("conversations.rename", lambda s: s.kb.conversations.rename(s.known["talk"], "Leave"))
    yield Step("conversations.rename: empty", lambda s: s.kb.conversations.rename(s.known["talk"], " "))
    yield Step("conversations.rename: unknown", lambda s: s.kb.conversations.rename(NOBODY, "x"))
    yield Step("conversations.export", lambda s: s.kb.conversations.export(s.known["talk"]))
    yield Step("conversations.export json", lambda s: s.kb.conversations.export(s.known["other"], "json"))
    yield Step("conversations.export: no such form", lambda s: s.kb.conversations.export(s.known["talk"], "pdf"))
    yield Step("conversations.delete", lambda s: s.kb.conversations.delete(s.known["talk"]))
    yield Step("conversations.delete: unknown", lambda s: s.kb.conversations.delete(s.known["talk"]))


def evaluations() -> Iterator[Step]:
    yield Step("evaluations.import_set", noted("set", lambda s: s.kb.evaluations.import_set("leave", QUESTIONS, "csv")))
    yield Step(
        "evaluations.import_set: there already", lambda s: s.kb.evaluations.import_set("leave", QUESTIONS, "csv")
    )
    yield Step(
        "evaluations.import_set: broken", lambda s: s.kb.evaluations.import_set("broken", b"no header\n1", "csv")
    )
    yield Step("evaluations.share_set: unknown", lambda s: s.kb.evaluations.share_set(NOBODY, True))
    yield Step("evaluations.import_set: no such form", lambda s: s.kb.evaluations.import_set("form", QUESTIONS, "xml"))
    yield Step(
        "evaluations.set_from_history",
        noted("past", lambda s: s.kb.evaluations.set_from_history("past", [s.known["trace"]])),
    )
    yield Step("evaluations.set_from_history: unknown", lambda s: s.kb.evaluations.set_from_history("none", [NOBODY]))
    yield Step("evaluations.marked_wrong before", lambda s: s.kb.evaluations.marked_wrong(s.known["trace"]))
    yield Step("evaluations.mark_wrong", lambda s: s.kb.evaluations.mark_wrong(s.known["trace"], note="Too few days."))
    yield Step(
        "evaluations.mark_wrong: no such document",
        lambda s: s.kb.evaluations.mark_wrong(s.known["trace"], Right(doc_key="nothing.txt")),
    )
    yield Step(
        "evaluations.mark_wrong: no such passage",
        lambda s: s.kb.evaluations.mark_wrong(s.known["trace"], Right(chunk_id=10**9)),
    )
    yield Step("evaluations.mark_wrong: unknown", lambda s: s.kb.evaluations.mark_wrong(NOBODY))
    yield Step("evaluations.marked_wrong", lambda s: s.kb.evaluations.marked_wrong(s.known["trace"]))
    yield Step("evaluations.marked_wrong: unknown", lambda s: s.kb.evaluations.marked_wrong(NOBODY))
    yield Step("evaluations.unmark_wrong", lambda s: s.kb.evaluations.unmark_wrong(s.known["trace"]))
    yield Step("evaluations.unmark_wrong: not marked", lambda s: s.kb.evaluations.unmark_wrong(s.known["trace"]))
    yield Step("evaluations.sets", lambda s: s.kb.evaluations.sets())
    yield Step("evaluations.set_of", lambda s: s.kb.evaluations.set_of(s.known["set"]))
    yield Step("evaluations.set_of: unknown", lambda s: s.kb.evaluations.set_of(NOBODY))
    yield Step("evaluations.questions", lambda s: s.kb.evaluations.questions(s.known["set"]))
    yield Step("evaluations.questions after", lambda s: s.kb.evaluations.questions(s.known["set"], 5, 1))
    yield Step("evaluations.questions none", lambda s: s.kb.evaluations.questions(s.known["set"], 0))
    yield Step("evaluations.questions: unknown", lambda s: s.kb.evaluations.questions(NOBODY))
    yield Step("evaluations.export_set", lambda s: s.kb.evaluations.export_set(s.known["past"], "jsonl"))
    yield Step("evaluations.export_set: no such form", lambda s: s.kb.evaluations.export_set(s.known["set"], "xml"))
    yield Step("evaluations.set_gate", lambda s: s.kb.evaluations.set_gate(s.known["set"], True))
    yield Step("evaluations.set_gate: unknown", lambda s: s.kb.evaluations.set_gate(NOBODY, True))
    yield Step("evaluations.gate", lambda s: s.kb.evaluations.gate("leave.md", 3))
    yield Step("evaluations.gate: unknown", lambda s: s.kb.evaluations.gate("leave.md", 9))
    yield Step("evaluations.run", noted("run", lambda s: s.kb.evaluations.run(s.known["set"], label=" one ")))
    yield Step("evaluations.run: unknown", lambda s: s.kb.evaluations.run(NOBODY))
    yield Step(
        "evaluations.run: too many passages", lambda s: s.kb.evaluations.run(s.known["set"], Query("", top_k=10_000))
    )
    yield Step("evaluations.wait", lambda s: s.kb.evaluations.wait(s.known["run"], 60))
    yield Step(
        "evaluations.run otherwise",
        noted("second", lambda s: s.kb.evaluations.run(s.known["set"], Query("", top_k=1, rerank="none"))),
    )
    yield Step(
        "evaluations.run_of",
        lambda s: (s.kb.evaluations.wait(s.known["second"], 60), s.kb.evaluations.run_of(s.known["second"]))[1],
    )
    yield Step("evaluations.run_of: unknown", lambda s: s.kb.evaluations.run_of(NOBODY))
    yield Step("evaluations.runs", lambda s: s.kb.evaluations.runs())
    yield Step("evaluations.runs of a set", lambda s: s.kb.evaluations.runs(s.known["past"], 5))
    yield Step("evaluations.runs none", lambda s: s.kb.evaluations.runs(None, 0))
    yield Step("evaluations.runs: unknown", lambda s: s.kb.evaluations.runs(NOBODY))
    yield Step("evaluations.cancel", lambda s: s.kb.evaluations.cancel(s.known["run"]))
    yield Step("evaluations.cancel: unknown", lambda s: s.kb.evaluations.cancel(NOBODY))
    yield Step("evaluations.outcomes", lambda s: s.kb.evaluations.outcomes(s.known["run"]))
    yield Step("evaluations.outcomes in order", lambda s: s.kb.evaluations.outcomes(s.known["run"], 1, 0, False))
    yield Step("evaluations.outcomes none", lambda s: s.kb.evaluations.outcomes(s.known["run"], 0, -1))
    yield Step("evaluations.outcomes: unknown", lambda s: s.kb.evaluations.outcomes(NOBODY))
    yield Step("evaluations.compare", lambda s: s.kb.evaluations.compare(s.known["run"], s.known["second"]))
    yield Step("evaluations.compare: unknown", lambda s: s.kb.evaluations.compare(s.known["run"], NOBODY))
    yield Step("evaluations.delete_run", lambda s: s.kb.evaluations.delete_run(s.known["run"]))
    yield Step("evaluations.delete_run: unknown", lambda s: s.kb.evaluations.delete_run(s.known["run"]))
    yield Step("evaluations.delete_set", lambda s: s.kb.evaluations.delete_set(s.known["set"]))
    yield Step("evaluations.delete_set: unknown", lambda s: s.kb.evaluations.delete_set(s.known["set"]))


def insight() -> Iterator[Step]:
    yield Step("insight.why_not", lambda s: s.kb.insight.why_not(Query("trains", top_k=1), "leave.md"))
    yield Step(
        "insight.why_not at a place",
        lambda s: s.kb.insight.why_not(replace(LEAVE_QUERY, dismissed=("a",)), "leave.md", 0, 3),
    )
    yield Step("insight.why_not: unknown", lambda s: s.kb.insight.why_not(LEAVE_QUERY, "nothing.md"))
    yield Step("insight.why_not: nothing asked", lambda s: s.kb.insight.why_not(Query(""), "leave.md"))
    yield Step("insight.analyse", lambda s: s.kb.insight.analyse("Trains leave 東京都 daily."))
    yield Step("insight.analyse written", lambda s: s.kb.insight.analyse("Trains", written=True))
    yield Step(
        "insight.set_vocabulary",
        lambda s: s.kb.insight.set_vocabulary(
            [["rolling stock"], ["社内規程", "しゃないきてい"]], [["train", "railway"]]
        ),
    )
    yield Step("insight.set_vocabulary: too long", lambda s: s.kb.insight.set_vocabulary([["x" * 100]], []))
    yield Step("insight.vocabulary", lambda s: s.kb.insight.vocabulary())
    yield Step("insight.reindex_words", lambda s: [each.kind for each in s.kb.wait([s.kb.insight.reindex_words()], 60)])
    yield Step("insight.vocabulary in effect", lambda s: s.kb.insight.vocabulary())


def recordings() -> Iterator[Step]:
    def imported(side: Side) -> Any:
        path = side.folder / "spikes.pt"
        save(tiny_recording(), path)
        return side.kb.recordings.import_file(" My file.pt", path)

    def opened(side: Side) -> Any:
        with (side.folder / "spikes.pt").open("rb") as stream:
            return side.kb.recordings.import_file("other", stream)

    def written(form: str, part: RecordingPart = RecordingPart()) -> Callable[[Side], Any]:
        return lambda s: s.kb.recordings.write(s.known["spikes"], s.folder / f"out.{form}", form, part).read_bytes()

    yield Step("recordings.import_file", noted("spikes", imported))
    yield Step("recordings.import_file of a stream", noted("others", opened))
    yield Step(
        "recordings.import_file: no recording", lambda s: s.kb.recordings.import_file("x", io.BytesIO(b"nothing"))
    )
    yield Step("recordings.list", lambda s: s.kb.recordings.list())
    yield Step("recordings.get", lambda s: s.kb.recordings.get(s.known["spikes"]))
    yield Step("recordings.get: unknown", lambda s: s.kb.recordings.get(NOBODY))
    yield Step("recordings.disk_bytes", lambda s: s.kb.recordings.disk_bytes())
    yield Step("recordings.rename", lambda s: s.kb.recordings.rename(s.known["spikes"], " First "))
    yield Step("recordings.rename: empty", lambda s: s.kb.recordings.rename(s.known["spikes"], " "))
    yield Step("recordings.rename: unknown", lambda s: s.kb.recordings.rename(NOBODY, "x"))
    yield Step("recordings.write", written("pt"))
    yield Step("recordings.write csv", written("csv", RecordingPart(1, "query", 1, 3)))
    yield Step("recordings.write: no such form", written("xml"))
    yield Step("recordings.write: unknown", lambda s: s.kb.recordings.write(NOBODY, s.folder / "x.pt"))
    yield Step(
        "recordings.write: nowhere", lambda s: s.kb.recordings.write(s.known["spikes"], s.folder / "no" / "x.pt")
    )
    yield Step("recordings.tokens", lambda s: s.kb.recordings.tokens(s.known["spikes"]))
    yield Step("recordings.tokens: unknown", lambda s: s.kb.recordings.tokens(NOBODY))
    yield Step("recordings.summary", lambda s: s.kb.recordings.summary(s.known["spikes"]))
    yield Step(
        "recordings.summary of a part",
        lambda s: s.kb.recordings.summary(s.known["spikes"], RecordingPart(0, "value", 1, 4)),
    )
    yield Step("recordings.summary: nothing", lambda s: s.kb.recordings.summary(s.known["spikes"], RecordingPart(9)))
    yield Step("recordings.heat_map", lambda s: s.kb.recordings.heat_map(s.known["spikes"]))
    yield Step(
        "recordings.spikes",
        lambda s: s.kb.recordings.spikes(s.known["spikes"], "layers.0.query", RecordingPart(first=1)),
    )
    yield Step("recordings.spikes: unknown", lambda s: s.kb.recordings.spikes(s.known["spikes"], "layers.9.query"))
    yield Step("recordings.membrane", lambda s: s.kb.recordings.membrane(s.known["spikes"], "layers.0.query"))
    yield Step("recordings.compare", lambda s: s.kb.recordings.compare(s.known["spikes"], s.known["others"]))
    yield Step("recordings.compare: unknown", lambda s: s.kb.recordings.compare(s.known["spikes"], NOBODY))
    yield Step("recordings.delete", lambda s: s.kb.recordings.delete(s.known["others"]))
    yield Step("recordings.delete: unknown", lambda s: s.kb.recordings.delete(s.known["others"]))


def stores() -> Iterator[Step]:
    yield Step("health", lambda s: s.kb.health())
    yield Step("counts", lambda s: s.kb.counts())
    yield Step("check", lambda s: s.kb.check(progress=nothing))
    yield Step("check one", lambda s: s.kb.check("keyword"))
    yield Step("check: no such store", lambda s: s.kb.check("memory"))
    yield Step("check_files", lambda s: s.kb.check_files())
    yield Step("quarantine.list", lambda s: s.kb.quarantine.list())
    yield Step("quarantine.restore: unknown", lambda s: s.kb.quarantine.restore("0" * 64, "back.txt"))
    yield Step("quarantine.empty", lambda s: s.kb.quarantine.empty())
    yield Step("quarantine.empty: unknown", lambda s: s.kb.quarantine.empty(["0" * 64]))
    yield Step("repair", noted("repair", lambda s: s.kb.wait([s.kb.repair("vector", dry_run=False)], 60)[0]))
    yield Step("repair: no such store", lambda s: s.kb.repair("memory"))
    yield Step("reindex", lambda s: s.kb.wait([s.kb.reindex("vector")], 60)[0].state)
    yield Step("reindex: no such store", lambda s: s.kb.reindex("memory"))
    yield Step("reindex_elasticsearch", lambda s: s.kb.wait([s.kb.reindex_elasticsearch()], 60)[0].state)
    yield Step("store_report", lambda s: s.kb.store_report(s.known["repair"]))
    yield Step("store_report of the newest", lambda s: s.kb.store_report().act)
    yield Step("store_report: unknown", lambda s: s.kb.store_report(NOBODY))
    yield Step("backup", lambda s: members(s.kb.backup()))
    yield Step("generations.list", lambda s: s.kb.generations.list())
    yield Step("generations.build: no such embedder", lambda s: s.kb.generations.build("oracle"))
    yield Step("generations.build: there already", lambda s: s.kb.generations.build())
    yield Step("generations.switch: unknown", lambda s: s.kb.generations.switch(99))
    yield Step("generations.remove: serving", lambda s: s.kb.generations.remove(s.kb.generations.list()[-1].number))
    yield Step("generations.remove: unknown", lambda s: s.kb.generations.remove(99))
    far, closed = "https://api.example.com/v1", "http://127.0.0.1:1/v1"
    yield Step("generators.set", lambda s: s.kb.generators.set("far", far, model="m", key="sk-example"))
    yield Step("generators.set again", lambda s: s.kb.generators.set("far", f"{far}/"))
    yield Step("generators.set inside", lambda s: s.kb.generators.set("near", closed, model="m", allow_inside=True))
    yield Step("generators.set: inside", lambda s: s.kb.generators.set("near", closed))
    yield Step("generators.set: another server", lambda s: s.kb.generators.set("far", "https://other.example/v1"))
    yield Step("generators.list", lambda s: s.kb.generators.list())
    yield Step("generators.try_out: nobody there", lambda s: s.kb.generators.try_out("near"))
    yield Step("generators.try_out: unknown", lambda s: s.kb.generators.try_out("nobody"))
    yield Step("generators.make_default", lambda s: s.kb.generators.make_default("far"))
    yield Step("generators.make_default none", lambda s: s.kb.generators.make_default("none"))
    yield Step("generators.make_default: unknown", lambda s: s.kb.generators.make_default("nobody"))
    yield Step("generators.remove", lambda s: s.kb.generators.remove("far"))
    yield Step("generators.remove: unknown", lambda s: s.kb.generators.remove("far"))
    yield Step("readings.report", lambda s: s.kb.readings.report())
    yield Step("readings.list", lambda s: s.kb.readings.list("waiting"))
    yield Step("readings.list: no such state", lambda s: s.kb.readings.list("read"))
    yield Step("readings.begin", lambda s: s.kb.readings.begin())
    yield Step("readings.begin: unknown", lambda s: s.kb.readings.begin(["nothing.txt"]))
    yield Step("readings.show", lambda s: s.kb.readings.show())
    yield Step("readings.show: unknown", lambda s: s.kb.readings.show(["nothing.txt"]))
    yield Step("readings.undo", lambda s: s.kb.readings.undo())
    yield Step("readings.drop", lambda s: s.kb.readings.drop())


def ending() -> Iterator[Step]:
    yield Step("versions purged", lambda s: s.kb.versions("leave.md"))
    yield Step("forget_question", lambda s: s.kb.forget_question(s.known["saved"]))
    yield Step("load_sample", lambda s: [each.doc_key for each in s.kb.load_sample()])
    yield Step("close", lambda s: s.kb.close())


STEPS = tuple(
    step
    for part in (documents, versions, jobs, questions, conversations, evaluations, insight, recordings, stores, ending)
    for step in part()
)
