"""Files that are set into a document: other documents, and what the programs of before 2007 wrapped into objects.

What can be read stands where the object does; what cannot is named, and counted as lost.
"""

from __future__ import annotations

import io
import struct
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import Any

import olefile  # type: ignore[import-untyped]

from core.errors import EvoRAGError
from core.ingest.parsers.compound_file import MOST_BYTES, compound_file
from core.ingest.parsers.embedded import size_of
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.wording import one_line
from core.model import Block, BlockKind, Locator

MOST_OBJECTS = 200
"""Objects of one document that are read."""
DEEPEST = 3
"""Documents within documents that are read."""
_HEAD_BYTES = 65_536
_LONGEST_NAME = 260
_NATIVE, _SUMMARY = "\x01Ole10Native", "\x01CompObj"
_PACKED = ("Package", "EmbeddedOdf", "package_stream", "CONTENTS")
"""Streams that hold a file as it is: of Office since 2007, of LibreOffice, of the reader of PDFs."""
_WHOLE = {"WordDocument": "doc", "Workbook": "xls", "Book": "xls", "PowerPoint Document": "ppt"}
_SHEETS = ("Workbook", "Book")
_IN_FILES = {"WordDocument": "doc", "PowerPoint Document": "ppt"}
"""Streams of documents that are read as files alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file within a document; ``extension`` is empty where its name and content tell what it is."""

    name: str
    """Its own where ``is_named``, else what stands for it where it cannot be read."""
    data: bytes
    extension: str = ""
    is_named: bool = False


def unwrapped(data: bytes, name: str) -> Found:
    """Return the file that a part of a document holds, out of the compound file that may wrap it."""
    if not data.startswith(olefile.MAGIC) or len(data) < olefile.MINIMAL_OLEFILE_SIZE:
        return Found(name, data)
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as compound:
            whole = next((kind for stream, kind in _WHOLE.items() if compound.exists(stream)), "")
            return Found(name, data, whole) if whole else within_storage(compound, (), name)
    except (OSError, ValueError, IndexError, TypeError):
        return Found(name, b"")


def within_storage(compound: Any, path: tuple[str, ...], name: str) -> Found:
    """Return the file that a storage of a compound file holds; one without data where that cannot be told."""

    def stream(called: str) -> bytes:
        place = [*path, called]
        return bytes(compound.openstream(place).read()) if compound.exists(place) else b""

    for called in _PACKED:
        if content := stream(called):
            return Found(name, content)
    for called in _SHEETS:
        # Sheets can be read without the container that other documents need.
        if content := stream(called):
            return Found(name, content, "xls")
    for called, kind in _IN_FILES.items():
        if compound.exists([*path, called]):
            own = [each for each in compound.listdir() if each[:-1] == list(path)]
            total = sum(compound.get_size(each) for each in own)
            whole = {each[-1]: stream(each[-1]) for each in own} if total <= MOST_BYTES else {}
            return Found(_program(stream(_SUMMARY)) or name, compound_file(whole) if whole else b"", kind)
    if native := stream(_NATIVE):
        return _native(native) or Found(name, b"")
    return Found(_program(stream(_SUMMARY)) or name, b"")


def _native(stream: bytes) -> Found | None:
    """Read a file that was dropped into a document ([MS-OLEDS] 2.3.6, and what the packager writes in it)."""
    with suppress(ValueError, struct.error, IndexError):
        at = 6
        end = stream.index(b"\0", at)
        label, at = stream[at:end], end + 1
        at = stream.index(b"\0", at) + 1 + 4
        length = struct.unpack_from("<I", stream, at)[0]
        at += 4 + length
        size = struct.unpack_from("<I", stream, at)[0]
        content = stream[at + 4 : at + 4 + size]
        if content and len(content) == size:
            return Found(_text(label), content, is_named=True)
    return None


def _program(summary: bytes) -> str:
    """Return what the program that made an object calls it ([MS-OLEDS] 2.3.8)."""
    with suppress(struct.error):
        length = struct.unpack_from("<I", summary, 28)[0]
        return _text(summary[32 : 32 + min(length, _LONGEST_NAME)].rstrip(b"\0"))
    return ""


def _text(raw: bytes) -> str:
    for encoding in ("utf-8", "cp932", "cp1252"):
        with suppress(UnicodeDecodeError):
            return one_line(PureWindowsPath(raw.decode(encoding)).name)[:_LONGEST_NAME]
    return ""


def object_blocks(found: Found, reading: ParserInput, place: Locator) -> Generator[Block, None, bool]:
    """Yield what a file within the document says, and return whether that was anything.

    One that cannot be read is named and counted as lost.
    """
    if found.is_named and found.name:
        yield Block(f"[{found.name}]", locator=place)
        place = replace(place, heading_path=(*place.heading_path, found.name))
    if size_of(found.data) is not None:
        yield from reading.within_picture(lambda: found.data, place)
        return True
    says_something = is_whole = False
    if found.data and reading.within < DEEPEST and reading.objects < MOST_OBJECTS:
        reading.objects += 1
        with tempfile.TemporaryDirectory(prefix="evorag-object-") as folder:
            path = Path(folder) / "object"
            path.write_bytes(found.data)
            inner = ParserInput(path, "", reading.limits, within=reading.within + 1, embedded=reading.embedded)
            with suppress(EvoRAGError):
                inner.extension = found.extension or _kind(found, path)
                for block in _read(inner):
                    says_something = True
                    yield _placed(block, place)
                is_whole = says_something and "in_part" not in inner.metadata
    if not is_whole:
        reading.miss_at(Loss.OBJECT, place)
    if not says_something and found.name and not found.is_named:
        yield Block(f"[{found.name}]", locator=place)
    return says_something


def _read(inner: ParserInput) -> Iterator[Block]:
    from core.ingest.parsers import parse

    yield from parse(inner)


def _kind(found: Found, path: Path) -> str:
    from core.ingest.validate import check_type

    head = found.data[:_HEAD_BYTES]
    if found.is_named:
        with suppress(EvoRAGError):
            return check_type(found.name, head, path)
    return check_type("object", head, path)


def _placed(block: Block, place: Locator) -> Block:
    """Return a block at the place of its object; what stands around that goes on below, so that it opens no heading."""
    path = (*place.heading_path, *block.locator.heading_path)
    at = replace(place, heading_path=path, confidence=block.locator.confidence)
    kind = BlockKind.PARAGRAPH if block.kind is BlockKind.HEADING else block.kind
    return replace(block, kind=kind, level=0, locator=at)


def read_object(
    data: Callable[[], bytes], name: str, reading: ParserInput, place: Locator
) -> Generator[Block, None, bool]:
    """Yield what the part of a document says that ``data`` reads, as ``object_blocks`` does."""
    try:
        found = unwrapped(data(), name)
    except EvoRAGError:
        found = Found(name, b"")
    return (yield from object_blocks(found, reading, place))
