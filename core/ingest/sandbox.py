"""Parsing at arm's length: child processes that can be killed do the work, and only their answers come back."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import core
from core.errors import EvoRAGError, ParserFailed, ParserLimit
from core.ingest.blockfile import read_blocks, write_blocks
from core.ingest.parsers.reading import ParserLimits

__all__ = ["ParserLimits", "ParserSandbox", "read_blocks", "write_blocks"]

FILES_PER_CHILD = 500
MAX_REPLY_BYTES = 1024 * 1024
END_S = 2.0
"""How long a child whose line is cut may take to end, so that its last words tell why."""


def _kinds(kind: type[EvoRAGError]) -> Iterator[type[EvoRAGError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


class ParserSandbox:
    """The port ``Parser`` over child processes, as many as threads parse at the same time.

    Each is used for many files, and is killed with all that it started when a file breaks a limit.
    """

    def __init__(self, limits: ParserLimits | None = None, *, files_per_child: int = FILES_PER_CHILD) -> None:
        self._limits = limits or ParserLimits()
        self._files_per_child = files_per_child
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._closed = False

    def parse(self, source: Path, extension: str, target: Path) -> Mapping[str, Any]:
        """Write the blocks of ``source`` to ``target`` and return the document's metadata.

        Raises: ``UnreadableDocument`` and its kinds, ``UnsupportedType``. ``target`` is complete or absent.
        """
        child = self._taken()
        try:
            reply = child.ask(source.absolute(), extension, target.absolute(), self._limits)
        except BaseException:
            child.kill()
            target.with_name(target.name + ".part").unlink(missing_ok=True)
            raise
        if reply.get("spent") or child.files >= self._files_per_child or self._closed:
            child.kill()
        else:
            with self._lock:
                self._idle.append(child)
        if "error" in reply:
            raise _error_of(reply["error"])
        metadata: Mapping[str, Any] = reply["metadata"]
        return metadata

    def close(self) -> None:
        """End the children that have nothing to do; those at work end with their file."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for child in idle:
            child.kill()

    def _taken(self) -> _Child:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.alive():
                    return child
                child.kill()
        return _Child()


def _error_of(fields: Mapping[str, Any]) -> EvoRAGError:
    code, message = str(fields.get("code")), str(fields.get("message"))
    kind = next((kind for kind in _kinds(EvoRAGError) if kind.code == code), ParserFailed)
    return kind(message, remedy=str(fields.get("remedy")))


class _Child:
    """One child process with its own process group and its own folder for temporary files."""

    def __init__(self) -> None:
        self.files = 0
        self._folder = tempfile.TemporaryDirectory(prefix="evorag-parse-", ignore_cleanup_errors=True)
        environment = {
            "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            "HOME": self._folder.name,
            "TMPDIR": self._folder.name,
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(Path(core.__file__).resolve().parent.parent),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "core.ingest.parse_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=self._folder.name,
            start_new_session=True,
            umask=0o077,
        )

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, source: Path, extension: str, target: Path, limits: ParserLimits) -> Mapping[str, Any]:
        """Have one document parsed. Raises: ``ParserLimit`` when it takes too long, ``ParserFailed`` on a crash."""
        self.files += 1
        order = {
            "source": str(source),
            "extension": extension,
            "target": str(target),
            "limits": asdict(limits),
        }
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._crash() from error
        reply: dict[str, Any] = json.loads(self._line(limits.timeout_s))
        return reply

    def _line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        end = time.monotonic() + timeout_s
        descriptor = self._process.stdout.fileno()
        received = bytearray()
        while not received.endswith(b"\n"):
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise ParserLimit(f"Parsing the document took longer than {timeout_s:g} seconds.")
            data = os.read(descriptor, 65_536)
            if not data or len(received) > MAX_REPLY_BYTES:
                raise self._crash()
            received += data
        return bytes(received)

    def _crash(self) -> EvoRAGError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        if self._process.returncode == -signal.SIGXCPU:
            return ParserLimit("Parsing the document used more processor time than it may.")
        if self._process.returncode == -signal.SIGKILL:
            return ParserLimit("Parsing the document was stopped by the system, most likely for its use of memory.")
        return ParserFailed("The document made its parser crash.")

    def kill(self) -> None:
        """End the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._folder.cleanup()
