"""What waits gets its turn between users, then by priority, then by age."""

from __future__ import annotations

from core.ingest.fair_queue import FairQueue


def waiting(*entries: tuple[str, int, str]) -> FairQueue[str]:
    turns: FairQueue[str] = FairQueue()
    for user, priority, name in entries:
        turns.put(user, priority, name)
    return turns


def rest(turns: FairQueue[str]) -> list[str | None]:
    found = []
    while not turns.is_empty():
        found.append(turns.next())
    return found


def test_users_take_turns_and_each_gives_the_highest_priority_first() -> None:
    turns = waiting(("ada", 0, "a1"), ("ada", 0, "a2"), ("ada", 5, "a3"), ("bob", 0, "b1"))
    assert rest(turns) == ["a3", "b1", "a1", "a2"]
    assert turns.next() is None


def test_who_comes_later_does_not_wait_for_a_whole_round() -> None:
    turns = waiting(("ada", 0, "a1"), ("ada", 0, "a2"), ("bob", 0, "b1"), ("bob", 0, "b2"))
    assert turns.next() == "a1"
    turns.put("cid", 0, "c1")
    assert rest(turns) == ["b1", "c1", "a2", "b2"]


def test_what_is_taken_out_has_no_turn() -> None:
    turns = waiting(("ada", 0, "a1"), ("bob", 0, "b1"))
    assert turns.remove(lambda name: name == "a1") == "a1"
    assert turns.remove(lambda name: name == "a1") is None
    assert rest(turns) == ["b1"]
