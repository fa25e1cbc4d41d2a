"""A stored passage as Dash elements: its blocks, its tables, and the cited span marked; text is only ever text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dash import html
from dash.development.base_component import Component

from app.components.attributes import aria, dataset
from app.i18n import t
from core.model import BLOCK_JOINT, BlockKind, Chunk, Locator

CELL_JOINT = " | "
Spans = Sequence[tuple[int, int]]
Piece = str | Component


def locator_text(locator: Locator, *, headings: bool = True) -> str:
    """Where a passage stands, as a person says it: page, slide, sheet and cells, heading path."""
    parts: list[str] = []
    if locator.page is not None:
        several = locator.page_end is not None and locator.page_end != locator.page
        key = "passage.pages" if several else "passage.page"
        parts.append(t(key, page=locator.page, end=locator.page_end))
    if locator.slide is not None:
        parts.append(t("passage.slide", slide=locator.slide))
    if locator.sheet:
        parts.append(t("passage.sheet", sheet=locator.sheet))
    if locator.cells:
        parts.append(locator.cells)
    if headings and locator.heading_path:
        parts.append(" › ".join(locator.heading_path))
    if locator.confidence is not None:
        parts.append(t("passage.recognised", percent=round(100 * locator.confidence)))
    return " · ".join(parts)


def passage(chunk: Chunk, spans: Spans = ()) -> html.Div:
    """The text of ``chunk`` with the characters ``spans`` of the parsed text marked as cited."""
    texts = list(_blocks(chunk))
    is_one = sum(text.strip() not in chunk.locator.heading_path for text, _ in texts) == 1
    blocks = [_block(chunk, text, at, spans, is_one=is_one) for text, at in texts]
    if chunk.header and not is_table(texts[0][0], chunk.kind):
        blocks.insert(0, html.P(chunk.header, className="passage-heading"))
    return html.Div(blocks, className="passage")


def marked(text: str, at: int, spans: Spans) -> list[Piece]:
    """``text``, which begins at offset ``at``, with its share of ``spans`` in ``mark`` elements."""
    pieces: list[Piece] = []
    done = 0
    for first, last in sorted(spans):
        start, end = max(first - at, done), min(last - at, len(text))
        if start < end:
            pieces += [text[done:start], html.Mark(text[start:end], className="cited", **dataset(span=first))]
            done = end
    return [piece for piece in [*pieces, text[done:]] if piece != ""]


def is_table(text: str, kind: BlockKind) -> bool:
    """Whether ``text`` is rows of cells: every line holds a cell joint, and it is a table or has two lines."""
    lines = text.split("\n")
    return all(CELL_JOINT in line for line in lines) and (kind is BlockKind.TABLE or len(lines) > 1)


def _blocks(chunk: Chunk) -> Iterator[tuple[str, int]]:
    at = chunk.start
    for text in chunk.text.split(BLOCK_JOINT):
        if text.strip():
            yield text, at
        at += len(text) + len(BLOCK_JOINT)


def _block(chunk: Chunk, text: str, at: int, spans: Spans, *, is_one: bool) -> Component:
    if is_table(text, chunk.kind):
        return table(text, at, chunk.header if at == chunk.start else "", spans)
    pieces = marked(text, at, spans)
    if text.strip() in chunk.locator.heading_path or chunk.kind is BlockKind.HEADING:
        return html.P(pieces, className="passage-heading")
    if chunk.kind is BlockKind.CODE:
        # The kind of a chunk is that of its first block: prose can follow, and only one block alone is surely code.
        return html.Pre(pieces, className="passage-code") if is_one else html.P(pieces, className="passage-lines")
    return html.P(pieces)


def table(text: str, at: int, header: str, spans: Spans, *, has_header: bool = True) -> html.Div:
    """Rows of cells as a table below ``header``, else below the first of them where that ``has_header``."""
    rows: list[html.Tr] = []
    for line in text.split("\n"):
        rows.append(html.Tr(_cells(line, at, spans)))
        at += len(line) + 1
    if header:
        head = html.Tr([html.Th(cell, scope="col") for cell in header.split(CELL_JOINT)])
    elif not has_header:
        head = None
    else:
        head, rows = html.Tr([html.Th(cell.children, scope="col") for cell in rows[0].children]), rows[1:]
    parts = [html.Thead(head) if head is not None else None, html.Tbody(rows)]
    found = html.Table(parts, className="passage-table")
    return html.Div(found, className="passage-scroll", tabIndex=0, role="group", **aria(label=t("passage.table")))


def _cells(line: str, at: int, spans: Spans) -> list[html.Td]:
    cells = []
    for text in line.split(CELL_JOINT):
        cells.append(html.Td(marked(text, at, spans)))
        at += len(text) + len(CELL_JOINT)
    return cells
