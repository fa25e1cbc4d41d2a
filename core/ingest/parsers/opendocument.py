"""OpenDocument text, sheets and slides (odt, ods, odp): what their office program shows, by ISO 26300."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat

from core.errors import Encrypted, EvoRAGError, ParserFailed
from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.links import beside, without
from core.ingest.parsers.ooxml import attribute, local
from core.ingest.parsers.opendocument_objects import Objects, pictures_of, remark_of
from core.ingest.parsers.opendocument_styles import TextStyles
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.sheet_rows import Cells, SheetRows
from core.ingest.parsers.tables import RowGroups, join_items, row_text
from core.ingest.parsers.wording import join_lines
from core.ingest.parsers.xml import Element, events, forget, tree
from core.model import Block, BlockKind, Locator
from core.text.contents import as_entry

_CONTENT = "content.xml"
_LONGEST_GAP = 1_000
MAX_COLUMNS = 16_384
_NOT_TEXT = frozenset({
    "annotation", "annotation-end", "tracked-changes", "note-citation", "ruby-text", "change", "change-start",
    "change-end", "bookmark", "title", "desc", "object", "object-ole", "image", "event-listeners",
})  # fmt: skip


def parse_text(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an odt file in their order. Raises: ``UnreadableDocument`` and its kinds."""
    yield from _opened(
        reading,
        lambda root, archive: _Text(
            reading, TextStyles.of(root, archive), objects=Objects(archive, reading), archive=archive
        ).document(root),
    )


def parse_slides(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an odp file, slide by slide. Raises as ``parse_text``."""
    yield from _opened(reading, lambda root, archive: _slides(reading, root, archive))


def _opened(reading: ParserInput, blocks: Callable[[Element, SafeArchive], Iterator[Block]]) -> Iterator[Block]:
    reading.note(parser=reading.extension)
    with SafeArchive(reading.path, 2 * reading.limits.output_bytes) as archive:
        _check(archive, reading)
        yield from blocks(tree(archive.read(_CONTENT)), archive)


def parse_sheets(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an ods file, sheet by sheet, cells as they are shown. Raises as ``parse_text``."""
    reading.note(parser="ods")
    with SafeArchive(reading.path, 2 * reading.limits.output_bytes) as archive:
        _check(archive, reading)
        yield from _sheets(reading, archive)


def _check(archive: SafeArchive, reading: ParserInput) -> None:
    """Refuse what is protected by a password, and keep title, author and dates."""
    if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Encrypted("The document is protected by a password.")
    if _CONTENT not in archive:
        raise ParserFailed("The file holds no document.")
    if "meta.xml" not in archive:
        return
    found: dict[str, str] = {}
    try:
        for element in tree(archive.read("meta.xml")).iter("{*}title", "{*}initial-creator", "{*}creator",
                                                           "{*}creation-date", "{*}date"):  # fmt: skip
            found.setdefault(local(element), element.text or "")
    except EvoRAGError:
        reading.warn("The document's properties could not be read.")
    reading.note(
        title=found.get("title"),
        author=found.get("initial-creator") or found.get("creator"),
        created=found.get("creation-date"),
        modified=found.get("date"),
    )


@dataclass(slots=True)
class _Text:
    """The blocks of running text; what stands beside it (boxes, notes, remarks) follows the paragraph it hangs on."""

    reading: ParserInput | None
    styles: TextStyles
    outline: Outline = field(default_factory=Outline)
    slide: int | None = None
    objects: Objects | None = None
    due: list[Element | str] = field(default_factory=list)
    archive: SafeArchive | None = None
    named: list[str] = field(default_factory=list)
    """What was written for links."""

    def document(self, root: Element) -> Iterator[Block]:
        for body in root.iter("{*}text"):
            if (parent := body.getparent()) is not None and local(parent) == "body":
                yield from self.blocks(body)

    def blocks(self, elements: Iterable[Element]) -> Iterator[Block]:
        code: list[str] = []
        for element in elements:
            name = local(element)
            is_code = name == "p" and attribute(element, "style-name") in self.styles.codes
            if is_code and ((line := self.text(element).rstrip()) or code):
                code.append(line)
            if code and (self.due or not is_code):
                yield self._block("\n".join(code), BlockKind.CODE)
                code = []
            if is_code:
                yield from self._beside()
                continue
            if name == "image" and self.reading is not None and self.archive is not None:
                yield from pictures_of(element, self.archive, self.reading, self.outline.locator(slide=self.slide))
            if name in _NOT_TEXT:
                continue
            if name == "h":
                level = attribute(element, "outline-level") or "1"
                self.named.clear()
                text = self.text(element).strip().replace("\n", " ")
                plain = without(text, self.named)
                if text:
                    yield self.outline.heading(plain, int(level) if level.isdigit() else 1, slide=self.slide)
                if plain != text:
                    yield self._block(text)
                yield from self._beside()
            elif name == "p":
                self.named.clear()
                text = self.text(element).strip()
                if text and self.slide is None and attribute(element, "style-name") in self.styles.titles:
                    yield self.outline.heading(without(text, self.named).replace("\n", " "), 1)
                elif text:
                    yield self._block(text)
                yield from self._beside()
            elif name in ("list", "ordered-list", "unordered-list"):
                items = list(self._items(element, 1, attribute(element, "style-name") or ""))
                if items:
                    yield self._block("\n".join(items), BlockKind.LIST)
                yield from self._beside()
            elif name == "table":
                yield from self._table(element)
                yield from self._beside()
            elif name == "table-of-content":
                if entries := [entry for each in element.iter("{*}p") if (entry := as_entry(self.text(each)))]:
                    yield self._block("\n".join(entries), BlockKind.LIST)
            elif name in ("frame", "custom-shape", "text-box", "rect", "ellipse", "g", "section", "index-body", "a",
                          "alphabetical-index", "illustration-index", "table-index", "bibliography", "user-index",
                          "numbered-paragraph", "connector", "line"):  # fmt: skip
                if name == "frame" and self.objects is not None:
                    yield from self.objects.of(element, self.outline.locator(slide=self.slide))
                yield from self.blocks(element)
        if code:
            yield self._block("\n".join(code), BlockKind.CODE)

    def _block(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> Block:
        return self.outline.block(text, kind, slide=self.slide)

    def _beside(self) -> Iterator[Block]:
        while self.due:
            due, self.due = self.due, []
            for each in due:
                if isinstance(each, str):
                    yield self._block(each)
                else:
                    yield from self.blocks([each])

    def _items(self, element: Element, level: int, style: str) -> Iterator[str]:
        style = attribute(element, "style-name") or style
        number = self.styles.numbered.get((style, level))
        indent = "  " * (level - 1)
        for item in element:
            marker = f"{indent}• " if number is None else f"{indent}{number}. "
            is_item = local(item) in ("list-item", "list-header")
            number = number + 1 if number is not None and local(item) == "list-item" else number
            for child in item if is_item else ():
                if local(child) in ("list", "ordered-list", "unordered-list"):
                    yield from self._items(child, level + 1, style)
                elif text := self.text(child).strip().replace("\n", " "):
                    yield marker + text
                    marker = indent + "  "

    def _table(self, element: Element) -> Iterator[Block]:
        groups = RowGroups(lambda _first, _last: self.outline.locator(slide=self.slide))
        number = 0
        for row in element.iter("{*}table-row"):
            owner = next(row.iterancestors("{*}table"))
            if owner is not element:
                continue
            cells = [text for text, _ in _row(row, self._cell)]
            line = row_text(cells)
            if not line:
                continue
            if number == 0 and sum(map(bool, cells)) > 1:
                groups.header = line
            number += 1
            yield from groups.add(line, number)
        yield from groups.flush()

    def _cell(self, cell: Element) -> str:
        text = ""
        for paragraph in cell.iter("{*}p", "{*}h"):
            if not any(local(above) in _NOT_TEXT for above in paragraph.iterancestors()):
                join = join_items if local(paragraph.getparent()) == "list-item" else join_lines
                text = join(text, self.text(paragraph).strip())
        return text

    def text(self, element: Element) -> str:
        """Return the text of a paragraph as shown; frames, notes and remarks in it are due behind it."""
        parts: list[str] = [element.text or ""]
        for child in element:
            name = local(child)
            if name == "s":
                count = attribute(child, "c") or "1"
                parts.append(" " * min(int(count) if count.isdigit() else 1, _LONGEST_GAP))
            elif name == "tab":
                parts.append("\t")
            elif name == "line-break":
                parts.append("\n")
            elif name == "note":
                self.due.extend(_noted(child, self))
                parts.extend(f"*{citation.text or ''}" for citation in child.iter("{*}note-citation"))
            elif name == "annotation":
                self.due.append(remark_of(child))
            elif name in ("frame", "custom-shape", "g"):
                self.due.append(child)
            elif name not in _NOT_TEXT:
                parts.append(self.text(child))
                if name == "a" and (target := beside(parts[-1], attribute(child, "href"))):
                    self.named.append(target)
                    parts.append(target)
            parts.append(child.tail or "")
        # White space that is not written as an element is layout of the file.
        return "".join(part if part in ("\t", "\n") else part.replace("\n", " ") for part in parts)


def _noted(note: Element, text: _Text) -> Iterator[str]:
    mark = "".join(citation.text or "" for citation in note.iter("{*}note-citation"))
    for body in note.iter("{*}note-body"):
        said = " ".join(filter(None, (text.text(paragraph).strip() for paragraph in body.iter("{*}p"))))
        if said:
            yield f"*{mark} {said}"


def _slides(reading: ParserInput, root: Element, archive: SafeArchive) -> Iterator[Block]:
    styles, objects = TextStyles.of(root, archive), Objects(archive, reading)
    pages = [page for page in root.iter("{*}page") if local(page.getparent()) == "presentation"]
    reading.note(slides=len(pages))
    for number, page in enumerate(pages, 1):
        reading.tell(number, len(pages))
        text = _Text(reading, styles, slide=number, objects=objects, archive=archive)
        title = next((frame for frame in page.iter("{*}frame") if attribute(frame, "class") == "title"), None)
        shown = ""
        if title is not None:
            shown = " ".join(filter(None, (text.text(each).strip() for each in title.iter("{*}p", "{*}h"))))
            text.due.clear()
        if shown:
            plain = without(shown, text.named)
            yield text.outline.heading(plain.replace("\n", " "), 1, slide=number)
            if plain != shown:
                yield text.outline.block(shown, slide=number)
        shapes = [shape for shape in page if not (shown and shape is title)]
        for shape in sorted((shape for shape in shapes if local(shape) != "notes"), key=_corner):
            yield from text.blocks([shape])
        for notes in page.iterchildren("{*}notes"):
            for frame in notes.iter("{*}frame"):
                if attribute(frame, "class") == "notes":
                    yield from text.blocks(frame)


def _corner(shape: Element) -> tuple[float, float]:
    """Where a shape stands: from top to bottom in bands of an inch's half, then from the left."""

    def inches(value: str | None) -> float:
        for unit, each in (("cm", 2.54), ("mm", 25.4), ("in", 1.0), ("pt", 72.0)):
            if value and value.endswith(unit):
                try:
                    return float(value.removesuffix(unit)) / each
                except ValueError:
                    return 0.0
        return 0.0

    return (inches(attribute(shape, "y")) * 2 // 1, inches(attribute(shape, "x")))


def _row(row: Element, shown: Callable[[Element], str]) -> Iterator[tuple[str, bool]]:
    """Yield the cells of a row as they are shown, and whether each is a number; covered ones are empty."""
    for cell in row:
        name = local(cell)
        if name not in ("table-cell", "covered-table-cell"):
            continue
        text = shown(cell) if name == "table-cell" else ""
        kind = attribute(cell, "value-type") or "string"
        times = attribute(cell, "number-columns-repeated") or "1"
        count = min(int(times) if times.isdigit() and len(times) < 8 else 1, MAX_COLUMNS)
        yield from repeat((text, kind not in ("string", "")), count)


def _sheets(reading: ParserInput, archive: SafeArchive) -> Iterator[Block]:
    outline, name, rows, number = Outline(), "", None, 0
    cells_left, depth, found = reading.limits.table_cells, 0, 0
    pictured: list[Block] = []
    parts = reading.counted(archive.stream(_CONTENT), archive.stated_bytes(_CONTENT))
    not_shown, hidden, objects = set[str](), list[str](), Objects(archive, reading)
    wanted = ("{*}table", "{*}table-row", "{*}shapes", "{*}table-properties")
    for kind, element in events(parts, wanted, ("start", "end")):
        tag = local(element)
        if tag == "table-properties":
            if attribute(element, "display") == "false":
                not_shown.add(attribute(element.getparent(), "name") or "")
        elif tag == "table" and kind == "start":
            depth += 1
            if depth == 1:
                if attribute(element, "style-name") in not_shown:
                    hidden.append(attribute(element, "name") or "")
                outline, number, found = Outline(), 0, found + 1
                name = attribute(element, "name") or ""
                rows = SheetRows(outline, name)
                yield outline.heading(name, 1, sheet=name)
        elif tag == "table":
            depth -= 1
            if depth == 0 and rows is not None:
                yield from rows.finish()
                yield from pictured
                pictured = []
                forget(element)
        elif kind == "start" or depth != 1 or rows is None:
            continue
        elif tag == "shapes":
            yield from _drawn(element, outline, name)
            yield from objects.among(element, outline.locator(sheet=name))
            yield from pictures_of(element, archive, reading, outline.locator(sheet=name))
            forget(element)
        else:
            times = attribute(element, "number-rows-repeated") or "1"
            repeated = int(times) if times.isdigit() and len(times) < 8 else 1
            cells, numeric, remarks, taken = _cells(element)
            for _ in range(repeated if cells else 0):
                cells_left -= taken
                if cells_left < 0:
                    reading.miss(Loss.CUT, name)
                    break
                number += 1
                yield from rows.add(number, dict(cells), numeric)
            number += 0 if cells else repeated
            for remark in remarks:
                yield outline.block(remark, sheet=name)
            yield from objects.among(element, outline.locator(sheet=name))
            pictured += pictures_of(element, archive, reading, outline.locator(sheet=name))
            forget(element)
    reading.note(sheets=found, hidden_sheets=", ".join(hidden))


def _cells(row: Element) -> tuple[Cells, bool, list[str], int]:
    """Return what a row shows by column, whether a number is among it, the remarks on it, and how many cells it has."""
    remarks = [remark_of(annotation) for annotation in row.iter("{*}annotation")]
    cells: Cells = {}
    numeric = False
    taken = 0
    for column, (text, is_number) in enumerate(_row(row, _shown)):
        if column >= MAX_COLUMNS:
            break
        if text and not text.isspace():
            cells[column] = text
            numeric = numeric or is_number
            taken += 1
    return cells, numeric, remarks, max(taken, 1)


def _shown(cell: Element) -> str:
    text = _Text(None, TextStyles())
    return "\n".join(filter(None, (text.text(paragraph).strip() for paragraph in cell.iterchildren("{*}p"))))


def _drawn(shapes: Element, outline: Outline, name: str) -> Iterator[Block]:
    for paragraph in shapes.iter("{*}p"):
        if text := " ".join("".join(paragraph.itertext()).split()):
            yield Block(text, locator=Locator(sheet=name, heading_path=outline.path))
