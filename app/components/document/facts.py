"""What is known about a document beside its text: facts, tags, actions, and how far indexing is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import dash_bootstrap_components as dbc
from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.attributes import aria
from app.components.shared.icon import file_icon, icon
from app.components.shared.states import badge
from app.components.shared.times import time_left, when
from app.components.shared.wording import in_part_words, loss_words
from app.i18n import has, number, size, t
from core.model import Document, Job, Stage, Version

HIDDEN_METADATA = frozenset({"source_path", "language", "title", "blocks", "in_part", "losses", "left_out"})


def document_actions(document: Document, version: Version | None) -> html.Div:
    """Everything that can be done with the document from its page; ``version`` is the one that the page shows."""
    original = html.A(
        [icon("download"), t("document.original")],
        href=links.original(document.doc_key, version.number if version else document.latest_version),
        className="btn btn-secondary",
        download=document.name,
    )
    ask = dcc.Link(
        [icon("chat-square-text"), t("document.ask")],
        href=f"{links.ASK}?{urlencode({'doc': document.doc_key})}",
        className="btn btn-primary",
    )
    edit = dcc.Link(
        [icon("pencil"), t("document.edit")],
        href=f"{links.DOCUMENTS}?{urlencode({'edit': document.doc_key})}",
        className="btn btn-secondary",
    )
    is_deleted = document.state == "deleted"
    is_purged = document.state == "purged"
    shown: list[Component] = [ask] if document.published_version is not None else []
    shown += [original] if version is not None and version.state != "purged" else []
    shown += [edit] if document.is_text_entry and not (is_deleted or is_purged) else []
    restore = t("document.show_again" if document.state == "unpublished" else "document.restore")
    can_restore = is_deleted or document.state == "unpublished"
    return html.Div(
        [
            *shown,
            _button("document-restore", "arrow-counterclockwise", restore, is_hidden=not can_restore),
        ],
        className="button-row document-actions for-editors",
    )


def document_facts(document: Document, version: Version | None) -> html.Dl:
    """Type, size, language, dates, checksum and the metadata that the parser found."""
    code = document.language
    facts: list[tuple[str, Any]] = [
        (t("documents.type"), html.Span([file_icon(document.extension), f" {document.extension}"])),
        *([(t("documents.language"), t(f"language.{code}") if has(f"language.{code}") else code)] if code else []),
        (t("document.created"), when(document.created_at)),
        (t("documents.updated"), when(document.updated_at)),
    ]
    if version is not None and version.state != "purged":
        facts += [
            (t("documents.size"), size(version.size_bytes)),
            (t("documents.chunks"), f"{version.chunk_count:,}"),
            *_metadata(version.metadata),
            (t("document.checksum"), html.Code(version.sha256[:16] + "…", title=version.sha256)),
        ]
    return html.Dl([part for name, value in facts for part in (html.Dt(name), html.Dd(value))], className="facts")


def tags_editor(document: Document) -> html.Div:
    """The tags in one field that is kept when it is left or Enter is pressed."""
    return html.Div(
        [
            html.Label([icon("tag"), t("documents.tags")], htmlFor="document-tags"),
            dbc.Input(
                id="document-tags",
                value=", ".join(document.tags),
                debounce=True,
                placeholder=t("document.tags_example"),
                maxLength=500,
                size="sm",
                disabled=document.state in ("deleted", "purged"),
            ),
            html.Span(id="document-tags-state", className="hint", role="status"),
        ],
        className="tags-editor",
    )


def indexing(job: Job) -> html.Div:
    """The stage that a new version is in, with what is done of how much."""
    share = int(100 * job.share)
    # Pages that are pictures are counted while their text is recognised, within the stage of reading.
    is_recognising = job.stage is Stage.PARSING and job.total and job.resources.get("peak_pictures") == job.total
    stage = "recognising" if is_recognising else str(job.stage)
    stage = t(f"job.stage.{stage}") if has(f"job.stage.{stage}") else stage
    count = t("document.done_of", done=job.done, total=job.total) if job.total else ""
    bar = html.Div(
        html.Div(className="bar-fill" if share else "bar-fill bar-unknown", style={"width": f"{share or 100}%"}),
        className="bar",
        role="progressbar",
        **aria(label=stage),
        **(aria(valuenow=share, valuemin=0, valuemax=100) if share else {}),
    )
    words = t("document.indexing", number=job.version, stage=stage)
    left = "" if job.seconds_left is None else time_left(job.seconds_left)
    count = " · ".join(part for part in (count, left) if part)
    ready = html.P(t("document.keyword_ready"), className="muted") if job.keyword_ready else None
    return html.Div(
        [html.Div([html.Span(words), html.Span(count)], className="label-row"), bar, ready], className="card-plain"
    )


def losses(version: Version) -> html.Div:
    """Say what was not read as it is, and why; what was left out on purpose is said without a warning."""
    found = version.metadata.get("losses", {})
    lines = [html.Li(loss_words(reason, places)) for reason, places in found.items() if has(f"losses.{reason}")]
    parts: list[Component] = [html.Ul(lines, className="plain-list")]
    if version.in_part:
        parts.insert(0, badge("warning", in_part_words(version.in_part)))
    return html.Div(parts, className="losses degraded" if version.in_part else "losses muted", role="note")


def left_out(version: Version) -> html.Details:
    """Show how that begins which stands around the text of a web page and is not read."""
    lines = [html.Li(line) for line in str(version.metadata["left_out"]).split("\n")]
    return html.Details(
        [html.Summary(t("version.left_out")), html.Ul(lines, className="plain-list muted")], className="left-out"
    )


def _metadata(metadata: Mapping[str, Any]) -> list[tuple[str, Any]]:
    facts = []
    for name, value in metadata.items():
        if name in HIDDEN_METADATA or value in (None, "", [], {}):
            continue
        word = t(f"metadata.{name}") if has(f"metadata.{name}") else name.replace("_", " ")
        facts.append((word, _shown(value)))
    return facts


def _shown(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return number(value)
    text = _plain(value)
    try:
        at = datetime.fromisoformat(text) if len(text) > len("2026-01-01") else None
    except ValueError:
        at = None
    return when(at) if at is not None and at.tzinfo is not None else html.Span(text, className="user-text")


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return str(value)


def _button(component_id: str, symbol: str, word: str, *, is_hidden: bool) -> html.Button:
    return html.Button(
        [icon(symbol), word], id=component_id, type="button", className="btn btn-secondary btn-quiet", hidden=is_hidden
    )
