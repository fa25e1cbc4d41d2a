"""Question sets and runs of a knowledge base: kept whole, asked in the background, comparable, open to everybody."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import core
from core.access import acting
from core.errors import Conflict, Forbidden, InvalidInput, NotFound, StoreUnavailable
from core.evaluation import facade
from core.evaluation import runner as running
from core.model import Answer, AnswerType, EvaluationRun, Principal, Query, QuestionSet, Role, Trace, VersionRef
from tests.builders import add, knowledge_base

LUNCH = "Lunch is served in the canteen from noon to one."
LEAVE = "Each colleague has {} days of leave in the first year."
LINES = (
    "id,question,doc,answers,answerable\n"
    "lunch,Where is lunch served?,lunch.txt,canteen,\n"
    "leave,How many days of leave are there in the first year?,leave.txt,14 days,\n"
    "lost,How many days of leave are there in the first year?,nowhere.txt,99 days,\n"
    "ceiling,Zxqv wkrjp mnbt?,,,no\n"
)
ANN, BOB = Principal("ann", Role.EDITOR, 2), Principal("bob", Role.READER, 3)


def fill(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "lunch", LUNCH)
    add(kb, "leave", LEAVE.format(14))
    return kb


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("house")) as opened:
        yield fill(opened)


@pytest.fixture
def filled(house: core.KnowledgeBase) -> Iterator[core.KnowledgeBase]:
    """A knowledge base whose documents nobody changes, without question sets."""
    yield house
    for each in house.evaluations.sets():
        house.evaluations.delete_set(each.id)


@pytest.fixture
def own(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """The same documents, to be changed."""
    return fill(kb)


def imported(kb: core.KnowledgeBase, lines: str = LINES, name: str = "staff") -> QuestionSet:
    return kb.evaluations.import_set(name, lines.encode(), "csv")


def ended(kb: core.KnowledgeBase, set_id: str, query: Query | None = None, label: str = "") -> EvaluationRun:
    return kb.evaluations.wait(kb.evaluations.run(set_id, query, label).id)


@dataclass(frozen=True)
class Halt:
    """Every question of a run tells that it has ``begun`` and waits until it may ``go_on``."""

    begun: threading.Event
    go_on: threading.Event


@pytest.fixture
def halted(filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> Iterator[Halt]:
    halt = Halt(threading.Event(), threading.Event())
    real = filled.queries.run

    def slow(*args: Any, **kwargs: Any) -> Trace:
        halt.begun.set()
        assert halt.go_on.wait(60)
        return real(*args, **kwargs)

    monkeypatch.setattr(filled.queries, "run", slow)
    yield halt
    halt.go_on.set()


# ---- sets


def test_set_is_kept_listed_exported_and_deleted(filled: core.KnowledgeBase) -> None:
    kept = imported(filled, name="  staff   questions ")
    assert [(each.name, each.size, each.gates) for each in filled.evaluations.sets()] == [("staff questions", 4, False)]
    questions = filled.evaluations.questions(kept.id)
    assert [each.id for each in questions] == ["lunch", "leave", "lost", "ceiling"]
    assert filled.evaluations.questions(kept.id, limit=2, after=1) == questions[1:3]
    for form in ("csv", "jsonl"):
        again = filled.evaluations.import_set(form, filled.evaluations.export_set(kept.id, form).encode(), form)
        assert filled.evaluations.questions(again.id) == questions
    filled.evaluations.delete_set(kept.id)
    with pytest.raises(NotFound):
        filled.evaluations.questions(kept.id)


def test_nothing_of_a_wrong_file_is_kept(filled: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="Line 6"):
        imported(filled, LINES + "more,,,,\n")
    assert filled.evaluations.sets() == []


def test_name_is_taken_once(filled: core.KnowledgeBase) -> None:
    imported(filled)
    with pytest.raises(Conflict):
        imported(filled)
    assert len(filled.evaluations.sets()) == 1


def test_history_becomes_a_set_whose_answers_count_as_right(filled: core.KnowledgeBase) -> None:
    rag = core.EvoRAG(kb=filled)
    traces = [rag.ask("Where is lunch served?"), rag.ask("Zxqv wkrjp mnbt?")]
    kept = filled.evaluations.set_from_history("asked", [trace.id for trace in traces])
    lunch, nothing = filled.evaluations.questions(kept.id)
    assert (lunch.text, lunch.doc_keys, lunch.answerable) == ("Where is lunch served?", ("lunch.txt",), True)
    assert "canteen" in lunch.answers[0] and "[1]" not in lunch.answers[0]
    assert (nothing.answerable, nothing.doc_keys, nothing.answers) == (False, (), ())
    assert ended(filled, kept.id).measures["answers"]["right"] == 1.0
    with pytest.raises(NotFound):
        filled.evaluations.set_from_history("more", [traces[0].id, "0" * 32])


# ---- runs


def test_a_question_without_a_judgement_is_in_no_measure_even_of_an_older_run(filled: core.KnowledgeBase) -> None:
    judged = ended(filled, imported(filled).id).measures
    run = ended(filled, imported(filled, LINES + "open,Where is lunch served?,,,\n", name="more").id)
    found = run.measures
    assert (found["answers"]["questions"], found["answers"]["unjudged"]) == (5, 1)
    for share in ("right", "answerable_insufficient", "unanswerable_insufficient", "answerable", "judged"):
        assert found["answers"][share] == judged["answers"][share]
    assert found["final"] == judged["final"]
    [seen] = [each for each in filled.evaluations.outcomes(run.id) if each.question.id == "open"]
    assert (seen.is_right, seen.trace_id, seen.ndcg) == (None, "", {})
    [kept] = [each for each in filled.catalog.evaluations.outcomes(run.id) if each.position == 5]
    assert running.observation_of(seen.question, {**kept.data, "is_right": True}).is_right is None


def test_run_measures_every_leg_and_the_answers(filled: core.KnowledgeBase) -> None:
    run = ended(filled, imported(filled).id, Query("", rerank="none", top_k=3), " first  run ")
    assert (run.state, run.done, run.total, run.label) == ("done", 4, 4, "first run")
    assert run.sequence == filled.sequence()
    assert (run.settings["rerank"], run.settings["top_k"], run.settings["generator"]) == ("none", 3, "none")
    for leg in ("vector", "keyword", "fused", "final"):
        assert run.measures[leg]["recall_at_10"] == pytest.approx(2 / 3)
    answers = run.measures["answers"]
    assert (answers["questions"], answers["judged"], answers["right"]) == (4, 3, pytest.approx(2 / 3))
    assert answers["unanswerable_insufficient"] == 1.0 and answers["p95_ms"] > 0
    assert filled.evaluations.runs(run.set_id) == [run]


def test_failures_come_first_and_lead_to_their_account_outside_the_history(filled: core.KnowledgeBase) -> None:
    before = filled.history()
    run = ended(filled, imported(filled).id)
    failure, *others = filled.evaluations.outcomes(run.id)
    assert (failure.question.id, failure.is_right, failure.ranks["final"]) == ("lost", False, None)
    assert [each.is_right for each in others] == [True] * 3
    assert [each.trace_id for each in others] == [""] * 3
    trace = filled.trace(failure.trace_id)
    assert (trace.id, trace.query.text) == (failure.trace_id, failure.question.text)
    assert filled.history() == before
    assert filled.evaluations.outcomes(run.id, limit=2, after=3) == others[2:]
    in_order = filled.evaluations.outcomes(run.id, failures_first=False)
    assert [each.position for each in in_order] == [1, 2, 3, 4]
    with pytest.raises(NotFound):
        filled.trace(f"{run.id}-1")


def test_run_can_be_asked_of_another_version_or_moment(own: core.KnowledgeBase) -> None:
    before = own.sequence()
    add(own, "leave", LEAVE.format(20))
    kept = imported(own)
    right = [
        ended(own, kept.id, query).measures["answers"]["right"]
        for query in (None, Query("", as_of=before), Query("", as_of=VersionRef("leave.txt", 1)))
    ]
    assert right == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert {run.settings["as_of"] for run in own.evaluations.runs(kept.id)} == {"", str(before), "leave.txt#v1"}


@pytest.mark.parametrize(
    "query",
    [
        Query("", top_k=0),
        Query("", generator="nobody"),
        Query("", as_of=VersionRef("nothing.txt", 1)),
        Query("", as_of=99_999),
    ],
)
def test_settings_that_cannot_be_asked_with_are_refused_at_once(filled: core.KnowledgeBase, query: Query) -> None:
    kept = imported(filled)
    with pytest.raises((InvalidInput, NotFound)):
        filled.evaluations.run(kept.id, query)
    assert filled.evaluations.runs() == []


def test_runs_go_one_after_the_other_and_can_be_cancelled(filled: core.KnowledgeBase, halted: Halt) -> None:
    kept = imported(filled)
    first, second, third = (filled.evaluations.run(kept.id).id for _ in range(3))
    with pytest.raises(Conflict):
        filled.evaluations.delete_run(second)
    assert filled.evaluations.cancel(second).state == "cancelled"
    halted.go_on.set()
    assert filled.evaluations.wait(first).state == filled.evaluations.wait(third).state == "done"
    cancelled = filled.evaluations.run_of(second)
    assert (cancelled.state, cancelled.done) == ("cancelled", 0)
    assert filled.evaluations.cancel(first).state == "done"
    filled.evaluations.delete_run(second)
    with pytest.raises(NotFound):
        filled.evaluations.run_of(second)


def test_run_that_goes_on_stops_when_it_is_cancelled(
    filled: core.KnowledgeBase, halted: Halt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_BATCH", 1)
    run = filled.evaluations.run(imported(filled).id)
    assert halted.begun.wait(60)
    filled.evaluations.cancel(run.id)
    halted.go_on.set()
    assert ended(filled, imported(filled, name="other").id).state == "done"
    cancelled = filled.evaluations.run_of(run.id)
    assert (cancelled.state, cancelled.done, cancelled.measures) == ("cancelled", 0, {})


def test_too_many_waiting_runs_are_refused(
    filled: core.KnowledgeBase, halted: Halt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST_WAITING", 2)
    kept = imported(filled)
    with pytest.raises(Conflict):
        for _ in range(4):
            filled.evaluations.run(kept.id)


def test_deleting_a_set_ends_its_run(filled: core.KnowledgeBase, halted: Halt) -> None:
    gone, other = imported(filled), imported(filled, name="other")
    run = filled.evaluations.run(gone.id)
    filled.evaluations.delete_set(gone.id)
    halted.go_on.set()
    assert ended(filled, other.id).state == "done"
    with pytest.raises(NotFound):
        filled.evaluations.run_of(run.id)


def test_run_that_cannot_be_asked_says_why(filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Trace:
        raise StoreUnavailable("The store is down.")

    kept = imported(filled)
    with monkeypatch.context() as patch:
        patch.setattr(filled.queries, "run", broken)
        run = ended(filled, kept.id)
    assert (run.state, run.error) == ("failed", "store_unavailable: The store is down.")
    assert ended(filled, kept.id).state == "done"


def test_runs_go_on_after_one_whose_failure_cannot_be_kept(
    filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()

    def full(*_: Any, **__: Any) -> bool:
        raise OSError("No space left on device.")

    def full_again(*_: Any, **__: Any) -> bool:
        tried.set()
        raise OSError("No space left on device.")

    kept = imported(filled)
    with monkeypatch.context() as patch:
        patch.setattr(filled.catalog.evaluations, "append", full)
        patch.setattr(filled.catalog.evaluations, "end", full_again)
        stuck = filled.evaluations.run(kept.id)
        assert tried.wait(60)
    assert ended(filled, kept.id).state == "done"
    assert filled.evaluations.cancel(stuck.id).state == "cancelled"


def test_thread_that_has_ended_is_started_anew(filled: core.KnowledgeBase) -> None:
    kept = imported(filled)
    ended(filled, kept.id)
    runner = filled.evaluations._runner
    runner._waiting.put(None)
    assert runner._thread is not None
    runner._thread.join(60)
    assert ended(filled, kept.id).state == "done"


def test_run_that_was_interrupted_is_failed_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "lunch", LUNCH)
        kept = imported(kb)
        run = kb.evaluations.run(kept.id)
        kb.evaluations.wait(run.id)
        # As a killed process leaves it.
        killed = EvaluationRun("f" * 32, kept.id, kept.name, kept.created_at, 1, total=4, state="running")
        kb.catalog.evaluations.begin(killed)
    with knowledge_base(tmp_path) as kb:
        assert kb.evaluations.run_of(run.id).state == "done"
        found = kb.evaluations.run_of(killed.id)
        assert found.state == "failed" and found.error.startswith("interrupted")


def test_closing_stops_a_run(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "lunch", LUNCH)
        run = kb.evaluations.run(imported(kb, "question\n" + "Where is lunch served?\n" * 5_000).id)
        started = time.monotonic()
    assert time.monotonic() - started < 30
    with knowledge_base(tmp_path) as kb:
        assert kb.evaluations.run_of(run.id).state == "failed"


def test_half_a_character_is_refused(filled: core.KnowledgeBase) -> None:
    kept = imported(filled)
    with pytest.raises(InvalidInput):
        filled.evaluations.run(kept.id, label="\ud800")
    with pytest.raises(NotFound):
        filled.evaluations.run("\ud800")
    with pytest.raises(NotFound):
        filled.evaluations.set_from_history("x", ["\ud800"])


# ---- comparison


def test_two_runs_are_compared_question_by_question(own: core.KnowledgeBase) -> None:
    kept = imported(own)
    old = ended(own, kept.id)
    add(own, "leave", LEAVE.format(20))
    new = ended(own, kept.id)
    found = own.evaluations.compare(old.id, new.id)
    assert (found.better, found.worse) == ((), ("leave",))
    right = next(each for each in found.differences if each.name == "right")
    assert (right.old, right.new) == pytest.approx((2 / 3, 1 / 3))
    assert not right.is_significant
    other = ended(own, imported(own, name="other").id)
    with pytest.raises(Conflict, match="different"):
        own.evaluations.compare(old.id, other.id)


# ---- before a draft is published


def test_gate_warns_of_a_draft_that_makes_a_right_answer_wrong(own: core.KnowledgeBase) -> None:
    kept = imported(own)
    own.add_text("leave", LEAVE.format(20), draft=True)
    own.add_text("lunch", LUNCH + "\n\nTea is at four.", draft=True)
    own.work_off()
    assert own.evaluations.gate("leave.txt", 2) == []
    assert own.evaluations.set_gate(kept.id, True).gates and own.evaluations.gates(kept.id)
    [verdict] = own.evaluations.gate("leave.txt", 2)
    assert verdict.warns and verdict.comparison.worse == ("leave",)
    assert "1 of 4 questions" in verdict.reasons[0] and "leave" in verdict.reasons[0]
    [harmless] = own.evaluations.gate("lunch.txt", 2)
    assert (harmless.warns, harmless.reasons) == (False, ())
    assert own.document("leave.txt").published_version == 1
    assert own.evaluations.runs() == [] and own.history() == []
    with pytest.raises(NotFound):
        own.evaluations.gate("leave.txt", 9)


def test_gate_blames_no_draft_for_what_other_documents_do(
    own: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = imported(own)
    own.evaluations.set_gate(kept.id, True)
    own.add_text("lunch", LUNCH + "\n\nTea is at four.", draft=True)
    own.work_off()
    run = own.queries.run

    def failing(query: Query, **options: Any) -> Trace:
        trace = run(query, **options)
        if query.as_of is None:
            return trace
        # What is asked of the draft finds none of the other documents, as when a store fails for a moment.
        hits = tuple(hit for hit in trace.hits if hit.placed.doc_key == "lunch.txt")
        return replace(trace, hits=hits, candidates=hits, answer=Answer("", AnswerType.INSUFFICIENT))

    monkeypatch.setattr(own.queries, "run", failing)
    [verdict] = own.evaluations.gate("lunch.txt", 2)
    assert "leave" not in verdict.comparison.worse


def test_gate_leaves_out_questions_about_the_knowledge_base(own: core.KnowledgeBase) -> None:
    kept = imported(own, "question,answers\nHow many documents are there?,There are 2 documents\n")
    own.evaluations.set_gate(kept.id, True)
    own.add_text("lunch", LUNCH + "\n\nTea is at four.", draft=True)
    own.work_off()
    [verdict] = own.evaluations.gate("lunch.txt", 2)
    assert (verdict.warns, verdict.reasons) == (False, ())
    assert (verdict.comparison.old.total, verdict.comparison.new.total) == (0, 0)
    assert ended(own, kept.id).measures["answers"]["right"] == 1.0


def test_gating_sets_share_their_bound(filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facade, "MOST_GATING", 7)
    first, second = imported(filled), imported(filled, name="second")
    assert filled.evaluations.set_gate(first.id, True).gates
    assert filled.evaluations.set_gate(first.id, True).gates
    with pytest.raises(InvalidInput, match="at most 7 questions together"):
        filled.evaluations.set_gate(second.id, True)
    filled.evaluations.set_gate(first.id, False)
    assert filled.evaluations.set_gate(second.id, True).gates


def test_large_set_cannot_gate(filled: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facade, "MOST_GATING", 3)
    with pytest.raises(InvalidInput, match="at most 3"):
        filled.evaluations.set_gate(imported(filled).id, True)


# ---- who sees what


def private(kb: core.KnowledgeBase, text: str, **filing: Any) -> None:
    with acting(ANN):
        kb.add_text("secret", text, private=True, **filing)
    kb.work_off()


def test_runs_find_nothing_private_whoever_starts_them(own: core.KnowledgeBase) -> None:
    private(own, "The password of the vault is zanzibar.")
    kept = imported(own, "question,doc,answers\nWhat is the password of the vault?,~ann/secret.txt,zanzibar\n")
    seen = []
    for who in (ANN, Principal("root", Role.ADMIN, 1)):
        with acting(who):
            run = ended(own, kept.id)
            outcome = own.evaluations.outcomes(run.id)[0]
            seen.append((run.state, outcome.is_right, outcome.ranks["final"]))
            assert "zanzibar" not in outcome.answer
            assert "zanzibar" not in json.dumps(core.model.to_dict(own.trace(outcome.trace_id)))
    assert seen == [("done", False, None)] * 2
    with acting(ANN), pytest.raises(NotFound):
        own.evaluations.run(kept.id, Query("", as_of=VersionRef("~ann/secret.txt", 1)))


def test_history_that_rests_on_private_documents_is_not_shared(own: core.KnowledgeBase) -> None:
    private(own, "The password of the vault is zanzibar.")
    with acting(ANN):
        rag = core.EvoRAG(kb=own)
        secret, shared = rag.ask("What is the password of the vault?"), rag.ask("Where is lunch served?")
        assert "zanzibar" in secret.answer.text
        with pytest.raises(InvalidInput, match="shared"):
            own.evaluations.set_from_history("mine", [secret.id])
        kept = own.evaluations.set_from_history("mine", [secret.id, shared.id])
    assert [each.text for each in own.evaluations.questions(kept.id)] == ["Where is lunch served?"]
    with acting(Principal("carol", Role.EDITOR, 4)), pytest.raises(NotFound):
        own.evaluations.set_from_history("theirs", [shared.id])


@pytest.mark.parametrize("question", ["How many documents are there?", "When was secret.txt updated?"])
def test_what_somebody_sees_of_the_knowledge_base_is_not_shared(own: core.KnowledgeBase, question: str) -> None:
    private(own, "Nothing much.")
    with acting(ANN):
        trace = core.EvoRAG(kb=own).ask(question)
        assert trace.answer.reason == "knowledge_base"
        with pytest.raises(InvalidInput, match="shared"):
            own.evaluations.set_from_history("mine", [trace.id])


def test_follow_up_that_may_name_a_private_document_is_not_shared(own: core.KnowledgeBase) -> None:
    private(own, "The password of the vault is zanzibar.")
    with acting(ANN):
        rag, conversation = core.EvoRAG(kb=own), own.conversations.create().id
        rag.ask(Query("What is the password of the vault?", conversation_id=conversation))
        nothing = rag.ask(Query("And Zxqv wkrjp mnbt?", conversation_id=conversation))
        alone = rag.ask("Zxqv wkrjp mnbt?")
        assert nothing.analysis.standalone and alone.answer.type is AnswerType.INSUFFICIENT
        kept = own.evaluations.set_from_history("mine", [nothing.id, alone.id])
    assert [each.text for each in own.evaluations.questions(kept.id)] == ["Zxqv wkrjp mnbt?"]


def test_gate_of_a_private_draft_is_its_owners(own: core.KnowledgeBase) -> None:
    private(own, "The password of the vault is zanzibar.")
    private(own, "The password of the vault is bali.", draft=True)
    kept = imported(own, "question,answers\nWhat is the password of the vault?,zanzibar\n")
    own.evaluations.set_gate(kept.id, True)
    with acting(ANN):
        assert own.evaluations.gate("~ann/secret.txt", 2)[0].warns
    with acting(Principal("carol", Role.EDITOR, 4)), pytest.raises(NotFound):
        own.evaluations.gate("~ann/secret.txt", 2)


def test_readers_look_and_editors_change(filled: core.KnowledgeBase) -> None:
    it = filled.evaluations
    kept = imported(filled)
    run = ended(filled, kept.id)
    with acting(BOB):
        assert it.sets() and it.questions(kept.id) and it.export_set(kept.id, "csv")
        assert it.runs(kept.id) and it.outcomes(run.id) and it.compare(run.id, run.id)
        for change in (
            lambda: imported(filled, name="another"),
            lambda: it.set_from_history("another", []),
            lambda: it.delete_set(kept.id),
            lambda: it.set_gate(kept.id, True),
            lambda: it.run(kept.id),
            lambda: it.cancel(run.id),
            lambda: it.delete_run(run.id),
            lambda: it.gate("leave.txt", 1),
        ):
            with pytest.raises(Forbidden):
                change()


def test_purged_text_is_gone_from_sets_and_runs(own: core.KnowledgeBase) -> None:
    asked = core.EvoRAG(kb=own).ask("Where is lunch served?")
    kept = own.evaluations.set_from_history("asked", [asked.id])
    failing = imported(own, "question,doc\nWhere is lunch served?,leave.txt\n")
    runs = [ended(own, kept.id), ended(own, failing.id)]
    [failure] = own.evaluations.outcomes(runs[1].id)
    assert "canteen" in failure.answer and "canteen" in own.trace(failure.trace_id).context
    own.purge("lunch.txt")
    assert own.evaluations.questions(kept.id)[0].answers == ()
    for run in runs:
        [outcome] = own.evaluations.outcomes(run.id)
        assert (outcome.answer, outcome.trace_id) == ("", "")
    with pytest.raises(NotFound):
        own.trace(failure.trace_id)
