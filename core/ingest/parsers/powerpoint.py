"""PowerPoint presentations (pptx): slides in order, titles as headings, text, tables and speaker notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.errors import EvoRAGError
from core.ingest.parsers.links import name_in_slide, without
from core.ingest.parsers.ooxml import Package, attribute, local
from core.ingest.parsers.ooxml_extras import chart_blocks, described, diagram_blocks, people, remarks
from core.ingest.parsers.ooxml_objects import PackageObjects
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.tables import row_text, table_blocks
from core.ingest.parsers.xml import Element, tree
from core.model import Block, BlockKind

_TITLES = ("title", "ctrTitle")
_REPEATED = frozenset({"ftr", "hdr"})
_NOT_SHOWN = frozenset({"sldNum", "dt", *_REPEATED, "sldImg"})


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a pptx file, slide by slide. Raises: ``UnreadableDocument`` and its kinds."""
    reading.note(parser="pptx")
    with Package(reading.path, 2 * reading.limits.output_bytes) as package:
        package.note_properties(reading)
        main = package.main_part()
        relations = package.relations(main)
        slides = []
        for element in tree(package.read(main)).iter("{*}sldId"):
            relation = relations.get(_relation_id(element))
            if relation is not None and relation.kind == "slide":
                slides.append(relation.target)
        reading.note(slides=len(slides))
        feet: dict[str, int] = {}
        authors, known = _authors(package, main), _people(package, main)
        for number, part in enumerate(slides, 1):
            reading.tell(number, len(slides))
            yield from _slide(package, reading, part, number, feet)
            yield from chart_blocks(package, part, Outline(), reading, slide=number)
            yield from _remarks(package, reading, part, number, authors, known)
        for text, number in feet.items():
            yield Outline().block(text, slide=number)


def _authors(package: Package, main: str) -> list[str]:
    """Return who made remarks, by the numbers that these name them by."""
    found: dict[int, str] = {}
    for name in package.related(main, "commentAuthors"):
        for element in tree(package.read(name)).iter("{*}cmAuthor"):
            number = element.get("id", "")
            if number.isdigit() and int(number) < 10_000:
                found[int(number)] = element.get("name", "")
    return [found.get(number, "") for number in range(max(found, default=-1) + 1)]


def _people(package: Package, main: str) -> dict[str, str]:
    try:
        return people(package, main)
    except EvoRAGError:
        return {}


def _remarks(
    package: Package, reading: ParserInput, part: str, number: int, authors: list[str], known: dict[str, str]
) -> Iterator[Block]:
    try:
        for remark in remarks(package, part, authors, known):
            yield Outline().block(str(remark), slide=number)
    except EvoRAGError:
        reading.miss(Loss.REMARKS, number)


def _relation_id(element: Element) -> str:
    return next((str(value) for key, value in element.items() if key.endswith("}id")), "")


def _named(package: Package, part: str) -> tuple[Element, list[str]]:
    """Read a part with the targets of its links beside their text; return what was written for these as well."""
    root = tree(package.read(part))
    try:
        return root, name_in_slide(root, package.links(part))
    except EvoRAGError:
        # A slide whose relations are damaged says what it says.
        return root, []


def _slide(package: Package, reading: ParserInput, part: str, number: int, feet: dict[str, int]) -> Iterator[Block]:
    """Yield the blocks of a slide; what slides repeat at top and bottom goes to ``feet``, with the first such slide."""
    outline = Outline()
    root, named = _named(package, part)
    shapes = list(_shapes(root))
    title = next((shape for shape in shapes if shape.placeholder in _TITLES and shape.text()), None)
    if title is not None:
        heading = title.text().replace("\n", " ")
        plain = without(heading, named)
        yield outline.heading(plain, 1, slide=number)
        if plain != heading:
            yield outline.block(heading, slide=number)
    for shape in sorted(shapes, key=_reading_order):
        if shape.placeholder in _REPEATED and sum(map(str.isalpha, shape.text())) > 2:
            feet.setdefault(shape.text(), number)
        if shape is not title and shape.placeholder not in _NOT_SHOWN:
            yield from shape.blocks(outline, number)
    for told in described(root):
        yield outline.block(told, slide=number)
    objects, place = PackageObjects(package, reading), outline.locator(slide=number)
    yield from objects.shown_by([root], part, place)
    yield from objects.rest_of(part, place)
    yield from package.pictures([root], part, reading, place, objects.pictured([root], part))
    yield from diagram_blocks(package, part, outline, reading, slide=number)
    try:
        for notes in package.related(part, "notesSlide"):
            for shape in _shapes(_named(package, notes)[0]):
                if shape.placeholder == "body":
                    yield from shape.blocks(outline, number)
    except EvoRAGError:
        reading.miss(Loss.NOTES, number)


@dataclass(slots=True)
class _Shape:
    """One shape with the place of its upper left corner, in English Metric Units; ``None`` where the layout says."""

    element: Element
    order: int
    placeholder: str = ""
    corner: tuple[int, int] | None = None
    paragraphs: list[Element] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(filter(None, map(_paragraph_text, self.paragraphs)))

    def blocks(self, outline: Outline, number: int) -> Iterator[Block]:
        for table in self.element.iter("{*}tbl"):
            rows = (row_text(_cell_text(cell) for cell in row.iterchildren("{*}tc")) for row in table.iter("{*}tr"))
            yield from table_blocks(filter(None, rows), outline.locator(slide=number))
        lines = [(_level(paragraph), _paragraph_text(paragraph)) for paragraph in self.paragraphs]
        lines = [(level, text) for level, text in lines if text]
        if len(lines) > 1 and self.placeholder:
            text = "\n".join("  " * level + "• " + text.replace("\n", " ") for level, text in lines)
            yield outline.block(text, BlockKind.LIST, slide=number)
        elif lines:
            yield outline.block("\n".join(text for _, text in lines), slide=number)


def _shapes(root: Element) -> Iterator[_Shape]:
    for order, element in enumerate(root.iter("{*}sp", "{*}graphicFrame", "{*}cxnSp")):
        if any(True for _ in element.iterancestors("{*}Fallback")):
            continue
        shape = _Shape(element, order)
        for placeholder in element.iter("{*}ph"):
            shape.placeholder = attribute(placeholder, "type") or "body"
            break
        outermost = [element, *element.iterancestors("{*}grpSp")][-1]
        for offset in outermost.iter("{*}off"):
            x, y = offset.get("x", ""), offset.get("y", "")
            if x.lstrip("-").isdigit() and y.lstrip("-").isdigit() and len(x + y) < 30:
                shape.corner = (int(x), int(y))
            break
        for body in element.iterchildren("{*}txBody"):
            shape.paragraphs.extend(body.iterchildren("{*}p"))
        yield shape


def _reading_order(shape: _Shape) -> tuple[int, int, int, int]:
    """Placeholders that the layout places come first, then from top to bottom in bands of half an inch, then left."""
    if shape.corner is None:
        return (0 if shape.placeholder else 1, 0, 0, shape.order)
    x, y = shape.corner
    return (1, y // 457_200, x, shape.order)


def _level(paragraph: Element) -> int:
    properties = paragraph.find("{*}pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    return int(level) if level.isdigit() and len(level) == 1 else 0


def _paragraph_text(paragraph: Element) -> str:
    parts = []
    for element in paragraph.iter("{*}t", "{*}br"):
        if (element.getparent().get("type") or "").startswith("slidenum"):
            continue
        parts.append("\n" if local(element) == "br" else element.text or "")
    return "".join(parts).strip()


def _cell_text(cell: Element) -> str:
    return "\n".join(filter(None, map(_paragraph_text, cell.iter("{*}p"))))
