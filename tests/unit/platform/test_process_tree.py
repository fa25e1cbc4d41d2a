"""What a process and its descendants use is read from what the system tells of each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.platform.process_tree import tree_state
from tests.waiting import until

TICKS = os.sysconf("SC_CLK_TCK")
BUSY_CHILD = """
import os, time
if os.fork():
    time.sleep(600)
while True:
    pass
"""


def process(folder: Path, number: int, state: str, times: tuple[int, int, int, int], children: str = "") -> None:
    task = folder / str(number) / "task" / str(number)
    task.mkdir(parents=True)
    (task / "children").write_text(children)
    fields = " ".join(["1"] * 10)
    told = f"{number} (a name) with) brackets) {state} {fields} {' '.join(map(str, times))} 20 0 1"
    (folder / str(number) / "stat").write_text(told)


@pytest.fixture
def parent() -> Iterator[int]:
    made = subprocess.Popen([sys.executable, "-c", BUSY_CHILD], start_new_session=True)
    yield made.pid
    os.killpg(made.pid, 9)
    made.wait()


def test_times_of_all_descendants_and_of_those_that_have_ended_are_added(tmp_path: Path) -> None:
    process(tmp_path, 7, "S", (1 * TICKS, 2 * TICKS, 3 * TICKS, 4 * TICKS), "8 9 ")
    process(tmp_path, 8, "S", (TICKS, 0, 0, 0), "10")
    process(tmp_path, 10, "R", (0, TICKS, 0, 0), "7 99")
    process(tmp_path, 11, "R", (500 * TICKS, 0, 0, 0))
    state = tree_state(7, tmp_path)
    assert state is not None
    assert (state.used_s, state.is_running) == (12.0, True)


def test_a_process_that_has_ended_tells_nothing(tmp_path: Path) -> None:
    assert tree_state(7, tmp_path) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_work_of_a_child_counts_while_its_parent_sleeps(parent: int) -> None:
    def has_worked() -> bool:
        state = tree_state(parent)
        return state is not None and state.is_running and state.used_s > 0.5

    until(has_worked)
