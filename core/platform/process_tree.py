"""What a process and all that it has started are doing now, as Linux tells it in ``/proc`` (proc(5))."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
_STATE, _USER, _ENDED_SYSTEM = 0, 11, 14
"""Places in ``stat`` after the name: the state, and the first and the last of four times."""
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class TreeState:
    """Processor time that a process and its descendants have used, and whether any of them wants more now."""

    used_s: float
    is_running: bool


def tree_state(process: int, processes: Path = PROCESSES) -> TreeState | None:
    """Return what a process and its descendants have used; None where the system does not tell, or it has ended."""
    ticks, is_running, found = 0, False, False
    for fields in _stats(process, processes):
        found = True
        ticks += sum(map(int, fields[_USER : _ENDED_SYSTEM + 1]))
        is_running |= fields[_STATE] == "R"
    return TreeState(ticks / os.sysconf("SC_CLK_TCK"), is_running) if found else None


def _stats(process: int, processes: Path) -> Iterator[list[str]]:
    for each in _tree(process, processes):
        # The name may hold blanks and brackets.
        fields = _read(processes / str(each) / "stat").rpartition(")")[2].split()
        if len(fields) > _ENDED_SYSTEM:
            yield fields


def _tree(process: int, processes: Path) -> Iterator[int]:
    waiting, seen = [process], {process}
    while waiting and len(seen) < _MOST:
        each = waiting.pop()
        yield each
        for children in (processes / str(each) / "task").glob("*/children"):
            below = {int(number) for number in _read(children).split()} - seen
            seen |= below
            waiting.extend(sorted(below))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
