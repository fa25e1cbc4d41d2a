"""What administrators do on the page Settings to the servers that write answers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from dash import ALL, MATCH, Input, Output, State, callback, ctx, html, no_update, set_props
from dash.exceptions import PreventUpdate

from app.components.settings.servers import (
    DEFAULT,
    FIELD,
    FIELDS,
    NEW,
    PROBLEM,
    REMOVE,
    SAVE,
    TRIED,
    TRY,
    failed_trial,
    server_form,
    server_list,
    trial_words,
)
from app.components.shared.states import error_line, notify, report_callback_error
from app.context import kb
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput, ModelUnavailable
from core.model import GeneratorFailure, Task, is_inside


def servers() -> list[Any]:
    """Return the servers, and the form that adds one."""
    add = html.Details(
        [html.Summary(t("settings.server_add")), server_form()],
        id="settings-server-add",
        className="settings-more",
        open=not kb().generators.list(),
    )
    asking = html.P(t("settings.server_asking"), id="settings-server-asking", role="status", hidden=True)
    return [html.Div(_drawn(), id="settings-servers", className="run-list"), asking, add]


def _drawn() -> list[Any]:
    found = kb().generators
    return server_list(found.list(), found.overriding, found.usual(Task.ANSWER))


def _show() -> None:
    set_props("settings-servers", {"children": _drawn()})


def _pressed() -> str:
    """Return the server whose button was pressed."""
    chosen = ctx.triggered_id
    if not isinstance(chosen, dict) or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return str(chosen["server"])


@callback(
    Output({"type": PROBLEM, "server": MATCH}, "children"),
    Output({"type": FIELD, "server": MATCH, "field": "key"}, "value"),
    Input({"type": SAVE, "server": MATCH}, "n_clicks"),
    *[State({"type": FIELD, "server": MATCH, "field": field}, "value") for field in FIELDS],
    prevent_initial_call=True,
)
def save(_: int | None, name: str | None, url: str | None, model: str | None, key: str | None, inside: Any) -> Any:
    """Add a server, or change one; a key that was not written stays as it is."""
    server = _pressed()
    name = (name or "").strip() if server == NEW else server
    try:
        kb().accounts.require_recent_password()
        if server == NEW and name in kb().generators.names():
            raise InvalidInput(t("settings.server_taken", name=name), remedy=t("settings.server_taken_remedy"))
        if not inside and is_inside(_host(url or "")):
            raise InvalidInput(t("settings.server_refused", host=_host(url or "")), remedy=t("settings.server_tick"))
        kb().generators.set(name, url or "", model=model or "", key=key or None, allow_inside=bool(inside))
    except EvoRAGError as error:
        return error_line(error), no_update
    notify("ok", t("settings.server_saved", name=name))
    _show()
    return None, ""


def _host(url: str) -> str:
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""


@callback(
    Input({"type": TRY, "server": ALL}, "n_clicks"),
    prevent_initial_call=True,
    running=[(Output("settings-server-asking", "hidden"), False, True)],
)
def try_out(_: list[int | None]) -> None:
    """Ask a server one short question, and show in its place what came of it."""
    name = _pressed()
    try:
        shown = trial_words(kb().generators.try_out(name))
    except EvoRAGError as error:
        reason, values = (error.reason, error.values) if isinstance(error, ModelUnavailable) else ("", {})
        shown = failed_trial(GeneratorFailure(name, error.code, error.message, error.remedy, reason, values))
    set_props({"type": TRIED, "server": name}, {"children": shown})


@callback(Input({"type": DEFAULT, "server": ALL}, "n_clicks"), prevent_initial_call=True)
def choose_default(_: list[int | None]) -> None:
    """Have a server write where a question names no generator, or no longer."""
    name = _pressed()
    try:
        kb().accounts.require_recent_password()
        is_default = any(each.is_default for each in kb().generators.list() if each.name == name)
        kb().generators.make_default("none" if is_default else name)
        notify("ok", t("settings.server_undefaulted" if is_default else "settings.server_defaulted", name=name))
    except EvoRAGError as error:
        report_callback_error(error)
    _show()


@callback(Input({"type": REMOVE, "server": ALL}, "submit_n_clicks"), prevent_initial_call=True)
def remove(_: list[int | None]) -> None:
    """Forget a server with its key, once that was confirmed."""
    name = _pressed()
    try:
        kb().accounts.require_recent_password()
        kb().generators.remove(name)
        notify("ok", t("settings.server_removed", name=name))
    except EvoRAGError as error:
        report_callback_error(error)
    _show()
