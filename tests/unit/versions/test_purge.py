"""What is purged is found by no question and stands in no file; what is shared, and the tombstone, stay."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sqlalchemy import select

import core
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.catalog import Claim, NewVersion
from core.catalog.schema import chunks, embeddings, outbox, questions, version_deltas
from core.errors import Conflict, NotFound, Purged
from core.model import JobState, UploadOutcome, VersionRef
from core.settings import Settings
from tests.builders import add, knowledge_base
from tests.waiting import until

ROOT = Path(__file__).parents[3]
MARK = "quaggaquoll"


def names(kb: core.KnowledgeBase, question: str, **options: object) -> set[tuple[str, int]]:
    trace = core.EvoRAG(kb=kb).search(core.Query(question, **options))  # type: ignore[arg-type]
    return {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}


def files_with(folder: Path, mark: bytes) -> list[str]:
    """Return the files in which the mark stands, plain, compressed, or in a column."""
    found = []
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data += gzip.decompress(data)
        if path.suffix == ".parquet":
            data += str(pyarrow.parquet.read_table(path).to_pylist()).encode()
        if mark in data:
            found.append(str(path.relative_to(folder)))
    return found


@pytest.fixture(params=["memory", "stores"])
def kb(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    """A knowledge base in memory, and one on the stores that a user runs by default."""
    with knowledge_base(tmp_path, test_mode=request.param == "memory", embedder="hash") as opened:
        until(lambda: not opened.is_starting)
        yield opened


@pytest.mark.long
def test_a_purged_version_is_found_by_no_question_of_any_moment(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"First {MARK}.")
    add(kb, "a", "Second text.")
    assert names(kb, MARK, as_of=1) == {("a.txt", 1)}
    kb.purge("a.txt", 1)
    for as_of in (None, 0, 1, 2, 3):
        assert not [name for name in names(kb, MARK, as_of=as_of) if name == ("a.txt", 1)]
    assert ("a.txt", 1) not in names(kb, MARK, versions="all")
    with pytest.raises((Purged, Conflict)):
        names(kb, MARK, as_of=VersionRef("a.txt", 1))


@pytest.mark.long
def test_nothing_of_a_purged_version_is_left_on_the_disk(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    for number in range(30):
        kb.add_text(f"other {number}", f"Other text {number}.")
    text = "\n\n".join(f"Paragraph {n} of the {MARK} text tells about topic {n}. " * 20 for n in range(30))
    kb.add_text("a", text, title=f"Title {MARK}", note=f"note {MARK}", label=f"label {MARK}")
    kb.work_off()
    core.EvoRAG(kb=kb).ask(f"Where is the {MARK}?")
    with kb.catalog.database.read() as tx:
        trace = tx.scalars(select(questions.c.trace)).one()
    add(kb, "a", "Second text.")
    assert files_with(tmp_path / "data", MARK.encode())
    kb.purge("a.txt", 1)
    found = files_with(tmp_path / "data", MARK.encode())
    # The question is the words of who asked it, and stays: in its row, and in the index that the history is read from.
    assert set(found) <= {"catalog.db"}
    assert (tmp_path / "data" / "catalog.db").read_bytes().count(MARK.encode()) == 2
    assert trace not in (tmp_path / "data" / "catalog.db").read_bytes()
    assert MARK.encode() in zlib.decompress(trace)
    store = kb._keywords._inner  # type: ignore[attr-defined]
    if isinstance(store, TantivyKeywordIndex):
        parts = store._parts.values()
        assert [part.snapshot.searcher.terms_with_prefix("terms", MARK[:5]) for part in parts] == [[], []]


@pytest.mark.long
def test_the_other_documents_are_found_as_before(kb: core.KnowledgeBase) -> None:
    for number in range(30):
        kb.add_text(f"other {number}", f"Other text number{number}.")
    kb.work_off()
    add(kb, "a", f"First {MARK} text.")
    kb.purge("a.txt")
    for number in (0, 17, 29):
        assert (f"other {number}.txt", 1) in names(kb, f"number{number}")
    kb._projector.flush()
    assert dict(kb._keywords.ids()) == dict(kb._vectors.ids())
    assert len(dict(kb._keywords.ids())) == kb.catalog.chunk_rows() == 30


def test_chunks_that_a_kept_version_shares_stay(kb: core.KnowledgeBase) -> None:
    paragraphs = [f"Paragraph {n} tells about topic {n}. " * 60 for n in range(6)]
    add(kb, "book", "\n\n".join([*paragraphs, f"The {MARK} ends it. " * 60]))
    add(kb, "book", "\n\n".join(paragraphs))
    kept = set(kb.catalog.chunks.ids_of(kb.version("book.txt", 2).id))
    kb.purge("book.txt", 1)
    with kb.catalog.database.read() as tx:
        assert set(tx.scalars(select(chunks.c.id))) == kept
        assert tx.scalar(select(version_deltas.c.chunk_id).limit(1)) is None
        hashes = set(tx.scalars(select(chunks.c.content_hash)))
        assert set(tx.scalars(select(embeddings.c.content_hash))) == hashes
    assert names(kb, "topic") == {("book.txt", 2)}
    assert kb.text_of("book.txt") == "\n\n".join(paragraphs)


def test_the_same_bytes_of_another_document_stay(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    add(kb, "a", f"First {MARK}.")
    add(kb, "b", f"First {MARK}.")
    kb.purge("a.txt")
    assert kb.text_of("b.txt") == f"First {MARK}."
    assert kb.original("b.txt", 1)[0].read_text() == f"First {MARK}."
    assert names(kb, MARK) == {("b.txt", 1)}
    kb.purge("b.txt")
    assert not [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]


def test_a_tombstone_says_when_and_by_whom(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"First {MARK}.")
    add(kb, "a", "Second.")
    done = kb.purge("a.txt", 1, actor="Ada", note="asked for by its author")
    assert (done.action, done.subject, done.version) == ("purge", 1, 2)
    assert (done.actor, done.note) == ("Ada", "asked for by its author")
    stone = kb.version("a.txt", 1)
    assert (stone.state, stone.purged_by, stone.sha256, stone.sha1) == ("purged", "Ada", "", "")
    assert stone.purged_at is not None and stone.purged_at >= kb.version("a.txt", 2).created_at
    assert kb.audit(action="purge") == [done]


@pytest.mark.parametrize("call", ["preview", "text_of", "original", "annotate"])
def test_opening_a_purged_version_says_so(kb: core.KnowledgeBase, call: str) -> None:
    add(kb, "a", f"First {MARK}.")
    add(kb, "a", "Second.")
    kb.purge("a.txt", 1)
    with pytest.raises(Purged) as caught:
        getattr(kb, call)("a.txt", 1)
    assert (caught.value.code, caught.value.status) == ("purged", 410)


def test_a_purged_version_cannot_be_shown_again(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"First {MARK}.")
    add(kb, "a", "Second.")
    kb.purge("a.txt", 1)
    for act in (kb.publish, kb.rollback, kb.purge):
        with pytest.raises(Conflict):
            act("a.txt", 1)
    with pytest.raises(Conflict):
        kb.rollback("a.txt")


def test_the_version_that_is_shown_is_not_purged_alone(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"First {MARK}.")
    with pytest.raises(Conflict):
        kb.purge("a.txt", 1)
    assert names(kb, MARK) == {("a.txt", 1)}
    kb.unpublish("a.txt")
    kb.purge("a.txt", 1)
    assert kb.document("a.txt").state == "purged"


def test_a_purged_document_is_listed_as_deleted_ones_are_and_can_be_uploaded_again(kb: core.KnowledgeBase) -> None:
    kb.add_text("a", f"First {MARK}.", tags=["Secret"])
    kb.work_off()
    kb.purge("a.txt")
    assert (kb.documents(), kb.tags()) == ([], [])
    assert [document.state for document in kb.documents(include_deleted=True)] == ["purged"]
    upload = add(kb, "a", f"First {MARK}.")
    assert (upload.outcome, upload.version) == (UploadOutcome.NEW, 2)
    assert names(kb, MARK) == {("a.txt", 2)}
    assert kb.text_of("a.txt") == f"First {MARK}."


def test_a_question_that_quoted_purged_text_says_so_and_stays_in_the_history(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"The fee is ten {MARK}.")
    add(kb, "b", "The bridge is long.")
    rag = core.EvoRAG(kb=kb)
    bridge = core.Query("How long is the bridge?", filters=core.Filters(doc_keys=("b.txt",)))
    asked, other = rag.ask("What is the fee?"), rag.ask(bridge)
    kb.purge("a.txt")
    with pytest.raises(Purged):
        kb.trace(asked.id)
    assert kb.trace(other.id) == other
    assert {summary.question: bool(summary.answer) for summary in kb.history()} == {
        "What is the fee?": False,
        "How long is the bridge?": bool(other.answer.text),
    }


def test_an_answer_that_is_kept_after_the_purge_holds_nothing_of_it(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"The fee is ten {MARK}.")
    trace = core.EvoRAG(kb=kb).ask("What is the fee?")
    kb.purge("a.txt")
    late = core.model.Trace(**{name: getattr(trace, name) for name in trace.__slots__} | {"id": "f" * 32})
    kb.catalog.questions.keep(late)
    with pytest.raises(Purged):
        kb.trace("f" * 32)
    assert [summary.answer for summary in kb.history()] == ["", ""]


def test_purging_cancels_what_is_being_indexed(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    upload = kb.add_text("a", f"First {MARK}.")
    flush = kb._projector.flush

    def purging() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        kb.purge("a.txt")
        flush()

    kb._projector.flush = purging  # type: ignore[method-assign]
    kb.work_off()
    assert kb.job(str(upload.job_id)).state is JobState.CANCELLED
    with pytest.raises(NotFound):
        kb.retry(str(upload.job_id))
    assert list(kb._keywords.ids()) == list(kb._vectors.ids()) == []
    assert files_with(tmp_path / "data", MARK.encode()) == []


def test_purging_while_the_file_is_read_leaves_no_text(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    kb.add_text("a", f"First {MARK}.")
    parse = kb._parser.parse

    def purging(*values: Any) -> object:
        details = parse(*values)
        kb.purge("a.txt")
        return details

    kb._parser.parse = purging  # type: ignore[assignment, method-assign]
    kb.work_off()
    assert kb.version("a.txt", 1).state == "purged"
    assert files_with(tmp_path / "data", MARK.encode()) == []
    assert kb.catalog.purges.pending() == []


def test_purging_while_the_text_is_kept_removes_it_when_the_job_lets_go(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    kb.add_text("a", f"First {MARK}.")
    put = kb._blobs.put

    def purging(source: Path, sha256: str) -> None:
        kb._blobs.put = put  # type: ignore[method-assign]
        kb.purge("a.txt")
        put(source, sha256)

    kb._blobs.put = purging  # type: ignore[method-assign]
    kb.work_off()
    assert files_with(tmp_path / "data", MARK.encode()) == []
    assert kb.catalog.purges.pending() == []


def test_bytes_that_are_uploaded_again_while_they_are_purged_stay(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"First {MARK}.")
    claim_many = kb.catalog.documents.claim_many

    def purging(news: Sequence[NewVersion], *also: Any) -> list[Claim]:
        kb.catalog.documents.claim_many = claim_many  # type: ignore[method-assign]
        kb.purge("a.txt")
        return claim_many(news, *also)

    kb.catalog.documents.claim_many = purging  # type: ignore[method-assign]
    add(kb, "b", f"First {MARK}.")
    assert kb.original("b.txt", 1)[0].read_text() == kb.text_of("b.txt") == f"First {MARK}."
    assert kb.catalog.purges.pending() == []


def test_a_cancelled_upload_can_be_purged(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    add(kb, "b", "Other.")
    upload = kb.add_text("a", f"First {MARK}.")
    flush = kb._projector.flush

    def cancelling() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        flush()
        kb.cancel(str(upload.job_id))

    kb._projector.flush = cancelling  # type: ignore[method-assign]
    kb.work_off()
    kb.purge("a.txt", 1)
    assert files_with(tmp_path / "data", MARK.encode()) == []
    assert kb.catalog.purges.pending() == []


def test_a_store_that_is_down_delays_the_removal_and_not_the_purge(kb: core.KnowledgeBase) -> None:
    add(kb, "a", f"First {MARK}.")
    flush = kb._projector.flush_all

    def down() -> None:
        raise core.errors.StoreUnavailable("down")

    kb._projector.flush_all = down  # type: ignore[method-assign]
    kb.purge("a.txt")
    assert names(kb, MARK) == set()
    assert [stone.number for stone in kb.catalog.purges.pending()] == [1]
    kb._projector.flush_all = flush  # type: ignore[method-assign]
    add(kb, "b", "Other.")
    assert kb.catalog.purges.pending() == []


KILLED = """
import os, signal, sys, time
from pathlib import Path
import core
import core.versions.purge as purge
from core.settings import Settings

folder, step = Path(sys.argv[1]), sys.argv[2]
kb = core.build(Settings(data_dir=folder, embedder="hash", job_workers=0))
while kb.is_starting:
    time.sleep(0.02)
kb.add_text("a", "First MARK.")
kb.work_off()
core.EvoRAG(kb=kb).ask("MARK?")
kb.add_text("a", "Second text.")
kb.work_off()
owner, name = {
    "flush": (kb._projector, "flush_all"),
    "forget": (kb._purge, "_forget"),
    "redact": (kb.catalog.questions, "redact"),
    "blob": (kb._blobs, "delete"),
    "vectors": (kb._vectors, "expunge"),
    "keywords": (kb._keywords, "expunge"),
    "log": (kb.catalog.database, "truncate_log"),
    "finished": (kb.catalog.purges, "finished"),
}[step]
def killed(*args):
    os.kill(os.getpid(), signal.SIGKILL)


setattr(owner, name, (killed,) if step == "forget" else killed)
kb.purge("a.txt", 1)
"""


@pytest.mark.long
@pytest.mark.parametrize("step", ["flush", "forget", "redact", "blob", "vectors", "keywords", "log", "finished"])
def test_a_purge_that_was_killed_is_invisible_at_once_and_finished_at_the_next_start(tmp_path: Path, step: str) -> None:
    folder = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", KILLED.replace("MARK", MARK), str(folder), step], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    with core.build(Settings(data_dir=folder, embedder="hash", job_workers=0)) as kb:
        assert names(kb, "first", as_of=1) == set()
        until(lambda: not kb.is_starting)
        assert kb.catalog.purges.pending() == []
        assert kb.version("a.txt", 1).state == "purged"
        assert names(kb, "second") == {("a.txt", 2)}
        with kb.catalog.database.read() as tx:
            assert tx.scalar(select(outbox.c.id).limit(1)) is None
        # The question itself, asked in these words, is all that is left.
        assert files_with(folder, b"First " + MARK.encode()) == []
