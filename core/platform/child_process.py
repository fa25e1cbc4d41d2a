"""A child process that works at arm's length: one order a line goes in, its reply is a line, and it can be killed.

Before its reply the child may say in lines of their own how far it is.
"""

from __future__ import annotations

import contextlib
import json
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

_ROOT = Path(__file__).resolve().parents[2]
MAX_REPLY_BYTES = 1024 * 1024
MOST_LINES_A_SECOND = 10
Process = subprocess.Popen[bytes]
Told = Callable[[int, int], None]
"""Hears how far an order is, and of how much; what it raises ends the child."""
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


class Child:
    """One process of a module with a loop of ``sandboxed_child``, its own process group and temporary folder.

    The folder is made in ``scratch``, or where the system has its temporary files.
    """

    def __init__(self, module: str, scratch: Path | None = None) -> None:
        self.orders = 0
        self._folder = tempfile.TemporaryDirectory(prefix="child-", dir=scratch, ignore_cleanup_errors=True)
        home = Path(self._folder.name)
        self._process = start_module(
            module,
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
        self.orders += 1
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._end() from error
        end, received = time.monotonic() + timeout_s, bytearray()
        for _ in range(int(timeout_s * MOST_LINES_A_SECOND) + MOST_LINES_A_SECOND):
            reply = _read(self._line(received, end))
            if "progress" not in reply:
                return reply
            progress = _progress(reply["progress"])
            if told is not None:
                told(*progress)
        raise ChildLost("crash")

    def _line(self, received: bytearray, end: float) -> bytes:
        """Take the next line out of what was received, and receive until there is one."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while (at := received.find(b"\n")) < 0:
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise ChildLost("time")
            data = os.read(descriptor, 65_536)
            if not data or len(received) > MAX_REPLY_BYTES:
                raise self._end()
            received += data
        line = bytes(received[:at])
        del received[: at + 1]
        return line

    def _end(self) -> ChildLost:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        reasons = {-signal.SIGXCPU: "processor", -signal.SIGKILL: "memory"}
        return ChildLost(reasons.get(self._process.returncode, "crash"))

    def interrupt(self) -> None:
        """End the process and everything that it started; whoever waits for its answer is told that it is lost."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

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
