"""A stretch of a version as its chunks cut it, with the way to the stretches before and after."""

from __future__ import annotations

from dash import dcc, html
from dash.development.base_component import Component

from app.components.attributes import aria
from app.components.shared.icon import icon
from app.components.shared.links import Span, document_href
from app.components.shared.passage import locator_text, passage
from app.i18n import t
from core.model import PlacedChunk, Preview

PAGE_CHUNKS = 12


def page_start(position: int) -> int:
    """The first position of the stretch that holds the chunk at ``position``."""
    return max(position, 0) // PAGE_CHUNKS * PAGE_CHUNKS


def preview(view: Preview, start: int, target: int | None = None, span: Span | None = None) -> html.Div:
    """The chunks of ``view``; the one at position ``target`` is marked, and in it the characters of ``span``."""
    chunks = [_chunk(placed, placed.chunk.position == target, span) for placed in view.chunks]
    pages = pager(view, start)
    return html.Div([pages, *chunks, pages if len(chunks) > 3 else None], className="preview")


def pager(view: Preview, start: int, mode: str = "chunks") -> html.Nav | None:
    """The links to the stretches before and after the one that begins at ``start``; nothing for a short version."""
    if view.total_chunks <= PAGE_CHUNKS:
        return None
    last = min(start + PAGE_CHUNKS, view.total_chunks)
    before = start - PAGE_CHUNKS if start > 0 else None
    after = last if last < view.total_chunks else None
    shown = t("document.shown", first=start + 1, last=last, count=view.total_chunks)
    return html.Nav(
        [
            _step(view, before, mode, "chevron-left", t("document.before")),
            html.Span(shown),
            _step(view, after, mode, "chevron-right", t("document.after")),
        ],
        className="pager",
        **aria(label=t("document.pages")),
    )


def _step(view: Preview, position: int | None, mode: str, symbol: str, word: str) -> html.Span | dcc.Link:
    content: list[Component | str] = [icon(symbol), word] if symbol == "chevron-left" else [word, icon(symbol)]
    if position is None:
        return html.Span(content, className="btn btn-secondary btn-sm disabled", **aria(disabled=True))
    href = document_href(view.doc_key, view.version, position, mode=mode, reading=view.reading)
    return dcc.Link(content, href=href, className="btn btn-secondary btn-sm")


def _chunk(placed: PlacedChunk, is_target: bool, span: Span | None) -> html.Section:
    chunk = placed.chunk
    number = dcc.Link(
        f"#{chunk.position + 1}",
        href=document_href(placed.doc_key, placed.version, chunk.position, mode="chunks", reading=placed.reading),
        className="chunk-number",
        title=t("document.chunk_link", number=chunk.position + 1),
    )
    facts = t("document.chunk_facts", tokens=chunk.token_count, characters=len(chunk.text))
    head = [number, html.Span(locator_text(chunk.locator), className="chunk-place"), html.Small(facts)]
    return html.Section(
        [html.Header(head), passage(chunk, [span] if is_target and span else [])],
        className="chunk chunk-target" if is_target else "chunk",
        id=f"chunk-{chunk.position}",
    )
