"""Pages on demand: made once in a child process, kept on disk, those looked at least recently removed first.

What is kept is held against its checksum each time, and made anew where it is damaged.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import Cancelled, NotFound, ParserFailed, ParserLimit
from core.ingest.parsers import legacy
from core.ingest.sandbox import error_of
from core.model import Version
from core.model.codec import from_dict
from core.model.file_types import KIND_OF
from core.platform.child_pool import ChildPool
from core.platform.child_process import ChildLost
from core.platform.sealing import is_whole_file, seal_file
from core.ports import BlobStore
from core.versions.pages.layout_words import LayoutFindings

MOST_FOUND = 500
"""Pages that a search in a document finds."""
_PART = ".part"
_AT_ONCE = 2
_CONVERTED = frozenset({"word", "sheet", "slides"})
_PLAIN = frozenset({"csv", "tsv"})
"""Sheets that are text: nobody made pages of them."""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What making a page may cost."""

    seconds: float = 20.0
    convert_seconds: float = 120.0
    memory_bytes: int = 1536 * 1024 * 1024


def has_pages(extension: str) -> bool:
    """Whether a file of this type can be shown as pages on this machine."""
    kind = KIND_OF.get(extension)
    if kind in ("pdf", "image"):
        return True
    return kind in _CONVERTED and extension not in _PLAIN and legacy.converter() is not None


class KeptPages:
    """What was made of versions, a folder each, below one folder. Whoever asks for what is being made waits for it."""

    def __init__(
        self,
        folder: Path,
        blobs: BlobStore,
        kept_bytes: int,
        scratch: Path | None = None,
        *,
        limits: PageLimits = PageLimits(),
    ) -> None:
        """Keep pages below ``folder``, at most so many bytes of them."""
        self._folder = folder
        self._blobs = blobs
        self._limits = limits
        self._kept_bytes = kept_bytes
        self._lock = threading.Lock()
        self._making: dict[Path, threading.Lock] = {}
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._children = ChildPool("core.versions.pages.worker", scratch, max_idle=1, max_orders=500)

    def sizes(self, version: Version) -> Path:
        """Return the file with the sizes of a version's pages, as JSON."""
        return self._made(version, "sizes.json", {"task": "sizes"})

    def picture(self, version: Version, number: int, width: int) -> Path:
        """Return a page as a picture in the form of WebP."""
        return self._made(version, f"{number}-{width}.webp", {"task": "draw", "number": number, "width": width})

    def text(self, version: Version, number: int) -> Path:
        """Return the file with the runs of a page, as JSON."""
        return self._made(version, f"{number}.json", {"task": "text", "number": number})

    def find(self, version: Version, wanted: str, pages: int) -> list[int]:
        """Return the numbers of the pages that hold ``wanted``, in the time that one page may take."""
        order = {"task": "find", "wanted": wanted, "pages": pages, "most": MOST_FOUND, **self._source(version)}
        return list(self._asked(order, self._limits.seconds)["found"])

    def held_against(self, version: Version, parsed: Path) -> LayoutFindings:
        """Hold the words of all pages against those that were read of a version, at low priority."""
        source = self._source(version, is_low=True)
        original = {"original": str(self._blobs.path(version.sha256)), "extension": version.extension}
        order = {"task": "compare", "source": source["source"], "parsed": str(parsed), **original}
        found = self._asked(order, self._limits.convert_seconds)["found"]
        return from_dict(LayoutFindings, found)

    def forget(self, version_ids: Collection[int]) -> None:
        """Remove all that is kept of these versions."""
        for version_id in version_ids:
            shutil.rmtree(self._folder / str(version_id), ignore_errors=True)

    def close(self) -> None:
        """End the children; what is being made is dropped."""
        self._children.close()

    def _source(self, version: Version, *, is_low: bool = False) -> dict[str, Any]:
        """Return the file to draw and its type: the original, or what LibreOffice makes of it."""
        if not has_pages(version.extension):
            message = f"Version {version.number} of “{version.doc_key}” has no pages to show."
            raise NotFound(message, remedy="Read its text instead.")
        original = self._blobs.path(version.sha256)
        if KIND_OF[version.extension] not in _CONVERTED:
            return {"source": str(original), "extension": version.extension}
        order = {"task": "convert", "source": str(original), "extension": version.extension, "is_low": is_low}
        return {"source": str(self._kept(version, "document.pdf", order)), "extension": "pdf"}

    def _made(self, version: Version, name: str, order: Mapping[str, Any]) -> Path:
        path = self._folder / str(version.id) / name
        if is_whole_file(path):
            with contextlib.suppress(FileNotFoundError):
                os.utime(path.parent)
                return path
        return self._kept(version, name, {**order, **self._source(version)})

    def _kept(self, version: Version, name: str, order: Mapping[str, Any]) -> Path:
        """Return a file of a version, made by exactly one of those who ask at the same time."""
        path = self._folder / str(version.id) / name
        with self._lock:
            making = self._making.setdefault(path, threading.Lock())
        with making:
            if not is_whole_file(path):
                self._make(version.id, path, order)
        with self._lock:
            self._making.pop(path, None)
        return path

    def _make(self, version_id: int, path: Path, order: Mapping[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{secrets.token_hex(8)}{_PART}")
        try:
            seconds = self._limits.convert_seconds if order["task"] == "convert" else self._limits.seconds
            self._asked({**order, "target": str(part.absolute())}, seconds)
            seal_file(part, path.name)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        self._evict(keep=path.parent)

    def _asked(self, order: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        with self._places:
            try:
                reply = self._children.ask(
                    {**order, "seconds": seconds, "memory_bytes": self._limits.memory_bytes}, seconds + 5
                )
            except ChildLost as lost:
                if self._children.is_closed:
                    raise Cancelled("The knowledge base was closed meanwhile.") from lost
                if lost.reason == "crash":
                    raise ParserFailed("The page could not be drawn.") from lost
                raise ParserLimit("Drawing the page takes more time or memory than it may.") from lost
        if "error" in reply:
            raise error_of(reply["error"])
        return reply

    def _evict(self, keep: Path) -> None:
        with self._lock:
            sized = []
            for folder in self._folder.iterdir():
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    size = sum(file.stat().st_size for file in folder.iterdir())
                    sized.append((folder.stat().st_mtime, folder, size))
            total = sum(size for _, _, size in sized)
            for _, folder, size in sorted(sized, key=lambda entry: entry[0]):
                if total <= self._kept_bytes:
                    return
                if folder != keep:
                    shutil.rmtree(folder, ignore_errors=True)
                    total -= size
