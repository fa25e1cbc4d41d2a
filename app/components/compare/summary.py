"""What two versions differ in before any line is read: numbers and dates first, then chapters; and the metadata."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dash import html

from app.components.attributes import aria, dataset
from app.components.compare.diff_grid import chapter_name
from app.components.compare.words import notice_words, sentence, tally_words
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.i18n import has, number, t
from core.model import Change, ChangeSummary, ChapterChange, MetadataChange, ValueChange

FIRST_VALUES = 60
FIRST_CHAPTERS = 200
VALUE_CHARS = 200
MEANINGS = {Change.CHANGED: "warning", Change.ADDED: "ok", Change.REMOVED: "error", Change.EQUAL: "neutral"}


def notices(summary: ChangeSummary) -> list[html.P]:
    """What is coarser than usual."""
    return [
        html.P([badge("warning", t("compare.notice")), html.Span(notice_words(code))], className="compare-notice")
        for code in summary.notices
    ]


def strip(summary: ChangeSummary) -> html.Details | html.P:
    """One sentence of what changed; it unfolds over the text to lists of which each line is a way to its place."""
    words = sentence(summary)
    cards = [card for card in (_values(summary.values), _chapters(summary.chapters)) if card is not None]
    if not cards:
        return html.P(words, className="compare-strip compare-sentence", id="compare-sentence")
    said = html.Span(words, className="compare-sentence", id="compare-sentence", title=words)
    return html.Details(
        [html.Summary(said), html.Div(cards, className="compare-overview")],
        className="compare-strip",
        id="compare-overview",
    )


def metadata(changes: Sequence[MetadataChange]) -> html.Div:
    """What is known about the files beside their text, old and new."""
    if not any(change.change is not Change.EQUAL for change in changes):
        text: Any = html.P(t("compare.same_metadata"), className="muted")
    else:
        text = None
    rows = [
        html.Tr(
            [
                html.Th(_metadata_name(change.name), scope="row"),
                html.Td(badge(MEANINGS[change.change], t(f"compare.kind.{change.change}"))),
                html.Td(_plain(change.old), className="user-text"),
                html.Td(_plain(change.new), className="user-text"),
            ]
        )
        for change in sorted(changes, key=lambda change: change.change is Change.EQUAL)
    ]
    heads = ("metadata_name", "metadata_change", "old", "new")
    head = html.Tr([html.Th(t(f"compare.{name}"), scope="col") for name in heads])
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="passage-table compare-metadata")
    scroll = html.Div(
        table, className="passage-scroll", tabIndex=0, role="group", **aria(label=t("compare.view.metadata"))
    )
    return html.Div([text, scroll if rows else None], className="card-plain")


def _values(values: Sequence[ValueChange]) -> html.Section | None:
    if not values:
        return None
    first = html.Ul([_value(value) for value in values[:FIRST_VALUES]])
    rest = None
    if len(values) > FIRST_VALUES:
        more = values[FIRST_VALUES:]
        rest = html.Details(
            [
                html.Summary(t("compare.more_values", count=len(more))),
                html.Ul([_value(value) for value in more[: FIRST_VALUES * 5]]),
            ]
        )
    title = html.H2(t("compare.values", count=len(values)), className="section-title", id="compare-values-title")
    return html.Section(
        [title, html.Div([first, rest], className="compare-list")],
        className="card-plain compare-values",
        **aria(labelledby="compare-values-title"),
    )


def _value(value: ValueChange) -> html.Li:
    pair: list[Any] = []
    if value.old is not None:
        pair.append(html.Del(_short(value.old)))
    if value.old is not None and value.new is not None:
        pair.append(html.Span("→", className="arrow", **aria(hidden=True)))
    if value.new is not None:
        pair.append(html.Ins(_short(value.new)))
    context: list[Any] = [" ".join(value.context.split())[:VALUE_CHARS]]
    if value.heading_path:
        context = [html.Small(value.heading_path[-1]), " · ", *context]
    return html.Li(
        html.Button(
            [html.Span(pair, className="value-pair"), html.Span(context, className="value-words")],
            type="button",
            className="jump",
            title=t("compare.go_there"),
            **dataset(compare_row=str(value.row)),
        )
    )


def _chapters(chapters: Sequence[ChapterChange]) -> html.Section | None:
    if not chapters:
        return None
    items = [_chapter(chapter, index) for index, chapter in enumerate(chapters[:FIRST_CHAPTERS])]
    title = html.H2(t("compare.chapters", count=len(chapters)), className="section-title", id="compare-chapters-title")
    return html.Section(
        [title, html.Div(html.Ul(items), className="compare-list")],
        className="card-plain compare-chapters",
        **aria(labelledby="compare-chapters-title"),
    )


def _chapter(chapter: ChapterChange, index: int) -> html.Li:
    name = chapter_name(chapter.heading_path)
    go = html.Button(
        [html.Span(name, className="chapter-name"), html.Small(tally_words(chapter.tally))],
        type="button",
        className="jump",
        title=" › ".join(chapter.heading_path) or t("compare.go_there"),
        **dataset(compare_row=str(chapter.row)),
    )
    only = html.Button(
        icon("funnel"),
        type="button",
        className="tool-button",
        title=t("compare.only_chapter"),
        **aria(label=t("compare.only_chapter_named", name=name), pressed=False),
        **dataset(compare_chapter=str(index)),
    )
    return html.Li([go, only])


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _metadata_name(name: str) -> str:
    return t(f"compare.metadata.{name}") if has(f"compare.metadata.{name}") else name.replace("_", " ")


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return t("compare.yes" if value else "compare.no")
    if isinstance(value, int):
        return number(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
