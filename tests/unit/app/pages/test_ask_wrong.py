"""Marking an answer as wrong, without a browser: one click keeps it, the panel judges it, a follow-up is read first."""

from __future__ import annotations

from typing import Any

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from core.model import WRONG_SET
from tests.builders import add
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, text
from tests.unit.app.pages.test_ask import ORCHARD, ask, text_of_json

WHEN = "When does the harvest of the orchard begin?"


@pytest.fixture
def orchard(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "orchard.txt", ORCHARD)
    add(kb, "bakery.txt", "The bakery sells bread made of rye from six in the morning until the shelves are empty.")
    return kb


def asked(window: Dash, client: FlaskClient, kb: core.KnowledgeBase, question: str = WHEN) -> tuple[str, str]:
    """The id of a trace and the address of its answer."""
    went = ask(window, client, question)["ask-go"]["data"]["search"]
    return kb.history()[0].id, "/ask" + went


def mark(window: Dash, client: FlaskClient, trace_id: str) -> dict[str, Any]:
    sent = {"ask-wrong.n_clicks": 1, "ask-trace.data": trace_id}
    return press(window, client, "ask-wrong.n_clicks", sent, "ask-wrong-box")["response"]


def keep(window: Dash, client: FlaskClient, trace_id: str, **values: object) -> dict[str, Any]:
    sent = {"ask-wrong-keep.n_clicks": 1, "ask-trace.data": trace_id}
    sent |= {f"ask-wrong-{name}.value": value for name, value in values.items()}
    return press(window, client, "ask-wrong-keep.n_clicks", sent)["response"]


def test_one_click_marks_and_the_page_says_so_from_then_on(window: Dash, client: FlaskClient, orchard) -> None:
    trace_id, address = asked(window, client, orchard)
    shown = by_id(open_page(window, address), "ask-wrong")
    assert getattr(shown, "aria-pressed") == "false" and "This answer is wrong" in text(shown)
    answer = mark(window, client, trace_id)
    assert "Kept" in text_of_json(answer["ask-wrong-box"]["children"])
    assert "Marked as wrong" in text_of_json(answer["ask-wrong-tool"]["children"])
    assert [each.text for each in orchard.evaluations.questions(WRONG_SET)] == [WHEN]
    assert getattr(by_id(open_page(window, address), "ask-wrong"), "aria-pressed") == "true"
    mark(window, client, trace_id)
    assert len(orchard.evaluations.questions(WRONG_SET)) == 1


@pytest.mark.long
def test_the_panel_keeps_a_passage_another_document_or_that_nothing_tells(
    window: Dash, client: FlaskClient, orchard
) -> None:
    trace_id, _ = asked(window, client, orchard)
    hit = orchard.trace(trace_id).hits[0]
    keep(window, client, trace_id, note="Last year", right=str(hit.placed.id))
    [kept] = orchard.evaluations.questions(WRONG_SET)
    assert (kept.note, kept.doc_keys, kept.passage) == ("Last year", (hit.placed.doc_key,), hit.placed.chunk.text)
    keep(window, client, trace_id, right="other", doc="bakery.txt")
    assert orchard.evaluations.questions(WRONG_SET)[0].doc_keys == ("bakery.txt",)
    keep(window, client, trace_id, right="nowhere", doc="bakery.txt")
    assert not orchard.evaluations.questions(WRONG_SET)[0].answerable
    refused = keep(window, client, trace_id, right="other")
    assert "No document is chosen" in text_of_json(refused["ask-wrong-problem"]["children"])
    assert "ask-wrong-box" not in refused
    gone = press(window, client, "ask-wrong-back.n_clicks", {"ask-wrong-back.n_clicks": 1, "ask-trace.data": trace_id})
    assert "No longer marked" in text_of_json(gone["response"]["ask-wrong-box"]["children"])
    assert orchard.evaluations.sets() == []


def test_a_follow_up_is_kept_once_its_words_were_read(window: Dash, client: FlaskClient, orchard) -> None:
    rag = core.EvoRAG(kb=orchard)
    first = rag.ask(WHEN)
    talk = orchard.conversations.begin(first.id).id
    second = rag.ask(core.model.Query("And where is it?", conversation_id=talk))
    assert second.analysis.standalone
    answer = mark(window, client, second.id)
    assert "everybody sees them" in text_of_json(answer["ask-wrong-box"]["children"])
    assert orchard.evaluations.sets() == []
    keep(window, client, second.id, text="Where is the orchard?")
    assert [each.text for each in orchard.evaluations.questions(WRONG_SET)] == ["Where is the orchard?"]


def test_small_talk_cannot_be_marked_and_the_set_has_its_columns(window: Dash, client: FlaskClient, orchard) -> None:
    _, address = asked(window, client, orchard, "How many documents are there?")
    assert "ask-wrong" not in {getattr(part, "id", None) for part in parts(open_page(window, address))}
    trace_id, _ = asked(window, client, orchard)
    keep(window, client, trace_id, note="Last year", right=str(orchard.trace(trace_id).hits[0].placed.id))
    page = open_page(window, f"/evaluate?set={WRONG_SET}", "ja")
    assert "誤りとされた回答" in text(by_class(page, "page-title"))
    columns = [each["field"] for each in by_id(page, "evaluate-questions").columnDefs]
    assert columns[-2:] == ["passage", "note"]
