"""How much text a file holds, counted without its parser: between all tags, or as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.errors import EvoRAGError
from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.encoding import decoded, detect, sample

_MOST_BYTES = 512 * 1024 * 1024
_PARTS = {
    "docx": re.compile(r"word/[^/]+\.xml\Z"),
    "pptx": re.compile(r"ppt/(?:slides|notesSlides|charts|diagrams)/[^/]+\.xml\Z"),
    "odt": re.compile(r"(?:content|styles)\.xml\Z"),
    "odp": re.compile(r"(?:content|styles)\.xml\Z"),
    "epub": re.compile(r".*\.(?:x?html?)\Z"),
}
_TAGGED = frozenset({"html", "htm"})
_PLAIN = frozenset({"txt", "log", "md", "markdown", "csv", "tsv"})
_BETWEEN = re.compile(r">([^<]+)<")


def characters_in(path: Path, extension: str) -> int | None:
    """Return how long the text of a file is, rather too much; None where it is not to be had like this."""
    try:
        if pattern := _PARTS.get(extension):
            with SafeArchive(path, _MOST_BYTES) as archive:
                names = [name for name in archive.names() if pattern.match(name)]
                return sum(_tagged(_texts(archive.stream(name))) for name in names)
        if extension in _TAGGED:
            return _tagged(decoded(path, detect(sample(path))))
        if extension in _PLAIN:
            return sum(map(_length, decoded(path, detect(sample(path)))))
    except EvoRAGError:
        pass
    return None


def _texts(parts: Iterable[bytes]) -> Iterator[str]:
    for part in parts:
        yield part.decode("utf-8", "replace")


def _tagged(texts: Iterable[str]) -> int:
    """Count part by part; one sign is held between two, for a long text would be copied with each."""
    count, held = 0, ""
    for text in texts:
        held += text
        cut = held.rfind("<")
        count += sum(map(_length, _BETWEEN.findall(held[: cut + 1])))
        _, closing, said = held[max(cut, 0) :].partition(">")
        count += _length(said)
        held = closing or ("<" if cut >= 0 else "")
    return count


def _length(text: str) -> int:
    return len(" ".join(text.split()))
