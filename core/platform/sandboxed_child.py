"""The child's side of ``core.platform.child_process``: without a network it answers orders until its parent is gone."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import ParserFailed
from core.platform.confinement import Rooms, confine

TELL_S = 0.5
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_SUBREAPER = 36
MOST_TASKS = 512
"""Processes and threads that a child may have with all that it starts; LibreOffice has some thirty."""


def bound_processes() -> None:
    """Let this process multiply so often and no more, and keep below it who loses a parent.

    The kernel counts the tasks of a user, in a name space of users for itself; those of root it does not bound.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
    if os.getuid() == 0:
        return
    present = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            told = dict(line.partition(":")[::2] for line in status.read_text("ascii", "replace").splitlines())
            present += int(told["Threads"]) if int(told["Uid"].split()[0]) == os.getuid() else 0
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = present + MOST_TASKS if hard == resource.RLIM_INFINITY else min(present + MOST_TASKS, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def isolate() -> None:
    """Leave the network for good: an empty network name space where the kernel allows it, and a refusal in Python."""
    user, group = os.getuid(), os.getgid()
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_NEW_NETWORK) != 0 and libc.unshare(_NEW_USER | _NEW_NETWORK) == 0:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    sys.addaudithook(_refuse_network)


def _refuse_network(event: str, _: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto", "urllib.Request"):
        raise ParserFailed("The document tried to reach the network.")


def limit(seconds: float, memory_bytes: int, file_bytes: int, *, started_memory_bytes: int = 0) -> None:
    """Bound what this process may use from here on; the processor time is counted from now.

    What it starts may ask for ``started_memory_bytes`` itself, where that is more.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = int(used.ru_utime + used.ru_stime + seconds) + 2
    hard_memory = resource.getrlimit(resource.RLIMIT_AS)[1]
    hard = max(memory_bytes, started_memory_bytes) if hard_memory == resource.RLIM_INFINITY else hard_memory
    resource.setrlimit(resource.RLIMIT_AS, (min(memory_bytes, hard), hard))
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)


class Telling:
    """Says on the line of the replies how far an order is, twice a second at most."""

    def __init__(self, replies: BinaryIO) -> None:
        self._replies = replies
        self._told = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told >= TELL_S:
            self._told = now
            self._replies.write(json.dumps({"progress": [done, total]}).encode() + b"\n")
            self._replies.flush()


def serve(answer: Callable[[dict[str, Any], Telling], dict[str, Any]]) -> None:
    """Answer orders, confined, until the parent closes the line or dies."""
    replies: BinaryIO = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    isolate()
    bound_processes()
    # Where the kernel has not got it, whoever started this says so.
    confine(Rooms.of_text(sys.argv[1]) if len(sys.argv) > 1 else None)
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    for line in sys.stdin.buffer:
        replies.write(json.dumps(answer(json.loads(line), Telling(replies))).encode() + b"\n")
        replies.flush()
