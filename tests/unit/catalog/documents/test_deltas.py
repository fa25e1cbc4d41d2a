"""What two versions do not share is found from the deltas, whichever versions were removed in between."""

from __future__ import annotations

import tempfile
from itertools import permutations
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from sqlalchemy import func, select

from core.catalog import Catalog, NewVersion
from core.catalog.documents.claims import Claim
from core.catalog.documents.cutting import CutVersion
from core.catalog.documents.deltas import difference
from core.catalog.jobs.job_scheduler import Choice
from core.catalog.jobs.ledger import Attempt
from core.catalog.schema import chunks, version_deltas, versions
from core.model import Chunk

TEXTS = [f"line {number}" for number in range(12)]

contents = st.tuples(st.sets(st.sampled_from(TEXTS), max_size=3), st.booleans()).map(
    lambda drawn: [text for text in TEXTS if text not in drawn[0]] + [TEXTS[0]] * drawn[1]
)
"""The chunks of a version, most of which the others have as well; one may come twice."""

events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["add", "cut", "begin"]), contents),
        st.tuples(st.sampled_from(["finish", "forget", "purge"]), st.integers(0, 23)),
    ),
    min_size=1,
    max_size=15,
)


class Document:
    """One document in a real catalogue, whose versions are begun, finished and removed in any order."""

    def __init__(self, folder: Path) -> None:
        self.catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}")
        self.doc_id = 0
        self.begun: dict[int, tuple[str, list[str]]] = {}
        self.ready: dict[int, set[str]] = {}

    def begin(self, texts: list[str]) -> None:
        claim = self._claimed()
        self.catalog.chunks.begin(claim.version_id)
        self.catalog.chunks.add(claim.version_id, claim.doc_id, "a", _chunks(texts))
        self.begun[claim.version_id] = (str(claim.job_id), texts)

    def cut(self, texts: list[str]) -> None:
        """Have the next version's chunks as a group of documents gets them."""
        claim = self._claimed()
        attempt = Attempt(str(claim.job_id), 1)
        while not self.catalog.jobs.is_running(attempt):
            self.catalog.jobs.take(Choice(1, 10))
        cut = CutVersion(claim.version_id, claim.doc_id, "a", _chunks(texts), attempt)
        assert self.catalog.chunks.cut([cut]) == {claim.version_id}
        self.begun[claim.version_id] = (str(claim.job_id), texts)
        self.ready[claim.version_id] = set(texts)

    def _claimed(self) -> Claim:
        new = NewVersion("a.txt", "a.txt", "txt", f"{len(self.begun) + 1:064x}", "0" * 40, 1)
        claim = self.catalog.documents.claim(new)
        self.doc_id = claim.doc_id
        return claim

    def act(self, kind: str, which: int) -> None:
        if not self.begun:
            return
        version_id = list(self.begun)[which // 2 % len(self.begun)]
        job_id, texts = self.begun[version_id]
        state = self.state(version_id)
        if kind == "finish" and state == "stored":
            self.catalog.chunks.finish(version_id, self.doc_id)
            if which % 2:
                self.catalog.jobs.end(job_id, "done", version_state="ready")
            self.ready[version_id] = set(texts)
        if kind == "forget" and state == "stored":
            self.catalog.jobs.end(job_id, "failed", version_state="failed")
            self.catalog.chunks.forget(version_id)
            self.ready.pop(version_id, None)
        if kind == "purge" and state != "purged":
            self.catalog.purges.bury(self.doc_id, version_id, "", "")
            self.catalog.purges.finished(version_id)
            self.ready.pop(version_id, None)

    def state(self, version_id: int) -> str:
        with self.catalog.database.read() as tx:
            return str(tx.scalar(select(versions.c.state).where(versions.c.id == version_id)))


def _chunks(texts: list[str]) -> list[Chunk]:
    return [Chunk(place, text, 0, len(text)) for place, text in enumerate(texts)]


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(events)
def test_differences_are_exact_whatever_was_removed(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        document = Document(Path(folder))
        for kind, what in steps:
            if kind == "cut":
                document.cut(what)  # type: ignore[arg-type]
            elif kind in ("add", "begin"):
                document.begin(what)  # type: ignore[arg-type]
                if kind == "add":
                    document.act("finish", 2 * len(document.begun) - 1)
            else:
                document.act(kind, what)  # type: ignore[arg-type]
        with document.catalog.database.read() as tx:
            for one, other in permutations(document.ready, 2):
                found = list(tx.scalars(difference(tx, one, other)))
                texts = set(tx.scalars(select(chunks.c.text).where(chunks.c.id.in_(found))))
                assert texts == document.ready[one] - document.ready[other]
                assert len(found) == len(set(found)) == len(texts)
        document.catalog.close()


def test_versions_are_compared_along_their_bases_and_not_as_a_whole(tmp_path: Path) -> None:
    document = Document(tmp_path)
    lines = [f"line {number}" for number in range(200)]
    for number in range(6):
        document.begin([*lines, f"ending {number}"])
        document.act("finish", 2 * number + 1)
    with document.catalog.database.read() as tx:
        kept = tx.scalar(select(func.count()).select_from(version_deltas))
        first, *_, last = document.ready
        statement = str(difference(tx, first, last))
    assert kept == 2 * 5
    assert "version_deltas" in statement
    document.catalog.close()


def test_chunks_of_a_group_are_counted_and_told_apart_as_those_of_one_document(tmp_path: Path) -> None:
    told = []
    for way in ("begin", "cut"):
        (tmp_path / way).mkdir()
        document = Document(tmp_path / way)
        for number, texts in enumerate(([*TEXTS, TEXTS[0]], TEXTS[2:], [TEXTS[3], *TEXTS, "new"], ["another"])):
            getattr(document, way)(list(texts))
            if way == "begin":
                document.act("finish", 2 * number)
        counted = ("chunk_count", "chunks_added", "chunks_kept", "chunks_removed", "base_id")
        with document.catalog.database.read() as tx:
            rows = tx.execute(select(versions.c.id, *(versions.c[name] for name in counted)).order_by(versions.c.id))
            deltas = tx.execute(select(version_deltas).order_by(*version_deltas.c))
            told.append(([tuple(row) for row in rows], [tuple(row) for row in deltas]))
        document.catalog.close()
    assert told[0] == told[1]
    assert [row[1] for row in told[0][0]] == [13, 10, 14, 1]


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_versions_based_on_a_purged_one_are_told_apart_as_before(tmp_path: Path, gone: int) -> None:
    document = Document(tmp_path)
    for dropped in range(5):
        document.begin([*TEXTS[:dropped], *TEXTS[dropped + 1 :]])
        document.act("finish", 2 * dropped + 1)
    document.act("purge", 2 * gone)
    with document.catalog.database.read() as tx:
        for one, other in permutations(document.ready, 2):
            statement = difference(tx, one, other)
            texts = set(tx.scalars(select(chunks.c.text).where(chunks.c.id.in_(list(tx.scalars(statement))))))
            assert texts == document.ready[one] - document.ready[other]
            assert "version_deltas" in str(statement)
    document.catalog.close()
