"""A question gets visible hits, a full account, and never an error that looks like an empty result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import core
from core.errors import InvalidInput, QueryTooLong, StoreUnavailable
from core.model import AnswerType, IndexHit, Part
from core.ports import Vector
from tests.builders import add

LITERAL = [
    '"',
    "a AND",
    "NEAR(",
    "*",
    "-",
    "a:b",
    "don't",
    "multi-agent",
    "20.04",
    "@nasa",
    "(((",
    "日本語 OR",
    "C++",
    "/*/*/*" * 600,
    "; rm -rf",
    "$(reboot)",
    "--help",
    "{x} {0}",
]


class Failing:
    """An index whose engine does not answer."""

    engine = "failing"

    def is_loaded(self, parts: object) -> bool:
        return False

    def in_memory(self, chunk_ids: object) -> dict[int, Vector]:
        return {}

    def engine_for(self, parts: object) -> str:
        return self.engine

    def search(self, *_: object) -> list[IndexHit]:
        raise StoreUnavailable("The engine does not answer.")


def serve(kb: core.KnowledgeBase, **stores: object) -> None:
    """Let other stores answer from now on."""
    kb._active._now = replace(kb._active.now(), **stores)


@pytest.mark.long
@pytest.mark.parametrize("question", LITERAL)
def test_any_question_is_literal_text(kb: core.KnowledgeBase, question: str) -> None:
    add(kb, "held", f"The sign {question} stands here.")
    trace = core.EvoRAG(kb=kb).ask(question)
    assert not trace.degraded
    assert trace.hits
    if any(sign.isalnum() for sign in question):
        assert trace.keyword.hits


@pytest.mark.parametrize("question", ["", "   ", "\0", "\n\t"])
def test_no_question_is_refused(kb: core.KnowledgeBase, question: str) -> None:
    with pytest.raises(InvalidInput):
        core.EvoRAG(kb=kb).ask(question)


def test_a_question_that_is_too_long_is_refused(kb: core.KnowledgeBase) -> None:
    with pytest.raises(QueryTooLong):
        core.EvoRAG(kb=kb).ask("word " * 1000)


@pytest.mark.parametrize("question", ["🙂🙂", "the of and", "、。", "\ud800"])
def test_questions_without_words_get_an_answer_that_says_so(kb: core.KnowledgeBase, question: str) -> None:
    add(kb, "a", "text")
    assert core.EvoRAG(kb=kb).ask(question).answer.type is AnswerType.INSUFFICIENT


@pytest.mark.parametrize("top_k", [-1, 0, 10**9, "ten", float("nan"), True])
def test_a_senseless_number_of_results_is_refused(kb: core.KnowledgeBase, top_k: object) -> None:
    with pytest.raises(InvalidInput):
        core.EvoRAG(kb=kb).search(core.Query("text", top_k=top_k))  # type: ignore[arg-type]


def test_an_empty_knowledge_base_answers_insufficient(kb: core.KnowledgeBase) -> None:
    trace = core.EvoRAG(kb=kb).ask("When does the shop open?")
    assert (trace.answer.type, trace.hits) == (AnswerType.INSUFFICIENT, ())


def test_a_failing_leg_degrades_the_answer_and_is_named(kb: core.KnowledgeBase) -> None:
    add(kb, "hours", "The shop opens at nine.")
    serve(kb, keywords=Failing())
    trace = core.EvoRAG(kb=kb).ask("When does the shop open?")
    assert trace.degraded == ("keyword",)
    assert trace.keyword.error and trace.keyword.error["code"] == "store_unavailable"
    assert trace.hits and trace.hits[0].keyword is None


def test_two_failing_legs_are_an_error_and_never_no_results(kb: core.KnowledgeBase) -> None:
    serve(kb, keywords=Failing(), vectors=Failing())
    with pytest.raises(StoreUnavailable):
        core.EvoRAG(kb=kb).ask("When does the shop open?")


@pytest.mark.long
def test_a_leg_is_read_deeper_when_the_catalogue_hides_its_hits(kb: core.KnowledgeBase) -> None:
    for number in range(60):
        kb.add_text(f"n{number:02}", f"medlar {number}")
    kb.work_off()

    class Forgetful:
        """Returns rows of deleted documents first, as a store does that has not been told yet."""

        engine = "forgetful"

        def __init__(self) -> None:
            self.limits: list[int] = []

        def is_loaded(self, parts: object) -> bool:
            return False

        def in_memory(self, chunk_ids: object) -> dict[int, Vector]:
            return {}

        def engine_for(self, parts: object) -> str:
            return self.engine

        def search(self, vector: Vector, limit: int, parts: object, doc_ids: object = None) -> list[IndexHit]:
            self.limits.append(limit)
            ghosts = [IndexHit(10**9 + n, 0.1) for n in range(55)]
            known = [IndexHit(chunk_id, 0.5) for chunk_id, _ in kb._keywords.ids()]
            return [*ghosts, *known][:limit]

    forgetful = Forgetful()
    serve(kb, vectors=forgetful)
    trace = core.EvoRAG(kb=kb).search("medlar")
    assert forgetful.limits == [50, 200]
    assert len(trace.vector.hits) == 50
    assert trace.vector.hidden == 55


def test_history_rows_do_not_enter_ordinary_questions(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "old medlar")
    add(kb, "a", "new quince")
    seen: list[tuple[Part, ...]] = []
    search = kb._keywords.search

    def watching(text: str, limit: int, parts: tuple[Part, ...], doc_ids: object = None) -> list[IndexHit]:
        seen.append(tuple(parts))
        return search(text, limit, parts, doc_ids)  # type: ignore[arg-type]

    kb._keywords.search = watching  # type: ignore[method-assign, assignment]
    kb._projector.flush()
    rag = core.EvoRAG(kb=kb)
    rag.search("medlar")
    rag.search(core.Query("medlar", as_of=1))
    assert seen == [(Part.HEAD,), (Part.HEAD, Part.HISTORY)]


@pytest.mark.parametrize(("name", "parts"), [("b", (Part.HEAD,)), ("a", (Part.HEAD, Part.HISTORY))])
def test_only_rows_that_move_make_questions_search_the_history(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, name: str, parts: tuple[Part, ...]
) -> None:
    add(kb, "a", "old medlar")
    kb._projector.flush()
    for flush in ("flush", "flush_keywords", "flush_soon"):
        monkeypatch.setattr(kb._projector, flush, lambda: None)
    add(kb, name, "new quince")
    assert all(kb.catalog.outbox.pending().values())
    assert watched(kb) == [parts]


@pytest.mark.parametrize(("name", "searches"), [("b", 1), ("a", 2)])
def test_only_what_is_replaced_meanwhile_makes_a_question_search_again(
    kb: core.KnowledgeBase, name: str, searches: int
) -> None:
    add(kb, "a", "old medlar")
    kb._projector.flush()
    seen = watched(kb, lambda: add(kb, name, "new quince"))
    assert seen == [(Part.HEAD,), (Part.HEAD, Part.HISTORY)][:searches]


def watched(kb: core.KnowledgeBase, meanwhile: Callable[[], object] = lambda: None) -> list[tuple[Part, ...]]:
    """Ask, let something happen while the legs search, and return which parts were searched."""
    seen: list[tuple[Part, ...]] = []
    search = kb._keywords.search

    def watching(text: str, limit: int, parts: tuple[Part, ...], doc_ids: object = None) -> list[IndexHit]:
        seen.append(tuple(parts))
        if len(seen) == 1:
            meanwhile()
        return search(text, limit, parts, doc_ids)  # type: ignore[arg-type]

    kb._keywords.search = watching  # type: ignore[method-assign, assignment]
    core.EvoRAG(kb=kb).search("medlar")
    return seen


def test_the_trace_accounts_for_every_rank_and_term(kb: core.KnowledgeBase) -> None:
    add(kb, "one", "The walnut tree bears fruit in autumn.")
    add(kb, "two", "A walnut table.")
    trace = core.EvoRAG(kb=kb).ask("walnut fruit")
    for hit in trace.candidates:
        parts = [leg.contribution for leg in (hit.vector, hit.keyword) if leg]
        assert hit.score == pytest.approx(sum(parts))
        for leg in (hit.vector, hit.keyword):
            assert leg is None or leg.contribution == pytest.approx(1 / (60 + leg.rank))
        if hit.keyword:
            assert hit.keyword.score == pytest.approx(sum(term.score for term in hit.keyword.terms), abs=1e-4)
    assert trace.timings_ms["total"] >= trace.timings_ms["both_legs"]
    assert trace.prompt and trace.context.startswith("[1] ")


def test_identical_passages_of_two_documents_are_shown_once(kb: core.KnowledgeBase) -> None:
    add(kb, "one", "The same words.")
    add(kb, "two", "The same words.")
    trace = core.EvoRAG(kb=kb).search("same words")
    assert len(trace.candidates) == 1
    assert len(trace.candidates[0].merged) == 1
