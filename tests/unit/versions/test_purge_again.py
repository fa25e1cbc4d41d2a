"""A purge that could not be finished is gone on with by itself, and keeps nobody from writing."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, select

import core
from core.catalog.schema import chunks, embeddings
from core.errors import StoreUnavailable
from tests.builders import add, knowledge_base

PATIENCE_S = 40.0


@pytest.fixture
def served(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    """A knowledge base with a worker thread and a document whose first version can be purged."""
    with knowledge_base(tmp_path, job_workers=1) as kb:
        for text in ("First text.", "Second text."):
            kb.wait([str(kb.add_text("a", text).job_id)], PATIENCE_S)
        yield kb


def is_finished(kb: core.KnowledgeBase, within_s: float) -> bool:
    end = time.monotonic() + within_s
    while kb.catalog.purges.pending():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def purgers() -> int:
    return sum(thread.name == "evorag-purge" for thread in threading.enumerate())


def test_it_is_finished_once_the_store_is_back(served: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    expunge, calls = served._keywords.expunge, []

    def down_at_first(ids: list[int]) -> bool:
        calls.append(ids)
        if len(calls) < 3:
            raise StoreUnavailable("down")
        return expunge(ids)

    monkeypatch.setattr(served._keywords, "expunge", down_at_first)
    served.purge("a.txt", 1)
    assert is_finished(served, PATIENCE_S) and len(calls) == 3


def test_following_goes_on_with_a_purge_once_and_leaves_it_its_pauses(kb: core.KnowledgeBase) -> None:
    for number in (1, 2, 3):
        add(kb, "a", f"Text {number}.")
    tried: list[None] = []
    kb._purge.finish = lambda: tried.append(None) is None  # type: ignore[method-assign]
    for number in (1, 2):
        kb.catalog.purges.bury(kb.catalog.documents.id_of("a.txt"), kb.version("a.txt", number).id, "", "")
        for _ in range(3):
            kb._purge.follow()
        assert len(tried) == number


def test_it_is_finished_once_nobody_holds_the_bytes(served: core.KnowledgeBase) -> None:
    sha256 = served.version("a.txt", 1).sha256
    served._purge._pins.take(sha256)
    served.purge("a.txt", 1)
    assert not is_finished(served, 0.5)
    served._purge._pins.release(sha256)
    assert is_finished(served, PATIENCE_S)


def test_nobody_waits_to_write_while_a_reader_keeps_the_log(served: core.KnowledgeBase) -> None:
    with served.catalog.database.read() as tx:
        tx.execute(select(chunks.c.id)).all()
        served.catalog.questions.count()
        served.purge("a.txt", 1)
        for number in range(20):
            begun = time.monotonic()
            served.save_question(f"Question {number}?")
            assert time.monotonic() - begun < 30
            time.sleep(0.05)
        assert served.catalog.purges.pending()
    assert is_finished(served, PATIENCE_S)


def test_other_connections_wait_for_each_other_as_before(served: core.KnowledgeBase) -> None:
    assert served.catalog.database.truncate_log() in (True, False)
    with served.catalog.database.read() as tx:
        assert tx.exec_driver_sql("PRAGMA busy_timeout").scalar() == 60_000


@pytest.mark.long
def test_one_thread_does_it_all(served: core.KnowledgeBase) -> None:
    before = purgers()
    for number in range(5):
        served.wait([str(served.add_text("b", f"Text {number}.").job_id)], PATIENCE_S)
        if number:
            served.purge("b.txt", number)
    assert purgers() == before == 1
    assert is_finished(served, PATIENCE_S)


@pytest.mark.parametrize("reason", ["store", "log"])
def test_closing_does_not_wait_for_what_cannot_be_finished(tmp_path: Path, reason: str) -> None:
    with knowledge_base(tmp_path, job_workers=1) as kb:
        for text in ("First text.", "Second text."):
            kb.wait([str(kb.add_text("a", text).job_id)], PATIENCE_S)
        tried = threading.Event()

        def never(*_: object) -> bool:
            tried.set()
            return _unavailable() if reason == "store" else False

        owner, name = (kb._keywords, "expunge") if reason == "store" else (kb.catalog.database, "truncate_log")
        setattr(owner, name, never)
        kb.purge("a.txt", 1)
        assert tried.wait(PATIENCE_S)
        begun = time.monotonic()
        kb._purge.close()
        assert time.monotonic() - begun < 20 and purgers() == 0
        kb._purge.finish_soon()
        assert purgers() == 0


def _unavailable() -> bool:
    raise StoreUnavailable("down")


def test_embeddings_are_looked_for_without_keeping_others_from_writing(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "First text.")
    add(kb, "a", "Second text.")
    written: list[str] = []

    def note(_1: Connection, _2: sqlite3.Cursor, statement: str, *_: object) -> None:
        if statement.startswith("DELETE FROM embeddings"):
            written.append(statement)

    event.listen(kb.catalog.database.engine, "before_cursor_execute", note)
    kb.purge("a.txt", 1)
    event.remove(kb.catalog.database.engine, "before_cursor_execute", note)
    assert written and all("content_hash IN (" in statement for statement in written)


def test_embeddings_of_a_cancelled_upload_go_with_it(kb: core.KnowledgeBase) -> None:
    add(kb, "b", "Other.")
    upload = kb.add_text("a", "First text.")
    flush: Callable[[], None] = kb._projector.flush

    def cancelling() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        flush()
        kb.cancel(str(upload.job_id))

    kb._projector.flush = cancelling  # type: ignore[method-assign]
    kb.work_off()
    kb.purge("a.txt", 1)
    with kb.catalog.database.read() as tx:
        kept = set(tx.scalars(select(chunks.c.content_hash)))
        assert set(tx.scalars(select(embeddings.c.content_hash))) == kept and len(kept) == 1
