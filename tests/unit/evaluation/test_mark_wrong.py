"""Answers marked as wrong: a question set that grows, with what would have been right, and can be taken back."""

from __future__ import annotations

import pytest

import core
from core.access import acting
from core.errors import InvalidInput, NotFound
from core.model import WRONG_SET, Principal, Query, Right, Role, Trace
from tests.unit.evaluation.test_facade import ANN, BOB, LEAVE, add, ended, fill, private

WHERE = "Where is lunch served?"
DAYS = "How many days of leave are there in the first year?"


@pytest.fixture
def own(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    return fill(kb)


def ask(kb: core.KnowledgeBase, question: str | Query) -> Trace:
    return core.EvoRAG(kb=kb).ask(question)


def test_a_marked_answer_is_a_question_of_the_set_with_the_passage_that_was_right(own: core.KnowledgeBase) -> None:
    trace = ask(own, WHERE)
    hit = trace.hits[0]
    kept = own.evaluations.mark_wrong(trace.id, Right(hit.placed.id), note=" Not  the\nplace ")
    assert (kept.text, kept.doc_keys, kept.passage, kept.note) == (
        WHERE, (hit.placed.doc_key,), hit.placed.chunk.text, "Not the place",
    )  # fmt: skip
    [known] = [each for each in own.evaluations.sets() if each.id == WRONG_SET]
    assert known.size == 1 and own.evaluations.questions(WRONG_SET) == [kept]
    assert own.evaluations.marked_wrong(trace.id) == kept


def test_one_click_is_enough_and_more_can_be_said_later(own: core.KnowledgeBase) -> None:
    trace = ask(own, WHERE)
    first = own.evaluations.mark_wrong(trace.id)
    assert not first.has_judgement
    own.evaluations.mark_wrong(trace.id, Right(doc_key="leave.txt"))
    own.evaluations.mark_wrong(trace.id, Right(is_nowhere=True), note="Nobody says it.")
    [kept] = own.evaluations.questions(WRONG_SET)
    assert (kept.answerable, kept.doc_keys, kept.note) == (False, (), "Nobody says it.")


def test_what_is_taken_back_is_gone_and_the_runs_of_the_others_stay_right(own: core.KnowledgeBase) -> None:
    traces = [ask(own, WHERE), ask(own, DAYS), ask(own, "Where is the canteen?")]
    for trace in traces:
        own.evaluations.mark_wrong(trace.id, Right(trace.hits[0].placed.id))
    before = ended(own, WRONG_SET)
    own.evaluations.unmark_wrong(traces[2].id)
    own.evaluations.unmark_wrong(traces[0].id)
    assert [each.question.text for each in own.evaluations.outcomes(before.id)] == [DAYS]
    later = ask(own, "When is lunch?")
    own.evaluations.mark_wrong(later.id, Right(later.hits[0].placed.id))
    assert [each.question.text for each in own.evaluations.outcomes(before.id)] == [DAYS]
    after = ended(own, WRONG_SET)
    assert {each.question.text for each in own.evaluations.outcomes(after.id)} == {DAYS, "When is lunch?"}
    assert own.evaluations.compare(before.id, after.id).differences
    assert [each.text for each in own.evaluations.questions(WRONG_SET, 1, 1)] == ["When is lunch?"]


def test_the_set_goes_with_its_last_question(own: core.KnowledgeBase) -> None:
    trace = ask(own, WHERE)
    own.evaluations.mark_wrong(trace.id)
    own.evaluations.unmark_wrong(trace.id)
    assert own.evaluations.sets() == [] and own.evaluations.marked_wrong(trace.id) is None
    with pytest.raises(NotFound, match="not marked"):
        own.evaluations.unmark_wrong(trace.id)


def test_a_set_that_has_its_name_already_is_left_alone(own: core.KnowledgeBase) -> None:
    own.evaluations.import_set("Answers marked wrong", b"question\nWhy?\n", "csv")
    own.evaluations.mark_wrong(ask(own, WHERE).id)
    assert sorted(each.name for each in own.evaluations.sets()) == ["Answers marked wrong", "Answers marked wrong (2)"]


def test_readers_mark_what_they_asked_and_nothing_else(own: core.KnowledgeBase) -> None:
    with acting(BOB):
        trace = ask(own, WHERE)
        own.evaluations.mark_wrong(trace.id)
    with acting(Principal("carol", Role.EDITOR, 4)):
        assert own.evaluations.questions(WRONG_SET)[0].text == WHERE
        for act in (own.evaluations.mark_wrong, own.evaluations.marked_wrong, own.evaluations.unmark_wrong):
            with pytest.raises(NotFound):
                act(trace.id)


def test_a_private_document_gets_into_no_shared_set(own: core.KnowledgeBase) -> None:
    private(own, "The password of the vault is zanzibar.")
    with acting(ANN):
        trace = ask(own, "What is the password of the vault?")
        secret = next(hit for hit in trace.hits if hit.placed.doc_key == "~ann/secret.txt")
        for right in (Right(secret.placed.id), Right(doc_key="~ann/secret.txt")):
            with pytest.raises(InvalidInput, match="private"):
                own.evaluations.mark_wrong(trace.id, right)
    assert own.evaluations.sets() == []


def test_a_follow_up_is_kept_in_words_that_somebody_has_read(own: core.KnowledgeBase) -> None:
    conversation = own.conversations.create().id
    ask(own, Query(WHERE, conversation_id=conversation))
    trace = ask(own, Query("And when?", conversation_id=conversation))
    assert trace.analysis.standalone
    with pytest.raises(InvalidInput, match="stand by themselves"):
        own.evaluations.mark_wrong(trace.id)
    assert own.evaluations.mark_wrong(trace.id, text="When is lunch served?").text == "When is lunch served?"


def test_what_is_not_about_documents_and_what_was_not_found_is_refused(own: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="not about the documents"):
        own.evaluations.mark_wrong(ask(own, "How many documents are there?").id)
    trace = ask(own, WHERE)
    for right in (Right(chunk_id=10**9), Right(doc_key="nothing.txt")):
        with pytest.raises(NotFound):
            own.evaluations.mark_wrong(trace.id, right)
    with pytest.raises(InvalidInput, match="note"):
        own.evaluations.mark_wrong(trace.id, note="x" * 501)


def test_a_purge_takes_the_passage_out_of_the_set_and_leaves_what_was_said(own: core.KnowledgeBase) -> None:
    trace = ask(own, DAYS)
    hit = next(each for each in trace.hits if each.placed.doc_key == "leave.txt")
    own.evaluations.mark_wrong(trace.id, Right(hit.placed.id), note="Old.")
    add(own, "leave", LEAVE.format(20))
    own.purge("leave.txt", 1)
    own.work_off()
    [kept] = own.evaluations.questions(WRONG_SET)
    assert (kept.passage, kept.note, kept.doc_keys) == ("", "Old.", ("leave.txt",))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_set_as_a_file_tells_what_was_said_and_can_be_imported(own: core.KnowledgeBase, form: str) -> None:
    trace = ask(own, WHERE)
    own.evaluations.mark_wrong(trace.id, Right(trace.hits[0].placed.id), note="=Closed today")
    written = own.evaluations.export_set(WRONG_SET, form)
    assert "Closed today" in written and trace.hits[0].placed.chunk.text in written
    assert form == "jsonl" or ",'=Closed" in written, "a spreadsheet would calculate it"
    kept = own.evaluations.import_set("again", written.encode(), form)
    assert [each.text for each in own.evaluations.questions(kept.id)] == [WHERE]
