"""The REST interface of questions: search, ask, history, watched questions, and what another version changes."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

import core
from core.errors import ModelUnavailable
from core.model import AnswerComparison, ChangeSummary, Counts, Impact, Row, SavedQuestion, Trace, TraceSummary
from core.model.codec import from_dict
from tests.builders import add
from tests.doubles import QueuedGenerator, use
from tests.unit.app.api.test_documents import assert_problem

KEY = "hours.txt"
QUESTION = "When does the shop open?"


@pytest.fixture
def shop(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """A document with two versions that were shown, and one beside it."""
    add(kb, KEY, "The shop opens at nine.")
    add(kb, KEY, "The shop opens at ten.")
    kb.add_text("prices.txt", "Tea costs three coins.", tags=["menu"])
    kb.work_off()
    return kb


def ask(client: FlaskClient, verb: str = "search", **body: Any) -> Any:
    return client.post(f"/api/v1/{verb}", json={"question": QUESTION, **body})


def test_search_answers_the_trace_with_both_ranks_and_terms(client: FlaskClient, shop) -> None:
    trace = from_dict(Trace, ask(client).get_json())
    first = trace.hits[0]
    assert (first.rank, first.placed.doc_key, first.placed.version) == (1, KEY, 2)
    assert first.vector.contribution + first.keyword.contribution == pytest.approx(first.score)
    assert {term.term for term in first.keyword.terms} >= {"shop", "open"}
    assert shop.history() == []


def test_search_by_address_finds_what_search_by_body_finds(client: FlaskClient, shop) -> None:
    by_address = client.get("/api/v1/search", query_string={"q": QUESTION, "top_k": 2, "doc_keys": [KEY, "no.txt"]})
    by_body = ask(client, top_k=2, filters={"doc_keys": [KEY, "no.txt"]})
    found = [[hit["placed"]["id"] for hit in answer.get_json()["hits"]] for answer in (by_address, by_body)]
    assert found[0] == found[1] and len(found[0]) == 1


def test_search_is_limited_to_tags_versions_and_moments(client: FlaskClient, shop) -> None:
    def keys(**body: Any) -> set[tuple[str, int]]:
        hits = ask(client, **body).get_json()["hits"]
        return {(hit["placed"]["doc_key"], hit["placed"]["version"]) for hit in hits}

    assert keys(filters={"tags": ["menu"]}) == {("prices.txt", 1)}
    assert (KEY, 1) in keys(as_of=f"{KEY}#v1") and (KEY, 2) not in keys(as_of=f"{KEY}#v1")
    assert keys(as_of="1") == {(KEY, 1)}
    assert {(KEY, 1), (KEY, 2)} <= keys(versions="all")


def test_asked_question_is_answered_and_kept_unless_not_wished(client: FlaskClient, shop) -> None:
    trace = from_dict(Trace, ask(client, "ask").get_json())
    assert "ten" in trace.answer.text and trace.answer.citations[0].version == 2
    ask(client, "ask", keep=False)
    kept = client.get("/api/v1/questions").get_json()
    assert [from_dict(TraceSummary, each).id for each in kept["questions"]] == [trace.id] and kept["next"] is None
    assert (
        client.get(f"/api/v1/traces/{trace.id}").get_json() == client.get(f"/api/v1/traces/{trace.id}.json").get_json()
    )
    assert_problem(client.get("/api/v1/traces/nothing"), 404, "not_found")


def test_answer_comes_as_events_where_events_are_wanted(client: FlaskClient, shop) -> None:
    answer = client.post("/api/v1/ask", json={"question": QUESTION}, headers={"Accept": "text/event-stream"})
    assert answer.mimetype == "text/event-stream"
    assert (
        answer.text.index("event: analysis") < answer.text.index("event: passages") < answer.text.index("event: done")
    )


def test_history_is_read_page_by_page(client: FlaskClient, shop) -> None:
    asked = [ask(client, "ask").get_json()["id"] for _ in range(3)]
    first = client.get("/api/v1/questions?limit=2").get_json()
    rest = client.get(f"/api/v1/questions?limit=2&before={first['next']}").get_json()
    assert [each["id"] for each in first["questions"] + rest["questions"]] == asked[::-1] and rest["next"] is None
    assert_problem(client.get("/api/v1/questions?before=nothing"), 404, "not_found")


ODD = [
    ({"top_k": -1}, "invalid_input"),
    ({"top_k": 0}, "invalid_input"),
    ({"top_k": 10**9}, "invalid_input"),
    ({"top_k": "ten"}, "invalid_input"),
    ({"top_k": True}, "invalid_input"),
    ({"depth": 10**12}, "invalid_input"),
    ({"as_of": "handbook#v-1"}, "invalid_input"),
    ({"as_of": "1000000000000"}, "invalid_input"),
    ({"as_of": "latest; drop"}, "invalid_input"),
    ({"as_of": "2999-01-01T00:00:00Z"}, "invalid_input"),
    ({"filters": {"owner": "x"}}, "bad_filter"),
    ({"filters": {"tags": "x"}}, "bad_filter"),
    ({"filters": {"tags": [{"$gt": 1}]}}, "bad_filter"),
    ({"filters": {"tags": ["x"] * 10_000}}, "bad_filter"),
    ({"filters": {"updated_after": "noon"}}, "bad_filter"),
    ({"filters": [1]}, "bad_filter"),
    ({"question": "x" * 5_000}, "query_too_long"),
    ({"question": 5}, "invalid_input"),
    ({"question": " "}, "invalid_input"),
    ({"limit": 5}, "invalid_input"),
]


def test_odd_questions_are_refused_by_their_codes(client: FlaskClient, shop) -> None:
    for body, code in ODD:
        assert_problem(ask(client, **body), 400, code)


def test_odd_addresses_of_searches_are_refused(client: FlaskClient, shop) -> None:
    assert_problem(client.get("/api/v1/search"), 400, "invalid_input")
    for odd in ("top_k=-1", "top_k=nan", "top_k=1&top_k=2", "alpha=nan", "alpha=2", "versions=old"):
        assert_problem(client.get(f"/api/v1/search?q=shop&{odd}"), 400, "invalid_input")
    assert_problem(client.get("/api/v1/search?q=shop&updated_after=noon"), 400, "bad_filter")
    assert_problem(ask(client, as_of=f"{KEY}#v9"), 404, "not_found")


@pytest.mark.long
def test_signs_of_query_languages_are_plain_text(client: FlaskClient, shop) -> None:
    for question in ['"', "a AND", "NEAR(", "*", "a:b", "(((", "\0", "日本語 OR", "/*" * 50, "😀"]:
        assert ask(client, question=question).status_code in (200, 400)
        assert client.get("/api/v1/search", query_string={"q": question}).status_code in (200, 400)


def test_a_generator_that_is_down_is_a_field_of_the_answer(client: FlaskClient, shop) -> None:
    assert ask(client, "ask").get_json()["answer"]["generator_failure"] is None
    use(shop, QueuedGenerator(ModelUnavailable("The server does not answer.", remedy="Start it."), "At ten it opens."))
    answered = ask(client, "ask", generator="queued")
    assert answered.status_code == 200 and "ten" in answered.get_json()["answer"]["text"]
    failure = answered.get_json()["answer"]["generator_failure"]
    assert (failure["generator"], failure["code"]) == ("queued", "model_unavailable")
    assert (failure["message"], failure["remedy"]) == ("The server does not answer.", "Start it.")
    assert ask(client, "ask", generator="queued").get_json()["answer"]["generator_failure"] is None
    described = client.get("/api/v1/openapi.json").get_json()
    assert "generator_failure" in described["components"]["schemas"]["Answer"]["properties"]
    assert "generator_failure" in described["paths"]["/api/v1/ask"]["post"]["description"]


def test_question_is_watched_once_and_forgotten(client: FlaskClient, shop) -> None:
    first = client.post("/api/v1/saved-questions", json={"text": QUESTION})
    again = client.post("/api/v1/saved-questions", json={"text": QUESTION})
    assert (first.status_code, again.status_code) == (201, 200) and first.get_json() == again.get_json()
    saved = from_dict(SavedQuestion, first.get_json())
    assert client.get("/api/v1/saved-questions").get_json()["questions"] == [first.get_json()]
    assert client.delete(f"/api/v1/saved-questions/{saved.id}").status_code == 204
    assert_problem(client.delete(f"/api/v1/saved-questions/{saved.id}"), 404, "not_found")


def test_impact_is_told_question_by_question(client: FlaskClient, shop) -> None:
    for text in (QUESTION, "What does tea cost?"):
        shop.save_question(text)
    path = f"/api/v1/documents/{KEY}/versions/1/impact"
    first = client.get(f"{path}?limit=1").get_json()
    rest = client.get(f"{path}?limit=1&after={first['next']}").get_json()
    found = [from_dict(Impact, each) for each in first["impacts"] + rest["impacts"]]
    assert [impact.question.text for impact in found] == [QUESTION, "What does tea cost?"]
    assert found[0].comparison.is_changed and not found[1].comparison.is_changed and rest["next"] is None
    assert_problem(client.get(f"{path}?limit=0"), 400, "invalid_input")


def test_one_question_is_asked_of_two_versions(client: FlaskClient, shop) -> None:
    sides = {name: {"doc_key": KEY, "version": number} for name, number in (("old", 1), ("new", 2))}
    compared = from_dict(AnswerComparison, ask(client, "compare-answers", **sides).get_json())
    assert compared.is_changed and "nine" in compared.old.answer.text and "ten" in compared.new.answer.text
    assert_problem(ask(client, "compare-answers", old=sides["old"]), 400, "invalid_input")


def test_difference_is_data_in_pages(client: FlaskClient, shop) -> None:
    pair = f"doc={KEY}&old=1&new=2"
    summary = from_dict(ChangeSummary, client.get(f"/api/v1/diff?{pair}").get_json())
    page = client.get(f"/api/v1/diff/rows?{pair}&limit=1").get_json()
    row = from_dict(Row, page["rows"][0])
    assert summary.tally.changed == 1 and page["total"] == summary.rows == 1 and page["next"] is None
    assert (row.old.text, row.new.text) == ("The shop opens at nine.", "The shop opens at ten.")


def test_counts_and_states_are_told(client: FlaskClient, shop) -> None:
    counts = from_dict(Counts, client.get("/api/v1/counts").get_json())
    assert (counts.documents, counts.versions) == (2, 3)
    assert client.get("/health/live").get_json() == {"status": "alive"}
    assert client.get("/api/v1/health/ready").get_json() == {"status": "ready"}
    assert client.get("/api/v1/health").get_json() == client.get("/health").get_json()
