"""History and conversations: searched by the server, page by page, each at an address of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from core.model import AnswerType, Query
from tests.builders import add
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, text

PAGE_QUESTIONS = 50


@pytest.fixture
def asked(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "Orchard.txt", "The orchard holds 240 trees.")
    rag = core.EvoRAG(kb=kb)
    for question in ("How many trees are there?", "果樹園には木が何本ありますか。", "Is it 100% done_or not?"):
        rag.ask(question)
    return rag


def questions_on(page: object) -> list[str]:
    return [text(link) for link in by_class(page, "question")]


@pytest.mark.parametrize(
    ("search", "found"),
    [("TREES many", 1), ("果樹園", 1), ("本　何", 1), ("%", 1), ("_", 1), ("o%d", 0), ("trees 果樹園", 0)],
)
def test_history_finds_words_literally(window: Dash, client: FlaskClient, asked, search: str, found: int) -> None:
    assert len(questions_on(open_page(window, f"/history?q={search.replace('%', '%25')}"))) == found
    answer = press(window, client, "history-asked.data", {"history-asked.data": {"q": search}})["response"]
    assert json.dumps(answer, ensure_ascii=False).count('"className": "question"') == found
    if not found:
        assert "No matches" in json.dumps(answer)


def test_pages_of_the_history_are_all_of_it(window: Dash, asked) -> None:
    for number in range(PAGE_QUESTIONS):
        asked.ask(f"Question {number} of the pages?")
    first = open_page(window, "/history?q=e")
    older = next(part for part in parts(first) if text(part) == "Older" and hasattr(part, "href"))
    query = dict(parse_qsl(urlsplit(older.href).query))
    assert query["q"] == "e" and query["before"]
    second = open_page(window, older.href)
    both = questions_on(first) + questions_on(second)
    assert len(questions_on(first)) == PAGE_QUESTIONS
    assert both == [each.question for each in asked.kb.history(search="e")]
    assert questions_on(open_page(window, "/history?before=gone")) == questions_on(open_page(window, "/history"))


def test_conversations_are_found_by_title_and_by_what_was_asked_in_them(window: Dash, client, asked) -> None:
    kept = {}
    for title in ("Trees", "Ships"):
        kept[title] = asked.kb.conversations.create(title).id
    asked.ask(Query("How deep is the harbour?", conversation_id=kept["Ships"]))

    def found(search: str) -> list[str]:
        return [text(link) for link in by_class(open_page(window, f"/conversations?q={search}"), "conversation-name")]

    assert found("tree") == ["Trees"] and found("harbour deep") == ["Ships"] and found("") != []
    assert found("nowhere") == [] and "No matches" in text(open_page(window, "/conversations?q=nowhere"))
    asking = {"conversations-asked.data": {"q": "harbour"}}
    answer = json.dumps(press(window, client, "conversations-asked.data", asking)["response"])
    assert "Ships" in answer and "Trees" not in answer


def test_an_answer_that_is_not_certain_has_no_green_mark_in_any_list(window: Dash, client: FlaskClient, asked) -> None:
    def marks() -> list[tuple[int, int]]:
        """How many answers have the green mark in each list, and how many are said to be not certain."""
        offered = by_id(open_page(window, "/evaluate?make=history"), "evaluate-picked").options
        lists = open_page(window, "/history"), [option["label"] for option in offered]
        explained = [[badge.title for badge in by_class(shown, "meaning-neutral")] for shown in lists]
        doubted = [sum("Not certain: check it" in title for title in titles) for titles in explained]
        return [(len(by_class(shown, "meaning-ok")), found) for shown, found in zip(lists, doubted, strict=True)]

    certain = asked.kb.trace(asked.kb.history(search="many trees")[0].id)
    green = len([each for each in asked.kb.history() if each.answer_type is AnswerType.EXTRACTIVE])
    assert green > 0 and marks() == [(green, 0), (green, 0)]
    query, answer = replace(certain.query, text="How many stand there?"), replace(certain.answer, is_tentative=True)
    asked.kb.catalog.questions.keep(replace(certain, id="f" * 32, query=query, answer=answer))
    assert marks() == [(green, 1), (green, 1)]
    told = {each["id"]: each["is_tentative"] for each in client.get("/api/v1/questions").get_json()["questions"]}
    assert told["f" * 32] is True and told[certain.id] is False


def test_the_interface_pages_and_searches_the_history(client: FlaskClient, asked) -> None:
    first = client.get("/api/v1/questions?limit=2").get_json()
    rest = client.get(f"/api/v1/questions?limit=2&before={first['next']}").get_json()
    ids = [each["id"] for each in (*first["questions"], *rest["questions"])]
    assert ids == [each.id for each in asked.kb.history()] and rest["next"] is None
    assert client.get("/api/v1/questions?before=gone").status_code == 404
    found = client.get("/api/v1/questions", query_string={"search": "trees"}).get_json()["questions"]
    assert [each["question"] for each in found] == ["How many trees are there?"]
