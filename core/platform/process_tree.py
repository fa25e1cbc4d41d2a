"""What a process and all that it has started are doing now, as Linux tells it in ``/proc`` (proc(5)), and their end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
_STATE, _USER, _ENDED_SYSTEM = 0, 11, 14
"""Places in ``stat`` after the name: the state, and the first and the last of four times."""
_MOST = 1_000
_MOST_ROUNDS = 1_000


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


def end_tree(process: int) -> None:
    """Kill the process that leads a group, with its group and all its descendants, however fast these multiply.

    Who has lost a parent stays below it where it is their subreaper, as children of ``sandboxed_child`` are.
    """
    # It is stopped and goes last: until then nobody leaves the tree, and who is stopped starts nobody.
    _signal(process, signal.SIGSTOP)
    held, seen = [process], {process}
    for _ in range(_MOST_ROUNDS):
        before = len(seen)
        for each in held:
            # This grows meanwhile.
            held += _stopped(set(_children(each, PROCESSES)) - seen, seen)
        if len(seen) == before:
            break
    for each in held[1:]:
        _signal(each, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def _stopped(processes: set[int], seen: set[int]) -> list[int]:
    """Stop processes and note that they were seen; return those that are not dead."""
    for each in processes:
        _signal(each, signal.SIGSTOP)
    seen |= processes
    states = {each: _read(PROCESSES / str(each) / "stat").rpartition(")")[2].split()[:1] for each in processes}
    return [each for each, state in states.items() if state not in ([], ["Z"])]


def _signal(process: int, kind: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, kind)


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
        below = set(_children(each, processes)) - seen
        seen |= below
        waiting.extend(sorted(below))


def _children(process: int, processes: Path) -> Iterator[int]:
    for children in (processes / str(process) / "task").glob("*/children"):
        yield from map(int, _read(children).split())


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
