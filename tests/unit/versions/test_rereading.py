"""What was read by an earlier reader is read anew beside what is shown, compared, shown, and taken back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import core
from core.errors import Conflict, InvalidInput, NotFound
from core.model import JobState, ReadingState
from core.versions.rereading import differing
from tests.builders import add, knowledge_base

RULES = "\n\n".join(f"Rule {n}. The lamp of room {n} is cleaned every {n + 2} weeks by its keeper." for n in range(40))
LONG, SHORT = 400, 48
"""Tokens a chunk; another number is another reader."""


@contextmanager
def opened(folder: Path, chunk_tokens: int = LONG) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(folder, chunk_tokens=chunk_tokens) as kb:
        yield kb


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    """A knowledge base whose documents were read with long chunks, opened by a reader that makes short ones."""
    with opened(tmp_path) as former:
        add(former, "rules", RULES)
        add(former, "prices", "A lamp costs 900 yen.")
        add(former, "prices", "A lamp costs 950 yen.")
    with opened(tmp_path, SHORT) as present:
        yield present


def reread(kb: core.KnowledgeBase) -> None:
    kb.readings.begin()
    kb.work_off()


def found(
    kb: core.KnowledgeBase, question: str = "Who cleans the lamp of room 7?", key: str = "rules.txt", **options: object
) -> set[str]:
    query = core.Query(question, filters=core.Filters(doc_keys=(key,)), **options)  # type: ignore[arg-type]
    for _ in range(100):
        trace = core.EvoRAG(kb=kb).search(query)
        if trace.candidates:
            break
        # An index that is being filled again after opening answers a moment later.
        time.sleep(0.1)
    return {hit.placed.chunk.text for hit in trace.candidates}


def counts(kb: core.KnowledgeBase) -> tuple[int, int, int, int]:
    told = kb.readings.report()
    return told.outdated, told.reading, told.waiting, told.replaced


def test_nothing_is_read_anew_by_itself(kb: core.KnowledgeBase) -> None:
    kb.work_off()
    assert counts(kb) == (2, 0, 0, 0)
    assert kb.readings.list() == []
    assert kb.preview("rules.txt", 1).total_chunks < 5


def test_a_reading_is_made_beside_what_is_shown_and_seen_by_no_question(kb: core.KnowledgeBase) -> None:
    before, documents, versions = found(kb), kb.documents(), kb.versions("rules.txt")
    assert kb.readings.begin() == 2
    assert counts(kb) == (0, 2, 0, 0)
    kb.work_off()
    assert counts(kb) == (0, 0, 2, 0)
    assert found(kb) == before
    assert kb.documents() == documents and kb.versions("rules.txt") == versions
    assert kb.readings.begin() == 0


def test_shown_it_keeps_number_and_bytes_and_the_past_stays_what_it_was(kb: core.KnowledgeBase) -> None:
    before, sequence, [was] = found(kb), kb.sequence(), kb.versions("rules.txt")
    reread(kb)
    assert kb.readings.show() == 2
    [now] = kb.versions("rules.txt")
    assert (now.number, now.sha256, now.created_at, now.reading, now.is_published) == (
        1,
        was.sha256,
        was.created_at,
        2,
        True,
    )
    assert kb.document("rules.txt").version_count == 1
    after = found(kb)
    assert after.isdisjoint(before) and max(map(len, after)) < max(map(len, before))
    assert found(kb, as_of=sequence) == before
    assert counts(kb) == (0, 0, 0, 2)
    done = kb.publications("rules.txt")[0]
    assert (done.action, done.version) == ("reread", 1)
    assert all(check.faults == 0 for check in kb.check())


def test_citations_lead_to_the_reading_that_they_were_made_of(kb: core.KnowledgeBase) -> None:
    old = kb.preview("rules.txt", 1)
    reread(kb)
    kb.readings.show()
    now = kb.preview("rules.txt", 1)
    assert {placed.reading for placed in now.chunks} == {2}
    assert now.total_chunks > old.total_chunks
    assert kb.preview("rules.txt", 1, reading=1) == old
    with pytest.raises(NotFound, match="no reading 3"):
        kb.preview("rules.txt", 1, reading=3)


def test_it_is_taken_back_and_shown_again(kb: core.KnowledgeBase) -> None:
    before = found(kb)
    reread(kb)
    kb.readings.show()
    after = found(kb)
    assert kb.readings.undo() == 2
    assert found(kb) == before and kb.version("rules.txt", 1).reading == 1
    assert (counts(kb), kb.readings.report().withdrawn) == ((0, 0, 0, 0), 2)
    assert kb.readings.undo() == kb.readings.drop() == 0
    assert kb.readings.show() == 2
    assert found(kb) == after


def test_one_document_is_chosen_by_its_key(kb: core.KnowledgeBase) -> None:
    assert kb.readings.begin(["prices.txt"]) == 1
    kb.work_off()
    [reading] = kb.readings.list("waiting")
    assert (reading.doc_key, reading.version, reading.number, reading.is_shown) == ("prices.txt", 2, 2, True)
    assert reading.differences is not None and (reading.differences.gained, reading.differences.lost) == (0, 0)
    assert kb.readings.show(["rules.txt"]) == 0
    with pytest.raises(NotFound):
        kb.readings.begin(["nothing.txt"])
    with pytest.raises(InvalidInput):
        kb.readings.list("read")


def test_what_is_not_shown_any_more_when_its_reading_is_ready_does_not_come_back(kb: core.KnowledgeBase) -> None:
    reread(kb)
    add(kb, "prices", "A lamp costs 1,000 yen.")
    kb.readings.show()
    assert kb.document("prices.txt").published_version == 3
    assert [version.reading for version in kb.versions("prices.txt")] == [1, 2, 1]
    assert found(kb, "What does a lamp cost?", "prices.txt") == {"A lamp costs 1,000 yen."}


def test_a_rollback_goes_to_the_version_as_it_is_now(kb: core.KnowledgeBase) -> None:
    reread(kb)
    kb.readings.show()
    add(kb, "rules", "There are no rules.")
    kb.rollback("rules.txt")
    assert (kb.document("rules.txt").published_version, kb.version("rules.txt", 1).reading) == (1, 2)
    with pytest.raises(Conflict):
        kb.publish("rules.txt", 1)


def test_a_purge_takes_all_readings(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    reread(kb)
    kb.readings.show()
    kb.unpublish("rules.txt")
    kb.purge("rules.txt", 1)
    kb.work_off()
    assert kb.version("rules.txt", 1).state == "purged"
    assert counts(kb) == (0, 0, 0, 1)
    blob = next((tmp_path / "data" / "blobs").rglob("*"), None)
    assert blob is not None
    assert not [text for text in found(kb, as_of=2) if "Rule" in text]


def test_what_waits_is_dropped_and_can_be_made_again(kb: core.KnowledgeBase) -> None:
    before = found(kb)
    reread(kb)
    assert kb.readings.drop() == 2
    assert counts(kb) == (2, 0, 0, 0)
    assert found(kb) == before
    reread(kb)
    assert kb.readings.show() == 2
    assert kb.readings.drop() == 0


def test_an_upload_of_the_same_bytes_finds_its_version(kb: core.KnowledgeBase) -> None:
    reread(kb)
    kb.readings.show()
    again = kb.add_text("rules", RULES)
    assert (again.outcome, again.version) == ("unchanged", 1)
    assert add(kb, "rules", RULES + "\n\nRule 41.").version == 2


def test_a_reading_that_failed_is_told_and_tried_again(kb: core.KnowledgeBase) -> None:
    [job_id] = [kb.readings.begin(["rules.txt"]) and kb.jobs()[0].id]
    kb.cancel(job_id)
    assert (kb.job(job_id).state, kb.readings.report().failed) == (JobState.CANCELLED, 1)
    assert kb.version("rules.txt", 1).state == "ready"
    assert kb.readings.begin(["rules.txt"]) == 1
    kb.work_off()
    assert [each.state for each in kb.readings.list()].count(ReadingState.WAITING) == 1


def test_differences_are_counted_by_word_and_by_letter_where_there_are_no_spaces() -> None:
    found = differing(["The lamp is red.", "見積書", "Same."], ["The lamp is red and old.", "見積", "Same."])
    assert (found["gained"], found["lost"]) == (2, 1)
    assert found["lost_lines"] == [] or found["lost_lines"] == ["見積書"]
    assert differing(["Page 3 of 9"], ["Chapter one", "Page 3 of 9"])["gained_lines"] == ["Chapter one"]
