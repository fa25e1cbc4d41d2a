"""Refuses what no page of ours sends to its callbacks, before Dash stumbles over it."""

from __future__ import annotations

from typing import Any

import flask
from dash import Dash
from werkzeug.exceptions import BadRequest

PATH = "/_dash-update-component"


def refuse_strange(app: Dash) -> None:
    """Raises: ``BadRequest`` for a call that names no callback of the application, or gives it other values."""
    if flask.request.path != PATH or flask.request.method != "POST":
        return
    body = flask.request.get_json()
    output = body.get("output") if isinstance(body, dict) else None
    known = app.callback_map.get(output) if isinstance(output, str) else None
    if known is None or not _fits(body, known):
        raise BadRequest("No page asks this.")


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
    return isinstance(given, dict) and isinstance(given.get("id"), str | dict) and "property" in given
