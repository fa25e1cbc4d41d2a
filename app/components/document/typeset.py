"""The text of a version as it reads: headings, paragraphs, lists, tables and code, without borders of chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dash import html
from dash.development.base_component import Component

from app.components.shared.links import Span
from app.components.shared.passage import marked, table
from core.model import Block, BlockKind, PlacedChunk

Placed = tuple[int, Block]
"""A block with the offset at which it begins in the parsed text."""

_ITEM = re.compile(r"(\s*)([•\-*+–・]|\d{1,3}[.)])\s+")


def typeset(
    blocks: Sequence[Placed], chunks: Sequence[PlacedChunk], target: int | None, span: Span | None
) -> Component:
    """The blocks, in a section for each chunk that begins among them, so that a link to a chunk leads there."""
    spans = [span] if span is not None else []
    borders = [(placed.chunk.start, placed.chunk.position) for placed in chunks]
    parts: list[Component] = []
    held: list[Component] = []
    position: int | None = None
    for at, block in blocks:
        begun = [each for start, each in borders if at <= start < at + len(block.text) + 1]
        if begun and held:
            parts.append(_part(held, position, target))
            held = []
        if begun or position is None:
            position = begun[0] if begun else None
        held += [html.Span(id=f"chunk-{each}") for each in begun[1:]]
        held.append(_block(block, at, spans))
    if held:
        parts.append(_part(held, position, target))
    return html.Article(parts, className="reading")


def _part(content: list[Component], position: int | None, target: int | None) -> Component:
    is_target = position is not None and position == target
    name = "reading-part chunk-target" if is_target else "reading-part"
    return html.Section(content, className=name, id=f"chunk-{position}" if position is not None else None)


def _block(block: Block, at: int, spans: Sequence[Span]) -> Component:
    match block.kind:
        case BlockKind.HEADING:
            # The page's own title is the first level.
            heading = {1: html.H2, 2: html.H3, 3: html.H4, 4: html.H5}.get(block.level, html.H6)
            return heading(marked(block.text, at, spans), className=f"reading-heading-{min(block.level or 1, 6)}")
        case BlockKind.TABLE:
            return table(block.text, at, block.header, spans, has_header=not block.is_headless)
        case BlockKind.CODE:
            return html.Pre(marked(block.text, at, spans), className="passage-code")
        case BlockKind.LIST:
            return html.Div(list(_items(block.text, at, spans)), className="reading-list", role="list")
    is_set = block.text[:1].isspace() or "\n" in block.text
    names = ["reading-lines"] * is_set + ["reading-under"] * bool(block.header)
    return html.P(marked(block.text, at, spans), className=" ".join(names))


def _items(text: str, at: int, spans: Sequence[Span]) -> Iterator[Component]:
    """Yield the lines of a list, each as far in as it stands and with its own mark."""
    for line in text.split("\n"):
        if line.strip():
            found = _ITEM.match(line)
            indent = len(line) - len(line.lstrip())
            content = found.end() if found else indent
            mark = html.Span(found[2], className="reading-mark") if found else None
            words = html.Span(marked(line[content:], at + content, spans))
            depth = min(indent // 2 + (0 if found else 1), 8)
            role = "listitem" if found else None
            yield html.Div([mark, words], className="reading-item", style={"--depth": str(depth)}, role=role)
        at += len(line) + 1
