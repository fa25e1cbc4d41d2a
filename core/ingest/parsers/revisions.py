"""Whether an office document holds words that somebody has deleted and nobody has taken out yet."""

from __future__ import annotations

from pathlib import Path

from core.errors import EvoRAGError
from core.ingest.parsers.archive import SafeArchive

_MOST_BYTES = 512 * 1024 * 1024
_MARKS = {
    "docx": ("word/document.xml", (b"<w:del ", b"<w:moveFrom ")),
    "odt": ("content.xml", (b"<text:tracked-changes",)),
}
_LONGEST_MARK = 32


def shows_deletions(path: Path, extension: str) -> bool:
    """Tell whether a document shows deleted words where its changes are shown."""
    if extension == "rtf":
        return b"\\deleted" in path.read_bytes()
    part, marks = _MARKS.get(extension, ("", ()))
    tail = b""
    try:
        with SafeArchive(path, _MOST_BYTES) as archive:
            for data in archive.stream(part) if part and part in archive else ():
                if any(mark in tail + data for mark in marks):
                    return True
                tail = data[-_LONGEST_MARK:]
    except EvoRAGError:
        return False
    return False
