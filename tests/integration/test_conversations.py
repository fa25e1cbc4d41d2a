"""Conversations: questions that follow each other, kept apart from other people's, renamed, exported and forgotten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

import core
from core.access import acting
from core.errors import Conflict, InvalidInput, NotFound, Purged, QueryTooLong
from core.model import DoneStep, Filters, Principal, Query, Role
from core.query.conversations.follow_up import Earlier
from core.query.conversations.markdown import plain
from tests.builders import add

ANN, BOB = Principal("ann", Role.EDITOR, 2), Principal("bob", Role.READER, 3)
ROOT = Principal("root", Role.ADMIN, 1)
OPENING = "When does the museum open?"


@pytest.fixture
def rag(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "museum", "The museum opens at nine. The museum closes at six.")
    add(kb, "library", "The library opens at ten.")
    return core.EvoRAG(kb=kb)


def begun(rag: core.EvoRAG, *questions: str) -> str:
    """Return a conversation of these questions."""
    conversation = rag.kb.conversations.create()
    for question in questions:
        rag.ask(Query(question, conversation_id=conversation.id))
    return conversation.id


def test_a_follow_up_question_is_answered_as_what_it_means(rag: core.EvoRAG) -> None:
    conversation = begun(rag, OPENING)
    trace = rag.ask(Query("And the library?", conversation_id=conversation, top_k=1))
    assert "ten" in trace.answer.text
    assert (trace.analysis.standalone, trace.analysis.standalone_by) == ("When does the library open?", "rules")
    turns = rag.kb.conversations.turns(conversation)
    assert [(turn.number, turn.summary.question, turn.standalone) for turn in turns] == [
        (1, OPENING, ""),
        (2, "And the library?", "When does the library open?"),
    ]
    assert [summary.question for summary in rag.kb.history()] == ["And the library?", OPENING]


def test_both_readings_of_an_unsure_follow_up_are_searched_and_the_surer_answered(rag: core.EvoRAG) -> None:
    conversation = begun(rag, "Does the museum lend the old map?")
    trace = rag.ask(Query("When does it close?", conversation_id=conversation, fresh=True))
    analysis = trace.analysis
    assert analysis.standalone == "When does the museum close?" and "six" in trace.answer.text
    assert analysis.standalone_other == "Does the museum lend the old map? When does it close?"
    assert trace.cache is None and rag.kb.trace(trace.id).analysis == analysis


def test_a_few_words_that_may_stand_alone_are_searched_alone_where_that_is_answered(rag: core.EvoRAG) -> None:
    add(rag.kb, "refunds", "Refunds are paid within ten days of the order.")
    conversation = begun(rag, OPENING)
    trace = rag.ask(Query("Refunds paid?", conversation_id=conversation))
    assert trace.analysis.standalone == "Refunds paid?" and "ten days" in trace.answer.text
    assert trace.analysis.standalone_other == f"{OPENING} Refunds paid?"


def test_searching_in_a_conversation_follows_it_and_leaves_no_turn(rag: core.EvoRAG) -> None:
    conversation = begun(rag, OPENING)
    trace = rag.search(Query("And the library?", conversation_id=conversation))
    assert trace.analysis.standalone == "When does the library open?"
    assert len(rag.kb.conversations.turns(conversation)) == 1


def test_conversations_are_named_after_their_first_question_and_listed_newest_first(rag: core.EvoRAG) -> None:
    first, second = begun(rag, OPENING), begun(rag, f"Who?\n{'why ' * 90}")
    rag.ask(Query("Is it free?", conversation_id=first))
    listed = rag.kb.conversations.list()
    assert [(each.id, each.turns) for each in listed] == [(first, 2), (second, 1)]
    assert listed[0].title == OPENING
    assert len(listed[1].title) <= 200 and listed[1].title.startswith("Who? why") and listed[1].title.endswith("…")
    assert [each.id for each in rag.kb.conversations.list(1, before=first)] == [second]
    with pytest.raises(NotFound):
        rag.kb.conversations.list(before="nothing")


def test_a_conversation_is_renamed(rag: core.EvoRAG) -> None:
    conversation = begun(rag)
    assert rag.kb.conversations.rename(conversation, "  Opening\nhours ").title == "Opening hours"
    rag.ask(Query(OPENING, conversation_id=conversation))
    assert rag.kb.conversations.get(conversation).title == "Opening hours"
    for odd in ("", " ", "x" * 201, "\ud800"):
        with pytest.raises(InvalidInput):
            rag.kb.conversations.rename(conversation, odd)


def test_the_questions_of_a_forgotten_conversation_stay_in_the_history(rag: core.EvoRAG) -> None:
    conversation = begun(rag, OPENING)
    rag.kb.conversations.delete(conversation)
    assert rag.kb.conversations.list() == [] and len(rag.kb.history()) == 1
    for call in (rag.kb.conversations.get, rag.kb.conversations.turns, rag.kb.conversations.delete):
        with pytest.raises(NotFound):
            call(conversation)
    with pytest.raises(NotFound):
        rag.ask(Query(OPENING, conversation_id=conversation))


def test_a_conversation_that_is_forgotten_while_it_is_asked_loses_no_answer(rag: core.EvoRAG) -> None:
    conversation = begun(rag)
    steps = rag.ask_events(Query(OPENING, conversation_id=conversation))
    next(steps)
    rag.kb.conversations.delete(conversation)
    assert isinstance(list(steps)[-1], DoneStep)
    assert [summary.question for summary in rag.kb.history()] == [OPENING]


def test_everyone_has_their_own_conversations_and_administrators_see_all(rag: core.EvoRAG) -> None:
    with acting(ANN):
        hers = begun(rag, OPENING)
    with acting(BOB):
        assert rag.kb.conversations.list() == []
        for call in (
            lambda: rag.kb.conversations.get(hers),
            lambda: rag.kb.conversations.turns(hers),
            lambda: rag.kb.conversations.rename(hers, "mine"),
            lambda: rag.kb.conversations.delete(hers),
            lambda: rag.kb.conversations.export(hers),
            lambda: rag.kb.conversations.list(before=hers),
            lambda: rag.ask(Query("Is it free?", conversation_id=hers)),
        ):
            with pytest.raises(NotFound):
                call()
    with acting(ROOT):
        assert [each.id for each in rag.kb.conversations.list()] == [hers]
        with pytest.raises(Conflict):
            rag.ask(Query("Is it free?", conversation_id=hers))
    with acting(ANN):
        assert [turn.summary.question for turn in rag.kb.conversations.turns(hers)] == [OPENING]


def test_a_full_conversation_takes_no_further_question(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.query.conversations.conversations.MOST_TURNS", 2)
    conversation = begun(rag, OPENING, "Why?")
    with pytest.raises(Conflict):
        rag.ask(Query("Why?", conversation_id=conversation))


def test_a_conversation_is_exported_with_what_its_answers_cite(rag: core.EvoRAG) -> None:
    conversation = begun(rag, OPENING, "And the library?")
    told = rag.kb.conversations.export(conversation)
    assert told.startswith(f"# {OPENING}\n")
    for part in (f"## 1. {OPENING}", "*Understood as: When does the library open?*", "library.txt, version 1"):
        assert part in told
    data = json.loads(rag.kb.conversations.export(conversation, "json"))
    assert data["conversation"]["id"] == conversation
    assert [turn["question"] for turn in data["turns"]] == [OPENING, "And the library?"]
    assert data["turns"][0]["citations"][0]["doc_key"] == "museum.txt"
    with pytest.raises(InvalidInput):
        rag.kb.conversations.export(conversation, "pdf")


def test_an_export_shows_markup_as_it_was_typed(rag: core.EvoRAG) -> None:
    hostile = "<script>alert(1)</script> ![x](http://evil.example/x.png) **When** does the museum open?"
    told = rag.kb.conversations.export(begun(rag, hostile))
    assert not re.search(r"(?<!\\)<|(?<!\\)!\[|(?<!\\)\*\*|\](?<!\\)\(", told)
    assert plain("# a\n- b\n1. c\n> d") == "\\# a\n\\- b\n\\1. c\n\\> d"


def test_what_was_purged_is_told_to_be_gone(rag: core.EvoRAG) -> None:
    conversation = begun(rag, OPENING)
    add(rag.kb, "museum", "The museum is gone.")
    rag.kb.purge("museum.txt", 1)
    [turn] = rag.kb.conversations.turns(conversation)
    assert turn.is_purged and turn.summary.answer == ""
    for form in ("md", "json"):
        assert "nine" not in rag.kb.conversations.export(conversation, form)
    assert "purged" in rag.kb.conversations.export(conversation)
    # What is left of it is enough to go on with.
    trace = rag.ask(Query("And the library?", conversation_id=conversation))
    assert trace.analysis.standalone == "When does the library open?"


def test_a_follow_up_question_is_answered_from_the_cache_by_what_it_means(rag: core.EvoRAG) -> None:
    rag.kb._projector.flush()
    first = rag.ask("When does the library open?")
    conversation = begun(rag, OPENING)
    trace = rag.ask(Query("And the library?", conversation_id=conversation))
    assert trace.cache is not None and trace.cache.trace_id == first.id
    assert trace.query.text == "And the library?" and trace.analysis.standalone == "When does the library open?"
    assert rag.kb.conversations.get(conversation).turns == 2


def test_a_question_that_is_too_long_is_refused_before_it_is_read(rag: core.EvoRAG) -> None:
    conversation = begun(rag, OPENING)
    made: list[Query] = []
    rag.kb.conversations.standalone = made.append  # type: ignore[method-assign, assignment]
    for call in (rag.ask, rag.search):
        with pytest.raises(QueryTooLong):
            call(Query("is it ok " * 1000, conversation_id=conversation))
    assert made == []


def test_an_administrators_question_does_not_name_somebody_elses_conversation(rag: core.EvoRAG) -> None:
    with acting(ANN):
        hers = begun(rag)
        trace = rag.ask(OPENING)
    asked = replace(trace, id="0" * 32, query=replace(trace.query, conversation_id=hers))
    with acting(ROOT):
        rag.kb.catalog.questions.keep(asked)
    with acting(ANN):
        kept = rag.kb.conversations.get(hers)
    assert (kept.title, kept.turns) == ("", 0)


def test_a_purge_leaves_no_title_in_what_later_questions_were_understood_as(rag: core.EvoRAG) -> None:
    add(rag.kb, "Sekai plan", "Zinc costs ninety yen.")
    conversation = begun(rag, "zinc costs", "Who wrote it?", "Why?", "Is the library open at ten?")
    before = rag.kb.conversations.turns(conversation)
    assert [bool(turn.standalone) for turn in before] == [False, True, True, False]
    assert "Sekai plan" in before[1].standalone
    rag.kb.purge(add(rag.kb, "Sekai plan", "Gone.").doc_key, 1)
    after = rag.kb.conversations.turns(conversation)
    assert [turn.standalone for turn in after] == [""] * 4
    for form in ("md", "json"):
        assert "Sekai" not in rag.kb.conversations.export(conversation, form)
    with pytest.raises(Purged):
        rag.kb.trace(after[1].summary.id)


@pytest.mark.parametrize("question", ["Who wrote it?", "Why?"])
def test_what_is_purged_while_a_question_is_made_standalone_is_not_kept_with_it(
    rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    add(rag.kb, "Sekai plan", "Zinc costs ninety yen.")
    conversation = begun(rag, "zinc costs", "Who wrote it?")
    rewriting = rag.kb.conversations._rewriter
    made = rewriting.standalone

    def slowly(asked: str, earlier: Sequence[Earlier]) -> Iterator[str]:
        rag.kb.purge(add(rag.kb, "Sekai plan", "Gone.").doc_key, 1)
        return (yield from made(asked, earlier))

    monkeypatch.setattr(rewriting, "standalone", slowly)
    told = rag.ask(Query(question, conversation_id=conversation))
    assert "Sekai" in told.analysis.standalone
    assert [turn.standalone for turn in rag.kb.conversations.turns(conversation)] == [""] * 3
    assert "Sekai" not in rag.kb.conversations.export(conversation, "json")
    with pytest.raises(Purged):
        rag.kb.trace(told.id)
    assert rag.kb.catalog.answers.count() == 0


def test_what_is_purged_elsewhere_leaves_a_follow_up_question_its_account(
    rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(rag.kb, "Sekai plan", "Zinc costs ninety yen.")
    conversation = begun(rag)
    rag.ask(Query(OPENING, conversation_id=conversation, filters=Filters(doc_keys=("museum.txt",))))
    rewriting = rag.kb.conversations._rewriter
    made = rewriting.standalone

    def slowly(asked: str, earlier: Sequence[Earlier]) -> Iterator[str]:
        rag.kb.purge(add(rag.kb, "Sekai plan", "Gone.").doc_key, 1)
        return (yield from made(asked, earlier))

    monkeypatch.setattr(rewriting, "standalone", slowly)
    only = Filters(doc_keys=("library.txt",))
    told = rag.ask(Query("And the library?", conversation_id=conversation, filters=only))
    assert rag.kb.trace(told.id).analysis.standalone == "When does the library open?"


@pytest.mark.parametrize("odd", ["\ud800", "", "x" * 100])
def test_an_odd_name_is_no_conversation(rag: core.EvoRAG, odd: str) -> None:
    conversations = rag.kb.conversations
    for call in (conversations.get, conversations.turns, conversations.delete, conversations.begin, rag.kb.trace):
        with pytest.raises(NotFound):
            call(odd)
    if odd:
        with pytest.raises(NotFound):
            rag.ask(Query(OPENING, conversation_id=odd))


def test_a_key_for_reading_tells_no_private_text_that_its_administrator_has_found(rag: core.EvoRAG) -> None:
    rag.kb.accounts.create_user("root", "correct horse battery", Role.ADMIN)
    with acting(ANN):
        rag.kb.add_text("spices", "Cloves come from Zanzibar.", private=True)
    rag.kb.work_off()
    with acting(ROOT):
        conversation = begun(rag, "Where do cloves come from?")
        trace = rag.kb.history()[0]
        assert "Zanzibar" in trace.answer
    with acting(replace(ROOT, role=Role.READER, key_id="key")):
        assert [summary.answer for summary in rag.kb.history()] == [""]
        assert [turn.summary.answer for turn in rag.kb.conversations.turns(conversation)] == [""]
        for form in ("md", "json"):
            assert "Zanzibar" not in rag.kb.conversations.export(conversation, form)
        with pytest.raises(NotFound):
            rag.kb.trace(trace.id)
    with acting(ROOT):
        assert rag.kb.trace(trace.id).answer.text == trace.answer
