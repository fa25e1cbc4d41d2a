"""The pages of a document as they look, with the passage that is to be seen marked on them; drawn by page-view.js."""

from __future__ import annotations

import json
from urllib.parse import quote

from dash import html

from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.links import Span
from app.i18n import t
from core.model import PlacedChunk, Version

WORDS = {"wait": ("seconds",), "of": ("page", "count"), "found": ("count",), "none": (), "failed": (), "again": ()}
"""What the script says, with the values that it puts in."""
_LONGEST_SOUGHT = 60


def page_view(version: Version, target: PlacedChunk | None, span: Span | None) -> html.Section:
    """The pages of a version below their tools; the browser asks for those that come into view."""
    base = f"/api/v1/documents/{quote(version.doc_key, safe='')}/versions/{version.number}"
    words = json.dumps(
        {name: t(f"pages.{name}", **{each: f"{{{each}}}" for each in values}) for name, values in WORDS.items()}
    )
    marked = _marked(target, span) if target is not None else {}
    return html.Section(
        [
            _tools(),
            html.P(className="sheets-status", role="status"),
            html.Div(className="sheets", tabIndex=0, role="region", **aria(label=t("pages.title"))),
        ],
        className="page-view",
        **dataset(page_view=base, words=words, **marked),
    )


def _marked(target: PlacedChunk, span: Span | None) -> dict[str, str | int]:
    """Where the passage is: its characters, and its page where the document tells it, else words to look for."""
    chunk = target.chunk
    start, end = span or (chunk.start, chunk.end)
    page = chunk.locator.page or chunk.locator.slide
    sought = " ".join(chunk.text[max(start - chunk.start, 0) : end - chunk.start].split())[:_LONGEST_SOUGHT]
    place: dict[str, str | int] = {"start": start, "end": end, "reading": target.reading, "sought": sought}
    if page is not None:
        place |= {"first": page, "last": chunk.locator.page_end or page}
    return place


def _tools() -> html.Div:
    return html.Div(
        [
            html.Div(
                [
                    _button("previous", icon("chevron-left"), t("pages.previous")),
                    html.Label(
                        [
                            html.Span(t("pages.page"), className="visually-hidden"),
                            # Dash's own input would answer the server; this one is the script's.
                            html.Span(className="sheet-number"),
                        ]
                    ),
                    html.Span(className="sheet-count"),
                    _button("next", icon("chevron-right"), t("pages.next")),
                ],
                className="sheet-tools",
            ),
            html.Div(
                [
                    _button("smaller", html.Span("−"), t("pages.smaller")),
                    html.Span("100%", className="sheet-zoom", **aria(live="polite")),
                    _button("larger", html.Span("+"), t("pages.larger")),
                ],
                className="sheet-tools",
            ),
            html.Div(
                [
                    html.Span(className="sheet-search", **dataset(label=t("pages.search"))),
                    html.Span(className="sheet-found", role="status"),
                    _button("next-found", icon("arrow-down"), t("pages.next_found"), is_off=True),
                ],
                className="sheet-tools sheet-finding",
            ),
        ],
        className="sheets-tools",
    )


def _button(act: str, symbol: html.Span, word: str, *, is_off: bool = False) -> html.Button:
    return html.Button(
        symbol,
        type="button",
        className="btn btn-secondary btn-sm",
        title=word,
        disabled=is_off,
        **aria(label=word),
        **dataset(sheet_act=act),
    )
