"""What lists read from indexes is what reading everything gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, insert, select, text

import core
from core import access
from core.catalog.jobs import listing
from core.catalog.schema import jobs, questions, shown_now, version_chunks, versions
from core.errors import NotFound
from core.model import JobFilter, Principal, Role
from tests.builders import knowledge_base

NAMES = ("pump", "PUMP manual", "50% pump", "valve", "Ärger")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ANNA = Principal("anna", Role.READER, 7)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Documents with several versions, some not shown, jobs without documents, long and short questions."""
    with knowledge_base(tmp_path_factory.mktemp("lists")) as kb:
        for turn in range(3):
            kb.add_texts([(name, "", f"{name} of turn {turn}.\n\n{name} again.") for name in NAMES])
            kb.work_off()
        kb.rollback("valve.txt", 1)
        kb.unpublish("pump.txt")
        kb.add_text("draft", "Not shown.", draft=True)
        kb.add_text("gone", "Is removed.")
        kb.work_off()
        kb.delete("gone.txt")
        kb.add_text("waits", "Is still waiting.")
        _add_rows(kb)
        yield kb


def _add_rows(kb: core.KnowledgeBase) -> None:
    with kb.catalog.database.write() as tx:
        row = dict(tx.execute(select(jobs).where(jobs.c.state == "done").limit(1)).mappings().one())
        alone = {"doc_id": None, "version_id": None, "kind": "archive", "state": "failed"}
        for number, name in enumerate(("pumps.zip", "other.zip")):
            tx.execute(insert(jobs), {**row, **alone, "id": f"{number:032x}", "name": name})
        asked = [f"Who mends the pump {number}?" for number in range(7)]
        asked[2] += " Please." * 100
        asked[5] += " Please." * 100
        for number, question in enumerate(asked):
            values = {"id": f"{number:032x}", "asked_at": BEGIN + timedelta(minutes=number // 2), "question": question}
            rest = {"answer_type": "extractive", "answer": "", "total_ms": 1.0, "trace": b""}
            tx.execute(insert(questions), {**values, **rest})


@pytest.mark.parametrize("search", ["pump", "PUMP mends", "please", "nobody", "%", "3?"])
@pytest.mark.parametrize("limit", [1, 3, 10])
def test_the_history_holds_what_was_asked_with_these_words(full: core.KnowledgeBase, search: str, limit: int) -> None:
    everything = full.history(100)
    fitting = [each for each in everything if all(word in each.question.lower() for word in search.lower().split())]
    assert full.history(limit, search=search) == fitting[:limit]
    for place, each in enumerate(everything):
        older = [other for other in fitting if everything.index(other) > place]
        assert full.history(limit, each.id, search) == older[:limit]


@pytest.mark.parametrize("search", ["pump", "PUMP", "%", "zip", "nothing", "ump m"])
@pytest.mark.parametrize("few", [0, 1, 300])
def test_jobs_are_found_by_their_document_or_their_own_name(
    full: core.KnowledgeBase, search: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_FEW", few)
    names = {document.doc_key: document.name for document in full.documents(include_deleted=True)}
    every = full.jobs(limit=1_000)
    fitting = [job for job in every if search.lower() in names.get(job.doc_key, job.name).lower()]
    assert full.jobs(JobFilter(search=search), limit=1_000) == fitting
    for filters in (JobFilter(search=search), JobFilter(search=search, kinds=("archive",))):
        counted = Counter(job.state for job in fitting if not filters.kinds or job.kind in filters.kinds)
        assert +Counter(full.job_counts(filters)) == counted
    one = JobFilter(search=search, doc_key="pump.txt")
    assert sum(full.job_counts(one).values()) == sum(job.doc_key == "pump.txt" for job in fitting)


def test_the_totals_are_those_of_what_is_shown(full: core.KnowledgeBase) -> None:
    with full.catalog.database.read() as tx:
        shown = tx.scalar(select(func.count()).select_from(versions).where(versions.c.id.in_(shown_now)))
        placed = select(func.count()).select_from(version_chunks).where(version_chunks.c.version_id.in_(shown_now))
        passages = tx.scalar(placed)
    counts = full.counts()
    assert (counts.documents, counts.chunks) == (shown, passages) and shown


def test_the_histories_of_documents_are_their_versions(full: core.KnowledgeBase) -> None:
    keys = [document.doc_key for document in full.documents(include_deleted=True)]
    assert full.histories([*keys, "nobody.txt"]) == {key: full.versions(key) for key in keys}


def test_what_publications_replaced_is_what_was_shown_before(full: core.KnowledgeBase) -> None:
    every = full.audit(limit=1_000)
    before = {}
    for place, each in enumerate(every):
        older = next((other for other in every[place + 1 :] if other.doc_key == each.doc_key), None)
        before[each.seq] = older.version if older else None
    assert full.replaced([each.seq for each in every]) == before
    assert None in before.values() and set(before.values()) > {1, 2}


def test_nothing_is_told_of_another_ones_private_document(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.add_text("mine", "One.")
        kb.work_off()
        owner = replace(ANNA, user_id=8)
        with kb.catalog.database.write() as tx:
            tx.execute(text("UPDATE documents SET owner_id = 8"))
        for who, sees in ((ANNA, False), (owner, True)):
            with access.acting(who):
                assert bool(kb.histories(["mine.txt"])) is sees
                assert bool(kb.replaced([1])) is sees
                assert bool(kb.documents(limit=5)) is sees
                assert kb.counts().documents == int(sees)
                if not sees:
                    with pytest.raises(NotFound):
                        kb.versions("mine.txt")


@pytest.mark.parametrize(
    ("act", "index"),
    [
        (lambda kb: kb.history(5, search="pump"), "COVERING INDEX questions_short"),
        (lambda kb: kb.jobs(limit=5), "INDEX jobs_listed"),
        (lambda kb: kb.job_counts(JobFilter(search="pump")), "COVERING INDEX jobs_document"),
        (lambda kb: kb.counts(), "COVERING INDEX listed_documents_chunks"),
        (lambda kb: kb.readings.report(), "INDEX versions_readings"),
    ],
)
def test_lists_are_read_from_their_index(full: core.KnowledgeBase, act: Any, index: str) -> None:
    plans: list[str] = []
    connect = full.catalog.database.engine.raw_connection

    def explained(_conn: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            plan = connect().cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(row[3] for row in plan)

    event.listen(full.catalog.database.engine, "before_cursor_execute", explained)
    try:
        act(full)
    finally:
        event.remove(full.catalog.database.engine, "before_cursor_execute", explained)
    assert any(index in plan for plan in plans), plans
