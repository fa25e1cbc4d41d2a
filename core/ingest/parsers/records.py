"""Structured data: JSON, one or many of it a file, and XML; values under the names that lead to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html.entities import name2codepoint
from itertools import groupby
from pathlib import Path
from typing import Any

from core.errors import ArchiveLimit, ParserFailed, XmlForbidden
from core.ingest.parsers import docbook, source
from core.ingest.parsers.html import bare_text
from core.ingest.parsers.ooxml import local
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import MEBIBYTE, ParserInput
from core.ingest.parsers.tables import RowGroups, row_text
from core.ingest.parsers.text import lines
from core.ingest.parsers.wording import MAX_BLOCK_CHARS, clean, one_line, pieces
from core.ingest.parsers.xml import Element, tree
from core.model import Block, BlockKind

MOST_BYTES = 64 * MEBIBYTE
"""Longer files are read as lines: their tree would take many times their size."""
_LEAST_ROWS, _MOST_COLUMNS, _LONGEST_CELL, _LONGEST_GROUP = 2, 60, 400, 1600
_DEEPEST_HEADING = 4
_TITLES = frozenset({"title", "head", "heading", "headline", "caption"})
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([A-Za-z0-9_.\-]{2,30})")

_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[<>]{0,2000}(?:\[[^\]]{0,65536}\]\s{0,100})?>")
"""Left out before the rest is read: nothing that it declares is looked at, and an entity of its own is damage."""

_TEXT_OF_ITS_OWN = re.compile(rb"<!ENTITY\s+([\w.\-]{1,40})\s+[\"']([^\"']{1,80})[\"']\s*>")
_NAME = re.compile(rb"<!DOCTYPE\s+([\w.\-]+)")
_ENTITY = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&([A-Za-z][\w.\-]{0,39});", re.DOTALL)
"""A name of a text, or a stretch that holds none: ``&value;`` in it is part of a program."""
_IN_FILES = re.compile(rb"<!ENTITY\s+[\w.\-]{1,40}\s+(?:SYSTEM|PUBLIC)\s|<xi:include\s")
_OF_XML = (b"amp", b"lt", b"gt", b"quot", b"apos")
Line = tuple[str, str]
"""The name of a value and what it is, as text."""


def parse_json(reading: ParserInput) -> Iterator[Block]:
    """Yield the values of a JSON file; one that is no JSON, or very long, by its lines. Raises: ``Undecodable``."""
    reading.note(parser="json")
    if reading.path.stat().st_size > MOST_BYTES:
        yield from source.parse_log(reading)
        return
    text = "".join(lines(reading)).strip()
    try:
        value = _loaded(text)
    except ValueError:
        # Several values in one file, or a dialect with remarks.
        yield from (source.parse if text.startswith(("{", "[", "/")) and not _is_lines(text) else parse_jsonl)(reading)
        return
    yield from _Values(Outline()).blocks(value, 1)


def parse_jsonl(reading: ParserInput) -> Iterator[Block]:
    """Yield the records of a file with one JSON value a line; a line that is none as it stands."""
    reading.note(parser="jsonl")
    values = _Values(Outline())

    def of(line: str) -> Any:
        try:
            return _loaded(line)
        except ValueError:
            return one_line(line)

    yield from values.rows(of(line) for line in lines(reading) if not line.isspace())


def _is_lines(text: str) -> bool:
    first, _, rest = text.partition("\n")
    try:
        _loaded(first)
    except ValueError:
        return False
    return bool(rest)


def _loaded(text: str) -> Any:
    """Return a JSON value whose numbers are texts, as they are written."""
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else clean(str(value))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and 1 < len(value) <= _MOST_COLUMNS
        and all(_is_scalar(each) and len(_scalar(each)) <= _LONGEST_CELL for each in value.values())
    )


class _Values:
    """Values of JSON as blocks: objects as named lines, lists of like objects as tables, the rest below headings."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline

    def blocks(self, value: Any, level: int) -> Iterator[Block]:
        if isinstance(value, list):
            if len(value) >= _LEAST_ROWS and all(map(_is_row, value[:50])):
                yield from self.rows(value)
                return
            plain = [_scalar(each) for each in value if _is_scalar(each)]
            yield from _listed(self._outline, [("", each) for each in plain])
            for each in value:
                if not _is_scalar(each):
                    yield from self.blocks(each, level)
        elif isinstance(value, Mapping):
            yield from self._object(value, level)
        else:
            yield from self._text(_scalar(value))

    def _object(self, value: Mapping[str, Any], level: int) -> Iterator[Block]:
        named = list(_lines_of(value, deep=level > _DEEPEST_HEADING))
        yield from _listed(self._outline, named)
        if level > _DEEPEST_HEADING:
            return
        for name, each in value.items():
            if not _is_scalar(each) and each:
                yield self._outline.heading(str(name), level)
                yield from self.blocks(each, level + 1)

    def _text(self, text: str) -> Iterator[Block]:
        for piece in pieces(text):
            yield self._outline.block(piece)

    def rows(self, values: Iterator[Any] | Sequence[Any]) -> Iterator[Block]:
        """Yield records one by one: rows of a table while they have the same names, else lines with names."""
        names: tuple[str, ...] = ()
        groups: RowGroups | None = None
        for value in values:
            if groups is not None and not (_is_row(value) and set(value) <= set(names)):
                yield from groups.flush()
                groups = None
            if _is_row(value):
                if groups is None:
                    names = tuple(value)
                    header = row_text(map(str, names))
                    groups = RowGroups(lambda _first, _last: self._outline.locator(), header)
                    yield from groups.add(header)
                line = row_text(_scalar(value.get(name)) for name in names)
                if line:
                    yield from groups.add(line)
            elif isinstance(value, Mapping):
                yield from _listed(self._outline, list(_lines_of(value, deep=True)))
            else:
                yield from self.blocks(value, _DEEPEST_HEADING + 1)
        if groups is not None:
            yield from groups.flush()


def _lines_of(value: Mapping[str, Any], *, deep: bool, before: str = "") -> Iterator[Line]:
    for name, each in value.items():
        path = f"{before}{one_line(str(name))}"
        if _is_scalar(each):
            yield path, _scalar(each)
        elif deep and isinstance(each, Mapping):
            yield from _lines_of(each, deep=True, before=f"{path}.")
        elif deep:
            plain = [_scalar(part) for part in each if _is_scalar(part)]
            if plain:
                yield path, ", ".join(plain)
            for number, part in enumerate(each, 1):
                if not _is_scalar(part):
                    inner = part if isinstance(part, Mapping) else {str(at): each for at, each in enumerate(part, 1)}
                    yield from _lines_of(inner, deep=True, before=f"{path}.{number}.")


def _listed(outline: Outline, named: Sequence[Line]) -> Iterator[Block]:
    """Yield named values as lines of a list, a few together; a long value is a paragraph behind its name."""
    held: list[str] = []
    length = 0
    for name, text in named:
        if not text.strip():
            continue
        # A question that names its answer stands above it.
        joint = "\n" if name.endswith(("?", "？")) else ": "
        line = f"{name}{joint}{text.strip()}" if name else text.strip()
        if "\n" in line or len(line) > _LONGEST_CELL or length + len(line) > _LONGEST_GROUP:
            if held:
                yield outline.block("\n".join(held), BlockKind.LIST)
            held, length = [], 0
        if "\n" in line or len(line) > _LONGEST_CELL:
            for piece in pieces(line, MAX_BLOCK_CHARS):
                yield outline.block(piece)
        else:
            held.append(line)
            length += len(line)
    if held:
        yield outline.block("\n".join(held), BlockKind.LIST)


def parse_xml(reading: ParserInput) -> Iterator[Block]:
    """Yield the text of an XML file by its elements; of one that is damaged or too deep, its bare text."""
    reading.note(parser="xml")
    if reading.path.stat().st_size <= MOST_BYTES:
        try:
            data = reading.path.read_bytes()
            root = tree(_without_doctype(data))
        except (XmlForbidden, ParserFailed, ArchiveLimit):
            pass
        else:
            if docbook.is_docbook(root):
                if _IN_FILES.search(data):
                    reading.warn("Parts of the document stand in other files: these were not read.")
                yield from docbook.blocks(root, reading)
                return
            yield from _Elements(reading).blocks(root, 1)
            return
    for paragraph in bare_text(_decoded(reading)).split("\n"):
        if text := one_line(paragraph):
            for piece in pieces(text):
                yield Block(piece)


def _without_doctype(data: bytes) -> bytes:
    """Return a document without its type; short texts that one of DocBook names are put where it names them."""
    doctype = _DOCTYPE.search(data)
    if doctype is None:
        return data
    rest = data[: doctype.start()] + data[doctype.end() :]
    root = _NAME.match(doctype[0])
    if root is None or root[1].decode("ascii", "replace") not in docbook.ROOTS:
        return rest
    named = {name: text for name, text in _TEXT_OF_ITS_OWN.findall(doctype[0]) if not set(text) & set(b"&<%")}

    def told(match: re.Match[bytes]) -> bytes:
        name: bytes | None = match[1]
        if name is None:
            return match[0]
        sign = name2codepoint.get(name.decode("ascii", "replace"))
        if name in _OF_XML:
            return b"&" + name + b";"
        return named.get(name, name) if sign is None or name in named else b"&#%d;" % sign

    return _ENTITY.sub(told, rest)


def _decoded(reading: ParserInput) -> str:
    """Return the text of a file in the encoding that it declares, else in the one that it seems to be in."""
    declared = _declared_encoding(reading.path)
    if declared:
        try:
            return reading.path.read_bytes().decode(declared)
        except (LookupError, ValueError):
            reading.warn("The file names an encoding that it is not in.")
    return "".join(lines(reading))


def _declared_encoding(path: Path) -> str:
    with path.open("rb") as file:
        found = _DECLARED.search(file.read(300))
    return found[1].decode("ascii") if found else ""


class _Elements:
    """Elements as blocks: what mixes text with elements is a paragraph, like elements are rows, titles are headings."""

    def __init__(self, reading: ParserInput) -> None:
        self._outline = Outline()
        self._reading = reading

    def blocks(self, element: Element, level: int) -> Iterator[Block]:
        if _is_mixed(element):
            yield from _listed(self._outline, [("", " ".join("".join(element.itertext()).split()))])
            return
        named: list[Line] = _attributes(element)
        children = [child for child in element if isinstance(child.tag, str)]
        for _, alike in groupby(children, lambda child: child.tag):
            run = list(alike)
            if _are_rows(run):
                yield from self._named(named)
                yield from self._table(run)
                continue
            for child in run:
                text = _leaf_text(child)
                if text is None:
                    yield from self._named(named)
                    yield from self.blocks(child, level + 1)
                elif text and local(child).lower() in _TITLES and not _attributes(child):
                    yield from self._named(named)
                    yield self._title(text, level)
                else:
                    named.extend(_leaf(child, text, is_one_of_many=len(run) > 1 and len(run) == len(children)))
        yield from self._named(named)
        if not children and element.text:
            yield from _listed(self._outline, [("", " ".join(element.text.split()))])

    def _named(self, named: list[Line]) -> Iterator[Block]:
        """Yield what has been named so far, and forget it."""
        yield from _listed(self._outline, named)
        named.clear()

    def _title(self, text: str, level: int) -> Block:
        if level <= 2:
            self._reading.metadata.setdefault("title", one_line(text)[:300])
        return self._outline.heading(text, min(level, 6))

    def _table(self, rows: Sequence[Element]) -> Iterator[Block]:
        names: dict[str, None] = {}
        for row in rows:
            names.update(dict.fromkeys(_cells(row)))
        header = row_text(names)
        groups = RowGroups(lambda _first, _last: self._outline.locator(), header)
        yield from groups.add(header)
        for row in rows:
            cells = _cells(row)
            if line := row_text(cells.get(name, "") for name in names):
                yield from groups.add(line)
        yield from groups.flush()


def _is_mixed(element: Element) -> bool:
    if not len(element):
        return False
    return bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)


def _leaf_text(element: Element) -> str | None:
    """Return the text of an element that has no others, None of one that has."""
    return None if len(element) else " ".join((element.text or "").split())


def _leaf(element: Element, text: str, *, is_one_of_many: bool) -> Iterator[Line]:
    """Yield what an element without others says: its attributes, and its text, named unless long or in a list."""
    name = local(element)
    for key, value in _attributes(element):
        yield (f"{name}.{key}" if text else f"{name} {key}", value)
    yield ("" if is_one_of_many or len(text) > _LONGEST_CELL else name, text)


def _attributes(element: Element) -> list[Line]:
    return [(name.rpartition("}")[2], value) for name, value in element.items() if value and not name.startswith("{")]


def _cells(row: Element) -> dict[str, str]:
    cells = dict(_attributes(row))
    for child in row:
        text = _leaf_text(child) or ""
        cells[local(child)] = f"{cells[local(child)]}, {text}" if cells.get(local(child)) else text
    return cells


def _are_rows(children: Sequence[Element]) -> bool:
    """Whether elements say the same few things of several: at least two columns, nothing long, nothing nested."""
    if len(children) < _LEAST_ROWS or len({child.tag for child in children}) > 1:
        return False
    columns: set[str] = set()
    for child in children:
        if _is_mixed(child) or any(len(inner) or len(inner.attrib) for inner in child):
            return False
        cells = _cells(child)
        if any(len(text) > _LONGEST_CELL for text in cells.values()) or (child.text or "").strip():
            return False
        columns.update(cells)
    return 2 <= len(columns) <= _MOST_COLUMNS
