"""Asking of another moment: the address keeps it, and nothing old looks current."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import parse_qs, quote

import pytest
from dash import Dash, dcc, html
from flask.testing import FlaskClient

import core
from app.components.shared.freshness import freshness_of, holders
from app.components.shared.links import ask_search, query_of
from app.pages.ask.form import addressed
from core.errors import InvalidInput
from core.model import Query, VersionRef
from tests.builders import add, placed
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, text
from tests.unit.app.pages.test_ask import ask, text_of_json

WHEN = "When does the shop open?"


@pytest.fixture
def shop(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """Three versions, the second shown again, and a draft."""
    for hour in ("eight", "nine", "ten"):
        add(kb, "hours.txt", f"The shop opens at {hour}. It closes at noon.")
    kb.rollback("hours.txt")
    kb.add_text("hours.txt", "The shop opens at midnight. It closes at noon.", draft=True, label="Plan")
    kb.work_off()
    return kb


def answered(window: Dash, client: FlaskClient, **values: object):
    """The page that asking leads to."""
    went = ask(window, client, WHEN, **values)["ask-go"]["data"]
    return open_page(window, "/ask" + went["search"])


def test_a_version_is_asked_and_the_page_says_so(window: Dash, client: FlaskClient, shop) -> None:
    page = answered(window, client, **{"ask-kind.value": "version", "ask-asof.data": "hours.txt#v1"})
    assert "opens at eight" in text(by_id(page, "ask-answer-card"))
    [notice] = by_class(page, "scope-notice")
    assert "As of version 1" in text(notice) and "Ask as of now" in text(notice)
    assert "earlier version" in text(by_class(page, "answer-sources"))
    addresses = [link.href for link in parts(notice, dcc.Link)]
    assert f"/ask?q={quote(WHEN)}&k=5" in addresses
    assert "/compare?doc=hours.txt&old=1&new=2" in addresses


def test_the_version_shown_now_is_called_so(window: Dash, client: FlaskClient, shop) -> None:
    page = answered(window, client, **{"ask-kind.value": "version", "ask-asof.data": "hours.txt#v2"})
    assert "which is the one shown now" in text(by_class(page, "scope-notice"))
    assert "earlier version" not in text(page)


@pytest.mark.parametrize(("number", "hour"), [(3, "ten"), (4, "midnight")])
def test_a_newer_version_that_is_not_shown_never_looks_current(
    window: Dash, client: FlaskClient, shop, number: int, hour: str
) -> None:
    page = answered(window, client, **{"ask-kind.value": "version", "ask-asof.data": f"hours.txt#v{number}"})
    assert f"opens at {hour}" in text(by_id(page, "ask-answer-card"))
    assert "not shown now" in text(by_class(page, "answer-sources"))
    assert "not shown now" in text(by_class(page, "evidence"))


@pytest.mark.long
def test_a_publication_is_asked_by_its_number(window: Dash, client: FlaskClient, shop) -> None:
    page = answered(window, client, **{"ask-kind.value": "sequence", "ask-asof.data": "1"})
    assert "publication #1" in text(by_class(page, "scope-notice"))
    assert "opens at eight" in text(by_id(page, "ask-answer-card"))
    empty = answered(window, client, **{"ask-kind.value": "sequence", "ask-asof.data": "0"})
    assert "before the first publication" in text(by_class(empty, "scope-notice"))


def test_a_moment_before_the_first_publication_is_told_as_such(window: Dash, client: FlaskClient, shop) -> None:
    values = {"ask-kind.value": "moment", "ask-asof.data": "2001-01-01T00:00+00:00"}
    card = by_id(answered(window, client, **values), "ask-answer-card")
    assert "Nothing was published at that moment; the first publication is of" in text(card)
    assert [time.dateTime for time in parts(card, html.Time)] == [shop.audit(limit=1, before=2)[0].at.isoformat()]
    assert "Upload" not in text(card)


@pytest.mark.long
def test_a_moment_is_asked_as_the_address_says_it(window: Dash, client: FlaskClient, shop) -> None:
    moment = shop.publications("hours.txt")[-1].at.isoformat()
    page = answered(window, client, **{"ask-kind.value": "moment", "ask-asof.data": moment})
    assert "opens at eight" in text(by_id(page, "ask-answer-card"))
    assert by_id(page, "ask-kind").value == "moment" and by_id(page, "ask-asof-start").data == moment


@pytest.mark.long
def test_all_versions_say_which_of_them_is_current(window: Dash, client: FlaskClient, shop) -> None:
    page = answered(window, client, **{"ask-all.value": True, "ask-kind.value": "now"})
    assert "All versions" in text(by_class(page, "scope-notice"))
    evidence = [text(part) for part in by_class(page, "evidence-head")]
    said = {word: each for each in evidence for word in each.split() if word in ("v1", "v2", "v3", "v4")}
    assert "current" in said["v2"] and "earlier version" in said["v1"] and "not shown now" in said["v3"]
    assert "v4" not in said


@pytest.mark.long
def test_an_answer_of_now_has_no_notice_until_what_it_stands_on_is_replaced(
    window: Dash, client: FlaskClient, shop
) -> None:
    went = ask(window, client, WHEN)["ask-go"]["data"]
    page = open_page(window, "/ask" + went["search"])
    assert not by_class(page, "scope-notice") and not by_class(page, "answer-sources")
    shop.publish("hours.txt", 4)
    later = open_page(window, "/ask" + went["search"])
    assert "no longer what is shown" in text(by_class(later, "scope-notice"))
    assert "earlier version" in text(by_class(later, "answer-sources"))
    shop.unpublish("hours.txt")
    assert "no longer shown" in text(by_class(open_page(window, "/ask" + went["search"]), "answer-sources"))


@pytest.mark.long
@pytest.mark.parametrize("as_of", ["yesterday", "hours.txt#v0", "99999999999999999999"])
def test_an_address_that_cannot_be_read_is_not_answered_of_now(window: Dash, shop, as_of: str) -> None:
    page = open_page(window, f"/ask?q=hours&asof={quote(as_of)}")
    assert by_id(page, "ask-now").data == 0.0
    assert "invalid_input" in text(by_id(page, "ask-problem"))
    with pytest.raises(InvalidInput):
        query_of("q", asof=as_of)


def test_a_day_in_an_address_is_one_of_the_reader(window: Dash, shop) -> None:
    with window.server.test_request_context(headers={"Cookie": "evorag_zone=Asia/Tokyo"}):
        query = addressed("hours", asof="2025-11-28", zone="UTC")
    assert query.as_of == datetime(2025, 11, 27, 15, tzinfo=UTC)


@pytest.mark.parametrize("kind", ["moment", "sequence", "version"])
def test_a_kind_without_a_moment_is_not_asked_of_now(window: Dash, client: FlaskClient, shop, kind: str) -> None:
    answer = ask(window, client, WHEN, **{"ask-kind.value": kind, "ask-asof.data": ""})
    assert "none is chosen" in text_of_json(answer["ask-problem"]["children"])
    assert shop.history() == []


def test_a_purged_version_says_so(window: Dash, client: FlaskClient, shop) -> None:
    shop.purge("hours.txt", 1)
    answer = ask(window, client, WHEN, **{"ask-kind.value": "version", "ask-asof.data": "hours.txt#v1"})
    assert "purged" in text_of_json(answer["ask-problem"]["children"])


def test_a_version_and_all_versions_are_not_asked_together(window: Dash, client: FlaskClient, shop) -> None:
    sent = {"ask-kind.value": "version", "ask-asof.data": "hours.txt#v1", "ask-all.value": True}
    assert "versions=all" not in ask(window, client, WHEN, **sent)["ask-go"]["data"]["search"]
    page = open_page(window, "/ask?asof=hours.txt%23v1")
    assert by_id(page, "ask-all-box").hidden is True and by_id(page, "ask-version-box").hidden is False


@pytest.mark.parametrize(
    "query",
    [
        Query("a", as_of=VersionRef("x y&#v1.txt", 2)),
        Query("a", as_of=datetime(2026, 5, 12, 9, 0, 30, 250, tzinfo=UTC)),
        Query("a", as_of=0),
        Query("a", versions="all"),
        Query("a", as_of=3, versions="all"),
    ],
)
def test_address_and_query_say_the_same(query: Query) -> None:
    assert query_of(**parse_qs(ask_search(query)[1:])) == query


def test_versions_are_offered_by_document_without_those_that_cannot_be_asked(
    window: Dash, client: FlaskClient, shop
) -> None:
    shop.purge("hours.txt", 1)
    add(shop, "fees.txt", "Twelve euros.")
    shop.add_text("hours.txt", "Not indexed yet.")
    sent = {"ask-version.search_value": "hours", "ask-version.value": None}
    options = press(window, client, "ask-version.search_value", sent)["response"]["ask-version"]["options"]
    assert [option["value"] for option in options] == ["hours.txt#v4", "hours.txt#v3", "hours.txt#v2"]
    assert "Plan" in options[0]["search"] and "current" in options[2]["search"]
    said = [option["label"]["props"]["children"] for option in options]
    assert said[0][0] == "hours.txt · v4 · Plan · " and said[2][2] == " · current"
    made = {f"hours.txt#v{version.number}": version.created_at.isoformat() for version in shop.versions("hours.txt")}
    for option, (_, time, _) in zip(options, said, strict=True):
        assert time["props"]["dateTime"] == made[option["value"]] and time["props"]["data-told"] == "day"
    page = open_page(window, "/ask?asof=hours.txt%23v1")
    assert by_id(page, "ask-version").value == "hours.txt#v1"
    assert by_id(page, "ask-version").options[0]["value"] == "hours.txt#v1"


@pytest.mark.long
def test_a_question_is_saved_and_forgotten_with_its_star(window: Dash, client: FlaskClient, shop) -> None:
    ask(window, client, WHEN)
    trace_id = shop.history()[0].id

    def toggle() -> str:
        sent = {"ask-save.n_clicks": 1, "ask-trace.data": trace_id}
        return text_of_json(press(window, client, "ask-save.n_clicks", sent)["response"]["ask-save-box"]["children"])

    assert text(by_id(open_page(window, f"/ask?trace={trace_id}"), "ask-save")).strip() == "Save question"
    assert "Saved" in toggle()
    assert [saved.text for saved in shop.saved_questions()] == [WHEN]
    assert text(by_id(open_page(window, f"/ask?trace={trace_id}"), "ask-save")).strip() == "Saved"
    assert WHEN in text(by_class(open_page(window, "/ask"), "saved-links"))
    assert "Save question" in toggle()
    assert shop.saved_questions() == []


def test_the_history_says_which_moment_was_asked_of(window: Dash, client: FlaskClient, shop) -> None:
    ask(window, client, WHEN, **{"ask-kind.value": "version", "ask-asof.data": "hours.txt#v1"})
    ask(window, client, WHEN, **{"ask-all.value": True})
    page = open_page(window, "/history")
    chips = [text(chip).split() for chip in by_class(page, "chip")]
    assert chips == [["All", "versions"], ["as", "of", "hours.txt,", "version", "1"]]
    again = [link.href for link in parts(page, dcc.Link) if "q=" in link.href]
    assert ["versions=all" in again[0], "asof=hours.txt%23v1" in again[1]] == [True, True]


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("values", [{"ask-all.value": True}, {"ask-asof.data": "2"}, {"ask-asof.data": "hours.txt#v1"}])
def test_both_languages_say_what_was_asked_of(
    window: Dash, client: FlaskClient, shop, lang: str, values: dict[str, object]
) -> None:
    went = ask(window, client, WHEN, **values)["ask-go"]["data"]
    notice = text(by_class(open_page(window, "/ask" + went["search"], lang), "scope-notice"))
    assert {"en": "Ask as of now", "ja": "現在の内容で質問する"}[lang] in notice


@pytest.mark.parametrize(
    ("version", "versions", "shown", "expected"),
    [
        (2, (), 2, "current"),
        (1, (), 2, "earlier"),
        (3, (), 2, "hidden"),
        (3, (2, 3), 2, "current"),
        (3, (1, 3), 2, "hidden"),
        (1, (), None, "gone"),
    ],
)
def test_a_passage_is_current_only_where_the_version_shown_holds_it(
    version: int, versions: tuple[int, ...], shown: int | None, expected: str
) -> None:
    assert freshness_of(replace(placed(1, version=version), versions=versions), {"doc-1.txt": shown}) == expected


@pytest.mark.parametrize(
    ("versions", "expected"), [((1,), "v1"), ((1, 2, 3, 5), "v1–v3, v5"), ((2, 4), "v2, v4"), ((), "")]
)
def test_versions_that_hold_a_passage_are_told_in_runs(versions: tuple[int, ...], expected: str) -> None:
    assert holders(versions) == expected
