"""The frame around every page: skip link, rail, language and theme switches, notices, and the list of keys."""

from __future__ import annotations

import json

from dash import ClientsideFunction, Dash, Input, Output, dcc, html, page_container

from app import links
from app.components.attributes import aria, dataset
from app.components.shared import ids
from app.components.shared.icon import FILE_ICONS, icon
from app.components.shell.account import account_dialog, account_entry, account_rows, signed_out_dialog
from app.components.shell.doors import rail_links, tabs
from app.components.shell.palette import palette, palette_button
from app.context import principal
from app.i18n import LANGUAGES, language, messages, t

SCRIPT_AREAS = ("job.", "upload.", "error.", "ask.live.", "neurons.live.", "palette.", "connection.")
"""The areas of messages that scripts show: rows of jobs and uploads, answers on their way, recorded neurons, what the
palette finds, how the server is, and what went wrong."""
THEMES = (("light", "sun"), ("dark", "moon-stars"), ("system", "circle-half"))
KEYS = (
    ("Ctrl+K", "keys.find"),
    ("/", "keys.ask"),
    ("g d", "keys.documents"),
    ("g u", "keys.upload"),
    ("g j", "keys.jobs"),
    ("n p", "keys.changes"),
    ("?", "keys.list"),
)

_FILE_ICONS = json.dumps(FILE_ICONS)


def shell() -> html.Div:
    """Return the whole window in the language of the request; Dash calls this once for each load of the page."""
    return html.Div(
        [
            html.A(t("shell.skip"), href="#content", className="skip-link"),
            _rail(),
            html.Div(
                [_connection(), tabs(), html.Main(page_container, id="content", className="content", tabIndex=-1)]
            ),
            html.Div(id=ids.NOTICE, className="notice-area", role="status", **aria(live="polite")),
            palette(),
            _keys_dialog(),
            _more_dialog(),
            account_dialog(principal()),
            signed_out_dialog(principal()),
            html.Div(id=ids.SCRIPT_TEXTS, hidden=True, **dataset(texts=_script_texts(), file_icons=_FILE_ICONS)),
            html.Div(id=ids.SHELL_PATH, hidden=True),
        ],
        className="shell",
        **dataset(role=principal().role.value),
    )


def watch_navigation(app: Dash) -> None:
    """Let the browser mark the current page in the rail whenever the address changes."""
    app.clientside_callback(
        ClientsideFunction("shell", "navigated"),
        Output(ids.SHELL_PATH, "children"),
        Input("_pages_location", "pathname"),
    )


def _rail() -> html.Nav:
    brand = dcc.Link(
        [html.Span("E", className="brand-mark", **aria(hidden=True)), html.Span("EvoRAG", className="rail-word")],
        href=links.HOME,
        className="rail-brand",
        title="EvoRAG",
    )
    foot = html.Div(
        [
            palette_button(),
            account_entry(principal()),
            _theme_switch(),
            _language_switch(),
            html.Button(
                [icon("three-dots"), html.Span(t("shell.more"), className="rail-word")],
                className="rail-link rail-more",
                type="button",
                **dataset(action="more"),
            ),
            html.Button(
                [icon("keyboard"), html.Span(t("keys.title"), className="rail-word")],
                className="rail-link",
                type="button",
                title=t("keys.title"),
                **dataset(action="keys"),
            ),
            html.Button(
                [icon("layout-sidebar"), html.Span(t("shell.collapse"), className="rail-word")],
                className="rail-link rail-collapse",
                type="button",
                title=t("shell.collapse"),
                **aria(expanded=True),
                **dataset(action="collapse"),
            ),
        ],
        className="rail-foot",
    )
    return html.Nav(
        [brand, html.Div(rail_links(), className="rail-links"), foot], className="rail", **aria(label=t("shell.main"))
    )


def _theme_switch() -> html.Div:
    choices = [
        html.Button(
            icon(symbol),
            type="button",
            title=t(f"theme.{name}"),
            **aria(label=t(f"theme.{name}"), pressed=False),
            **dataset(theme_choice=name),
        )
        for name, symbol in THEMES
    ]
    return html.Div(choices, className="switch", role="group", **aria(label=t("theme.title")))


def _language_switch() -> html.Div:
    choices = [
        html.Button(
            code.upper(),
            type="button",
            title=name,
            lang=code,
            **aria(label=f"{code.upper()} {name}", pressed=code == language()),
            **dataset(language_choice=code),
        )
        for code, name in LANGUAGES.items()
    ]
    return html.Div(choices, className="switch", role="group", **aria(label=t("shell.language")))


def _more_dialog() -> html.Dialog:
    """What the rail has no room for on narrow screens."""
    find = html.Button(
        [icon("search"), t("palette.open")], type="button", className="btn btn-secondary", **dataset(action="palette")
    )
    return html.Dialog(
        [
            html.H2(t("shell.more"), id="more-title", className="dialog-title"),
            html.Div([find, *account_rows(principal()), _theme_switch(), _language_switch()], className="dialog-rows"),
            html.Button(t("shell.close"), type="button", className="btn btn-secondary", **dataset(action="close")),
        ],
        id="more-dialog",
        className="dialog",
        **aria(labelledby="more-title"),
    )


def _connection() -> html.Div:
    """What says that the server cannot be reached or is slow; ``assets/modules/shell/connection.js`` shows it."""
    retry = html.Button(t("state.again"), id="connection-retry", type="button", className="btn btn-secondary btn-sm")
    reload = html.Button(
        t("connection.reload"),
        id="connection-reload",
        type="button",
        className="btn btn-secondary btn-sm",
        **dataset(action="reload"),
    )
    words = html.Span(id="connection-text", role="alert")
    return html.Div(
        [icon("exclamation-triangle-fill"), words, retry, reload], id="connection", className="connection", hidden=True
    )


def _script_texts() -> str:
    """The messages that scripts show, as JSON."""
    spoken = {key: text for key, text in messages(language()).items() if key.startswith(SCRIPT_AREAS)}
    return json.dumps(spoken, ensure_ascii=False)


def _keys_dialog() -> html.Dialog:
    rows = [html.Tr([html.Td([html.Kbd(key) for key in keys.split()]), html.Td(t(meaning))]) for keys, meaning in KEYS]
    return html.Dialog(
        [
            html.H2(t("keys.title"), id="keys-title", className="dialog-title"),
            html.Table(html.Tbody(rows), className="keys-table"),
            html.P(dcc.Link(t("api.title"), href=links.API_DOCS)),
            html.Button(t("shell.close"), type="button", className="btn btn-secondary", **dataset(action="close")),
        ],
        id="keys-dialog",
        className="dialog",
        **aria(labelledby="keys-title"),
    )
