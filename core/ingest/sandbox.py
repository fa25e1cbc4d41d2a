"""Parsing at arm's length: child processes that can be killed do the work, and only their answers come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from core.blobs.block_file import read_blocks, write_blocks
from core.errors import EvoRAGError, ParserFailed, ParserLimit
from core.ingest.parsers.reading import ParserLimits
from core.platform.child_pool import ChildPool
from core.platform.child_process import ChildLost
from core.ports import Progress

__all__ = ["ParserLimits", "ParserSandbox", "read_blocks", "write_blocks"]

FILES_PER_CHILD = 500
LARGE_BYTES = 64 * 1024 * 1024
SLOWEST_BYTES_S = 256 * 1024
"""Large files may take longer: a second more for so many bytes beyond the first ones."""


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
        self._children = ChildPool("core.ingest.parse_worker", scratch, max_orders=files_per_child)

    def parse(
        self,
        source: Path,
        extension: str,
        target: Path,
        progress: Progress | None = None,
        recognised: Path | str | None = None,
        pictures: Path | None = None,
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
            reply = self._children.ask(order, timeout_s, progress)
        except BaseException as error:
            target.with_name(target.name + ".part").unlink(missing_ok=True)
            if isinstance(error, ChildLost):
                raise _lost(error.reason, timeout_s) from error
            raise
        if "error" in reply:
            raise error_of(reply["error"])
        if "pictures" in reply:
            return {"pictures": reply["pictures"]}
        metadata: Mapping[str, Any] = reply["metadata"]
        return metadata

    def close(self) -> None:
        """End the children; files that are being parsed are lost to whoever waits for them."""
        self._children.close()


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
