"""Word documents (docx): headings, paragraphs with their numbers, lists, tables, text boxes and notes, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.errors import EvoRAGError
from core.ingest.parsers.links import name_in_paragraph, without
from core.ingest.parsers.numbering import Numbering
from core.ingest.parsers.ooxml import Package, attribute, local
from core.ingest.parsers.ooxml_extras import (
    chart_blocks,
    charts_shown,
    description,
    diagram_blocks,
    diagrams_shown,
    remarks,
)
from core.ingest.parsers.ooxml_objects import PackageObjects
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.tables import RowGroups, join_items, row_text
from core.ingest.parsers.word_styles import Styles
from core.ingest.parsers.xml import Element, events, forget, tree
from core.model import Block, BlockKind
from core.text.contents import as_entry

_SKIPPED = frozenset({"del", "moveFrom", "rt", "Fallback", "instrText", "delText", "pPr", "rPr", "sectPr"})
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
LIST_LINES = 40
CODE_LINES = 2_000


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a docx file in their order. Raises: ``UnreadableDocument`` and its kinds."""
    reading.note(parser="docx")
    with Package(reading.path, 2 * reading.limits.output_bytes) as package:
        package.note_properties(reading)
        yield from _Document(package, reading).blocks()


@dataclass(slots=True)
class _Document:
    package: Package
    reading: ParserInput
    outline: Outline = field(default_factory=Outline)
    items: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    """The lines of a listing, whose paragraphs follow each other; either these or items of a list are open."""
    notes_due: list[str] = field(default_factory=list)
    main: str = ""
    styles: Styles = field(default_factory=Styles)
    numbering: Numbering = field(default_factory=Numbering)
    notes: dict[tuple[str, str], str] = field(default_factory=dict)
    boxes_due: list[str] = field(default_factory=list)
    pictures_due: list[Block] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    """The addresses of the part that is being read."""
    named: list[str] = field(default_factory=list)
    """What was written for links into the text that was read last."""
    charts: set[str] = field(default_factory=set)
    """Those that were told where they stand, as are ``diagrams``."""
    diagrams: set[str] = field(default_factory=set)
    objects: PackageObjects = field(init=False)

    def __post_init__(self) -> None:
        self.objects = PackageObjects(self.package, self.reading)

    def blocks(self) -> Iterator[Block]:
        self.main = self.package.main_part()
        for name in self.package.related(self.main, "styles"):
            self.styles = Styles.of(tree(self.package.read(name)))
        for name in self.package.related(self.main, "numbering"):
            self.numbering = Numbering.of(tree(self.package.read(name)))
        for kind in ("footnotes", "endnotes"):
            self._read_notes(kind)
        self._read_remarks()
        self._enter(self.main)
        yield from self._body()
        yield from self._flush_list()
        yield from self.objects.rest_of(self.main, self.outline.locator())
        yield from chart_blocks(self.package, self.main, self.outline, self.reading, self.charts)
        yield from diagram_blocks(self.package, self.main, self.outline, self.reading, self.diagrams)
        yield from self._heads_and_feet()

    def _enter(self, part: str) -> None:
        """Know the links of a part from here on; damaged ones lead nowhere."""
        try:
            self.links = self.package.links(part)
        except EvoRAGError:
            self.links = {}

    def _read_remarks(self) -> None:
        try:
            for remark in remarks(self.package, self.main):
                self.notes["comment", remark.place] = str(remark)
        except EvoRAGError:
            self.reading.miss(Loss.REMARKS)

    def _heads_and_feet(self) -> Iterator[Block]:
        """Yield what the pages repeat at top and bottom, once."""
        said: dict[str, None] = {}
        for kind in ("header", "footer"):
            for name in self.package.related(self.main, kind):
                self._enter(name)
                try:
                    for paragraph in tree(self.package.read(name)).iter("{*}p"):
                        said[" ".join(self.text(paragraph).split())] = None
                except EvoRAGError:
                    self.reading.miss(Loss.NOTES)
        for text in (*said, *self.boxes_due):
            if sum(map(str.isalpha, text)) > 2:
                yield Outline().block(text)
        self.boxes_due = []

    def _read_notes(self, kind: str) -> None:
        try:
            for name in self.package.related(self.main, kind):
                self._enter(name)
                for _, note in events(self.package.stream(name), (f"{{*}}{kind[:-1]}",)):
                    if note.get("type") is None and attribute(note, "type") is None:
                        text = " ".join(filter(None, (self.text(p) for p in note.iter("{*}p"))))
                        self.notes[kind[:-1], attribute(note, "id") or ""] = text
                    forget(note)
        except EvoRAGError:
            self.reading.miss(Loss.NOTES)

    def _body(self) -> Iterator[Block]:
        tables: list[_Table] = []
        boxes = 0
        parts = self.reading.counted(self.package.stream(self.main), self.package.stated_bytes(self.main))
        stream = events(parts, ("{*}p", "{*}tbl", "{*}tr", "{*}txbxContent"), ("start", "end"))
        for kind, element in stream:
            name = local(element)
            if name == "txbxContent":
                boxes += 1 if kind == "start" else -1
            elif boxes:
                continue
            elif name == "tbl" and kind == "start":
                if not tables:
                    yield from self._flush_list()
                tables.append(_Table(self))
            elif name == "tbl":
                table = tables.pop()
                if not tables:
                    yield from table.finish()
                    yield from self._flush_notes()
                    yield from self._flush_pictures()
                    forget(element)
            elif name == "tr" and kind == "end" and len(tables) == 1:
                yield from tables[0].row(element)
                self.pictures_due += self._pictures(element)
                forget(element)
            elif name == "p" and kind == "end" and not tables:
                yield from self._paragraph(element)
                forget(element)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        shown = self.text(element)
        text = shown.strip()
        style = self.styles.of_paragraph(element)
        label = ""
        if style.list_id and (text or style.heading):
            label = self.numbering.label(style.list_id, style.list_level)
        is_other = style.heading or (not style.is_code and (label or style.is_list or style.is_contents))
        is_code = bool(text or self.code) and not is_other and self.styles.is_code(element, text, style)
        if self.code and not is_code:
            yield from self._flush_list()
        if is_code:
            if text and self.items:
                yield from self._flush_list()
            if text or self.code:
                self.code.append(shown.rstrip())
            if len(self.code) >= CODE_LINES:
                yield from self._flush_list()
        elif text:
            if style.heading and not style.is_contents:
                yield from self._flush_list()
                heading = f"{label} {text}".strip() if label != "•" else text
                plain = without(heading, self.named)
                yield self.outline.heading(plain, style.heading)
                if plain != heading:
                    yield self.outline.block(heading)
            elif label or style.is_list or style.is_contents:
                is_entry = style.is_contents
                self.items.append(as_entry(text) if is_entry else "  " * style.list_level + f"{label or '•'} {text}")
                if len(self.items) >= LIST_LINES:
                    yield from self._flush_list()
            else:
                yield from self._flush_list()
                yield self.outline.block(text)
                if style.is_title:
                    self.reading.metadata.setdefault("title", " ".join(text.split())[:300])
        yield from self._flush_notes()
        if pictures := self._pictures(element):
            yield from self._flush_list()
            self.pictures_due += pictures
            yield from self._flush_pictures()

    def _pictures(self, element: Element) -> list[Block]:
        """Return what objects, charts, diagrams and recognised pictures say that a part of the document shows."""
        place = self.outline.locator()
        said = list(self.objects.shown_by([element], self.main, place))
        said += charts_shown(self.package, self.main, element, self.outline, self.reading, self.charts)
        said += diagrams_shown(self.package, self.main, element, self.outline, self.reading, self.diagrams)
        repeated = self.objects.pictured([element], self.main)
        return said + list(self.package.pictures([element], self.main, self.reading, place, repeated))

    def _flush_pictures(self) -> Iterator[Block]:
        yield from self.pictures_due
        self.pictures_due = []

    def _flush_list(self) -> Iterator[Block]:
        """Yield the list or the listing that is open."""
        if self.items:
            yield self.outline.block("\n".join(self.items), BlockKind.LIST)
            self.items = []
        if self.code:
            yield self.outline.block("\n".join(self.code), BlockKind.CODE)
            self.code = []

    def _flush_notes(self) -> Iterator[Block]:
        if self.boxes_due or self.notes_due:
            yield from self._flush_list()
            for text in (*self.boxes_due, *self.notes_due):
                yield self.outline.block(text)
            self.boxes_due, self.notes_due = [], []

    def text(self, paragraph: Element) -> str:
        """The text of a paragraph as shown: without deletions, furigana, field codes and hidden runs."""
        parts: list[str] = []
        named = name_in_paragraph(paragraph, self.links)
        stack: list[Element] = [*reversed(paragraph)]
        while stack:
            element = stack.pop()
            name = local(element)
            if name == "t":
                parts.append(element.text or "")
            elif name in _SIGNS:
                parts.append(_SIGNS[name])
            elif name in _SKIPPED:
                continue
            elif name == "txbxContent":
                self.boxes_due.append("\n".join(filter(None, (self.text(p) for p in element.iterchildren("{*}p")))))
            elif name == "docPr":
                if told := description(element):
                    self.boxes_due.append(f"[{told}]")
            elif name == "commentReference":
                if told := self.notes.pop(("comment", attribute(element, "id") or ""), ""):
                    self.notes_due.append(told)
            elif name in ("footnoteReference", "endnoteReference"):
                parts.append(self._note_mark(name.removesuffix("Reference"), attribute(element, "id") or ""))
            elif name == "r" and _is_hidden(element):
                continue
            else:
                stack.extend(reversed(element))
        self.named = named
        return "".join(parts)

    def _note_mark(self, kind: str, note_id: str) -> str:
        text = self.notes.pop((kind, note_id), "")
        if not text:
            return ""
        mark = f"*{note_id}"
        self.notes_due.append(f"{mark} {text.strip()}")
        return mark


def _join_paragraphs(left: str, right: str) -> str:
    return f"{left} {right}".strip()


def _is_hidden(run: Element) -> bool:
    properties = run.find("{*}rPr")
    hidden = properties.find("{*}vanish") if properties is not None else None
    return hidden is not None and attribute(hidden, "val") not in ("0", "false", "off")


@dataclass(slots=True)
class _Table:
    """One table: vertically merged cells repeat their text, so that every row can be read alone."""

    document: _Document
    groups: RowGroups = field(init=False)
    above: list[str] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.groups = RowGroups(lambda _first, _last: self.document.outline.locator())

    def row(self, element: Element) -> Iterator[Block]:
        own = [cell for cell in element.iter("{*}tc") if next(cell.iterancestors("{*}tr")) is element]
        if len(own) == 1 and (code := self._framed_code(own[0])):
            yield from self.groups.flush()
            yield self.document.outline.block(code, BlockKind.CODE)
            return
        cells: list[str] = []
        for cell in own:
            cells.extend(self._cell(cell, len(cells)))
        self.above = cells
        line = row_text(cells)
        if not line:
            return
        if self.number == 0 and len(own) == 1 and len(cells) > 1:
            # What stands over all columns is the table's title.
            yield self.document.outline.block(line)
            return
        if self.number == 0 and sum(map(bool, cells)) > 1:
            self.groups.header = line
        self.number += 1
        yield from self.groups.add(line, self.number)

    def _framed_code(self, cell: Element) -> str:
        """Return the listing that a row of one cell frames, empty where it holds anything else."""
        paragraphs = list(cell.iterchildren("{*}p"))
        if len(paragraphs) < 2 or next(cell.iter("{*}tbl", "{*}txbxContent"), None) is not None:
            return ""
        styles = self.document.styles
        texts = ["".join(each.itertext()).strip() for each in paragraphs]
        lines = zip(paragraphs, texts, strict=True)
        if not all(styles.is_code(each, text, styles.of_paragraph(each)) for each, text in lines):
            return ""
        return "\n".join(self.document.text(each).rstrip() for each in paragraphs)

    def _cell(self, cell: Element, column: int) -> list[str]:
        text = ""
        for paragraph in cell.iter("{*}p"):
            if local(next(paragraph.iterancestors("{*}tc", "{*}txbxContent"))) == "tc":
                style = self.document.styles.of_paragraph(paragraph)
                join = join_items if (style.is_list or style.list_id) and text else _join_paragraphs
                text = join(text, self.document.text(paragraph).strip())
        properties = cell.find("{*}tcPr")
        span = 1
        if properties is not None:
            merge = properties.find("{*}vMerge")
            if merge is not None and attribute(merge, "val") != "restart" and not text and column < len(self.above):
                text = self.above[column]
            grid = properties.find("{*}gridSpan")
            if grid is not None and (attribute(grid, "val") or "").isdigit():
                span = min(int(attribute(grid, "val") or 1), 64)
        return [text, *[""] * (span - 1)]

    def finish(self) -> Iterator[Block]:
        yield from self.groups.flush()
