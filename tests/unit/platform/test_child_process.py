"""A child says how far it is before it answers; what it says is bounded and never believed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.platform.child_process import Child, ChildLost

MODULE = "tests.unit.platform.babbling"
Told = list[tuple[int, int]]


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    made = Child(MODULE, tmp_path)
    yield made
    made.kill()


def lines(*replies: object) -> str:
    return "".join(json.dumps(reply) + "\n" for reply in replies)


def test_progress_is_told_before_the_answer_however_it_arrives(child: Child) -> None:
    told: Told = []
    say = lines({"progress": [1, 3]}, {"progress": [3, 3]}, {"answer": "done"})
    for _ in range(2):
        assert child.ask({"say": say}, 10, lambda done, total: told.append((done, total))) == {"answer": "done"}
    assert told == [(1, 3), (3, 3)] * 2
    assert child.ask({"say": say}, 10) == {"answer": "done"}


@pytest.mark.parametrize(
    "said",
    [
        *(
            {"progress": each}
            for each in (3, [1], [1, 2, 3], ["1", 2], [1.0, 2], [True, 2], [-1, 2], [3, 2], [0, 1 << 60])
        ),
        [1, 2],
        "words",
    ],
)
def test_what_is_no_progress_ends_the_order(child: Child, said: object) -> None:
    told: Told = []
    with pytest.raises(ChildLost, match="crash"):
        child.ask({"say": lines(said, {"answer": "done"})}, 10, lambda done, total: told.append((done, total)))
    assert told == []


@pytest.mark.parametrize("say", ["{\n", "[" * 100_000 + "\n"])
def test_what_cannot_be_read_ends_the_order(child: Child, say: str) -> None:
    with pytest.raises(ChildLost, match="crash"):
        child.ask({"say": say}, 10)


def test_a_child_that_only_tells_progress_is_not_heard_for_ever(child: Child) -> None:
    told: Told = []
    with pytest.raises(ChildLost, match="crash"):
        child.ask(
            {"say": lines({"progress": [1, 2]}), "times": 5_000}, 5, lambda done, total: told.append((done, total))
        )
    assert 0 < len(told) < 100


def test_what_the_listener_raises_reaches_who_asked(child: Child) -> None:
    def refuse(_done: int, _total: int) -> None:
        raise KeyError("cancelled")

    with pytest.raises(KeyError):
        child.ask({"say": lines({"progress": [1, 2]}, {"answer": "done"})}, 10, refuse)


def test_time_counts_from_the_order_and_not_from_what_was_said_last(child: Child) -> None:
    with pytest.raises(ChildLost, match="time"):
        child.ask({"say": lines({"progress": [1, 2]}), "stays_s": 30}, 1)
