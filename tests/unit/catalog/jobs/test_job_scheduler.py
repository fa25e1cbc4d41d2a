"""One rule gives users their turns, for jobs in the ledger and for texts in the queue of embedding."""

from __future__ import annotations

from core.catalog.jobs.job_scheduler import Rotation


def served(rotation: Rotation, *users: str) -> str:
    found = rotation.next(users)
    rotation.had_turn(found)
    return found


def test_users_have_turns_one_after_another() -> None:
    rotation = Rotation()
    assert [served(rotation, "ada", "bob", "cid") for _ in range(6)] == ["ada", "bob", "cid"] * 2


def test_who_had_none_comes_first_and_who_was_away_does_not() -> None:
    rotation = Rotation()
    assert [served(rotation, "ada", "bob") for _ in range(2)] == ["ada", "bob"]
    assert [served(rotation, "ada", "bob", "cid") for _ in range(2)] == ["cid", "ada"]
    assert served(rotation, "bob") == "bob"
    assert served(rotation, "ada", "bob") == "ada"


def test_turns_that_are_only_tried_count_for_nothing() -> None:
    rotation = Rotation()
    rotation.had_turn("ada")
    rotation.copy().had_turn("bob")
    assert rotation.next(["ada", "bob"]) == "bob"
