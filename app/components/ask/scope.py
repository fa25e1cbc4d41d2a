"""Which moment a question is asked of: the fields that choose it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.document.version_forms import moment_input
from app.components.shared.filter_words import dropdown_words
from app.components.shared.icon import icon
from app.components.shared.times import exactly, on_day
from app.components.shared.wording import sentence
from app.i18n import t
from core.model import AsOf, Document, Query, Version, VersionRef, format_as_of

KINDS = ("now", "moment", "sequence", "version")
Offered = Sequence[tuple[Document, Sequence[Version]]]


def kind_of(query: Query) -> str:
    """Return which of ``KINDS`` the query's “as of” is."""
    if query.as_of is None:
        return "now"
    if isinstance(query.as_of, VersionRef):
        return "version"
    return "moment" if isinstance(query.as_of, datetime) else "sequence"


def scope_fields(query: Query, offered: Offered) -> html.Div:
    """What a question is asked of: now, a moment, a publication or a version; and whether of all versions."""
    kind = kind_of(query)
    given = format_as_of(query.as_of)
    start = given if kind == "moment" else None
    options = [{"value": each, "label": t(f"ask.kind.{each}")} for each in KINDS]
    fields = [
        html.Div(
            [
                html.Label(t("ask.as_of"), htmlFor="ask-kind"),
                dbc.Select(id="ask-kind", options=options, value=kind, size="sm"),
            ]
        ),
        _field("moment", kind, [html.Label(t("ask.moment"), htmlFor="ask-moment"), moment_input("ask-moment")]),
        _field(
            "sequence",
            kind,
            [
                html.Label(t("ask.sequence"), htmlFor="ask-sequence"),
                dbc.Input(
                    id="ask-sequence",
                    type="number",
                    min=0,
                    step=1,
                    size="sm",
                    value=int(given) if kind == "sequence" and given else None,
                ),
                html.P(dcc.Link(t("ask.sequence_where"), href=links.audit()), className="field-hint"),
            ],
        ),
        _field(
            "version",
            kind,
            [
                html.Label(t("ask.version"), htmlFor="ask-version"),
                dcc.Dropdown(
                    id="ask-version",
                    options=version_options(offered, given if kind == "version" else None),
                    value=given if kind == "version" else None,
                    placeholder=t("ask.version_placeholder"),
                    labels=dropdown_words(),
                ),
            ],
        ),
    ]
    every = dbc.Switch(id="ask-all", label=t("ask.all_versions"), value=query.versions == "all")
    return html.Div(
        [
            html.Div(fields, className="filter-fields"),
            html.Div(
                [every, html.P(t("ask.all_versions_hint"), className="field-hint")],
                id="ask-all-box",
                hidden=kind == "version",
            ),
            dcc.Store(id="ask-asof", data=given),
            dcc.Store(id="ask-asof-start", data=start),
        ],
        className="scope-fields",
    )


def version_options(offered: Offered, chosen: str | None = None) -> list[dict[str, Any]]:
    """The versions that can be asked, by document; ``chosen`` stands among them in any case."""
    options: dict[str, dict[str, Any]] = {
        str(VersionRef(document.doc_key, version.number)): _option(document, version)
        for document, versions in offered
        for version in versions
        if version.state == "ready"
    }
    if chosen and chosen not in options:
        options = {chosen: {"label": chosen}, **options}
    return [{"value": value, **shown} for value, shown in options.items()]


def scope_chips(as_of: AsOf | None, versions: str) -> list[html.Span]:
    """What a question is asked of, where that is not what is shown now."""
    chips = []
    if as_of is not None:
        chips.append(html.Span([icon("clock-history"), *_asked_of(as_of)], className="chip"))
    if versions == "all":
        chips.append(html.Span([icon("layers"), t("ask.all_versions")], className="chip"))
    return chips


def _field(name: str, kind: str, children: list[Any]) -> html.Div:
    return html.Div(children, id=f"ask-{name}-box", hidden=kind != name)


def _option(document: Document, version: Version) -> dict[str, Any]:
    words = f"{document.name} · v{version.number}" + (f" · {version.label}" if version.label else "")
    standing = f" · {t('ask.standing.current')}" if version.is_published else ""
    # Dash searches a label that is no text by its ``search`` alone.
    return {"label": html.Span([f"{words} · ", on_day(version.created_at), standing]), "search": words + standing}


def _asked_of(as_of: AsOf) -> list[Any]:
    if isinstance(as_of, VersionRef):
        return [t("ask.chip_version", name=as_of.doc_key, version=as_of.version)]
    return sentence("ask.chip", moment=exactly(as_of) if isinstance(as_of, datetime) else f"#{as_of}")
