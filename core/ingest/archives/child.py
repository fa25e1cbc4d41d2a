"""The parent's side of unpacking: a child process opens an archive and gives its members one by one."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import ArchiveLimit, DiskFull, ParserFailed
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.members import Member
from core.ingest.sandbox import error_of
from core.platform.child_process import Child, ChildLost

_SLICE_S = 0.4
_ORDER_S = 90.0
_NO_SPACE = 28


class OpenArchive:
    """An archive in the hands of a child process. Raises: ``UnreadableDocument`` and its kinds, ``DiskFull``."""

    def __init__(self, child: Child, path: Path, kind: str, limits: ArchiveLimits, scratch: Path) -> None:
        self._child = child
        self._limits = asdict(limits)
        self._scratch = scratch
        self._ask("open", source=str(path.absolute()), kind=kind)

    def survey(self, go_on: Callable[[], bool]) -> list[Member] | None:
        """Return the members once all of the archive has been read; None where ``go_on`` did not allow it."""
        listing = self._scratch / secrets.token_hex(16)
        try:
            while self._ask("survey", target=str(listing), seconds=_SLICE_S)["more"]:
                if not go_on():
                    return None
            with listing.open(encoding="utf-8") as file:
                return [Member(**json.loads(line)) for line in file]
        finally:
            listing.unlink(missing_ok=True)

    def take(self, member: Member, target: Path, go_on: Callable[[], bool]) -> bool:
        """Write a member to a new file; tell whether ``go_on`` allowed it to be completed."""
        while self._ask("take", number=member.number, target=str(target), seconds=_SLICE_S)["more"]:
            if not go_on():
                return False
        return True

    def _ask(self, what: str, **order: Any) -> Mapping[str, Any]:
        try:
            reply = self._child.ask({"do": what, "limits": self._limits, **order}, _ORDER_S)
        except ChildLost as error:
            if error.reason == "crash":
                raise ParserFailed("The archive made what unpacks it crash.") from error
            raise ArchiveLimit("Unpacking the archive took more time or memory than it may.") from error
        if reply.get("errno") == _NO_SPACE:
            raise DiskFull("There is no room on the disk for what the archive holds.")
        if "error" in reply:
            raise error_of(reply["error"])
        return reply


@contextmanager
def opened(path: Path, kind: str, limits: ArchiveLimits, scratch: Path) -> Iterator[OpenArchive]:
    """Open an archive in a child process, which ends with the block."""
    child = Child("core.ingest.archives.worker", scratch)
    try:
        yield OpenArchive(child, path, kind, limits, scratch)
    finally:
        child.kill()
