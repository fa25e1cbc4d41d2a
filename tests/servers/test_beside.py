"""Several transactions write to the catalogue on PostgreSQL at a time: what waits for what, and nothing is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from core.catalog import Catalog, NewVersion, beside, engine
from core.catalog.documents.chunks import CutVersion
from core.catalog.engine import Database
from core.catalog.generations import Made
from core.catalog.jobs.changes import next_change
from core.catalog.jobs.job_scheduler import Choice
from core.catalog.jobs.ledger import Attempt, Step
from core.catalog.schema import chunks, documents, index_settings, jobs, publications, versions
from core.model import Chunk, JobFilter, JobState, Part, Stage
from tests.builders import knowledge_base
from tests.servers.beside_process import MODEL, Writer, vectors
from tests.servers.postgres import PostgresServer

ACTIVE = JobFilter(states=(JobState.QUEUED, JobState.RUNNING))
_PATIENCE_S = 30.0
_SOON_S = 0.5
"""Time that something which waits is given to show that it does not."""


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.database()


@pytest.fixture
def two(url: str) -> Iterator[tuple[Catalog, Catalog]]:
    """The same catalogue, as two processes have it."""
    pair = Catalog(url), Catalog(url)
    pair[0].generations.begin(Made("hash", MODEL, 384, "words"))
    yield pair
    for each in pair:
        each.close()


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


class Held:
    """A transaction beside others that is held open, with what it has written, until it is let go."""

    def __init__(self, database: Database, parts: set[str], act: Callable[[Connection], Any] = lambda _: None) -> None:
        self._has_acted, self._may_end = threading.Event(), threading.Event()
        self.result: Any = None

        def hold(tx: Connection) -> None:
            self.result = act(tx)
            self._has_acted.set()
            assert self._may_end.wait(_PATIENCE_S)

        self._thread = threading.Thread(target=lambda: database.beside(lambda _: parts, hold))
        self._thread.start()
        assert self._has_acted.wait(_PATIENCE_S)

    def let_go(self) -> None:
        self._may_end.set()
        self._thread.join(_PATIENCE_S)
        assert not self._thread.is_alive()


def waits(doing: Future[Any]) -> bool:
    time.sleep(_SOON_S)
    return not doing.done()


def claimed(catalog: Catalog, *keys: str) -> list[tuple[int, int, Attempt]]:
    """Claim and take a document each; return the ids of document and version, and the attempt."""
    news = [NewVersion(f"{key}.txt", f"{key}.txt", "txt", f"{hash(key) % 16**64:064x}", "0" * 40, 9) for key in keys]
    claims = catalog.documents.claim_many(news)
    attempts = {job.id: Attempt(job.id, job.attempts) for job in catalog.jobs.take(Choice(len(keys), 10**9))}
    return [(claim.doc_id, claim.version_id, attempts[str(claim.job_id)]) for claim in claims]


def cut(catalog: Catalog, of: tuple[int, int, Attempt], text: str) -> None:
    doc_id, version_id, attempt = of
    written = CutVersion(version_id, doc_id, "Hours", [Chunk(0, text, 0, len(text), token_count=9)], attempt)
    assert catalog.chunks.cut([written]) == {version_id}


def asked(catalog: Catalog, store: str) -> dict[int, Part | None]:
    batch = catalog.outbox.next_batch(store, 1_000)
    return batch.wanted if batch else {}


def test_a_document_is_written_while_the_transaction_of_another_one_is_open(two: tuple[Catalog, Catalog]) -> None:
    here, there = two
    one, other = claimed(here, "one", "other")
    held = Held(here.database, {beside.document(one[0])})
    with threads() as pool:
        pool.submit(cut, there, other, "The museum opens at nine.").result(_PATIENCE_S)
        pool.submit(there.jobs.advance, [Step(other[2], Stage.KEYWORDS)]).result(_PATIENCE_S)
        same = pool.submit(cut, there, one, "The museum opens at ten.")
        assert waits(same)
        held.let_go()
        same.result(_PATIENCE_S)


def test_what_is_alone_waits_for_all_and_lets_nobody_in(two: tuple[Catalog, Catalog]) -> None:
    here, there = two
    one, other = claimed(here, "one", "other")
    cut(here, other, "The museum opens at nine.")
    held = Held(here.database, {beside.document(one[0])})
    with threads() as pool:
        alone = pool.submit(there.publications.prepare, other[0], other[1])
        assert waits(alone)
        later = pool.submit(here.jobs.advance, [Step(other[2], Stage.KEYWORDS)])
        assert waits(later)
        held.let_go()
        alone.result(_PATIENCE_S)
        later.result(_PATIENCE_S)


def test_entries_of_a_transaction_that_commits_late_are_not_passed_over(two: tuple[Catalog, Catalog]) -> None:
    here, there = two
    one, other = claimed(here, "one", "other")
    cut(here, one, "The museum opens at nine.")
    cut(here, other, "The garden opens at ten.")
    with here.database.read() as tx:
        (early,) = tx.execute(select(chunks.c.id, chunks.c.content_hash).where(chunks.c.doc_id == one[0])).all()
        (late,) = tx.execute(select(chunks.c.id, chunks.c.content_hash).where(chunks.c.doc_id == other[0])).all()

    def embed(tx: Connection) -> None:
        class Within:
            def beside(self, _: object, act: Callable[[Connection], None]) -> None:
                act(tx)

        own = type(here.embeddings)(Within())  # type: ignore[arg-type]
        own.add(MODEL, [early.content_hash], vectors(1))

    # Its entry has the smaller number.
    held = Held(here.database, {beside.document(one[0])}, embed)
    there.embeddings.add(MODEL, [late.content_hash], vectors(1))
    batch = there.outbox.next_batch("vector", 1_000)
    assert batch is not None and set(batch.wanted) == {late.id}
    there.outbox.done(batch, 1)
    held.let_go()
    left = there.outbox.next_batch("vector", 1_000)
    assert left is not None and set(left.wanted) == {early.id}
    assert max(left.entry_ids) < min(batch.entry_ids)


def test_a_reader_of_changes_passes_none_over(two: tuple[Catalog, Catalog]) -> None:
    here, there = two
    first, second = claimed(here, "one", "other")

    def change(tx: Connection) -> int:
        tx.execute(update(jobs).where(jobs.c.id == first[2].job_id).values(change=next_change(tx)))
        return next_change(tx)

    held = Held(here.database, {beside.CHANGES}, change)
    with threads() as pool:
        later = pool.submit(there.jobs.advance, [Step(second[2], Stage.KEYWORDS)])
        assert waits(later)
        seen = there.database.changes.wait(0, 0.0)
        assert seen < held.result
        held.let_go()
        later.result(_PATIENCE_S)
    assert {job.change for job in there.jobs.recent(changed_since=seen)} == {held.result, held.result + 1}


def test_a_change_without_its_part_is_refused(two: tuple[Catalog, Catalog]) -> None:
    with pytest.raises(AssertionError):
        two[0].database.beside(lambda _: {beside.document(1)}, next_change)


def test_a_chunk_that_comes_while_its_content_is_embedded_gets_its_vector_row(two: tuple[Catalog, Catalog]) -> None:
    here, there = two
    one, other = claimed(here, "one", "other")
    shared = "The museum opens at nine."
    cut(here, one, shared)
    with here.database.read() as tx:
        (content,) = tx.scalars(select(chunks.c.content_hash))
    has_looked, may_go_on = threading.Event(), threading.Event()
    holders = beside.holders

    def slow(tx: Connection, hashes: list[bytes]) -> set[str]:
        found = holders(tx, hashes)
        has_looked.set()
        assert may_go_on.wait(_PATIENCE_S)
        return found

    with threads() as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(beside, "holders", slow)
        embedding = pool.submit(here.embeddings.add, MODEL, [content], vectors(1))
        assert has_looked.wait(_PATIENCE_S)
        # The other document gets the content after those that have it were named.
        cut(there, other, shared)
        placing = pool.submit(there.publications.prepare, other[0], other[1])
        assert waits(placing)
        may_go_on.set()
        embedding.result(_PATIENCE_S)
        placing.result(_PATIENCE_S)
    with here.database.read() as tx:
        ids = {row.doc_id: row.id for row in tx.execute(select(chunks.c.id, chunks.c.doc_id))}
    assert asked(here, "vector") == {ids[one[0]]: Part.HISTORY, ids[other[0]]: Part.HEAD}


def test_two_that_embed_the_same_content_keep_it_once(two: tuple[Catalog, Catalog]) -> None:
    (one,) = claimed(two[0], "one")
    cut(two[0], one, "The museum opens at nine.")
    with two[0].database.read() as tx:
        hashes = list(tx.scalars(select(chunks.c.content_hash)))
    with threads() as pool:
        for done in [pool.submit(each.embeddings.add, MODEL, hashes, vectors(1)) for each in two * 3]:
            done.result(_PATIENCE_S)
    batch = two[0].outbox.next_batch("vector", 1_000)
    assert batch is not None and len(batch.entry_ids) == 1
    assert two[0].indexing.of(one[1]).embedded_chunks == 1


def test_transactions_that_wait_in_a_circle_all_end(two: tuple[Catalog, Catalog]) -> None:
    with two[0].database.write() as tx:
        tx.execute(insert(index_settings), [{"key": key, "value": ""} for key in "ab"])
    both = threading.Barrier(2)
    tries: list[str] = []

    def add(catalog: Catalog, order: str) -> None:
        def act(tx: Connection) -> None:
            tries.append(order)
            for key in order:
                row = index_settings.c.key == key
                tx.execute(update(index_settings).where(row).values(value=index_settings.c.value + order[0]))
                if len(tries) <= 2 and key == order[0]:
                    both.wait(_PATIENCE_S)

        # They say that they write to different parts, which is not so.
        catalog.database.beside(lambda _: {order}, act)

    with threads() as pool:
        for done in [pool.submit(add, *each) for each in zip(two, ("ab", "ba"), strict=True)]:
            done.result(_PATIENCE_S)
    with two[0].database.read() as tx:
        values = tx.scalars(select(index_settings.c.value).where(index_settings.c.key.in_(["a", "b"]))).all()
    assert len(tries) == 3
    assert {"".join(sorted(value)) for value in values} == {"ab"}


def test_one_that_touches_many_documents_is_alone(
    two: tuple[Catalog, Catalog], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MOST_PARTS", 2)
    of = claimed(two[0], "one", "two", "three")
    for each in of:
        cut(two[0], each, "The museum opens at nine.")
    with two[0].database.read() as tx:
        hashes = list(tx.scalars(select(chunks.c.content_hash).distinct()))
    # Nothing of these documents is held, and yet it waits.
    held = Held(two[0].database, {beside.CHANGES})
    with threads() as pool:
        doing = pool.submit(two[1].embeddings.add, MODEL, hashes, vectors(1))
        assert waits(doing)
        held.let_go()
        doing.result(_PATIENCE_S)
    assert len(asked(two[0], "vector")) == 3


def test_what_writers_that_are_killed_have_begun_is_ended_and_both_stores_agree(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, chance = postgres.database(), random.Random(22)
    monkeypatch.setenv("EVORAG_CATALOG_URL", url)
    with knowledge_base(tmp_path) as kb:
        catalog = kb.catalog
        for version in range(3):
            catalog.documents.claim_many(
                [
                    NewVersion(f"{at}.txt", f"{at}.txt", "txt", f"{version * 100 + at:064x}", "0" * 40, 9)
                    for at in range(20)
                ]
            )
        ended, draining = threading.Event(), threading.Thread(target=lambda: drain(kb._projector, ended))
        draining.start()
        killed = 0
        while any(catalog.jobs.counts(ACTIVE).values()):
            writing = [start(url, chance.randrange(1000)) for _ in range(3)]
            try:
                for each in writing:
                    assert each.stdout is not None and each.stdout.readline() == "writing\n"
                if killed < 6:
                    for each in writing[:2]:
                        time.sleep(chance.random() * 0.4)
                        each.kill()
                        killed += each.wait(_PATIENCE_S) == -signal.SIGKILL
                writing[2].wait(120)
            finally:
                for each in writing:
                    each.kill()
                    each.wait(_PATIENCE_S)
        ended.set()
        draining.join(_PATIENCE_S)
        kb._projector.flush()
        assert killed >= 2
        with catalog.database.read() as tx:
            states = set(tx.scalars(select(versions.c.state)))
            newest = select(publications.c.version_id).order_by(publications.c.seq.desc()).limit(1)
            shown = {
                tx.scalar(select(versions.c.number).where(versions.c.id == tx.scalar(newest.where(own))))
                for own in (publications.c.doc_id == doc_id for doc_id in tx.scalars(select(documents.c.id)).all())
            }
            lacking = select(versions.c.id).where(versions.c.embedded_chunks < versions.c.chunk_count)
            assert tx.scalars(lacking).all() == []
        assert (states, shown) == ({"ready"}, {3})
        assert all(each.is_sound and not each.waiting and each.stored for each in kb.check())


def start(url: str, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.servers.beside_process", url, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def drain(projector: Any, ended: threading.Event) -> None:
    while not ended.wait(0.02):
        projector.flush()


def test_threads_of_one_process_write_side_by_side(url: str) -> None:
    catalog = Catalog(url)
    news = [NewVersion(f"{at}.txt", f"{at}.txt", "txt", f"{at:064x}", "0" * 40, 9) for at in range(24)]
    catalog.documents.claim_many(news)
    with threads() as pool:
        for done in [pool.submit(Writer(catalog, seed).work) for seed in range(6)]:
            done.result(120)
    with catalog.database.read() as tx:
        assert len(tx.scalars(select(publications.c.version_id)).all()) == 24
    ended = [job.change for job in catalog.jobs.recent()]
    assert len(ended) == len(set(ended)) == 24
    catalog.close()
