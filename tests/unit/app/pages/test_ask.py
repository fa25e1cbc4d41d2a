"""Asking: the address is the state, citations open their passage, and nothing fails in silence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, unquote

import pytest
from dash import Dash, dcc, html
from flask.testing import FlaskClient

import core
from app.components.ask.answer_card import answer_card
from app.components.shared.citations import linked_text
from app.components.shared.links import ask_search, query_of
from app.main import create_app
from core.model import Answer, AnswerType, Citation, Filters, Health, Query
from tests.builders import add, knowledge_base
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, text

ASKED = {"ask-k.value": 5, "ask-send.n_clicks": 1, "ask-now.data": 0.0}
ORCHARD = (
    "The orchard in Suwa holds 240 apple trees. The harvest of the orchard begins on 12 September. "
    "The museum opens at nine. Bicycles may be rented at the station for 800 yen a day."
)


@pytest.fixture
def orchard(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "orchard.txt", ORCHARD)
    add(kb, "bakery.txt", "The bakery sells bread made of rye from six in the morning until the shelves are empty.")
    return kb


def ask(window: Dash, client: FlaskClient, question: str, **values: object) -> dict:
    sent = {**ASKED, "ask-question.value": question, **values}
    return press(window, client, "ask-send.n_clicks", sent, "ask-go")["response"]


def test_asking_ends_at_the_address_of_the_kept_trace(window: Dash, client: FlaskClient, orchard) -> None:
    went = ask(window, client, "When does the harvest of the orchard begin?")["ask-go"]["data"]
    trace_id = orchard.history()[0].id
    assert went == {
        "search": f"?q=When%20does%20the%20harvest%20of%20the%20orchard%20begin%3F&k=5&trace={trace_id}",
        "replace": False,
    }
    page = open_page(window, "/ask" + went["search"])
    assert text(by_id(page, "ask-shown")) == "When does the harvest of the orchard begin?"
    assert by_id(page, "ask-question").value == ""
    assert "12 September" in text(by_id(page, "ask-answer-card"))


def test_address_without_numbers_takes_those_of_the_settings(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, top_k=7, search_depth=80) as kb:
        add(kb, "orchard.txt", ORCHARD)
        window = create_app(kb)
        page = open_page(window, "/ask")
        assert by_id(page, "ask-k").value == 7
        went = ask(window, window.server.test_client(), "Where is the orchard?", **{"ask-k.value": 7})["ask-go"]["data"]
        query = kb.trace(kb.history()[0].id).query
        assert (query.top_k, query.depth) == (7, 80)
        assert parse_qs(went["search"][1:])["depth"] == ["80"]
        assert not by_class(open_page(window, "/ask?q=orchard"), "chip")


def test_showing_a_kept_trace_does_not_ask_again(window: Dash, client: FlaskClient, orchard) -> None:
    went = ask(window, client, "Where is the orchard?")["ask-go"]["data"]
    page = open_page(window, "/ask" + went["search"])
    assert by_id(page, "ask-now").data == 0.0
    assert len(orchard.history()) == 1


def test_address_with_a_question_is_asked_at_once_and_replaced(window: Dash, client: FlaskClient, orchard) -> None:
    page = open_page(window, "/ask?q=orchard&k=3")
    now = by_id(page, "ask-now").data
    assert now > 0
    sent = {"ask-question.value": "orchard", "ask-k.value": 3, "ask-now.data": now}
    went = press(window, client, "ask-now.data", sent, "ask-go")["response"]["ask-go"]["data"]
    assert went["replace"] is True and "&k=3&trace=" in went["search"]


@pytest.mark.long
def test_citation_opens_its_sentence_in_the_evidence_and_from_there_in_its_document(
    window: Dash, client: FlaskClient, orchard
) -> None:
    went = ask(window, client, "When does the harvest of the orchard begin?")["ask-go"]["data"]
    page = open_page(window, "/ask" + went["search"])
    citation = orchard.trace(orchard.history()[0].id).answer.citations[0]
    link = next(part for part in parts(page, html.A) if part.children == "[1]")
    assert link.href == "#" + by_id(page, "cited-1").id
    note = by_id(page, getattr(link, "aria-describedby"))
    assert note.hidden and "orchard.txt" in text(note) and citation.text in text(note)
    [item] = [
        part for part in by_class(page, "evidence-item") if getattr(part, "data-passage") == str(citation.chunk_id)
    ]
    assert citation.text in [mark.children for mark in parts(item, html.Mark)]
    assert by_class(item, "evidence-text")[0].open
    opened = open_page(window, by_class(item, "evidence-way")[0].href)
    assert [mark.children for mark in parts(opened, html.Mark)] == [citation.text]
    assert "chunk-target" in by_id(opened, f"chunk-{citation.position}").className


def test_chosen_filters_are_chips_each_with_the_way_to_the_answer_without_it(
    window: Dash, client: FlaskClient, orchard
) -> None:
    went = ask(window, client, "orchard harvest", **{"ask-doc.value": ["orchard.txt"], "ask-type.value": ["txt"]})
    page = open_page(window, "/ask" + went["ask-go"]["data"]["search"])
    [filters] = by_class(page, "evidence-filters")
    assert "orchard.txt" in text(filters) and ".txt" in text(filters)
    left = [parse_qs(link.href.partition("?")[2]) for link in parts(filters, dcc.Link)]
    assert ("doc" in left[0], "type" in left[0]) == (False, True)
    assert ("doc" in left[1], "type" in left[1]) == (True, False)


def test_unlimited_answer_says_that_all_documents_were_searched(window: Dash, client: FlaskClient, orchard) -> None:
    went = ask(window, client, "orchard harvest")["ask-go"]["data"]
    [filters] = by_class(open_page(window, "/ask" + went["search"]), "evidence-filters")
    assert "All documents" in text(filters)


def test_only_marks_of_citations_become_links() -> None:
    citation = Citation(1, "a.txt", 1, 5, 0, "a.txt", "Fact.", 0, 5)
    pieces = linked_text("Fact. [1] Forged. [7] [x]", [citation])
    assert [piece if isinstance(piece, str) else piece.children for piece in pieces] == [
        "Fact. ",
        "[1]",
        " Forged. [7] [x]",
    ]


def test_evidence_tells_both_ranks_and_the_score(window: Dash, client: FlaskClient, orchard) -> None:
    went = ask(window, client, "orchard harvest")["ask-go"]["data"]
    shown = text(by_class(open_page(window, "/ask" + went["search"]), "evidence"))
    assert "vector #1 · L2" in shown and "keywords #1 · BM25" in shown and "RRF 0.03" in shown


def test_insufficient_answer_says_what_was_found_and_what_to_try(window: Dash, client: FlaskClient, orchard) -> None:
    went = ask(window, client, "orchard harvest", **{"ask-tag.value": []})["ask-go"]["data"]
    trace = orchard.trace(went["search"].split("trace=")[1])
    nothing = replace(
        trace, answer=Answer("", AnswerType.INSUFFICIENT), query=replace(trace.query, filters=Filters(tags=("x",)))
    )
    shown = text(answer_card(nothing))
    assert "Not enough information" in shown and "passages come near" in shown
    assert "Ask again without the filters." in shown and "confidence" not in shown


def test_failed_leg_is_told_above_the_answer(window: Dash, client: FlaskClient, orchard) -> None:
    went = ask(window, client, "orchard harvest")["ask-go"]["data"]
    trace = orchard.trace(went["search"].split("trace=")[1])
    error = {"code": "store_unavailable", "message": "The index is away.", "remedy": "Wait."}
    shown = text(answer_card(replace(trace, vector=replace(trace.vector, error=error, hits=()))))
    assert "from the keyword search alone" in shown and "store_unavailable" in shown and "The index is away." in shown


def test_empty_question_is_answered_with_a_remedy(window: Dash, client: FlaskClient, orchard) -> None:
    answer = ask(window, client, "   ")
    assert "There is no question yet." in text_of_json(answer["ask-problem"]["children"])
    assert orchard.history() == []


def test_question_waits_for_the_models(window: Dash, client: FlaskClient, orchard, monkeypatch) -> None:
    health = orchard.health()
    monkeypatch.setattr(orchard, "health", lambda: Health(health.stores, 0, models_ready=False))
    answer = ask(window, client, "Where is the orchard?")
    assert answer["ask-pending"]["data"] is True and answer["ask-wait"]["disabled"] is False
    assert orchard.history() == []
    monkeypatch.undo()
    ready = press(window, client, "ask-wait.n_intervals", {"ask-pending.data": True})["response"]
    assert ready["ask-now"]["data"] > 0 and ready["ask-wait"]["disabled"] is True


def test_unknown_trace_keeps_the_question_and_says_so(window: Dash, orchard) -> None:
    page = open_page(window, "/ask?q=orchard&trace=gone")
    assert by_id(page, "ask-question").value == "orchard" and by_id(page, "ask-now").data == 0.0
    assert "not_found" in text(by_id(page, "ask-problem"))


def test_filters_of_the_address_are_those_of_the_form(window: Dash, orchard) -> None:
    orchard.set_tags("orchard.txt", ("fruit",))
    page = open_page(window, "/ask?doc=orchard.txt&tag=fruit&type=txt&k=7")
    assert by_id(page, "ask-doc").value == ["orchard.txt"] and by_id(page, "ask-tag").value == ["fruit"]
    assert by_id(page, "ask-type").value == ["txt"] and by_id(page, "ask-k").value == 7


def test_filter_limits_the_evidence(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, "the orchard and the bakery", **{"ask-doc.value": ["bakery.txt"]})
    trace = orchard.trace(orchard.history()[0].id)
    assert {hit.placed.doc_key for hit in trace.hits} == {"bakery.txt"}


@pytest.mark.parametrize("k", ["0", "-1", "999", "x", "２", ""])
def test_unreadable_number_of_passages_takes_a_sane_one(k: str) -> None:
    assert 1 <= query_of("q", k).top_k <= 50


def test_address_and_query_say_the_same() -> None:
    query = Query("a & b? #1", top_k=3, filters=Filters(("x/y.txt",), ("旅費", "b"), ("pdf",)), as_of=12)
    pairs = [part.split("=") for part in ask_search(query)[1:].split("&")]
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(unquote(value))
    assert query_of(**given) == query


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_page_and_history_speak_both_languages(window: Dash, client: FlaskClient, orchard, lang: str) -> None:
    went = ask(window, client, "orchard harvest")["ask-go"]["data"]
    assert by_id(open_page(window, "/ask" + went["search"], lang), "ask-answer-card")
    history = open_page(window, "/history", lang)
    assert "orchard harvest" in text(history)


def test_history_opens_the_kept_answer_and_asks_again(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, "orchard harvest")
    addresses = [link.href for link in parts(open_page(window, "/history"), dcc.Link)]
    assert addresses == [f"/ask?trace={orchard.history()[0].id}", "/ask?q=orchard+harvest"]


def test_switch_shows_the_cards_of_the_shown_trace(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, "orchard harvest")
    cards = press(
        window,
        client,
        "ask-details.value",
        {"ask-details.value": True, "ask-trace.data": orchard.history()[0].id},
    )["response"]["ask-cards"]["children"]
    assert "trace-fusion" in str(cards)


def text_of_json(drawn: object) -> str:
    """All text in what a callback sent."""
    if isinstance(drawn, dict):
        return text_of_json(drawn.get("props", {}).get("children")) if "props" in drawn else ""
    if isinstance(drawn, list):
        return " ".join(text_of_json(each) for each in drawn)
    return "" if drawn is None else str(drawn)
