"""What the command line prints: data on stdout, as tables, tab-separated lines or JSON; all the rest on stderr."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import EvoRAGError, ServerUnreachable
from core.model import (
    Answer,
    AnswerType,
    AskStep,
    Document,
    DoneStep,
    GeneratorFailure,
    Hit,
    Job,
    JobState,
    LeftOut,
    Locator,
    Trace,
    Version,
    WritingStep,
    to_dict,
)
from core.model.documents import SHEETS, SLIDES
from core.model.jobs import together

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi

_CONTROL = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], " ")
_POLL_S = 0.2
_POLL_S_A_JOB = 0.001
"""Reading thousands of jobs takes time from indexing them."""
_ALL = 1_000_000


class Bar(Protocol):
    """Shows how much is done, of how much, and what is being done."""

    def __call__(self, done: int, total: int, remark: str = "") -> None: ...


def end() -> None:
    """Write what is left; whoever reads it may have gone, as ``head`` does, which is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(value: Any) -> None:
    """Write one JSON document; model values become plain data."""
    sys.stdout.write(json.dumps(to_dict(value), ensure_ascii=False, indent=2) + "\n")


def print_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table in a terminal, without its empty columns, and tab-separated lines without a header elsewhere."""
    cells = [[clean(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        sys.stdout.writelines(
            "\t".join(cell.replace("\n", " ").replace("\t", " ") for cell in row) + "\n" for row in cells
        )
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    filled = [number for number in range(len(header)) if any(row[number] not in ("", "-") for row in cells)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number in filled:
        table.add_column(header[number], overflow="fold")
    for row in cells:
        table.add_row(*(Text(row[number]) for number in filled))
    Console().print(table)


def print_text(text: str) -> None:
    """Write text of a document or an answer, without signs that could steer a terminal."""
    sys.stdout.write(clean(text) + "\n")


def print_exactly(text: str) -> None:
    """Write the text of a document as it is, so that a patch applies to it; a terminal gets a line end more."""
    sys.stdout.write(clean(text) + ("\n" if sys.stdout.isatty() else ""))


def print_documents(documents: Iterable[Document]) -> None:
    header = ("document", "state", "version", "of", "chunks", "bytes", "changed", "tags")
    print_rows(header, (_document_row(document) for document in documents))


def print_document(document: Document, versions: Sequence[Version]) -> None:
    """Write a document's head, its versions, newest first, and the metadata of the newest."""
    print_text(f"{document.title} ({document.name}), {document.state}")
    header = ("version", "shown", "state", "bytes", "chunks", "new", "stored", "sha-256")
    print_rows(header, (_version_row(version) for version in versions))
    if versions:
        print_rows(("field", "value"), sorted(versions[0].metadata.items()))


def print_jobs(jobs: Iterable[Job]) -> None:
    header = ("job", "document", "version", "state", "stage", "done", "error", "share", "left")
    print_rows(header, map(_job_row, jobs))


def print_trace(trace: Trace, *, details: bool) -> None:
    """Write the answer with what it cites, and with ``details`` the account of every passage."""
    if trace.analysis.standalone:
        note(f"Understood as: {trace.analysis.standalone}")
    if trace.analysis.standalone_other:
        note(f"Also searched, and answered less surely: {trace.analysis.standalone_other}")
    for each in trace.analysis.corrections:
        note(f"No passage holds “{each.word}”; read as “{each.read_as}”.")
    if trace.cache is not None:
        note(f"A kept answer of {trace.cache.asked_at:%Y-%m-%d %H:%M} UTC; --fresh asks anew.")
    if trace.answer.type is AnswerType.HALLUCINATION_FALLBACK:
        note("What the generator wrote is in no passage; this is taken from the passages word for word.")
    print_text(trace.answer.text)
    for citation in trace.answer.citations:
        print_text(f"  [{citation.number}] {citation.name}, version {citation.version}{place(citation.locator)}")
    for line in _who_wrote(trace.answer):
        print_text(line)
    note_recording(trace)
    if details:
        print_text("\n" + ", ".join(part for part in (trace.answer.type, trace.answer.reason) if part))
        print_text(", ".join(f"{name} {value:.1f} ms" for name, value in trace.timings_ms.items()))
        print_hits(trace.hits)


def note_recording(trace: Trace) -> None:
    """Say what became of the recording of an answer."""
    if trace.query.record:
        recording = trace.generation.get("recording", {})
        error = recording.get("error", {}).get("message", "Nothing was written, so that nothing was recorded.")
        note(f"recording {recording['id']}" if "id" in recording else f"warning: {error}")


def print_hits(hits: Iterable[Hit]) -> None:
    """Write the fused ranking with the rank, the score and the share of each leg."""
    header = ("#", "document", "version", "score", "vector (rank, L2, share)", "keyword (rank, BM25, share)", "passage")
    print_rows(header, (_hit_row(hit) for hit in hits))


def place(locator: Locator) -> str:
    """Return where a passage stands, such as ``, page 3``."""
    if locator.page is not None:
        return f", page {locator.page}"
    if locator.slide is not None:
        return f", slide {locator.slide}"
    return f", sheet {locator.sheet} {locator.cells or ''}".rstrip() if locator.sheet else ""


def flat(report: Mapping[str, Any], prefix: str = "") -> Iterator[list[object]]:
    """Yield the rows of a nested report, its names joined by spaces."""
    for name, value in report.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name} ")
        else:
            yield [prefix + name, f"{value:.4f}" if isinstance(value, float) else value]


def note(text: str) -> None:
    """Tell a person something that is no data."""
    sys.stderr.write(clean(text) + "\n")


def report(error: EvoRAGError, subject: str = "") -> None:
    """Say what went wrong, to what, and what to do next."""
    note(f"{error.code}: {subject + ': ' if subject else ''}{error.message}")
    note(f"  {error.remedy}")


def note_job(job: Job) -> None:
    """Say why a job did not end well."""
    error = job.error or {}
    note(f"{error.get('code', job.state)}: {job.name}: {error.get('message', job.state)}")
    if error.get("remedy"):
        note(f"  {error['remedy']}")


def _places(places: str) -> str:
    if places.startswith((f"{SLIDES} ", f"{SHEETS} ")):
        return places
    return f"page{'' if places.isdigit() else 's'} {places}"


def warn_degraded(trace: Trace) -> None:
    """Say which leg of the search did not answer, or not from all of its rows."""
    for leg in (trace.vector, trace.keyword):
        if leg.error is not None:
            note(f"warning: the {leg.name} search did not answer; this result lacks its part.")
        elif leg.refilling is not None:
            rows, of = leg.refilling.rows, leg.refilling.of
            far = "" if rows is None else f" ({rows:,} of {of:,} rows are there)"
            note(f"warning: the {leg.name} store is being refilled{far}; this result may lack hits of it.")
    in_part = {hit.placed.name: hit.placed.in_part for hit in trace.hits if hit.placed.in_part}
    for name, places in in_part.items():
        where = "" if places == "*" else f"; not as they are: {_places(places)}"
        note(f"warning: {name} was read in part{where}.")
    if trace.indexing is not None:
        failed, percent = trace.indexing.failed, trace.indexing.percent
        if going_on := trace.indexing.documents - failed:
            are = "1 document is" if going_on == 1 else f"{going_on:,} documents are"
            note(f"warning: {are} still being indexed: found by words, by meaning {percent}%.")
        if failed:
            lost = "1 document" if failed == 1 else f"{failed:,} documents"
            note(f"warning: the embedding of {lost} failed: found by words alone. Start again: evorag jobs --retry ID.")


def _who_wrote(answer: Answer) -> Iterator[str]:
    """Yield a line about what wrote the answer, and one about the other answer where there is one."""
    if answer.generator not in ("", "none"):
        yield f"({'asked' if answer.type is AnswerType.INSUFFICIENT else 'written by'} {answer.generator})"
    elif answer.type is not AnswerType.INSUFFICIENT and answer.citations:
        yield "(extracted)"
    if answer.is_tentative:
        yield f"(not certain, {answer.confidence:.0%}: check it in the passage)"
    if answer.other is not None:
        other = answer.other
        by = "extracted" if other.generator in ("", "none") else f"written by {other.generator}"
        yield f"Another answer, with less support ({by}): {other.text}"


def warn_of_failures(trace: Trace) -> bool:
    """Say which part of an answer is not as it was asked for, in a line each; tell whether there is any."""
    failure = trace.answer.generator_failure
    if failure is not None:
        note(f"warning: {_unwritten(trace.answer, failure)}")
    warn_degraded(trace)
    return failure is not None or bool(trace.degraded)


def warn_unwritten(answers: Iterable[Answer]) -> None:
    """Say of answers that are compared or measured how many a generator failed to write, with the first failure."""
    told = list(answers)
    failures = [answer.generator_failure for answer in told if answer.generator_failure is not None]
    if failures:
        first = failures[0]
        note(
            f"warning: the generator “{first.generator}” failed at {len(failures)} of {len(told)} answers, "
            f"which are extracted: {_why(first)}"
        )


def _unwritten(answer: Answer, failure: GeneratorFailure) -> str:
    did = "did not write this answer, which is taken from the passages"
    if answer.type is AnswerType.INSUFFICIENT:
        did = "did not write an answer"
    elif answer.type is AnswerType.GENERATIVE:
        did = "did not finish this answer"
    return f"the generator “{failure.generator}” {did}: {_why(failure)}"


def _why(failure: GeneratorFailure) -> str:
    return " ".join(f"{failure.message} {failure.remedy}".split())


def note_left_out(files: Sequence[LeftOut]) -> None:
    """Say in one line which files were left out, and why."""
    if files:
        why = dict.fromkeys(f"{each.message} {each.remedy}" for each in files)
        note(f"left out: {', '.join(each.name for each in files)}: {' '.join(why)}")


def follow(kb: KnowledgeBaseApi, job_ids: Sequence[str]) -> list[Job]:
    """Wait for jobs, with a bar of their whole and the time left in a terminal, and return them as they ended."""
    total, waiting = len(job_ids), set(job_ids)
    known: dict[str, Job] = {}
    shown = 0.0
    with bar("Indexing") as show:
        while waiting:
            active = kb.jobs(active=True, limit=_ALL)
            known |= {job.id: job for job in active if job.id in waiting}
            waiting &= {job.id for job in active}
            running = next((job for job in active if job.state is JobState.RUNNING), None)
            # What had ended before it was ever seen has no size here, and is done.
            ended = [replace(job, state=JobState.DONE, share=1.0) for job in known.values() if job.id not in waiting]
            share, left = together([*(known[each] for each in waiting if each in known), *ended])
            shown = max(shown, share)
            parts = (f"{total - len(waiting)} of {total}", _time_left(left), _progress_of(running) if running else "")
            show(round(100 * shown) if waiting else 100, 100, " · ".join(part for part in parts if part))
            if waiting:
                time.sleep(max(_POLL_S, len(waiting) * _POLL_S_A_JOB))
    return kb.wait(job_ids)


def answered(steps: Iterable[AskStep]) -> Trace:
    """Read an answer as it comes, and return its trace; a terminal is told on stderr how far it is."""
    written = 0
    with _status("Searching …") as tell:
        for step in steps:
            if isinstance(step, DoneStep):
                return step.trace
            if isinstance(step, WritingStep):
                written += len(step.text)
                tell(f"Writing, {written} characters …" if written else "The generator is preparing …")
    raise ServerUnreachable("The answer ended too early.")


@contextmanager
def _status(words: str) -> Iterator[Callable[[str], None]]:
    """Give what changes the words of a sign of life on stderr; there is none where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(words) as status:
        yield status.update


@contextmanager
def bar(title: str) -> Iterator[Bar]:
    """Give a bar on stderr; it draws nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield _no_bar
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    remarks = TextColumn("{task.fields[remark]}", markup=False)
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), remarks)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None, remark="")

        def show(done: int, total: int, remark: str = "") -> None:
            progress.update(task, completed=done, total=total, remark=clean(remark)[:60])

        yield show


def _no_bar(done: int, total: int, remark: str = "") -> None:
    return


def _progress_of(job: Job) -> str:
    return f"{job.name}: {job.stage} {_share_of(job)}".rstrip()


def _time_left(seconds: float | None) -> str:
    """Say about how long something will take; nothing where nobody knows."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s left"
    return f"{round(seconds / 60)} min left" if seconds < 5_400 else f"{seconds / 3_600:.1f} h left"


def _share_of(job: Job) -> str:
    return f"{job.done} of {job.total}" if job.total else ""


def _job_row(job: Job) -> list[object]:
    error = (job.error or {}).get("code", "-")
    return [job.id, job.name, job.version or "-", job.state, job.stage, _share_of(job) or "-", error, *_time_of(job)]


def _time_of(job: Job) -> tuple[str, str]:
    """Return how much of an active job is done, and how long it will take."""
    if job.state not in (JobState.QUEUED, JobState.RUNNING):
        return "-", "-"
    return f"{100 * job.share:.0f} %", _time_left(job.seconds_left) or "-"


def _document_row(document: Document) -> list[object]:
    shown = document.published_version or "-"
    changed = document.updated_at.isoformat(timespec="seconds")
    counts = (document.version_count, document.chunk_count, document.size_bytes)
    return [document.name, document.state, shown, *counts, changed, ", ".join(document.tags)]


def _version_row(version: Version) -> list[object]:
    shown = "yes" if version.is_published else "no"
    counts = (version.size_bytes, version.chunk_count, version.chunks_added)
    stored = version.created_at.isoformat(timespec="seconds")
    return [version.number, shown, version.state, *counts, stored, version.sha256[:12]]


def _hit_row(hit: Hit) -> list[object]:
    legs = [
        f"{leg.rank}, {leg.score:.3f}, {leg.contribution:.5f}" if leg else "not found"
        for leg in (hit.vector, hit.keyword)
    ]
    text = " ".join(hit.placed.chunk.text.split())
    return [hit.rank, hit.placed.name, hit.placed.version, f"{hit.score:.5f}", *legs, text[:120]]


def clean(value: object) -> str:
    """Return a value as text without signs that could steer a terminal."""
    return str(value).translate(_CONTROL)
