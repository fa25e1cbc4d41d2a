"""A child says how far it is before it answers; what it says is bounded and never believed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.platform import child_process
from core.platform.child_process import MOST_TIMES, Child, ChildLost, OrderTime
from core.platform.process_tree import TreeState, tree_state

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


def test_a_reply_may_be_taken_piece_by_piece_by_anybody(child: Child) -> None:
    child.begin({"say": lines({"progress": [1, 2]}), "stays_s": 0.5, "then": lines({"answer": "done"})}, 10)
    told: Told = []
    assert child.reply(lambda done, total: told.append((done, total)), wait_s=0.01) is None
    while (reply := child.reply(lambda done, total: told.append((done, total)), wait_s=0.1)) is None:
        continue
    assert (reply, told) == ({"answer": "done"}, [(1, 2)])


def test_a_reply_that_nobody_has_taken_in_time_is_taken_all_the_same(child: Child) -> None:
    child.begin({"say": lines({"answer": "done"})}, 0.5)
    time.sleep(1.0)
    assert child.reply() == {"answer": "done"}


def test_time_of_low_priority_is_what_the_child_had_of_it() -> None:
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        for _ in range(4 * (os.cpu_count() or 1))
    ]
    try:
        plain, low = (OrderTime(busy[0].pid, 60.0) for _ in range(2))
        low.is_low = True
        for _ in range(4):
            time.sleep(0.6)
            for each in (plain, low):
                each.look_if_due()
        assert low._counted_s < plain._counted_s * 0.7
        assert abs(low._counted_s - low.used_s) < 0.2
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _without_processor(process: int) -> TreeState | None:
    state = tree_state(process)
    return None if state is None else replace(state, used_s=0.0)


@pytest.mark.parametrize("times", [1, MOST_TIMES])
def test_low_priority_gives_no_time_to_a_child_that_sleeps_and_none_without_end(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if times > 1:
        # As if others had the processors all the time: the child is seen to run, and gets nowhere.
        monkeypatch.setattr(child_process, "tree_state", _without_processor)
    work = "import time; time.sleep(600)" if times == 1 else "while True: pass"
    process = subprocess.Popen([sys.executable, "-c", work], start_new_session=True)
    try:
        time.sleep(0.3)
        counted = OrderTime(process.pid, 0.4)
        counted.is_low = True
        began = time.monotonic()
        with pytest.raises(ChildLost, match="time"):
            while True:
                time.sleep(0.05)
                counted.look_if_due()
        assert 0.4 * times <= time.monotonic() - began < 0.4 * times + 5
    finally:
        process.kill()
        process.wait()
