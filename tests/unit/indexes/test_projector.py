"""The outbox reaches the stores in order, and waits for one that is down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import core
from core.errors import StoreUnavailable
from core.model import JobState, Part
from core.ports import KeywordRow
from tests.builders import add, knowledge_base


def break_keywords(kb: core.KnowledgeBase, times: int) -> list[int]:
    """Let the keyword store refuse its next writes; return a list that grows by one at each refusal."""
    refused: list[int] = []
    upsert = kb._keywords.upsert

    def failing(rows: Sequence[KeywordRow]) -> None:
        if len(refused) < times:
            refused.append(len(rows))
            raise StoreUnavailable("The keyword store is down.")
        upsert(rows)

    kb._keywords.upsert = failing  # type: ignore[method-assign]
    return refused


def test_indexing_waits_for_a_store_that_is_down_and_then_goes_on(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.platform.retrying._PAUSE_S", 0.01)
    refused = break_keywords(kb, 3)
    upload = add(kb, "a", "medlar")
    assert len(refused) == 3
    assert kb.job(str(upload.job_id)).state is JobState.DONE
    assert core.EvoRAG(kb=kb).search("medlar").keyword.hits


def test_a_store_that_is_down_is_named_and_what_it_missed_waits(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    add(kb, "a", "second medlar")
    kb._projector.flush()
    upsert = kb._keywords.upsert
    break_keywords(kb, 10**6)
    kb.rollback("a.txt")
    assert kb.document("a.txt").published_version == 1
    health = {store.name: store for store in kb.health().stores}
    assert health["keyword"].state == "down"
    assert "down" in health["keyword"].detail
    found = core.EvoRAG(kb=kb).search("medlar")
    assert {(hit.placed.doc_key, hit.placed.version) for hit in found.candidates} == {("a.txt", 1)}
    kb._keywords.upsert = upsert  # type: ignore[method-assign]
    kb._projector.flush()
    assert sorted(part for _, part in kb._keywords.ids()) == [Part.HEAD, Part.HISTORY]
    assert {store.name: store.state for store in kb.health().stores}["keyword"] == "ok"


def test_an_index_that_was_lost_is_filled_again_at_the_next_start(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "first medlar")
        add(kb, "a", "second medlar")
    # The indexes in memory went with the process; the catalogue did not.
    with knowledge_base(tmp_path) as kb:
        kb._projector.flush()
        assert sorted(part for _, part in kb._keywords.ids()) == [Part.HEAD, Part.HISTORY]
        assert dict(kb._keywords.ids()) == dict(kb._vectors.ids())
