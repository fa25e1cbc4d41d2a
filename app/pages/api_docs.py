"""The interface for programs: every operation with its parameters, answers, errors and an example."""

from __future__ import annotations

from typing import Any

import flask
from dash import html, register_page

from app import links
from app.api.description.openapi import described
from app.components.settings.api_reader import operation_detail, operation_list, operations_of, overview
from app.components.shared.states import shows_errors
from app.components.shell.frame import named_page, tab_title

register_page(__name__, path=links.API_DOCS, title=tab_title("api.title"))


@shows_errors
def layout(op: str | list[str] = "", **_: Any) -> html.Div:
    """The operation ``op``, or how to begin, beside the list of all."""
    document = described(flask.current_app)
    base = flask.request.host_url.rstrip("/")
    found = next((each for each in operations_of(document) if each[2]["operationId"] == op), None)
    shown = operation_detail(document, *found, base) if found else overview(document, base)
    chosen = found[2]["operationId"] if found else ""
    return named_page("api", html.Div([operation_list(document, chosen), shown], className="api-reader"))
