"""What two versions do not share is found from the deltas, whichever versions were removed in between."""

from __future__ import annotations

import tempfile
from itertools import permutations
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given, settings
from sqlalchemy import func, select

from core.catalog import Catalog, NewVersion
from core.catalog.deltas import difference
from core.catalog.schema import chunks, version_deltas, versions
from core.model import Chunk

TEXTS = [f"line {number}" for number in range(12)]

contents = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=10)
"""The chunks of a version; one may come twice."""

events = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), contents),
        st.tuples(st.sampled_from(["finish", "forget", "purge"]), st.integers(0, 11)),
    ),
    min_size=1,
    max_size=25,
)


class Document:
    """One document in a real catalogue, whose versions are begun, finished and removed in any order."""

    def __init__(self, folder: Path) -> None:
        self.catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}")
        self.doc_id = 0
        self.begun: dict[int, tuple[str, list[str]]] = {}
        self.ready: dict[int, set[str]] = {}

    def begin(self, texts: list[str]) -> None:
        number = len(self.begun) + 1
        new = NewVersion("a.txt", "a.txt", "txt", f"{number:064x}", "0" * 40, 1)
        claim = self.catalog.documents.claim(new)
        self.doc_id = claim.doc_id
        self.catalog.chunks.begin(claim.version_id)
        batch = [Chunk(place, text, 0, len(text)) for place, text in enumerate(texts)]
        self.catalog.chunks.add(claim.version_id, claim.doc_id, "a", batch)
        self.begun[claim.version_id] = (str(claim.job_id), texts)

    def act(self, kind: str, which: int) -> None:
        if not self.begun:
            return
        version_id = list(self.begun)[which % len(self.begun)]
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


@settings(max_examples=60, deadline=None)
@given(events)
def test_differences_are_exact_whatever_was_removed(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        document = Document(Path(folder))
        for kind, what in steps:
            if kind == "begin":
                document.begin(what)  # type: ignore[arg-type]
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
