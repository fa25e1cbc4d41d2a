"""What check and repair do on every store; subclass it and give a ``kb`` whose jobs are done by ``work_off``.

Each planted fault is found, named and mended, and the second check is without a fault.
"""

from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import select

import core
from core.catalog.schema import version_chunks, versions
from core.indexes.repair_jobs import SLICE
from core.model import Fault, JobState, Part, StoreCheck
from tests.builders import add
from tests.indexes import assert_indexes_follow_the_catalogue

STORES = ("vector", "keyword")
ALIEN = 987_654_321


def fill(kb: core.KnowledgeBase) -> None:
    """Three documents: one of two versions, one that is shown no more, one that shares its text with the first."""
    kb.add_text("harbour.txt", "The ferry leaves the harbour at noon.")
    kb.add_text("tower.txt", "The lighthouse is painted every spring.")
    add(kb, "copy.txt", "The ferry leaves the harbour at one.")
    add(kb, "harbour.txt", "The ferry leaves the harbour at one.")
    kb.delete("tower.txt")
    kb._projector.flush()


def of_version(kb: core.KnowledgeBase, doc_key: str, number: int) -> int:
    """Return the id of the one chunk of a version."""
    query = select(version_chunks.c.chunk_id).join(versions, versions.c.id == version_chunks.c.version_id)
    doc_id = kb.catalog.documents.id_of(doc_key)
    with kb.catalog.database.read() as tx:
        return int(tx.scalar(query.where(versions.c.doc_id == doc_id, versions.c.number == number)))  # type: ignore


def check(kb: core.KnowledgeBase, store: str) -> StoreCheck:
    return kb.check(store)[0]


def plant(kb: core.KnowledgeBase, store: str, fault: Fault, chunk_id: int, part: Part = Part.HEAD) -> int:
    """Spoil the row of a chunk that is in ``part``; return the id of the row that is wrong then."""
    index = kb._stores._repair_jobs._stores()[store].index
    if fault is Fault.MISSING:
        index.delete([chunk_id])
        return chunk_id
    if store == "vector":
        [row] = kb.catalog.chunks.vector_rows({chunk_id: part}, kb._stores._repair_jobs._stores()[store].making().model)
    else:
        [row] = kb.catalog.chunks.keyword_rows({chunk_id: part})
    if fault is Fault.ORPHANED:
        index.upsert([dataclasses.replace(row, chunk_id=ALIEN)])
        return ALIEN
    if fault is Fault.STALE:
        index.upsert([dataclasses.replace(row, fingerprint=row.fingerprint ^ 1)])
    else:
        index.upsert([dataclasses.replace(row, part=Part.HISTORY if part is Part.HEAD else Part.HEAD)])
    return chunk_id


class ConsistencyContract:
    """Tests of check, repair and reindex; ``kb`` is empty."""

    def test_what_was_indexed_is_sound(self, kb: core.KnowledgeBase) -> None:
        fill(kb)
        for found in kb.check():
            assert found.is_sound
            assert (found.expected, found.stored, found.waiting) == (4, 4, 0)
            assert (found.versions_checked, found.versions_wrong, found.versions) == (4, 0, ())

    @pytest.mark.parametrize("store", STORES)
    def test_every_fault_is_found_named_and_mended(self, kb: core.KnowledgeBase, store: str) -> None:
        fill(kb)
        shown, old = of_version(kb, "harbour.txt", 2), of_version(kb, "harbour.txt", 1)
        hidden, copy = of_version(kb, "tower.txt", 1), of_version(kb, "copy.txt", 1)
        faults = {
            Fault.MISSING: plant(kb, store, Fault.MISSING, shown),
            Fault.STALE: plant(kb, store, Fault.STALE, old, Part.HISTORY),
            Fault.MISPLACED: plant(kb, store, Fault.MISPLACED, hidden, Part.HISTORY),
            Fault.ORPHANED: plant(kb, store, Fault.ORPHANED, copy),
        }
        found = check(kb, store)
        assert {fault: found.examples[fault] for fault in faults} == {
            fault: (str(row),) for fault, row in faults.items()
        }
        assert (found.missing, found.orphaned, found.stale, found.misplaced) == (1, 1, 1, 1)
        wrong = {(each.doc_key, each.version): each for each in found.versions}
        assert {
            name: (each.missing, each.stale, each.misplaced, each.expected_fingerprint == each.stored_fingerprint)
            for name, each in wrong.items()
        } == {
            ("harbour.txt", 2): (1, 0, 0, False),
            ("harbour.txt", 1): (0, 1, 0, False),
            ("tower.txt", 1): (0, 0, 1, True),
        }

        only_looked = kb.repair(store)
        kb.work_off()
        assert kb.store_report(only_looked).before[0].faults == 4
        assert kb.store_report(only_looked).after == ()
        assert check(kb, store).faults == 4

        job_id = kb.repair(store, dry_run=False)
        kb.work_off()
        assert kb.job(job_id).state is JobState.DONE
        report = kb.store_report()
        assert (report.job_id, report.mended, report.before[0].faults) == (job_id, 4, 4)
        assert [each.is_sound for each in report.after] == [True]
        assert_indexes_follow_the_catalogue(kb)

    def test_mended_row_is_found_by_a_question_again(self, kb: core.KnowledgeBase) -> None:
        fill(kb)
        for store in STORES:
            for doc_key, number in (("harbour.txt", 2), ("copy.txt", 1)):
                plant(kb, store, Fault.MISSING, of_version(kb, doc_key, number))
        asked = core.EvoRAG(kb=kb)
        assert asked.search("When does the ferry leave?").hits == ()
        kb.repair(dry_run=False)
        kb.work_off()
        assert [hit.placed.chunk.text for hit in asked.search("When does the ferry leave?").hits] == [
            "The ferry leaves the harbour at one."
        ]

    @pytest.mark.parametrize("store", STORES)
    def test_store_that_lost_everything_is_written_anew(self, kb: core.KnowledgeBase, store: str) -> None:
        fill(kb)
        plant(kb, store, Fault.ORPHANED, of_version(kb, "copy.txt", 1))
        kb._stores._repair_jobs._stores()[store].index.delete([of_version(kb, "harbour.txt", 2)])
        job_id = kb.reindex(store)
        kb.work_off()
        report = kb.store_report(job_id)
        assert kb.job(job_id).state is JobState.DONE
        assert report.mended >= 4 < SLICE
        assert [(each.store, each.is_sound, each.stored) for each in report.after] == [(store, True, 4)]
        assert_indexes_follow_the_catalogue(kb)
