"""Typos in questions: a word that no passage holds is read as its nearest, which the account says."""

from __future__ import annotations

import pytest

from core import EvoRAG, Filters, KnowledgeBase, Query
from core.model import Correction, Trace
from tests.builders import add

PUMP = "Each pump is serviced every three months by its manufacturer."
BOAT = "The harbour opens at nine. Andersen is the harbour master."


@pytest.fixture
def rag(kb: KnowledgeBase) -> EvoRAG:
    add(kb, "pump", PUMP)
    add(kb, "boat", BOAT)
    return EvoRAG(kb=kb)


def read_as(trace: Trace) -> list[tuple[str, str]]:
    return [(each.word, each.read_as) for each in trace.analysis.corrections]


def test_a_typo_is_read_as_the_nearest_word_of_the_documents(rag: EvoRAG) -> None:
    trace = rag.ask(Query("Is the pump serviced by the manufcaturer?"))
    assert read_as(trace) == [("manufcaturer", "manufacturer")]
    assert trace.analysis.searched == "Is the pump serviced by the manufacturer?"
    assert trace.query.text == "Is the pump serviced by the manufcaturer?"


def test_a_question_without_a_typo_is_left_as_it_is(rag: EvoRAG) -> None:
    trace = rag.ask(Query("Is the pump serviced by the manufacturer?"))
    assert trace.analysis.corrections == () and trace.analysis.searched == ""


def test_a_correction_can_be_dismissed(rag: EvoRAG) -> None:
    trace = rag.ask(Query("When does the harbuor open?"))
    assert trace.analysis.corrections == (Correction("spelling:harbuor", "harbuor", "harbour"),)
    again = rag.ask(Query("When does the harbuor open?", dismissed=("spelling:harbuor",)))
    assert again.analysis.corrections == ()


@pytest.mark.parametrize(
    "question", ["Who is Anderson?", "Is there a pumb?", "What is HARBUOR-9?", "港はいつ開きますか"]
)
def test_names_codes_and_short_words_are_left(rag: EvoRAG, question: str) -> None:
    assert rag.ask(Query(question)).analysis.corrections == ()


def test_only_words_of_what_is_searched_are_offered(rag: EvoRAG) -> None:
    boat = next(each.doc_key for each in rag.kb.documents() if each.name.startswith("boat"))
    trace = rag.ask(Query("Who is the manufcaturer?", filters=Filters(doc_keys=(boat,))))
    assert trace.analysis.corrections == ()


@pytest.mark.parametrize("question", ["Who threw it away?", "Was it an accident?"])
def test_a_word_of_english_that_no_passage_holds_is_no_typo(rag: EvoRAG, question: str) -> None:
    add(rag.kb, "shoes", "There are three pairs, each with an accent of red.")
    assert rag.ask(Query(question)).analysis.corrections == ()


@pytest.mark.parametrize("depth", [1, 50])
def test_a_word_that_passages_hold_in_translation_is_no_typo(rag: EvoRAG, depth: int) -> None:
    """Also where what holds it is further down than is looked at."""
    add(rag.kb, "sand", "砂漠は乾燥しています。")
    add(rag.kb, "menu", "A dessert is served at nine.")
    asked = Query("Is the pump serviced by its manufacturer in the desert?", depth=depth)
    assert rag.ask(asked).analysis.corrections == ()


def test_a_kept_answer_says_what_was_read(rag: EvoRAG) -> None:
    asked = Query("When does the harbuor open?")
    rag.ask(asked)
    again = rag.ask(asked)
    assert again.cache is not None and read_as(again) == [("harbuor", "harbour")]
