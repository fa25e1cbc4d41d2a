"""The versions of a document, newest first: what each holds, what it cost, and which one is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from app import links
from app.components.icon import icon
from app.components.links import document_href
from app.components.states import badge, error_line
from app.components.times import when
from app.i18n import size, t
from core.model import Version

STATES = {"stored": "working", "ready": "neutral", "failed": "error", "cancelled": "neutral"}


def versions_list(versions: Sequence[Version], shown: int | None) -> html.Ol:
    """One item a version; ``shown`` is the number of the version that the page is showing."""
    return html.Ol([_version(version, version.number == shown) for version in versions], className="versions")


def version_state(version: Version) -> html.Span:
    """What became of a version, as an icon and a word."""
    if version.is_published:
        return badge("ok", t("version.published"))
    return badge(STATES.get(version.state, "neutral"), t(f"version.state.{version.state}"))


def _version(version: Version, is_shown: bool) -> html.Li:
    name = dcc.Link(
        t("version.number", number=version.number),
        href=document_href(version.doc_key, version.number),
        className="version-number",
    )
    facts = [when(version.created_at), html.Span(size(version.size_bytes))]
    if version.state == "ready":
        facts.append(
            html.Span(
                t("version.chunks", count=version.chunks_added, kept=version.chunks_kept),
                title=t("version.chunks_explain"),
            )
        )
    parts: list[Any] = [
        html.Div([name, version_state(version)], className="version-head"),
        html.Div(facts, className="version-facts"),
    ]
    if version.note:
        parts.append(html.P(version.note, className="version-note"))
    if version.error:
        parts.append(error_line(version.error))
    parts.append(html.Div(_actions(version), className="version-actions"))
    current = {"aria-current": "true"} if is_shown else {}
    return html.Li(parts, className="version version-shown" if is_shown else "version", **current)


def _actions(version: Version) -> list[Any]:
    original = html.A(
        [icon("download"), t("version.original")],
        href=links.original(version.doc_key, version.number),
        title=version.file_name,
        download=version.file_name,
    )
    if version.state != "ready" or version.is_published:
        return [original]
    publish = html.Button(
        t("version.publish"),
        id={"type": "version-publish", "number": version.number},
        className="btn btn-link btn-sm",
        type="button",
        title=t("version.publish_explain", number=version.number),
    )
    return [original, publish]
