"""Written answers on the Ask page: how they are asked for, what supports them, what follows, and why not."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from dash import Dash, dcc, html
from flask.testing import FlaskClient

import core
from app.components.ask.answer_card import answer_card
from app.components.ask.asked_of import filter_chips
from app.components.ask.evidence import evidence_pane
from app.components.ask.support_marks import supported_text
from app.components.ask.trace_cards import trace_cards
from app.components.ask.trace_facts import understanding_facts
from app.components.ask.why_not_advice import changed
from app.components.compare.address import Pair
from app.components.compare.answers import answer_comparison
from app.components.shared.chips import read_words
from app.components.shared.generator_choice import generator_line
from app.components.shared.links import ask_search, query_of
from app.i18n import has
from app.pages.ask.form import body_of
from core import adapters
from core.adapters.generation.command_generator import CommandGenerator
from core.adapters.generation.server_problems import _IN_ENVIRONMENT, _IN_SETTINGS
from core.errors import ModelUnavailable
from core.model import (
    Advice,
    Answer,
    AnswerType,
    Citation,
    Filters,
    GeneratorFailure,
    GeneratorHealth,
    GeneratorState,
    Query,
    ReadFilter,
    RerankScore,
    Sentence,
    Trace,
    VersionRef,
)
from tests.builders import add
from tests.doubles import QueuedGenerator, use
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, text
from tests.unit.app.pages.test_ask import ASKED, ask, text_of_json

WHEN = "When does the harvest of the orchard begin?"
ORCHARD = "The orchard in Suwa holds 240 apple trees. The harvest of the orchard begins on 12 September."


@pytest.fixture
def orchard(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "orchard.txt", ORCHARD)
    add(kb, "bakery.txt", "The bakery sells bread made of rye from six in the morning until the shelves are empty.")
    return kb


def answered(window: Dash, client: FlaskClient, question: str = WHEN, lang: str = "en", **values: object) -> Any:
    """The page that asking leads to."""
    return open_page(window, "/ask" + ask(window, client, question, **values)["ask-go"]["data"]["search"], lang)


def values_of(href: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(href).query)


def written(text_: str, *sentences: Sentence, **changes: Any) -> Answer:
    citation = Citation(1, "a.txt", 1, 5, 0, "a.txt", "Fact.", 0, 5)
    return replace(Answer(text_, AnswerType.GENERATIVE, (citation,), 0.8, sentences=sentences), **changes)


@pytest.mark.parametrize(
    "query",
    [
        Query("a", generator="command", rerank="mix", recency=True, read_filters=False),
        Query("a", dismissed=("document:x", "updated:last week"), syntax="advanced", fresh=True),
        Query("a", conversation_id="c1", depth=200, per_document=0),
    ],
)
def test_address_says_how_a_question_is_answered(query: Query) -> None:
    assert query_of(**parse_qs(ask_search(query)[1:])) == query


@pytest.mark.parametrize(
    ("name", "value"), [("rerank", "<b>"), ("recency", "x"), ("syntax", "sql"), ("depth", "x"), ("per", "-1")]
)
def test_what_an_address_says_strangely_takes_its_default(name: str, value: str) -> None:
    assert query_of("q", **{name: value}) == Query("q")


def test_where_a_generator_writes_the_browser_asks_with_what_the_interface_takes(
    window: Dash, client: FlaskClient, orchard
) -> None:
    use(orchard, QueuedGenerator("The harvest of the orchard begins on 12 September."))
    chosen = {"ask-generator.value": "queued", "ask-tag.value": [], "ask-type.value": ["txt"], "ask-read.value": False}
    sent = ask(window, client, WHEN, **chosen)
    stream = sent["ask-stream"]["data"]
    assert "ask-go" not in sent and orchard.history() == []
    assert "&type=txt&gen=queued&read=0" in stream["search"] and stream["replace"] is False
    events = client.post("/api/v1/ask", json=stream["body"], headers={"Accept": "text/event-stream"}).text
    names = [line.removeprefix("event: ") for line in events.splitlines() if line.startswith("event: ")]
    assert list(dict.fromkeys(names)) == ["analysis", "passages", "writing", "answer", "done"]
    trace = orchard.trace(orchard.history()[0].id)
    assert trace.query.generator == "queued" and trace.query.filters == Filters(extensions=("txt",))
    card = by_id(open_page(window, f"/ask?trace={trace.id}"), "ask-answer-card")
    assert "Generated" in text(card) and "by queued: queue" in text(card)


def test_an_unknown_generator_is_refused_with_its_name(window: Dash, client: FlaskClient, orchard) -> None:
    sent = ask(window, client, WHEN, **{"ask-generator.value": "oracle"})
    assert "oracle" in text_of_json(sent["ask-problem"]["children"])


def test_a_filter_that_was_taken_away_stays_away_for_the_same_question_only(
    window: Dash, client: FlaskClient, orchard
) -> None:
    extra = {"ask-extra.data": {"text": WHEN, "dismissed": ["document:x"], "fresh": True, "depth": 70}}
    assert "&dismissed=document%3Ax&depth=70&trace" in ask(window, client, WHEN, **extra)["ask-go"]["data"]["search"]
    assert "dismissed" not in ask(window, client, "Where is it?", **extra)["ask-go"]["data"]["search"]


def test_a_supported_sentence_gets_its_citation_and_an_unsupported_one_words() -> None:
    first = Sentence(0, 5, True, 1, 0.9)
    second = Sentence(6, 22, False, None, 0.1, foreign_figures=("1,200",))
    drawn = supported_text(written("Fact. It costs 1,200.", first, second))
    sentences = by_class(drawn, "sentence")
    assert [link.children for link in parts(sentences[0], dcc.Link)] == ["[1]"] and not by_class(sentences[0], "icon")
    assert "no passage supports this" in text(sentences[1]) and "1,200 is in no passage" in text(sentences[1])
    assert "".join(text(each) for each in by_class(drawn, "sentence-text")[1:]) == "It costs 1,200."


def test_what_decides_in_an_extracted_answer_is_marked() -> None:
    drawn = supported_text(replace(written("It costs 7 yen. [1]"), marked=((9, 14),)))
    marks = list(parts(drawn, html.Mark))
    assert [text(mark) for mark in marks] == ["7 yen"]
    assert "".join(text(drawn).split()) == "Itcosts7yen.[1]"


def test_a_mark_behind_a_sentence_belongs_to_it_and_is_not_repeated() -> None:
    drawn = supported_text(written("Fact. [1] Rumour.", Sentence(0, 5, True, 1, 0.9), Sentence(10, 17, False)))
    first, second = by_class(drawn, "sentence")
    assert text(by_class(first, "sentence-text")) == "Fact.  [1]"
    assert text(by_class(second, "sentence-text")) == "Rumour."


def test_a_foreign_figure_is_told_of_a_supported_sentence_too() -> None:
    drawn = supported_text(written("It costs 7 yen. [1]", Sentence(0, 19, True, 1, 0.8, 0.9, ("7",))))
    assert "7 is not in the cited passage" in text(drawn) and len(list(parts(drawn, dcc.Link))) == 1


@pytest.mark.long
def test_an_answer_says_how_much_of_it_is_supported_and_what_was_left_out(
    window: Dash, client: FlaskClient, orchard
) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    answer = written("Fact.", Sentence(0, 5, True, 1, 0.9), dropped=("<b>Rumour</b>.",), reason="low_overlap")
    shown = answer_card(replace(trace, answer=answer))
    assert "1 of 1 sentence is supported" in text(shown) and "1 sentence was left out" in text(shown)
    assert "shares too little" in text(shown)
    [dropped] = by_class(shown, "dropped")
    assert [quote.children for quote in parts(dropped, html.Q)] == ["<b>Rumour</b>."]


def test_an_answer_that_is_not_certain_says_what_to_do(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    words = "Not certain: check it"
    plain, tentative = (replace(trace, answer=replace(trace.answer, is_tentative=flag)) for flag in (False, True))
    assert words not in text(answer_card(plain)) and words in text(answer_card(tentative))
    assert by_class(answer_card(plain), "meaning-ok") and not by_class(answer_card(tentative), "meaning-ok")


def test_a_generator_that_failed_is_told_above_the_extracted_answer(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    failure = GeneratorFailure("command", "generation_failed", "It ended with 3.", "Look.")
    shown = answer_card(replace(trace, answer=replace(trace.answer, generator_failure=failure)))
    [told] = by_class(shown, "degraded")
    assert told.role == "status" and "The generator command did not write this answer" in text(told)
    assert "It ended with 3. Look." in text(told) and "12 September" in text(shown)
    [again] = parts(told, dcc.Link)
    assert values_of(again.href)["fresh"] == ["1"] and values_of(again.href)["q"] == [WHEN]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("The generator queued did not write this answer", "does not answer", "EVORAG_OPENAI_URL")),
        ("ja", ("生成器 queued は回答を作成できませんでした", "応答しません", "EVORAG_OPENAI_URL")),
    ],
)
def test_a_generator_that_is_down_is_told_in_the_readers_language(
    window: Dash, client: FlaskClient, orchard, lang: str, words: tuple[str, ...]
) -> None:
    use(orchard, QueuedGenerator(ModelUnavailable("Down.", reason="openai_silent", server="http://there")))
    trace = core.EvoRAG(kb=orchard).ask(Query(WHEN, generator="queued"))
    page = open_page(window, "/ask" + ask_search(trace.query, trace.id), lang)
    [told] = by_class(page, "degraded")
    assert all(word in text(told) for word in words) and "12 September" in text(page)


def test_a_generator_that_failed_is_told_on_both_sides_of_a_comparison(orchard, window: Dash) -> None:
    use(orchard, QueuedGenerator("", ""))
    add(orchard, "orchard.txt", ORCHARD.replace("12", "13"))
    refs = [VersionRef("orchard.txt", number) for number in (1, 2)]
    found = core.EvoRAG("queued", orchard).compare_answers(WHEN, *refs)
    with window.server.test_request_context("/", headers={"Accept-Language": "en"}):
        assert len(by_class(answer_comparison(found, Pair("orchard.txt", 1, 2)), "degraded")) == 2


@pytest.mark.long
def test_a_read_filter_is_a_chip_that_leads_to_the_question_without_it(
    window: Dash, client: FlaskClient, orchard
) -> None:
    page = answered(window, client, "In orchard.txt, when does the harvest begin?")
    [away] = by_class(page, "chip-drop")
    assert "document: orchard.txt" in text(by_class(page, "chip-removable"))
    assert values_of(away.href)["dismissed"] == ["document:orchard.txt"] and "trace" not in values_of(away.href)
    sent = {"ask-now.data": 1.0, "ask-question.value": values_of(away.href)["q"][0]}
    sent["ask-extra.data"] = by_id(open_page(window, away.href), "ask-extra").data
    went = press(window, client, "ask-now.data", sent, "ask-go")["response"]["ask-go"]["data"]
    later = by_class(open_page(window, "/ask" + went["search"]), "read-filters")
    assert "Restore the 1 thing" in text(later) and "dismissed" not in values_of(next(parts(later, dcc.Link)).href)


def test_a_read_filter_that_would_leave_nothing_is_told_and_cannot_be_taken_away(
    window: Dash, client: FlaskClient, orchard
) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    unused = ReadFilter("updated:x", "updated", "last week", Filters(), is_applied=False)
    shown = answer_card(replace(trace, analysis=replace(trace.analysis, read_filters=(unused,))))
    assert "“last week” is left out" in text(shown) and not by_class(shown, "chip-drop")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("昨日以降の", "昨日以降"),
        ("過去3日で", "過去3日"),
        ("きのう", "きのう"),
        ("yesterday’s", "yesterday"),
        ("since May 2025", "since May 2025"),
    ],
)
def test_a_date_is_named_without_what_ties_it_to_the_question(words: str, shown: str) -> None:
    assert read_words(ReadFilter("updated:x", "updated", words, Filters())) == shown
    assert read_words(ReadFilter("document:x", "document", "旅のしおりの", Filters())) == "旅のしおりの"


def test_days_of_a_read_filter_are_written_by_the_browser(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    after, before = datetime(2025, 9, 30, 15, tzinfo=UTC), datetime(2025, 10, 31, 14, 59, 59, 999_999, tzinfo=UTC)
    bounds = Filters(updated_after=after, updated_before=before)
    read = ReadFilter("updated:in-month-1", "updated", "last month", bounds)
    trace = replace(trace, analysis=replace(trace.analysis, read_filters=(read,)))
    with window.server.test_request_context("/", headers={"Accept-Language": "en"}):
        for drawn in (answer_card(trace), filter_chips(trace, {})):
            [chip] = by_class(drawn, "when-bounds")
            assert after.isoformat() in chip.title and before.isoformat() in chip.title
        [fact] = [part for name, part in understanding_facts(trace) if name == "Read filter"]
        days = by_class(fact, "when-exact")
    assert text(fact).split() == ["last", "month", "from", "30", "Sep", "2025", ",", "until", "31", "Oct", "2025"]
    assert [(day.dateTime, getattr(day, "data-told")) for day in days] == [
        (after.isoformat(), "bound"),
        (before.isoformat(), "bound"),
    ]


@pytest.mark.parametrize(("cookie", "zone"), [("Asia/Tokyo", "Asia/Tokyo"), ("Asia/Nowhere", ""), (None, "")])
def test_a_question_is_asked_in_the_time_zone_of_the_browser(
    window: Dash, client: FlaskClient, orchard, cookie: str | None, zone: str
) -> None:
    if cookie:
        client.set_cookie("evorag_zone", cookie)
    went = ask(window, client, WHEN)["ask-go"]["data"]
    query = orchard.trace(orchard.history()[0].id).query
    assert query.zone == zone and "zone" not in went["search"]
    assert body_of(query).get("zone", "") == zone


def test_a_question_about_the_knowledge_base_is_answered_as_such(window: Dash, client: FlaskClient, orchard) -> None:
    card = text(by_id(answered(window, client, "How many documents are there?"), "ask-answer-card"))
    assert "About the knowledge base" in card and "2 documents" in card


def test_a_kept_answer_says_so_and_is_asked_afresh_with_one_click(window: Dash, client: FlaskClient, orchard) -> None:
    assert not by_class(answered(window, client), "cached")
    page = answered(window, client)
    [afresh] = by_class(page, "afresh")
    assert "from the answer of" in text(by_class(page, "cached")) and values_of(afresh.href)["fresh"] == ["1"]
    extra = by_id(open_page(window, afresh.href), "ask-extra").data
    sent = {"ask-now.data": 1.0, "ask-question.value": WHEN, "ask-extra.data": extra}
    went = press(window, client, "ask-now.data", sent, "ask-go")["response"]["ask-go"]["data"]
    assert "fresh" not in values_of(went["search"])
    assert not by_class(open_page(window, "/ask" + went["search"]), "cached")


def follow(window: Dash, client: FlaskClient, trace_id: str, question: str, **extra: object) -> dict[str, Any]:
    """What asking on below an answer leads to; ``extra`` is what the page keeps of the question shown."""
    sent = {**ASKED, "ask-question.value": question, "ask-trace.data": trace_id, "ask-extra.data": extra}
    return press(window, client, "ask-send.n_clicks", sent, "ask-go")["response"]


@pytest.mark.long
def test_a_follow_up_begins_a_conversation_with_the_shown_answer(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    first = orchard.history()[0].id
    went = follow(window, client, first, "And where is it?", text=WHEN)["ask-go"]["data"]["search"]
    [talk] = orchard.conversations.list()
    second = orchard.history()[0].id
    assert values_of(went)["conversation"] == [talk.id] and talk.title == WHEN
    assert [turn.summary.id for turn in orchard.conversations.turns(talk.id)] == [first, second]
    page = open_page(window, "/ask" + went)
    assert WHEN in text(by_class(page, "turns"))
    assert by_id(page, "ask-extra").data["conversation"] == talk.id
    opened = open_page(window, f"/ask?conversation={talk.id}")
    assert by_id(opened, "ask-trace").data == second
    earlier = open_page(window, f"/ask?trace={first}&conversation={talk.id}")
    assert "And where is it?" in text(by_class(earlier, "turns-section"))
    assert "Later in this conversation" in text(earlier)


def test_an_empty_box_below_an_answer_asks_its_question_as_is_chosen_now(
    window: Dash, client: FlaskClient, orchard
) -> None:
    ask(window, client, WHEN)
    went = follow(window, client, orchard.history()[0].id, " ", text=WHEN)["ask-go"]["data"]["search"]
    assert values_of(went)["q"] == [WHEN] and "conversation" not in values_of(went)
    assert orchard.conversations.list() == []


def test_a_question_whose_words_are_changed_begins_no_conversation(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    sent = {**ASKED, "ask-question.value": "Where is the orchard?", "ask-trace.data": orchard.history()[0].id}
    sent |= {"ask-extra.data": {"text": WHEN}, "ask-anew.data": True}
    went = press(window, client, "ask-send.n_clicks", sent, "ask-go")["response"]["ask-go"]["data"]["search"]
    assert values_of(went)["q"] == ["Where is the orchard?"] and "conversation" not in values_of(went)
    assert orchard.conversations.list() == []


def act(client: FlaskClient, name: str, conversation_id: str, *titles: str, shown: int = 50) -> dict[str, Any]:
    """Press one of the buttons of a conversation."""
    output = next(
        spec for spec in client.get("/_dash-dependencies").get_json() if "conversations-list" in spec["output"]
    )
    button = {"act": name, "id": conversation_id, "type": "conversation-act"}
    title = {"id": conversation_id, "type": "conversation-title"}
    field = [{"id": title, "property": "value", "value": each} for each in titles]
    names = [each.rsplit(".", 1) for each in output["output"].strip(".").split("...")]
    body = {
        "output": output["output"],
        "outputs": [{"id": each, "property": name_} for each, name_ in names],
        "inputs": [
            [{"id": button, "property": "n_clicks", "value": 1}],
            [],
        ],
        "state": [
            field,
            {"id": "conversations-shown", "property": "data", "value": shown},
            {"id": "conversations-asked", "property": "data", "value": {}},
        ],
        "changedPropIds": [json.dumps(button, separators=(",", ":")) + ".n_clicks"],
    }
    answer = client.post("/_dash-update-component", json=body)
    assert answer.status_code == 200, answer.text
    return answer.get_json()["response"]


def test_conversations_are_renamed_and_deleted_once_asked(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    talk = orchard.conversations.begin(orchard.history()[0].id)
    act(client, "keep", talk.id, "Harvest")
    assert orchard.conversations.get(talk.id).title == "Harvest"
    refused = act(client, "keep", talk.id, " ")
    assert "invalid_input" in text_of_json(refused["conversations-problem"]["children"])
    asked = act(client, "delete", talk.id)
    assert "Delete the conversation “Harvest”?" in text_of_json(asked["conversations-list"]["children"])
    removed = act(client, "remove", talk.id)
    assert "No conversations yet" in text_of_json(removed["conversations-list"]["children"])
    assert orchard.conversations.list() == [] and len(orchard.history()) == 1


@pytest.mark.long
def test_more_conversations_are_shown_and_stay_shown(window: Dash, client: FlaskClient, orchard) -> None:
    talks = [orchard.conversations.create(f"Talk {number}").id for number in range(120)]
    seen = act(client, "cancel", talks[-1])
    assert seen["conversations-shown"]["data"] == 50
    for more, is_all in ((100, False), (150, True)):
        seen = act(client, "more", "", shown=more - 50)
        listed = seen["conversations-list"]["children"]
        assert text_of_json(listed).count("Talk ") == min(more, 120) and seen["conversations-shown"]["data"] == more
        assert ("Show more" in text_of_json(listed)) is not is_all
    renaming = act(client, "rename", talks[0], shown=150)
    assert text_of_json(renaming["conversations-list"]["children"]).count("Talk ") == 119


def test_a_conversation_that_is_gone_is_told(window: Dash, orchard) -> None:
    page = open_page(window, "/ask?conversation=gone")
    assert "not_found" in text(by_id(page, "ask-problem")) and by_id(page, "ask-now").data == 0.0


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_document_is_asked_why_it_was_not_found(window: Dash, client: FlaskClient, orchard, lang: str) -> None:
    ask(window, client, "Which trees grow in Suwa?", **{"ask-k.value": 1})
    trace_id = orchard.history()[0].id
    sent = {"whynot-doc.value": "bakery.txt", "ask-trace.data": trace_id}
    went = press(window, client, "whynot-doc.value", sent, "ask-go")["response"]["ask-go"]["data"]
    page = open_page(window, "/ask" + went["search"], lang)
    panel = by_class(page, "whynot-panel")
    assert {"en": "Other passages stand before it", "ja": "ほかの箇所が上位にあります"}[lang] in text(panel)
    assert "bakery.txt" in text(panel) and by_id(page, "whynot-doc").value == "bakery.txt"
    more = next(link for link in by_class(panel, "advice") if values_of(link.href)["k"] != ["1"])
    assert values_of(more.href)["k"] == ["2"]


def test_a_document_that_is_not_there_is_an_error_beside_the_picker(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    page = open_page(window, f"/ask?trace={orchard.history()[0].id}&why=gone.txt")
    assert "not_found" in text(by_id(page, "why-not")) and by_id(page, "ask-answer-card")


def test_advice_changes_the_question_as_it_says(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    read = ReadFilter("document:x", "document", "the policy", Filters(("x",)))
    trace = orchard.trace(orchard.history()[0].id)
    query = Query("q", filters=Filters(("a",), ("b",)), as_of=3, syntax="advanced", fresh=True)
    trace = replace(trace, query=query, analysis=replace(trace.analysis, read_filters=(read,)))

    def then(code: str, **values: str) -> Query:
        found = changed(trace, Advice(code, values))
        assert found is not None and not found.fresh
        return found

    assert then("ask_now").as_of is None
    assert str(then("ask_as_of", as_of="a.txt#v2").as_of) == "a.txt#v2"
    assert then("ask_plainly").syntax == "plain"
    assert then("ask_with_term", term="x").text == "q x"
    assert then("dismiss_filter", words="the policy").dismissed == ("document:x",)
    assert then("remove_filter", filter="tag").filters == Filters(("a",))
    assert (then("raise_depth", depth="70").depth, then("raise_top_k", top_k="9").top_k) == (70, 9)
    assert then("raise_per_document", per_document="4").per_document == 4
    assert changed(trace, Advice("publish", {"doc": "a", "version": "2"})) is None


def reranked(trace: Trace) -> Trace:
    scores = [RerankScore(2, 0.9, {"bm25": 0.5, "cosine": 0.4}, 0.75), None]
    hits = tuple(replace(hit, rerank=score) for hit, score in zip(trace.candidates, scores, strict=True))
    return replace(trace, candidates=hits, hits=hits[:1])


def test_the_fusion_card_shows_both_ranks_and_each_part_of_a_reranked_score(
    window: Dash, client: FlaskClient, orchard
) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    with window.server.test_request_context(headers={"Accept-Language": "en"}):
        card = by_id(trace_cards(reranked(trace)), "trace-fusion")
    rows = [[" ".join(text(cell).split()) for cell in parts(row, html.Td)] for row in parts(card, html.Tr)]
    assert "rank 2" in rows[1][4] and rows[1][-1] == "0.9000"
    assert "BM25 share 0.5000 + Cosine share 0.4000" in rows[1]
    assert "Why not?" in rows[2][1] and rows[2][-1] == "–" and "Why not?" not in rows[1][1]


def test_a_passage_says_what_its_final_score_is_made_of(window: Dash, client: FlaskClient, orchard) -> None:
    ask(window, client, WHEN)
    trace = orchard.trace(orchard.history()[0].id)
    first = replace(trace.hits[0], rerank=RerankScore(2, 2.2, {"document": 0.38, "reader": 1.82, "pairs": 0.0}))
    with window.server.test_request_context(headers={"Accept-Language": "en"}):
        [why, *_] = by_class(evidence_pane(replace(trace, hits=(first,))), "why-order")
    assert "final 2.2000, made of Reader 1.8200 + Names its document 0.3800" in " ".join(text(why).split())


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (GeneratorState.READY, "ready"),
        (GeneratorState.IDLE, "loads with the first question"),
        (GeneratorState.UNAVAILABLE, "not available No address. Set one."),
    ],
)
def test_the_line_of_a_generator_says_how_it_is(state: GeneratorState, words: str) -> None:
    health = GeneratorHealth("openai", "small", state, "No address" if "not" in words else "", "Set one")
    line = " ".join(text(generator_line([health], "openai")).split())
    assert "openai · small" in line and words in line


def test_why_a_generator_is_not_available_is_said_in_the_language_of_the_page(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        unset, missing = (
            text(
                by_class(
                    generator_line([CommandGenerator(command, {}, max_bytes=9).health()], "command"), "generator-detail"
                )
            )
            for command in ("", "no-such-program-anywhere --x")
        )
    assert unset.startswith("生成器「command」のプログラムが設定されていません。") and "EVORAG_LLM_COMMAND" in unset
    assert "no-such-program-anywhere" in missing and "is not" not in missing


def test_every_reason_of_a_generator_has_its_words_and_its_remedy() -> None:
    calls = [
        node
        for path in Path(str(adapters.__file__)).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "reason"]
    reasons = {part.value for value in given for part in ast.walk(value) if isinstance(part, ast.Constant)}
    refused = [call.args[2].value for call in calls if getattr(call.func, "id", "") == "refused"]  # type: ignore[attr-defined]
    of_servers = {
        f"{kind}_{problem}"
        for kind, remedies in (("openai", _IN_ENVIRONMENT), ("server", _IN_SETTINGS))
        for problem in {*remedies, "certificate"} - {"elsewhere"}
    }
    reasons = (reasons | of_servers | {f"llm_refused_{kind}" for kind in refused}) - {"", "llm_refused_"}
    assert len(reasons) > 25
    for reason in reasons:
        assert has(f"generator.{reason}") and has(f"generator.{reason}.remedy"), reason
