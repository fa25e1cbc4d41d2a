"""The file between parsing and chunking: one JSON object a block, one block a line, plain or compressed.

Behind the blocks stand the lines that were recognised in pictures, with their places, a page a line.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from core.errors import ParserLimit
from core.model import Block, BlockKind, Locator
from core.model.recognition import RecognisedLine

_GZIP = b"\x1f\x8b"
_READ_BYTES = 256 * 1024
_INFLATED_BYTES = 1024 * 1024
_PLACES = tuple(field.name for field in dataclass_fields(Locator))
_NOWHERE = Locator()
_KINDS = {kind.value: kind for kind in BlockKind}
_FINE = 10_000
"""Places of lines are kept in whole steps of so many to a page's width or height."""

Part = tuple[str, BlockKind, int, Locator, str]
"""A block's text, kind, level, locator and header."""

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def line_of(block: Block) -> bytes:
    """Return a block as one line of JSON; what is empty is left out."""
    fields: dict[str, Any] = {"t": block.text, "k": block.kind.value}
    if block.level:
        fields["l"] = block.level
    if block.header:
        fields["h"] = block.header
    if block.is_headless:
        fields["n"] = 1
    if block.locator is not _NOWHERE and block.locator != _NOWHERE:
        found = ((name, getattr(block.locator, name)) for name in _PLACES)
        fields["loc"] = {name: value for name, value in found if value is not None and value != ()}
    return _encoded(fields).encode("utf-8", "replace") + b"\n"


def write_blocks(blocks: Iterable[Block], file: BinaryIO, limit_bytes: int) -> tuple[int, int]:
    """Write blocks as lines and return how many they were and how many characters they hold.

    Raises: ``ParserLimit`` when the lines together would exceed ``limit_bytes``.
    """
    count = characters = written = 0
    for block in blocks:
        line = line_of(block)
        written += len(line)
        if written > limit_bytes:
            raise ParserLimit(f"The document yields more than {limit_bytes:,} bytes of text.")
        file.write(line)
        count += 1
        characters += len(block.text)
    return count, characters


def write_places(places: Mapping[int, Sequence[RecognisedLine]], file: BinaryIO) -> None:
    """Write where lines of pages stand that were recognised in pictures, behind the blocks."""
    for page, lines in sorted(places.items()):
        placed = [[line.text, *(round(_FINE * side) for side in line.box)] for line in lines]
        file.write(_encoded({"page": page, "lines": placed}).encode("utf-8", "replace") + b"\n")


def read_places(path: Path) -> tuple[dict[int, list[RecognisedLine]], dict[int, list[str]]]:
    """Return the lines that were recognised on pages, and the texts of the blocks that stand there, in their order.

    Files that an earlier EvoRAG has written hold no places.
    """
    lines: dict[int, list[RecognisedLine]] = {}
    texts: dict[int, list[str]] = {}
    for fields in _lines_of(path):
        if "t" not in fields:
            lines[fields["page"]] = [
                RecognisedLine(text, (left / _FINE, top / _FINE, right / _FINE, bottom / _FINE), 1.0)
                for text, left, top, right, bottom in fields["lines"]
            ]
        elif "confidence" in (place := fields.get("loc") or {}) and "page" in place:
            for page in range(place["page"], place.get("page_end", place["page"]) + 1):
                texts.setdefault(page, []).append(fields["t"])
    return lines, texts


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file that ``write_blocks`` wrote, also when it was compressed with gzip since."""
    for fields, locator in _read(path):
        kind, level, header = _KINDS[fields["k"]], fields.get("l", 0), fields.get("h", "")
        yield Block(fields["t"], kind, locator, level, header, "n" in fields)


def read_parts(path: Path) -> Iterator[Part]:
    """Yield what a comparison needs of the blocks as bare fields; neighbours at one place share their locator."""
    for fields, locator in _read(path):
        yield fields["t"], _KINDS[fields["k"]], fields.get("l", 0), locator, fields.get("h", "")


def unpacked_bytes(path: Path) -> int:
    """Return the size of such a file before it was compressed, as its end tells; modulo 4 GiB."""
    with path.open("rb") as file:
        if file.read(2) != _GZIP:
            return path.stat().st_size
        file.seek(-4, os.SEEK_END)
        return int.from_bytes(file.read(4), "little")


def _read(path: Path) -> Iterator[tuple[dict[str, Any], Locator]]:
    raw: dict[str, Any] | None = {}
    locator = _NOWHERE
    for fields in _lines_of(path):
        if "t" not in fields:
            continue
        if fields.get("loc") != raw:
            raw = fields.get("loc")
            locator = _locator_of(raw) if raw else _NOWHERE
        yield fields, locator


def _lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
        file.seek(0)
        for line in _inflated_lines(file) if compressed else file:
            yield orjson.loads(line)


def _inflated_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a compressed file, as ``gzip`` does in twice the time."""
    inflater = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    rest = b""
    while not inflater.eof:
        packed = inflater.unconsumed_tail or file.read(_READ_BYTES)
        if not packed:
            raise EOFError("The compressed file is cut off.")
        *lines, rest = (rest + inflater.decompress(packed, _INFLATED_BYTES)).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _locator_of(fields: dict[str, Any]) -> Locator:
    place = dict(fields)
    if "heading_path" in place:
        place["heading_path"] = tuple(place["heading_path"])
    return Locator(**place)
