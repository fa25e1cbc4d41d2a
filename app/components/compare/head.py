"""The head of the Compare page: the document and version on each side, the swap, and the exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.attributes import dataset
from app.components.compare.address import Pair
from app.components.shared.document_options import document_options
from app.components.shared.icon import icon
from app.i18n import day, t
from core.model import Document, Version

SIDES = ("old", "new")
EXPORTS = (("html", "file-earmark-code"), ("patch", "file-diff"), ("json", "filetype-txt"))


def pickers(
    pair: Pair | None,
    sides: tuple[Document, Document],
    versions: tuple[Sequence[Version], Sequence[Version]],
    offered: Sequence[Document],
    action: html.Details | None = None,
) -> html.Div:
    """The one line above a comparison: the fields that choose both sides, and an ``action``.

    ``pair`` None leaves the versions open; ``offered`` may be on either side.
    """
    swap = html.Button(
        [icon("arrow-left-right"), html.Span(t("compare.swap"), className="visually-hidden")],
        id="compare-swap",
        type="button",
        className="btn btn-secondary",
        title=t("compare.swap"),
        disabled=pair is None,
    )
    return html.Div(
        [
            _side("old", sides[0], versions[0], pair.old if pair else None, offered),
            swap,
            _side("new", sides[1], versions[1], pair.new if pair else None, offered),
            action,
        ],
        className="compare-pickers",
    )


def version_label(version: Version) -> str:
    """A version as a choice: number, label, what became of it, and its day, as short as they are told apart by.

    The day stands last, where the browser writes the reader's own in its place.
    """
    parts = [
        t("compare.version_number", number=version.number),
        version.label,
        _state(version),
        day(version.created_at),
    ]
    return " · ".join(part for part in parts if part)


def export_menu(pair: Pair) -> html.Details:
    """The downloads of a comparison."""
    entries = [_entry(symbol, _export(form), pair.download(form)) for form, symbol in EXPORTS]
    entries += [_entry("body-text", _text_words(pair, side), f"{pair.download('txt')}&side={side}") for side in SIDES]
    words = html.Span(t("compare.export"), className="compare-export-words")
    summary = html.Summary([icon("download"), words], className="btn btn-secondary", title=t("compare.export"))
    return html.Details(
        [summary, html.Ul(entries)], className="menu", id="compare-export", **dataset(failed=t("compare.export_failed"))
    )


def _entry(symbol: str, words: list[Any], address: str) -> html.Li:
    return html.Li(html.A([icon(symbol), html.Span(words)], href=address, download="", **dataset(compare_export=True)))


def _text_words(pair: Pair, side: str) -> list[Any]:
    number = pair.old if side == "old" else pair.new
    words = t("compare.export_text", side=t(f"compare.{side}"), number=number)
    return [html.Span(words), html.Small(t("compare.export_text_explain"))]


def _export(form: str) -> list[Any]:
    return [html.Span(t(f"compare.export_{form}")), html.Small(t(f"compare.export_{form}_explain"))]


def _side(
    side: str, document: Document, versions: Sequence[Version], chosen: int | None, offered: Sequence[Document]
) -> html.Fieldset:
    options: list[dict[str, Any]] = [
        {
            "value": str(version.number),
            "label": version_label(version),
            "disabled": version.state != "ready",
            # The browser reads from it what day that was to the reader, and says it in full.
            "title": version.created_at.isoformat(),
        }
        for version in versions
    ]
    return html.Fieldset(
        [
            html.Legend(t(f"compare.{side}")),
            html.Div(
                [
                    html.Label(t("compare.document"), htmlFor=f"compare-{side}-doc", className="visually-hidden"),
                    dcc.Dropdown(
                        id=f"compare-{side}-doc",
                        options=document_options([document, *offered]),
                        value=document.doc_key,
                        clearable=False,
                        placeholder=t("compare.document"),
                        labels={
                            "search": t("filter.search"),
                            "no_options_found": t("filter.no_options_found"),
                            "clear_search": t("filter.clear_search"),
                        },
                    ),
                ],
                className="compare-picker-doc",
            ),
            html.Div(
                [
                    html.Label(t("compare.version"), htmlFor=f"compare-{side}-version", className="visually-hidden"),
                    dbc.Select(
                        id=f"compare-{side}-version",
                        options=options,
                        value=str(chosen) if chosen is not None else "",
                        placeholder=t("compare.version"),
                        class_name="when-days",
                    ),
                ],
                className="compare-picker-version",
            ),
        ],
        className=f"compare-side compare-side-{side}",
    )


def _state(version: Version) -> str:
    if version.is_published:
        return t("compare.state.published")
    if version.state != "ready":
        return t(f"compare.state.{version.state}")
    return t("compare.state.draft") if version.is_draft else ""
