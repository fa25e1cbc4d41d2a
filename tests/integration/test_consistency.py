"""Check, repair and reindex on the stores of one machine, and while people go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select

import core
from core.catalog.schema import versions
from core.errors import InvalidInput, NotFound, StoreUnavailable
from core.model import Fault, JobState, Part
from core.platform import failpoints
from core.ports import KeywordRow, StoredRows
from tests.builders import add, begin, knowledge_base
from tests.contracts.consistency import STORES, ConsistencyContract, check, fill, of_version, plant
from tests.indexes import assert_indexes_follow_the_catalogue


class TestStoresInMemory(ConsistencyContract):
    @pytest.fixture
    def kb(self, tmp_path: Path) -> Iterator[core.KnowledgeBase]:
        with knowledge_base(tmp_path) as opened:
            yield opened


class TestStoresOfOneMachine(ConsistencyContract):
    """Milvus Lite and tantivy."""

    @pytest.fixture
    def kb(self, tmp_path: Path) -> Iterator[core.KnowledgeBase]:
        chosen = core.settings.Settings(data_dir=tmp_path / "data", embedder="hash", job_workers=0)
        begin(chosen.data_dir)
        with core.build(chosen) as opened:
            opened._background.join()
            yield opened


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("store", STORES)
def test_what_the_store_has_yet_to_be_told_is_no_fault(kb: core.KnowledgeBase, store: str) -> None:
    fill(kb)
    kb._projector.close()  # what was filled has woken it, and it would tell the store before it is checked
    chunk_id = plant(kb, store, Fault.MISSING, of_version(kb, "copy.txt", 1))
    kb.catalog.consistency.mend(store, [chunk_id], kb._stores._repair_jobs._stores()[store].making())
    found = check(kb, store)
    assert (found.is_sound, found.missing, found.waiting) == (True, 0, 1)
    kb._projector.flush()
    assert (check(kb, store).waiting, check(kb, store).stored) == (0, 4)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("apart", [False, True])
def test_row_that_is_there_twice_is_to_be_written_anew(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, store: str, apart: bool
) -> None:
    fill(kb)
    index = kb._stores._repair_jobs._stores()[store].index
    [rows] = index.stored()
    again = StoredRows(rows.ids[:1], rows.fingerprints[:1], rows.in_head[:1])
    joined = StoredRows(*(np.concatenate(both) for both in zip(astuple(rows), astuple(again), strict=True)))
    batches = [rows, again] if apart else [joined]
    monkeypatch.setattr(type(index), "stored", lambda _: iter(batches))
    found = check(kb, store)
    assert (found.stored, found.stale, found.missing, found.orphaned) == (len(rows.ids) + 1, 1, 0, 0)
    assert found.examples["stale"] == (str(rows.ids[0]),)


def test_version_that_is_being_indexed_is_not_missed(kb: core.KnowledgeBase) -> None:
    fill(kb)
    seen = []
    failpoints.on_failpoint(lambda name: seen.append(kb.check()) if name == "index.batch.read" else None)
    try:
        add(kb, "new.txt", "A new pier was built.")
    finally:
        failpoints.on_failpoint(None)
    assert seen
    assert all(each.is_sound for checks in seen for each in checks)


def test_row_of_a_former_vocabulary_is_stale_once_the_new_one_is_in_effect(kb: core.KnowledgeBase) -> None:
    fill(kb)
    kb.insight.set_vocabulary([["ferry leaves"]], [])
    assert check(kb, "keyword").is_sound
    [old] = kb.catalog.chunks.keyword_rows({of_version(kb, "copy.txt", 1): Part.HEAD})
    kb.insight.reindex_words()
    kb.work_off()
    assert check(kb, "keyword").is_sound
    kb._stores._repair_jobs._stores()["keyword"].index.upsert([old])
    found = check(kb, "keyword")
    assert (found.stale, found.faults) == (1, 1)
    assert check(kb, "vector").is_sound


def test_rows_that_a_vocabulary_has_not_reached_yet_are_no_faults(kb: core.KnowledgeBase) -> None:
    fill(kb)
    kb.insight.set_vocabulary([["ferry leaves"]], [])
    kb.insight.reindex_words()
    seen = []
    failpoints.on_failpoint(
        lambda name: seen.append(check(kb, "keyword")) if name.startswith("vocabulary.slice") else None
    )
    try:
        kb.work_off()
    finally:
        failpoints.on_failpoint(None)
    assert len(seen) == 2
    assert all(each.is_sound for each in seen)


@pytest.mark.parametrize("store", STORES)
def test_versions_of_huge_numbers_are_checked_as_others_are(kb: core.KnowledgeBase, store: str) -> None:
    add(kb, "first.txt", "A buoy.")
    with kb.catalog.database.write() as tx:
        failed = dict(tx.execute(select(versions)).mappings().one()) | {
            "id": 2**53 - 99,
            "number": 2,
            "state": "failed",
        }
        tx.execute(insert(versions).values(failed))
    fill(kb)
    assert kb.version("copy.txt", 1).id > 2**52
    assert check(kb, store).is_sound
    plant(kb, store, Fault.STALE, of_version(kb, "copy.txt", 1))
    found = check(kb, store)
    assert [(each.doc_key, each.version, each.stale) for each in found.versions] == [("copy.txt", 1, 1)]
    assert (found.versions_checked, found.versions_wrong) == (5, 1)


def test_store_that_does_not_answer_is_told_and_the_other_is_checked(kb: core.KnowledgeBase) -> None:
    fill(kb)
    kb._stores._repair_jobs._stores()["vector"].index.close()
    vector, keyword = kb.check()
    assert not vector.is_sound
    assert vector.error
    assert vector.faults == 0
    assert keyword.is_sound
    job_id = kb.repair()
    kb.work_off()
    assert kb.job(job_id).state is JobState.FAILED
    assert kb.job(job_id).error["code"] == StoreUnavailable.code
    assert kb.catalog.outbox.pending() == {"vector": 0, "keyword": 0}


def test_one_store_is_mended_and_written_anew_while_the_other_is_down(kb: core.KnowledgeBase) -> None:
    fill(kb)
    kb._stores._repair_jobs._stores()["vector"].index.close()
    kb.catalog.outbox.add_some("vector", -1, 1)
    plant(kb, "keyword", Fault.MISSING, of_version(kb, "copy.txt", 1))
    for job_id in (kb.repair("keyword", dry_run=False), kb.reindex("keyword")):
        kb.work_off()
        assert kb.job(job_id).state is JobState.DONE
    assert check(kb, "keyword").is_sound


@pytest.mark.parametrize("ends", ["recovers", "cancelled"])
def test_repair_waits_for_a_store_that_is_down(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr("core.indexes.repair_jobs._TOLD_EVERY_S", 0.0)
    monkeypatch.setattr("core.platform.retrying._PAUSE_S", 0.01)
    fill(kb)
    plant(kb, "keyword", Fault.MISSING, of_version(kb, "copy.txt", 1))
    upsert, refused = kb._keywords.upsert, []

    def failing(rows: Sequence[KeywordRow]) -> None:
        refused.append(len(rows))
        if len(refused) == 3 and ends == "cancelled":
            kb.cancel(job_id)
        if len(refused) <= 3:
            raise StoreUnavailable("The keyword store is down.")
        upsert(rows)

    monkeypatch.setattr(kb._keywords, "upsert", failing)
    job_id = kb.repair("keyword", dry_run=False)
    kb.work_off()
    assert kb.job(job_id).state is (JobState.DONE if ends == "recovers" else JobState.CANCELLED)
    assert len(refused) == (4 if ends == "recovers" else 3)


def test_repair_that_was_stopped_goes_on_and_tells_what_it_found_first(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.indexes.repair_jobs._TOLD_EVERY_S", 0.0)
    fill(kb)
    plant(kb, "keyword", Fault.MISSING, of_version(kb, "copy.txt", 1))
    job_id = kb.repair(dry_run=False)

    def end(name: str) -> None:
        if name == "stores.asked":
            failpoints.on_failpoint(None)
            raise KeyboardInterrupt

    failpoints.on_failpoint(end)
    with pytest.raises(KeyboardInterrupt):
        kb.work_off()
    assert kb.job(job_id).state is JobState.RUNNING
    kb.catalog.jobs.put_back([job_id])
    kb.work_off()
    report = kb.store_report(job_id)
    assert report.state is JobState.DONE
    assert report.before[1].missing == 1
    assert check(kb, "keyword").is_sound


def test_cancelled_check_ends(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.indexes.repair_jobs._TOLD_EVERY_S", 0.0)
    fill(kb)
    job_id = kb.repair()

    def cancel(name: str) -> None:
        if name == "jobs.taken":
            failpoints.on_failpoint(None)
            kb.cancel(job_id)

    failpoints.on_failpoint(cancel)
    kb.work_off()
    assert kb.job(job_id).state is JobState.CANCELLED
    assert kb.store_report(job_id).before == ()


def test_the_same_is_not_queued_twice(kb: core.KnowledgeBase) -> None:
    assert kb.repair("keyword") == kb.repair("keyword")
    assert kb.repair("keyword") != kb.repair("vector")
    assert kb.reindex_elasticsearch() == kb.reindex("keyword") != kb.repair("keyword")


def test_unknown_store_and_report_are_told(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="elastic"):
        kb.check("elastic")
    with pytest.raises(InvalidInput):
        kb.reindex("")
    with pytest.raises(NotFound):
        kb.store_report()
    with pytest.raises(NotFound):
        kb.store_report("0" * 32)


PLACES = (("harbour.txt", 2), ("harbour.txt", 1), ("tower.txt", 1), ("copy.txt", 1))
FAULTS = st.lists(st.tuples(st.sampled_from(list(Fault)), st.sampled_from(PLACES), st.sampled_from(STORES)), max_size=8)
DEEDS = st.lists(st.sampled_from(["show or hide", "change", "retract"]), max_size=3)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("filled")) as opened:
        fill(opened)
        yield opened


@settings(max_examples=5, deadline=None)
@given(faults=FAULTS, deeds=DEEDS)
def test_repair_never_removes_a_good_row(
    filled: core.KnowledgeBase, faults: list[tuple[Fault, tuple[str, int], str]], deeds: list[str]
) -> None:
    """Whatever is wrong, and whatever people do between the finding and the mending, even of what was never wrong."""
    kb = filled
    chunks = {place: of_version(kb, *place) for place in PLACES}
    for fault, place, store in faults:
        plant(kb, store, fault, chunks[place])
    found = kb.check()
    for deed in deeds:
        _do(kb, deed)
    for each in found:
        asked = sorted({*chunks.values(), *(int(id) for ids in each.examples.values() for id in ids)})
        kb.catalog.consistency.mend(each.store, asked, kb._stores._repair_jobs._stores()[each.store].making())
    kb._projector.flush()
    assert_indexes_follow_the_catalogue(kb)
    assert all(each.is_sound for each in kb.check())


def _do(kb: core.KnowledgeBase, deed: str) -> None:
    if deed == "change":
        add(kb, "copy.txt", f"Another text, number {kb.document('copy.txt').latest_version}.")
    elif kb.document("harbour.txt").published_version is None:
        kb.restore("harbour.txt")
    elif deed == "retract":
        kb.publish("harbour.txt", 1 if kb.document("harbour.txt").published_version == 2 else 2)
    else:
        kb.delete("harbour.txt")
