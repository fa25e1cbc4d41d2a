"""Parsing at arm's length: child processes that can be killed do the work, and only their answers come back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from core.blobs.block_file import read_blocks, write_blocks
from core.errors import EvoRAGError, ParserFailed, ParserLimit
from core.ingest.parsers.reading import ParserLimits
from core.platform.child_pool import ChildPool, Order
from core.platform.child_process import LOOK_S, ChildLost
from core.platform.confinement import Rooms
from core.ports import Look, Progress

__all__ = ["ParserLimits", "ParserSandbox", "read_blocks", "write_blocks"]

FILES_PER_CHILD = 500
LARGE_BYTES = 64 * 1024 * 1024
SLOWEST_BYTES_S = 256 * 1024
"""Large files may take longer: a second more for so many bytes beyond the first ones."""
NICENESS_ASIDE = 10
"""Of what was stepped aside: after the parsers of short files, beside the embedding."""


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
        rooms: Rooms | None = None,
    ) -> None:
        """Have children write in ``scratch``; ``rooms`` are what else they may enter, where it is known."""
        self._limits = limits or ParserLimits()
        self._children = ChildPool("core.ingest.parse_worker", scratch, max_orders=files_per_child, rooms=rooms)

    def parse(
        self,
        source: Path,
        extension: str,
        target: Path,
        progress: Progress | None = None,
        recognised: Path | str | None = None,
        pictures: Path | None = None,
        look: Look | None = None,
    ) -> Mapping[str, Any]:
        """Write the blocks of ``source`` to ``target`` and return the document's metadata.

        Raises: ``UnreadableDocument`` and its kinds, ``UnsupportedType``. ``target`` is complete or absent.
        """
        timeout_s = self._limits.timeout_s + max(source.stat().st_size - LARGE_BYTES, 0) / SLOWEST_BYTES_S
        order = {
            "source": str(source.absolute()),
            "extension": extension,
            "target": str(target.absolute()),
            "recognised": None if recognised is None or pictures is None else str(recognised),
            "pictures": str(pictures),
            "limits": asdict(replace(self._limits, timeout_s=timeout_s)),
        }
        try:
            begun = self._children.begin(order, timeout_s)
        except ChildLost as error:
            raise _lost(error.reason, timeout_s) from error
        return _Parsing(begun, target, timeout_s).result(progress, look)

    def close(self) -> None:
        """End the children; files that are being parsed are lost to whoever waits for them."""
        self._children.close()


class _Parsing:
    """The port ``Parsing`` over an order of a child."""

    def __init__(self, order: Order, target: Path, timeout_s: float) -> None:
        self._order = order
        self._target = target
        self._timeout_s = timeout_s

    @property
    def used_s(self) -> float:
        return self._order.used_s

    @property
    def is_open(self) -> bool:
        return self._order.is_open

    def lower(self) -> None:
        self._order.lower(NICENESS_ASIDE)

    def result(self, progress: Progress | None = None, look: Look | None = None) -> Mapping[str, Any]:
        wait_s = LOOK_S if look is not None else math.inf
        try:
            while (reply := self._order.reply(progress, wait_s)) is None:
                if look is not None and look(self):
                    return {"aside": self}
        except BaseException as error:
            self.end()
            if isinstance(error, ChildLost):
                raise _lost(error.reason, self._timeout_s) from error
            raise
        if "error" in reply:
            raise error_of(reply["error"])
        if "pictures" in reply:
            return {"pictures": reply["pictures"]}
        metadata: Mapping[str, Any] = reply["metadata"]
        return metadata

    def end(self) -> None:
        self._order.end()
        self._target.with_name(self._target.name + ".part").unlink(missing_ok=True)


def _lost(reason: str, timeout_s: float) -> EvoRAGError:
    match reason:
        case "time":
            return ParserLimit(f"Parsing the document took longer than {timeout_s:.3g} seconds.")
        case "processor":
            return ParserLimit("Parsing the document used more processor time than it may.")
        case "memory":
            return ParserLimit("Parsing the document was stopped by the system, most likely for its use of memory.")
        case _:
            return ParserFailed("The document made its parser crash.")


def error_of(fields: Mapping[str, Any]) -> EvoRAGError:
    """Return the error that a child told as plain data."""
    code, message = str(fields.get("code")), str(fields.get("message"))
    kind = next((kind for kind in _kinds(EvoRAGError) if kind.code == code), ParserFailed)
    return kind(message, remedy=str(fields.get("remedy")))
