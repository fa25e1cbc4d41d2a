"""Parsing at arm's length: child processes that can be killed do the work, and only their answers come back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import EvoRAGError, ParserFailed, ParserLimit
from core.ingest.blockfile import read_blocks, write_blocks
from core.ingest.child import Child, ChildLost
from core.ingest.parsers.reading import ParserLimits

__all__ = ["ParserLimits", "ParserSandbox", "read_blocks", "write_blocks"]

FILES_PER_CHILD = 500


def _kinds(kind: type[EvoRAGError]) -> Iterator[type[EvoRAGError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


class ParserSandbox:
    """The port ``Parser`` over child processes, as many as threads parse at the same time.

    Each is used for many files, and is killed with all that it started when a file breaks a limit.
    """

    def __init__(
        self,
        limits: ParserLimits | None = None,
        scratch: Path | None = None,
        *,
        files_per_child: int = FILES_PER_CHILD,
    ) -> None:
        self._limits = limits or ParserLimits()
        self._scratch = scratch
        self._files_per_child = files_per_child
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._closed = False

    def parse(self, source: Path, extension: str, target: Path) -> Mapping[str, Any]:
        """Write the blocks of ``source`` to ``target`` and return the document's metadata.

        Raises: ``UnreadableDocument`` and its kinds, ``UnsupportedType``. ``target`` is complete or absent.
        """
        child = self._taken()
        order = {
            "source": str(source.absolute()),
            "extension": extension,
            "target": str(target.absolute()),
            "limits": asdict(self._limits),
        }
        try:
            reply = child.ask(order, self._limits.timeout_s)
        except BaseException as error:
            child.kill()
            target.with_name(target.name + ".part").unlink(missing_ok=True)
            if isinstance(error, ChildLost):
                raise self._lost(error.reason) from error
            raise
        if reply.get("spent") or child.orders >= self._files_per_child or self._closed:
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

    def _taken(self) -> Child:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.alive():
                    return child
                child.kill()
        return Child("core.ingest.parse_worker", self._scratch)

    def _lost(self, reason: str) -> EvoRAGError:
        match reason:
            case "time":
                return ParserLimit(f"Parsing the document took longer than {self._limits.timeout_s:g} seconds.")
            case "processor":
                return ParserLimit("Parsing the document used more processor time than it may.")
            case "memory":
                return ParserLimit("Parsing the document was stopped by the system, most likely for its use of memory.")
            case _:
                return ParserFailed("The document made its parser crash.")


def _error_of(fields: Mapping[str, Any]) -> EvoRAGError:
    code, message = str(fields.get("code")), str(fields.get("message"))
    kind = next((kind for kind in _kinds(EvoRAGError) if kind.code == code), ParserFailed)
    return kind(message, remedy=str(fields.get("remedy")))
