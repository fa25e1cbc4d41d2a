"""Question sets and saved questions have owners: what is private is to everybody else as if it had never been."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert

import core
from core.access import acting
from core.catalog.asking_schema import judged_questions, question_sets, saved_questions
from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.evaluation.facade import Evaluations
from core.evaluation.mark_wrong import WRONG_NAME
from core.model import WRONG_SET, Principal, QuestionSet, Role
from tests.builders import add

PASSWORD = "a long enough password"
LINES = b"question,doc,answers\nWhere is lunch served?,lunch.txt,canteen\n"


@pytest.fixture
def people(kb: core.KnowledgeBase) -> dict[str, Principal]:
    add(kb, "lunch", "Lunch is served in the canteen from noon to one.")
    made = {}
    for name, role in (("root", Role.ADMIN), ("ann", Role.EDITOR), ("bob", Role.EDITOR), ("ron", Role.READER)):
        user = kb.accounts.create_user(name, PASSWORD, role)
        made[name] = Principal(user.name, user.role, user.id)
    return made


def imported(kb: core.KnowledgeBase, who: Principal, name: str = "staff", *, shared: bool = True) -> QuestionSet:
    with acting(who):
        return kb.evaluations.import_set(name, LINES, "csv", shared=shared)


def names(kb: core.KnowledgeBase, who: Principal) -> list[str]:
    with acting(who):
        return [each.name for each in kb.evaluations.sets()]


def saved(kb: core.KnowledgeBase, who: Principal) -> list[str]:
    with acting(who):
        return [each.text for each in kb.saved_questions()]


REACHES: dict[str, Callable[[core.KnowledgeBase, str, str], Any]] = {
    "set_of": lambda kb, set_id, _: kb.evaluations.set_of(set_id),
    "questions": lambda kb, set_id, _: kb.evaluations.questions(set_id),
    "export_set": lambda kb, set_id, _: kb.evaluations.export_set(set_id, "csv"),
    "gates": lambda kb, set_id, _: kb.evaluations.gates(set_id),
    "set_gate": lambda kb, set_id, _: kb.evaluations.set_gate(set_id, True),
    "share_set": lambda kb, set_id, _: kb.evaluations.share_set(set_id, True),
    "delete_set": lambda kb, set_id, _: kb.evaluations.delete_set(set_id),
    "run": lambda kb, set_id, _: kb.evaluations.run(set_id),
    "runs": lambda kb, set_id, _: kb.evaluations.runs(set_id),
    "run_of": lambda kb, _, run_id: kb.evaluations.run_of(run_id),
    "wait": lambda kb, _, run_id: kb.evaluations.wait(run_id, 0.0),
    "outcomes": lambda kb, _, run_id: kb.evaluations.outcomes(run_id),
    "compare": lambda kb, _, run_id: kb.evaluations.compare(run_id, run_id),
    "cancel": lambda kb, _, run_id: kb.evaluations.cancel(run_id),
    "delete_run": lambda kb, _, run_id: kb.evaluations.delete_run(run_id),
    "trace": lambda kb, _, run_id: kb.trace(f"{run_id}-1"),
}
OF_NONE = {"sets", "import_set", "set_from_history", "mark_wrong", "marked_wrong", "unmark_wrong", "gate", "keeps",
           "fail_abandoned", "close"}  # fmt: skip
"""Methods that name no set and no run."""


def test_every_method_that_names_a_set_or_a_run_is_tried() -> None:
    methods = {name for name in dir(Evaluations) if not name.startswith("_")}
    assert methods == REACHES.keys() | OF_NONE


def test_private_set_and_its_runs_are_to_others_as_if_they_had_never_been(
    kb: core.KnowledgeBase, people: dict[str, Principal]
) -> None:
    hers = imported(kb, people["ann"], shared=False)
    assert (hers.owner, hers.is_shared) == ("ann", False)
    with acting(people["ann"]):
        run = kb.evaluations.wait(kb.evaluations.run(hers.id).id)
        assert kb.evaluations.runs() == [run] and kb.evaluations.set_of(hers.id) == hers
    for who in ("bob", "ron"):
        assert names(kb, people[who]) == []
        for name, reach in REACHES.items():
            told = []
            for set_id, run_id in ((hers.id, run.id), ("0" * 32, "0" * 32)):
                with acting(people[who]), pytest.raises((NotFound, Forbidden)) as caught:
                    reach(kb, set_id, run_id)
                told.append(caught.value.as_dict())
            assert told[0] == told[1], name
        with acting(people[who]):
            assert kb.evaluations.runs() == []
    assert names(kb, people["root"]) == ["staff"]
    with acting(people["root"]):
        assert kb.evaluations.outcomes(run.id) and kb.evaluations.set_of(hers.id).owner == "ann"


def test_owner_and_administrators_decide_who_sees_a_set(kb: core.KnowledgeBase, people: dict[str, Principal]) -> None:
    hers = imported(kb, people["ann"])
    assert names(kb, people["ron"]) == ["staff"]
    for who in ("bob", "ron"):
        with acting(people[who]), pytest.raises(Forbidden):
            kb.evaluations.share_set(hers.id, False)
    for who, is_shared in (("ann", False), ("root", True), ("root", False), ("ann", True)):
        with acting(people[who]):
            assert kb.evaluations.share_set(hers.id, is_shared).is_shared is is_shared
        assert names(kb, people["bob"]) == (["staff"] if is_shared else [])


def test_names_of_what_others_keep_private_are_free(kb: core.KnowledgeBase, people: dict[str, Principal]) -> None:
    hers = imported(kb, people["ann"], shared=False)
    his = imported(kb, people["bob"])
    assert (his.name, his.is_shared) == ("staff", True)
    assert names(kb, people["bob"]) == ["staff"]
    assert names(kb, people["root"]) == ["staff", "staff"]
    for who in ("ann", "bob"):
        with acting(people[who]), pytest.raises(Conflict):
            kb.evaluations.import_set("staff", LINES, "csv", shared=False)
    with acting(people["ann"]), pytest.raises(Conflict, match="staff"):
        kb.evaluations.share_set(hers.id, True)
    with acting(people["bob"]):
        assert kb.evaluations.set_of(his.id).name == "staff"
        assert kb.evaluations.wait(kb.evaluations.run(his.id).id).set_name == "staff"


def test_what_has_no_owner_is_everybodys(kb: core.KnowledgeBase, people: dict[str, Principal]) -> None:
    """As in a folder of an earlier release."""
    # Beside what somebody owns.
    imported(kb, people["ann"], shared=False)
    with acting(people["ann"]):
        kb.save_question("Mine alone?", shared=False)
    now = kb.saved_questions, kb.evaluations.sets
    with kb.catalog.database.write() as tx:
        row = {"id": "a" * 32, "created_at": core.model.parse_as_of("2026-01-01T00:00:00Z")}
        tx.execute(insert(question_sets).values(**row, name="old", gates=False))
        tx.execute(insert(saved_questions).values(**row, text="Where is lunch?"))
        question = {"set_id": row["id"], "position": 1, "name": "1", "text": "Where is lunch?", "doc_keys": "[]"}
        tx.execute(insert(judged_questions).values(**question, answers='{"texts": []}', is_answerable=True))
    for who in people.values():
        with acting(who):
            shown = [each for read in now for each in read() if each.is_shared]
            assert [(each.id, each.owner) for each in shown] == [(row["id"], "")] * 2
            assert len(kb.evaluations.questions(row["id"])) == 1
    for share in (kb.evaluations.share_set, kb.share_question):
        with acting(people["root"]), pytest.raises(Conflict):
            share(row["id"], False)
    with acting(people["bob"]):
        kb.evaluations.delete_set(row["id"])
        kb.forget_question(row["id"])


def test_nobody_keeps_anything_private_without_signing_in(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        kb.evaluations.import_set("staff", LINES, "csv", shared=False)
    with pytest.raises(InvalidInput):
        kb.save_question("Where is lunch?", shared=False)
    assert kb.save_question("Where is lunch?").owner == ""


def test_private_saved_question_is_its_owners_alone(kb: core.KnowledgeBase, people: dict[str, Principal]) -> None:
    with acting(people["ann"]):
        hers = kb.save_question("Where is lunch?", shared=False)
        assert (hers.owner, hers.is_shared) == ("ann", False)
        assert kb.save_question("Where is lunch?") == hers
    with acting(people["bob"]):
        for act in (lambda: kb.share_question(hers.id, True), lambda: kb.forget_question(hers.id)):
            with pytest.raises(NotFound):
                act()
        his = kb.save_question("Where is lunch?")
        assert his != hers and his.is_shared
    assert saved(kb, people["bob"]) == saved(kb, people["ron"]) == ["Where is lunch?"]
    assert saved(kb, people["ann"]) == saved(kb, people["root"]) == ["Where is lunch?"] * 2
    with acting(people["ann"]):
        with pytest.raises(Forbidden):
            kb.share_question(his.id, False)
        assert kb.share_question(hers.id, True).is_shared
    with acting(people["ron"]), pytest.raises(Forbidden):
        kb.share_question(hers.id, False)


def test_private_set_warns_its_owner_alone_before_publishing(
    kb: core.KnowledgeBase, people: dict[str, Principal]
) -> None:
    hers = imported(kb, people["ann"], shared=False)
    with acting(people["ann"]):
        kb.evaluations.set_gate(hers.id, True)
        assert [verdict.set_id for verdict in kb.evaluations.gate("lunch.txt", 1)] == [hers.id]
    for who in ("bob", "root"):
        with acting(people[who]):
            assert kb.evaluations.gate("lunch.txt", 1) == []


def test_answers_marked_wrong_are_everybodys_whoever_marks_them(
    kb: core.KnowledgeBase, people: dict[str, Principal]
) -> None:
    rag = core.EvoRAG(kb=kb)
    for who in ("ron", "bob"):
        with acting(people[who]):
            kb.evaluations.mark_wrong(rag.ask(f"Where does {who} have lunch?").id)
    for who in people.values():
        with acting(who):
            [known] = kb.evaluations.sets()
            assert (known.id, known.name, known.owner, known.is_shared) == (WRONG_SET, WRONG_NAME, "", True)
            assert len(kb.evaluations.questions(WRONG_SET)) == 2
    with acting(people["root"]), pytest.raises(Conflict):
        kb.evaluations.share_set(WRONG_SET, False)


def test_what_a_removed_user_kept_private_is_seen_by_administrators_alone(
    kb: core.KnowledgeBase, people: dict[str, Principal]
) -> None:
    imported(kb, people["ann"], shared=False)
    with acting(people["root"]):
        kb.accounts.remove("ann")
        assert [each.owner for each in kb.evaluations.sets()] == [""]
        assert kb.evaluations.gate("lunch.txt", 1) == []
    assert names(kb, people["bob"]) == []
    # A user of the same name is somebody else.
    again = kb.accounts.create_user("ann", PASSWORD, Role.EDITOR)
    assert names(kb, Principal("ann", Role.EDITOR, again.id)) == []


def test_own_data_hold_ones_sets_and_questions_and_deleting_takes_the_private_ones(
    kb: core.KnowledgeBase, people: dict[str, Principal]
) -> None:
    imported(kb, people["ann"], "mine", shared=False)
    imported(kb, people["ann"], "ours")
    imported(kb, people["bob"], "his")
    with acting(people["ann"]):
        kb.save_question("Where is lunch?", shared=False)
        own = kb.accounts.own_data
        assert (own.counts().question_sets, own.counts().saved_questions) == (2, 1)
        told = own.export()
        assert "mine" in told and "ours" in told and "his" not in told and "Where is lunch served?" in told
        left = own.delete()
    assert (left.question_sets, left.saved_questions) == (1, 0)
    assert names(kb, people["root"]) == ["his", "ours"]
