"""A child process that works at arm's length: one order a line goes in, its reply is a line, and it can be killed.

Before its reply the child may say in lines of their own how far it is.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.platform.confinement import Rooms
from core.platform.process_tree import end_tree, tree_state

_ROOT = Path(__file__).resolve().parents[2]
MAX_REPLY_BYTES = 1024 * 1024
MOST_LINES_A_SECOND = 10
Process = subprocess.Popen[bytes]
Told = Callable[[int, int], None]
"""Hears how far an order is, and of how much; what it raises ends the child."""
LOOK_S = 0.5
"""How often is looked at what a child uses whose time is counted."""
MOST_TIMES = 5
"""A child of low priority may take so many times its limit, however little it is let work."""
_MOST = 1 << 53
END_S = 2.0
"""How long a child whose line is cut may take to end, so that its last words tell why."""


class ChildLost(Exception):
    """The child gave no answer; ``reason`` is ``time``, ``processor``, ``memory`` or ``crash``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def start_module(
    module: str,
    *arguments: str,
    home: Path,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdout: int = subprocess.DEVNULL,
    umask: int = -1,
) -> Process:
    """Start a module of this installation in a process group of its own, which hears from here by its standard input.

    Of the environment it sees ``PATH`` and what is given: no key or address that this process was started with.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={
            "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(_ROOT),
            "OMP_NUM_THREADS": "1",
            **(environment or {}),
        },
        cwd=cwd,
        start_new_session=True,
        umask=umask,
    )


class OrderTime:
    """What an order has taken of its limit: the time that has passed; of low priority, the time that was its own.

    Then a wait for a processor that others have does not count, and nothing else is left out: a child that sleeps, or
    waits for a converter that sleeps, uses up its limit as it always did.
    """

    def __init__(self, process: int, limit_s: float) -> None:
        self._process = process
        self._limit_s = limit_s
        self._begun = self._looked = time.monotonic()
        state = tree_state(process)
        self._before_s = self._total_s = 0.0 if state is None else state.used_s
        self._counted_s = 0.0
        self.is_low = False

    @property
    def used_s(self) -> float:
        """Return the processor time that the order had taken at the last look; where nobody tells it, all its time."""
        return self._total_s - self._before_s

    @property
    def next_look_s(self) -> float:
        """Return in how many seconds to look again."""
        passed_s = time.monotonic() - self._looked
        return max(min(LOOK_S, self._limit_s - self._counted_s) - passed_s, 0.0)

    def look_if_due(self) -> None:
        """Count the time since the last look now and then. Raises: ``ChildLost`` once the limit is reached."""
        if self.next_look_s > 0:
            return
        now = time.monotonic()
        passed_s, self._looked = now - self._looked, now
        state = tree_state(self._process)
        total_s = now - self._begun + self._before_s if state is None else state.used_s
        gained_s, self._total_s = max(total_s - self._total_s, 0.0), max(total_s, self._total_s)
        waits = self.is_low and state is not None and state.is_running
        self._counted_s += min(passed_s, gained_s) if waits else passed_s
        if self._counted_s >= self._limit_s or now - self._begun >= self._limit_s * MOST_TIMES:
            raise ChildLost("time")


class Child:
    """One process of a module with a loop of ``sandboxed_child``, its own process group and temporary folder.

    The folder is made in ``scratch``, or where the system has its temporary files; ``rooms`` are what it may enter.
    """

    def __init__(self, module: str, scratch: Path | None = None, rooms: Rooms | None = None) -> None:
        self.orders = 0
        self._folder = tempfile.TemporaryDirectory(prefix="child-", dir=scratch, ignore_cleanup_errors=True)
        home = Path(self._folder.name)
        self._process = start_module(
            module,
            *([rooms.as_text()] if rooms is not None else []),
            home=home,
            environment={"TMPDIR": self._folder.name, "OPENBLAS_NUM_THREADS": "1"},
            cwd=home,
            stdout=subprocess.PIPE,
            umask=0o077,
        )

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, order: Mapping[str, Any], timeout_s: float, told: Told | None = None) -> Mapping[str, Any]:
        """Have one order carried out. Raises: ``ChildLost``; the child is of no use then."""
        self.begin(order, timeout_s)
        reply = self.reply(told)
        assert reply is not None
        return reply

    def begin(self, order: Mapping[str, Any], timeout_s: float) -> None:
        """Give an order, whose ``reply`` has to be taken before the next one. Raises: ``ChildLost``."""
        self.orders += 1
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._end() from error
        self._time, self._received = OrderTime(self._process.pid, timeout_s), bytearray()
        self._lines_left = int(timeout_s * MOST_LINES_A_SECOND) + MOST_LINES_A_SECOND

    def reply(self, told: Told | None = None, wait_s: float = math.inf) -> Mapping[str, Any] | None:
        """Return the reply to the order, None where there is none yet after ``wait_s``. Raises: ``ChildLost``."""
        end = time.monotonic() + wait_s
        while self._lines_left > 0:
            line = self._line(end)
            if line is None:
                return None
            self._lines_left -= 1
            reply = _read(line)
            if "progress" not in reply:
                return reply
            progress = _progress(reply["progress"])
            if told is not None:
                told(*progress)
            self._time.look_if_due()
        raise ChildLost("crash")

    @property
    def used_s(self) -> float:
        """Return the processor time that the order took, with what the child has started for it."""
        return self._time.used_s

    def lower(self, niceness: int) -> None:
        """Let others go first from now on; what time they have is not counted for the order."""
        self._time.is_low = True
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PGRP, self._process.pid, niceness)

    def _line(self, end: float) -> bytes | None:
        """Take the next line out of what was received, and receive until there is one, or until ``end``."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while (at := self._received.find(b"\n")) < 0:
            left = min(max(end - time.monotonic(), 0.0), self._time.next_look_s)
            if not select.select([descriptor], [], [], left)[0]:
                self._time.look_if_due()
                if time.monotonic() >= end:
                    return None
                continue
            data = os.read(descriptor, 65_536)
            if not data or len(self._received) > MAX_REPLY_BYTES:
                raise self._end()
            self._received += data
        line = bytes(self._received[:at])
        del self._received[: at + 1]
        return line

    def _end(self) -> ChildLost:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        reasons = {-signal.SIGXCPU: "processor", -signal.SIGKILL: "memory"}
        return ChildLost(reasons.get(self._process.returncode, "crash"))

    def interrupt(self) -> None:
        """End the process and everything that it started; whoever waits for its answer is told that it is lost."""
        end_tree(self._process.pid)

    def kill(self) -> None:
        """End the process and everything that it started, and give back what it held."""
        self.interrupt()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._folder.cleanup()


def _read(line: bytes) -> Mapping[str, Any]:
    """Read a line of a child, which may have been made to say anything."""
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ChildLost("crash") from error
    if not isinstance(reply, dict):
        raise ChildLost("crash")
    return reply


def _progress(told: object) -> tuple[int, int]:
    if not (isinstance(told, list) and len(told) == 2 and all(type(each) is int for each in told)):
        raise ChildLost("crash")
    done, total = told
    if not 0 <= done <= total <= _MOST:
        raise ChildLost("crash")
    return done, total
