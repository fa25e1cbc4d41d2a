"""The dialog that finds pages, documents, conversations and actions by their names.

``assets/modules/shell/palette.js`` fills it.
"""

from __future__ import annotations

import json

import dash_bootstrap_components as dbc
from dash import html

from app import links
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shell.doors import DOORS
from app.i18n import LANGUAGES, language, t

QUERY_CHARS = 200
NEW_TEXT = f"{links.DOCUMENTS}?new=1"


def palette() -> html.Dialog:
    """The closed dialog: a field, and a list of what it finds that the arrow keys go through."""
    field = dbc.Input(
        id="palette-field",
        type="text",
        placeholder=t("palette.field"),
        maxLength=QUERY_CHARS,
        autocomplete="off",
        className="palette-field",
    )
    return html.Dialog(
        [
            html.H2(t("palette.title"), id="palette-title", className="visually-hidden"),
            html.Label(t("palette.field"), htmlFor="palette-field", className="visually-hidden"),
            html.Div([icon("search"), field], className="palette-head"),
            html.Ul(id="palette-list", className="palette-list", role="listbox", **aria(label=t("palette.title"))),
            html.P(id="palette-said", className="visually-hidden", role="status"),
            html.P(t("palette.hint"), className="palette-hint", **aria(hidden=True)),
        ],
        id="palette",
        className="dialog palette",
        **aria(labelledby="palette-title"),
        **dataset(entries=json.dumps({"pages": _pages(), "actions": _actions()}, ensure_ascii=False)),
    )


def palette_button() -> html.Button:
    """Opens the palette from the rail."""
    return html.Button(
        [
            icon("search"),
            html.Span(t("palette.open"), className="rail-word"),
            html.Kbd("Ctrl K", className="rail-word"),
        ],
        type="button",
        className="rail-link rail-find",
        title=f"{t('palette.open')} (Ctrl+K)",
        **aria(haspopup="dialog"),
        **dataset(action="palette"),
    )


def _pages() -> list[dict[str, str]]:
    return [
        {
            "words": t(f"nav.{place.name}"),
            "beside": t(f"nav.{door.name}") if place is not door.places[0] else "",
            "symbol": door.symbol,
            "go": place.path,
        }
        for door in DOORS
        for place in door.places
    ]


def _actions() -> list[dict[str, str]]:
    """What the palette does; ``for`` is the role that it takes."""
    other = next(code for code in LANGUAGES if code != language())
    return [
        {"words": t("palette.act.ask"), "symbol": "chat-square-text", "go": links.HOME},
        {"words": t("palette.act.upload"), "symbol": "upload", "go": links.UPLOAD, "for": "editor"},
        {"words": t("palette.act.text"), "symbol": "pencil", "go": NEW_TEXT, "for": "editor"},
        {"words": t("palette.act.sample"), "symbol": "collection", "do": "sample", "for": "editor"},
        {"words": t("palette.act.light"), "symbol": "sun", "do": "theme", "with": "light"},
        {"words": t("palette.act.dark"), "symbol": "moon-stars", "do": "theme", "with": "dark"},
        {"words": t("palette.act.system"), "symbol": "circle-half", "do": "theme", "with": "system"},
        {"words": t("palette.act.language"), "symbol": "translate", "do": "language", "with": other},
        {"words": t("palette.act.tour"), "symbol": "info-circle", "do": "tour"},
        {"words": t("palette.act.keys"), "symbol": "keyboard", "do": "keys"},
    ]
