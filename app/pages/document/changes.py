"""What is done on the Document page: publish, go back, take away, bring back, plan, describe, remove for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from dash import (
    ALL,
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    ctx,
    html,
    no_update,
    set_props,
)
from dash.exceptions import PreventUpdate

from app.components.document.purge_dialog import purge_question
from app.components.shared.states import error_line, notify
from app.context import kb
from app.i18n import t
from app.pages.document.view import drawn, view_of
from core.errors import EvoRAGError
from core.model import Publication

VIEW = State("document-view", "data")
OPENED = State("document-open", "data")


def _page() -> tuple[Output, ...]:
    """All of the page that a change touches, in the order of ``drawn``, and what is opened in its timeline."""
    return (
        Output("document-body", "children", allow_duplicate=True),
        Output("document-actions", "children", allow_duplicate=True),
        Output("document-tick", "disabled", allow_duplicate=True),
        Output("document-tick", "interval", allow_duplicate=True),
        Output("document-seen", "data", allow_duplicate=True),
        Output("document-open", "data", allow_duplicate=True),
    )


def _again(data: list[Any], opened: dict[str, Any] | None = None) -> tuple[Any, ...]:
    kept = dict(opened or {})
    return *drawn(view_of(data, kept)), kept


def _closed(opened: dict[str, Any] | None) -> dict[str, Any]:
    return {"everything": True} if (opened or {}).get("everything") else {}


def _pressed() -> dict[str, Any]:
    """The id of the button that was pressed. Raises: ``PreventUpdate`` where a button only appeared."""
    if not isinstance(ctx.triggered_id, dict) or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return ctx.triggered_id


def _undo(action: str, key: str, number: int = 0) -> html.Button:
    return html.Button(
        t("documents.undo"),
        id={"type": "document-undo", "action": action, "key": key, "number": number},
        type="button",
        className="btn btn-link btn-sm",
    )


def _shown_before(done: Publication) -> int | None:
    """The version that the document showed until ``done``."""
    older = [each for each in kb().publications(done.doc_key) if each.seq < done.seq]
    return older[0].version if older else None


def _bring_back(key: str) -> None:
    """Bring a document back, and say where that shows nothing yet."""
    done = kb().restore(key)
    notify("ok", t("document.restored" if done.version is not None else "document.reopened", number=done.subject))


def _tell_shown(key: str, done: Publication, message: str) -> None:
    """Say which version is shown now, with the way back to what was shown before."""
    before = _shown_before(done)
    if message == "document.rolled_back" and (before or 0) < (done.version or 0):
        message = "document.shown_again"
    undo = _undo("publish", key, before) if before is not None and before != done.version else None
    notify("ok", t(message, number=done.version), undo)


@callback(
    *_page(),
    Input("document-delete", "n_clicks"),
    Input("document-restore", "n_clicks"),
    VIEW,
    OPENED,
    prevent_initial_call=True,
)
def delete_or_restore(
    _delete: int | None, _restore: int | None, data: list[Any], opened: dict[str, Any] | None
) -> tuple[Any, ...]:
    """Take the document out of every answer, or bring it back; neither loses anything."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    if ctx.triggered_id == "document-delete":
        kb().delete(data[0])
        notify("ok", t("document.deleted"), _undo("restore", data[0]))
    else:
        _bring_back(data[0])
    return _again(data, _closed(opened))


@callback(
    *_page(),
    Input({"type": "version-act", "action": ALL, "number": ALL}, "n_clicks"),
    VIEW,
    OPENED,
    prevent_initial_call=True,
)
def act_on_version(_clicks: Sequence[int | None], data: list[Any], opened: dict[str, Any] | None) -> tuple[Any, ...]:
    """Publish, go back to, or plan a version; or open what asks for more: a form in its place, or the dialog."""
    button = _pressed()
    key, number, action = data[0], int(button["number"]), str(button["action"])
    if action == "publish":
        _tell_shown(key, kb().publish(key, number), "document.published")
    elif action == "rollback":
        _tell_shown(key, kb().rollback(key, number), "document.rolled_back")
    elif action == "unschedule":
        kb().schedule(key, number, None)
        notify("ok", t("document.unscheduled", number=number))
    elif action == "purge":
        _ask_to_purge(key, number)
        return (no_update,) * 6
    else:
        return _again(data, {**_closed(opened), "form": action, "number": number})
    return _again(data, _closed(opened))


@callback(
    *_page(),
    Input({"type": "document-act", "action": ALL}, "n_clicks"),
    VIEW,
    OPENED,
    prevent_initial_call=True,
)
def act_on_document(_clicks: Sequence[int | None], data: list[Any], opened: dict[str, Any] | None) -> tuple[Any, ...]:
    """Go back to what was shown before, show nothing, list all versions, or ask before everything is removed."""
    key, action = data[0], _pressed()["action"]
    if action == "everything":
        return _again(data, {"everything": True})
    if action == "purge":
        _ask_to_purge(key, None)
        return (no_update,) * 6
    if action == "rollback":
        _tell_shown(key, kb().rollback(key), "document.rolled_back")
    else:
        kb().unpublish(key)
        notify("ok", t("document.unpublished"), _undo("restore", key))
    return _again(data, _closed(opened))


@callback(
    *_page(),
    Input("version-keep", "n_clicks"),
    Input("version-label", "n_submit"),
    State("version-label", "value"),
    State("version-note", "value"),
    VIEW,
    OPENED,
    prevent_initial_call=True,
)
def describe(
    _keep: int | None,
    _submit: int | None,
    label: str | None,
    note: str | None,
    data: list[Any],
    opened: dict[str, Any],
) -> tuple[Any, ...]:
    """Keep the note and the label of a version."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    number = int(opened["number"])
    kb().annotate(data[0], number, note=(note or "").strip(), label=(label or "").strip())
    notify("ok", t("document.described", number=number))
    return _again(data, _closed(opened))


@callback(*_page(), Input("version-close", "n_clicks"), VIEW, OPENED, prevent_initial_call=True)
def close_form(clicks: int | None, data: list[Any], opened: dict[str, Any] | None) -> tuple[Any, ...]:
    """Close the open form without keeping what was written in it."""
    if not clicks:
        raise PreventUpdate
    return _again(data, _closed(opened))


@callback(*_page(), Input("document-moment", "data"), VIEW, OPENED, prevent_initial_call=True)
def plan(moment: dict[str, Any] | None, data: list[Any], opened: dict[str, Any]) -> tuple[Any, ...]:
    """Publish a version by itself at the moment that the browser read in its own zone."""
    if not moment:
        raise PreventUpdate
    number = int(opened["number"])
    kb().schedule(data[0], number, datetime.fromisoformat(moment["at"]))
    notify("ok", t("document.scheduled", number=number))
    return _again(data, _closed(opened))


def _ask_to_purge(key: str, number: int | None) -> None:
    version = kb().version(key, number) if number is not None else None
    set_props("purge-question", {"children": purge_question(kb().document(key), version)})
    set_props("purge-reason", {"value": ""})
    set_props("purge-error", {"children": None})
    set_props("purge-what", {"data": {"number": number}})
    set_props("purge-dialog", {"is_open": True})


@callback(
    Output("purge-dialog", "is_open", allow_duplicate=True),
    Input("purge-cancel", "n_clicks"),
    prevent_initial_call=True,
)
def keep_everything(clicks: int | None) -> bool:
    """Close the dialog without removing anything."""
    if not clicks:
        raise PreventUpdate
    return False


@callback(
    *_page(),
    Output("purge-dialog", "is_open", allow_duplicate=True),
    Output("purge-error", "children", allow_duplicate=True),
    Input("purge-confirm", "n_clicks"),
    State("purge-what", "data"),
    State("purge-reason", "value"),
    VIEW,
    OPENED,
    prevent_initial_call=True,
    running=[
        (Output("purge-confirm", "className"), "btn btn-danger is-working", "btn btn-danger"),
    ],
)
def purge(
    clicks: int | None, what: dict[str, Any] | None, reason: str | None, data: list[Any], opened: dict[str, Any] | None
) -> tuple[Any, ...]:
    """Remove a version, or the document with all of them, for good; what is refused is said inside the dialog."""
    if not clicks or what is None:
        raise PreventUpdate
    number = what["number"]
    try:
        kb().purge(data[0], number, note=(reason or "").strip())
    except EvoRAGError as error:
        return *((no_update,) * 6), True, error_line(error)
    notify("ok", t("document.purged", number=number) if number is not None else t("document.purged_all"))
    return *_again(data, _closed(opened)), False, None


@callback(
    Input({"type": "document-undo", "action": ALL, "key": ALL, "number": ALL}, "n_clicks"), prevent_initial_call=True
)
def undo(_clicks: Sequence[int | None]) -> None:
    """Take back what a notice told of, on whichever page it is read."""
    button = _pressed()
    key, number = str(button["key"]), int(button["number"])
    if button["action"] == "restore":
        _bring_back(key)
    else:
        kb().publish(key, number)
        notify("ok", t("document.published", number=number))
    set_props("document-refresh", {"data": {"at": datetime.now().timestamp()}})


@callback(*_page(), Input("document-refresh", "data"), VIEW, OPENED, prevent_initial_call=True)
def refresh(asked: dict[str, Any] | None, data: list[Any], opened: dict[str, Any] | None) -> tuple[Any, ...]:
    """Draw the page again after something was taken back."""
    if not asked:
        raise PreventUpdate
    return _again(data, _closed(opened))


clientside_callback(
    ClientsideFunction("versions", "plan"),
    Output("document-moment", "data"),
    Input("version-schedule", "n_clicks"),
    State("version-moment", "value"),
    prevent_initial_call=True,
)
