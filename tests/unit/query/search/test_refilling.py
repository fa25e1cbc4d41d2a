"""A store that lost its rows and gets them again: a search says so, instead of finding less in silence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import flask
import pytest

import core
from app.components.ask.answer_card import degraded_notices
from core.access import acting
from core.adapters.vector.hot_vectors import HotVectors
from core.catalog.outbox import KEYWORD, VECTOR
from core.cli import output
from core.errors import StoreUnavailable
from core.indexes import projector
from core.model import Part, Principal, Query, Refilling, Role, to_dict
from core.model.codec import from_dict
from tests.builders import add, knowledge_base
from tests.unit.app.drawn import text

QUESTION = "When does the medlar shop open?"
ROWS = 6


@pytest.fixture
def filled(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    for number in range(ROWS):
        add(kb, f"shop {number}", f"The medlar shop number {number} opens at nine.")
    # Nothing is refilled in the background.
    kb._projector.close()
    return kb


def store_of(kb: core.KnowledgeBase, kind: str) -> object:
    return kb._vectors if kind == VECTOR else kb._keywords


def lose(kb: core.KnowledgeBase, kind: str) -> None:
    """Empty a store behind the back of the projector, as a removed folder does."""
    store_of(kb, kind).clear()
    kb._projector._known.clear()


def refill(kb: core.KnowledgeBase, kind: str, rows: int | None = None) -> None:
    """Fill a store again, or hold it once it has so many rows."""
    with pytest.MonkeyPatch.context() as patched:
        done, told = kb.catalog.outbox.done, []

        def hold(batch: object, generation: int) -> None:
            done(batch, generation)
            told.append(batch)
            if len(told) == rows:
                raise StoreUnavailable("Held.")

        patched.setattr(kb.catalog.outbox, "done", hold)
        patched.setitem(projector._BATCH, kind, 1)
        if rows is None:
            kb._projector.flush_store(kind)
        else:
            with pytest.raises(StoreUnavailable):
                kb._projector.flush_store(kind)


@pytest.mark.parametrize("kind", [VECTOR, KEYWORD])
def test_a_leg_whose_store_is_half_filled_says_so(filled: core.KnowledgeBase, kind: str) -> None:
    rag = core.EvoRAG(kb=filled)
    lose(filled, kind)
    refill(filled, kind, rows=2)
    trace = rag.search(QUESTION)
    leg, other = (trace.vector, trace.keyword) if kind == VECTOR else (trace.keyword, trace.vector)
    assert (leg.refilling, leg.error, len(leg.hits)) == (Refilling(2, ROWS), None, 2)
    assert (other.refilling, len(other.hits)) == (None, ROWS)
    assert trace.degraded == (kind,)
    refill(filled, kind)
    again = rag.search(QUESTION)
    assert again.degraded == () and len(again.vector.hits) == len(again.keyword.hits) == ROWS


@pytest.mark.parametrize("kind", [VECTOR, KEYWORD])
def test_a_leg_whose_store_nobody_has_looked_at_is_not_silently_empty(filled: core.KnowledgeBase, kind: str) -> None:
    lose(filled, kind)
    trace = core.EvoRAG(kb=filled).search(QUESTION)
    assert trace.degraded == (kind,)
    assert (trace.vector if kind == VECTOR else trace.keyword).refilling == Refilling()


@pytest.mark.parametrize("kind", [VECTOR, KEYWORD])
def test_a_refill_that_ends_while_the_leg_is_read_is_told(
    filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lose(filled, kind)
    guarded = store_of(filled, kind)
    search = guarded.search

    def meanwhile(*given: object) -> object:
        found = search(*given)
        refill(filled, kind)
        return found

    monkeypatch.setattr(guarded, "search", meanwhile)
    assert core.EvoRAG(kb=filled).search(QUESTION).degraded == (kind,)
    monkeypatch.undo()
    assert core.EvoRAG(kb=filled).search(QUESTION).degraded == ()


def test_no_leg_of_an_empty_knowledge_base_or_without_a_word_in_common_is_refilled(kb: core.KnowledgeBase) -> None:
    assert core.EvoRAG(kb=kb).search(QUESTION).degraded == ()
    add(kb, "hours", "The museum opens at nine.")
    trace = core.EvoRAG(kb=kb).search("xylophone")
    assert (trace.keyword.hits, trace.degraded) == ((), ())


def test_an_answer_from_a_half_filled_store_is_not_given_again(filled: core.KnowledgeBase) -> None:
    rag = core.EvoRAG(kb=filled)
    lose(filled, KEYWORD)
    refill(filled, KEYWORD, rows=2)
    asked = rag.ask(QUESTION)
    assert filled.trace(asked.id).keyword.refilling == Refilling(2, ROWS)
    refill(filled, KEYWORD)
    again = rag.ask(QUESTION)
    assert again.cache is None and again.degraded == ()
    assert rag.ask(QUESTION).cache is not None


def test_how_many_rows_there_are_is_told_to_those_who_see_all(filled: core.KnowledgeBase) -> None:
    lose(filled, KEYWORD)
    refill(filled, KEYWORD, rows=2)
    with acting(Principal("bob", Role.READER, 7)):
        assert core.EvoRAG(kb=filled).search(QUESTION).keyword.refilling == Refilling()


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("being refilled", "2 of 6 rows")), ("ja", ("再構築しています", "6行のうち2行"))],
)
def test_people_are_told(
    filled: core.KnowledgeBase, capsys: pytest.CaptureFixture[str], language: str, words: tuple[str, str]
) -> None:
    lose(filled, VECTOR)
    refill(filled, VECTOR, rows=2)
    trace = core.EvoRAG(kb=filled).ask(Query(QUESTION))
    with flask.Flask(__name__).test_request_context(headers={"Accept-Language": language}):
        [notice] = degraded_notices(trace)
        assert all(each in text(notice) for each in words)
        untold = replace(trace, vector=replace(trace.vector, refilling=Refilling()))
        assert words[1] not in text(degraded_notices(untold)[0])
    assert output.warn_of_failures(trace)
    assert "the vector store is being refilled (2 of 6 rows are there)" in capsys.readouterr().err


def test_a_trace_of_a_release_before_is_read(filled: core.KnowledgeBase) -> None:
    trace = core.EvoRAG(kb=filled).search(QUESTION)
    data = to_dict(trace)
    del data["vector"]["refilling"], data["keyword"]["refilling"]
    assert from_dict(type(trace), data) == trace


def test_vectors_in_memory_lack_nothing_while_the_store_is_refilled(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", "The medlar shop opens at nine.")
        kb._projector.close()
        served = kb._active.now()
        hot = HotVectors(served.vectors, served.embedder.dimension)
        kb._active._now = replace(served, vectors=hot)
        hot.load(kb.catalog.embeddings.head_vectors(served.model.id))
        lose(kb, KEYWORD)
        served.vectors.clear()
        trace = core.EvoRAG(kb=kb).search(QUESTION)
        assert len(trace.vector.hits) == 1 and trace.degraded == ("keyword",)
        assert hot.is_loaded([Part.HEAD]) and not hot.is_loaded([Part.HEAD, Part.HISTORY])
        hot.clear()
        assert not hot.is_loaded([Part.HEAD])


def test_words_that_nothing_holds_are_no_reason_to_go_through_the_catalogue(
    filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(filled.catalog.outbox, "is_lacking", lambda store: bool(looked.append(store)))
    trace = core.EvoRAG(kb=filled).search("zyzzyva quokka")
    assert (trace.keyword.hits, trace.keyword.refilling, looked) == ((), None, [])
