"""The body of the Document page: what is shown and why, the text, the timeline, and what is known beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import dcc, html

from app.components.attributes import aria
from app.components.document.facts import document_facts, indexing, left_out, losses, tags_editor
from app.components.document.grid import STATES
from app.components.document.page_view import page_view
from app.components.document.preview import page_start, pager, preview
from app.components.document.timeline import Past, purged_words, timeline
from app.components.document.typeset import Placed, typeset
from app.components.document.version_forms import Form
from app.components.shared.icon import icon
from app.components.shared.links import Span, document_href
from app.components.shared.passage import locator_text, passage
from app.components.shared.states import badge, empty, error_line
from app.components.shared.times import exactly
from app.components.shared.wording import sentence
from app.i18n import t
from core.model import Job, PlacedChunk, Preview, Version

MODES = ("pages", "text", "chunks")
SYMBOLS = {"pages": "file-earmark-text", "text": "body-text", "chunks": "card-text"}


@dataclass(frozen=True, slots=True)
class Shown:
    """How a version is shown, in which ways it can be, and for ``text`` its blocks with where each begins."""

    mode: str = "text"
    modes: Sequence[str] = MODES[1:]
    blocks: Sequence[Placed] = ()


def document_body(
    past: Past,
    version: Version | None,
    stretch: Preview | None,
    shown: Shown,
    jobs: Sequence[Job],
    *,
    chunk: int | None,
    span: Span | None,
    form: Form | None,
    everything: bool,
) -> list[Any]:
    """The text of ``version`` beside the timeline; ``stretch`` is the part of it that holds the chunk to show."""
    jump = html.A([icon("arrow-down"), t("document.versions")], href="#versions-title", className="versions-jump")
    main: list[Any] = [_state_line(past, version), jump]
    if version is not None and version.is_draft and version.state != "purged":
        main.append(_draft_line(past, version))
    main += [indexing(job) for job in jobs]
    if version is not None and version.error:
        main.append(error_line(version.error))
    if version is not None and version.metadata.get("losses"):
        main.append(losses(version))
    if version is not None and version.metadata.get("left_out"):
        main.append(left_out(version))
    if version is not None and stretch is not None and stretch.reading != version.reading:
        main.append(_other_reading(version))
    main.append(_text(past, version, stretch, shown, chunk, span))
    target = _target(stretch, chunk)
    aside = [
        _as_text(target, span) if target is not None and shown.mode == "pages" else None,
        html.Section(
            [
                html.H2(t("document.versions"), className="section-title", id="versions-title", tabIndex=-1),
                timeline(past, form, everything=everything),
            ],
            className="card-plain",
            id="document-timeline",
        ),
        html.Section(
            [
                html.H2(t("document.about"), className="section-title"),
                tags_editor(past.document),
                document_facts(past.document, version),
            ],
            className="card-plain",
        ),
    ]
    return [html.Div(main, className="document-main"), html.Aside(aside, className="document-aside")]


def _state_line(past: Past, version: Version | None) -> html.Div:
    document = past.document
    parts: list[Any] = [badge(STATES.get(document.state, "neutral"), t(f"document.state.{document.state}"))]
    if version is None or document.state == "purged":
        return html.Div(parts, className="state-line")
    parts.append(html.Span(t("document.showing", number=version.number, name=version.file_name)))
    if document.published_version is None:
        if document.state in ("deleted", "unpublished"):
            parts.append(html.Span(t("document.in_no_answer")))
    elif version.number != document.published_version:
        parts.append(badge("warning", t("document.not_published", number=document.published_version)))
    return html.Div(parts, className="state-line")


def _draft_line(past: Past, version: Version) -> html.Div:
    words: list[Any] = [html.Strong(t("document.draft"))]
    if version.publish_at is not None:
        words += [" ", *sentence("version.scheduled_line", time=exactly(version.publish_at))]
    parts: list[Any] = [html.Span(words)]
    answers = past.answers_href(version) if version.state == "ready" else None
    if answers is not None:
        parts.append(dcc.Link([icon("question-circle"), t("document.draft_answers")], href=answers))
    return html.Div(parts, className="draft-line")


def _other_reading(version: Version) -> html.Div:
    """Says that the address leads to another reading than the one in use, and where that is."""
    href = document_href(version.doc_key, version.number)
    return html.Div(
        [html.Span(t("document.other_reading")), dcc.Link(t("document.reading_in_use"), href=href)],
        className="draft-line",
    )


def _target(stretch: Preview | None, chunk: int | None) -> PlacedChunk | None:
    return next((each for each in stretch.chunks if each.chunk.position == chunk), None) if stretch else None


def _as_text(target: PlacedChunk, span: Span | None) -> html.Section:
    """The passage that the address marks on its page, as text beside it."""
    place = locator_text(target.chunk.locator)
    return html.Section(
        [
            html.H2(t("pages.as_text"), className="section-title"),
            html.P(place, className="muted") if place else None,
            passage(target.chunk, [span] if span else []),
        ],
        className="card-plain passage-beside",
    )


def _text(
    past: Past, version: Version | None, stretch: Preview | None, shown: Shown, chunk: int | None, span: Span | None
) -> Any:
    if version is not None and version.state == "purged":
        return _purged(version, past.purge_note(version), is_citation=chunk is not None)
    if stretch is None or version is None:
        waits = version is not None and version.state == "stored"
        kind = "waiting" if waits else "nothing"
        return empty("hourglass-split" if waits else "slash-circle", t(f"document.{kind}"), t(f"document.{kind}_text"))
    if not stretch.chunks:
        return empty("slash-circle", t("document.nothing"), t("document.nothing_text"))
    start = page_start(chunk or 0)
    switch = _switch(version, shown, chunk, span, stretch.reading)
    if shown.mode == "pages":
        return html.Div([switch, page_view(version, _target(stretch, chunk), span)], className="document-text")
    if shown.mode == "text":
        pages = pager(stretch, start, "" if shown.mode == shown.modes[0] else shown.mode)
        content = [pages, typeset(shown.blocks, stretch.chunks, chunk, span), pages]
        return html.Div([switch, *content], className="document-text")
    return html.Div([switch, preview(stretch, start, chunk, span)], className="document-text")


def _switch(version: Version, shown: Shown, chunk: int | None, span: Span | None, reading: int) -> html.Nav:
    """The ways to look at the text, as links, so that each has its address."""
    found: list[Any] = []
    for mode in shown.modes:
        href = document_href(version.doc_key, version.number, chunk, span, mode, reading)
        content: list[Any] = [icon(SYMBOLS[mode]), t(f"document.view.{mode}")]
        if mode == shown.mode:
            found.append(html.Span(content, className="btn btn-secondary btn-sm", **aria(current=True)))
        else:
            found.append(dcc.Link(content, href=href, className="btn btn-secondary btn-sm"))
    return html.Nav(found, className="document-views", **aria(label=t("document.views")))


def _purged(version: Version, reason: str, *, is_citation: bool) -> html.Div:
    """What stands where a text was, for whoever opens the version or follows a citation to it."""
    return html.Div(
        [
            icon("slash-circle", "state-icon"),
            html.H2(t("document.purged_title", number=version.number), className="state-title"),
            html.P(purged_words("version.purged_line", version), className="state-text"),
            html.P(reason, className="version-note") if reason else None,
            html.P(t("document.purged_text"), className="state-text"),
            html.P(t("document.purged_citation"), className="state-text") if is_citation else None,
        ],
        className="state state-empty",
    )
