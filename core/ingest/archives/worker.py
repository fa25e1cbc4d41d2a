"""The child process that unpacks: it works in slices of time, so that whoever waits can stop it between two."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import ArchiveLimit, EvoRAGError, ParserFailed, ParserLimit
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.members import plan
from core.ingest.archives.tars import TarReader
from core.ingest.archives.zips import ZipReader
from core.platform.sandboxed_child import limit, serve

_CPU_S = 60.0
_LISTING_BYTES = 64 * 1024 * 1024


class Unpacking:
    """One archive being unpacked, order by order."""

    def __init__(self) -> None:
        self._reader: ZipReader | TarReader | None = None
        self._limits = ArchiveLimits()
        self._survey: Iterator[int] = iter(())
        self._data: Iterator[bytes] = iter(())
        self._taken = -1

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out one order; ``more`` says that it is to be given again."""
        try:
            self._limits = ArchiveLimits(**order["limits"])
            limit(_CPU_S, self._limits.memory_bytes, max(self._limits.member_bytes, _LISTING_BYTES) + 1)
            return _DO[order["do"]](self, order)
        except EvoRAGError as error:
            return {"error": error.as_dict()}
        except MemoryError:
            return {"error": ArchiveLimit("Unpacking the archive needs more memory than it may use.").as_dict()}
        except OSError as error:
            kind = ParserLimit if error.errno == 27 else ParserFailed
            return {"error": kind("The archive could not be unpacked.").as_dict(), "errno": error.errno}
        except Exception as error:
            # Damaged archives make their libraries raise anything; the type alone holds no user text.
            return {"error": ParserFailed(f"The archive is damaged ({type(error).__name__}).").as_dict()}

    def open(self, order: dict[str, Any]) -> dict[str, Any]:
        path = Path(order["source"])
        if order["kind"] == "zip":
            self._reader = ZipReader(path, self._limits)
        else:
            self._reader = TarReader(path, order["kind"], self._limits)
        self._survey = self._reader.survey()
        return {}

    def survey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Read everything once; at the end the members are listed in the file ``target``."""
        assert self._reader is not None
        end = time.monotonic() + order["seconds"]
        for read in self._survey:
            if time.monotonic() >= end:
                return {"more": True, "bytes": read}
        with Path(order["target"]).open("w", encoding="utf-8", errors="replace") as file:
            for member in plan(self._reader.found, self._limits.member_bytes):
                file.write(json.dumps(asdict(member)) + "\n")
        return {"more": False}

    def take(self, order: dict[str, Any]) -> dict[str, Any]:
        """Write one file of the archive to ``target``."""
        assert self._reader is not None
        end = time.monotonic() + order["seconds"]
        if order["number"] != self._taken:
            self._taken = order["number"]
            self._data = self._reader.contents(self._taken)
        with Path(order["target"]).open("ab") as file:
            for data in self._data:
                file.write(data)
                if time.monotonic() >= end:
                    return {"more": True}
        return {"more": False}


_DO = {"open": Unpacking.open, "survey": Unpacking.survey, "take": Unpacking.take}

if __name__ == "__main__":
    unpacking = Unpacking()
    serve(lambda order, _: unpacking.answer(order))
