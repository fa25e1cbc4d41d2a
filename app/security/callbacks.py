"""Refuses what no page of ours sends to Dash, before it stumbles over that."""

from __future__ import annotations

import json
from typing import Any

import flask
from dash import Dash
from dash.fingerprint import check_fingerprint
from werkzeug.exceptions import BadRequest, NotFound

PATH = "/_dash-update-component"
ADDRESS = "_pages_location"


def refuse_strange(app: Dash) -> None:
    """Refuse what names nothing that there is.

    Raises: ``BadRequest`` for a call that names no callback of the application, or gives it other values; ``NotFound``
    for a file that no component of the application has.
    """
    asked = flask.request.view_args or {}
    if "fingerprinted_path" in asked and not _is_file(app, **asked):
        raise NotFound("No component has this file.")
    if flask.request.path != PATH or flask.request.method != "POST":
        return
    body = flask.request.get_json()
    output = body.get("output") if isinstance(body, dict) else None
    known = app.callback_map.get(output) if isinstance(output, str) else None
    if known is None or "callback" not in known or not (_fits(body, known) and _is_text()):
        raise BadRequest("No page asks this.")


def _is_file(app: Dash, package_name: str, fingerprinted_path: str) -> bool:
    path, _ = check_fingerprint(fingerprinted_path)
    return path in app.registered_paths.get(package_name, ())


def _is_text() -> bool:
    """Say whether the call holds halves of characters, which no answer and no store could hold."""
    if b"\\ud" not in flask.request.get_data().lower():
        return True
    try:
        json.dumps(flask.request.get_json(), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _fits(body: dict[str, Any], known: dict[str, Any]) -> bool:
    changed = body.get("changedPropIds", [])
    return (
        _are_values(body.get("inputs", []), len(known["inputs"]))
        and _are_values(body.get("state", []), len(known["state"]))
        and isinstance(body.get("outputs", []), list | dict)
        and isinstance(changed, list)
        and all(isinstance(name, str) for name in changed)
    )


def _are_values(given: object, count: int) -> bool:
    return isinstance(given, list) and len(given) == count and all(_is_value(each) for each in given)


def _is_value(given: object) -> bool:
    """Say whether something is the value of a property, or of those that a pattern matches."""
    if isinstance(given, list):
        return all(isinstance(each, dict) and _is_value(each) for each in given)
    if not isinstance(given, dict) or not isinstance(given.get("id"), str | dict) or "property" not in given:
        return False
    return given["id"] != ADDRESS or _is_address(given["property"], given.get("value"))


def _is_address(name: str, value: object) -> bool:
    """Say whether Dash, which reads the address by itself, can read it."""
    if value is None:
        return name == "search"
    return isinstance(value, str) and (name != "pathname" or value.startswith("/"))
