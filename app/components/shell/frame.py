"""The frame of one page: its title, one sentence of purpose, its one main action, its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import flask
from dash import html

from app.components.shared.wording import on_one_line
from app.i18n import t

TAB_CHARS = 80


def page(
    title: Any, purpose: str, children: Any, *, action: Any = None, wide: bool = False, above: Any = None
) -> html.Div:
    """Return a page; ``title`` and ``purpose`` are finished texts, ``above`` stands over the title (a way back)."""
    head = [
        html.Div(
            [
                above,
                html.H1(title, id="page-title", className="page-title", tabIndex=-1),
                html.P(purpose, className="page-purpose") if purpose else None,
            ],
            className="page-words",
        ),
        html.Div(action, className="page-action") if action is not None else None,
    ]
    return html.Div(
        [html.Header(head, className="page-head"), html.Div(children, className="page-body")],
        className="page page-wide" if wide else "page",
    )


def named_page(name: str, children: Any, *, action: Any = None, wide: bool = False) -> html.Div:
    """Return a page whose title and purpose are the messages ``<name>.title`` and ``<name>.purpose``."""
    return page(t(f"{name}.title"), t(f"{name}.purpose"), children, action=action, wide=wide)


def tab_title(key: str, name_of: Callable[[Mapping[str, str]], str] | None = None) -> Any:
    """Return what ``register_page(title=…)`` wants: the browser tab's title in the language of the request.

    ``name_of`` says what the page at an address is about, from the address's values; an error leaves it out: the page
    says what failed, and it comes only where its title does.
    """

    def title(**path: str) -> str:
        parts = [t(key), "EvoRAG"]
        try:
            name = name_of({**asked_for()[1], **path}) if name_of is not None else ""
        except Exception:
            name = ""
        return " · ".join([_short(name), *parts] if name else parts)

    return title


def asked_for() -> tuple[str, dict[str, str]]:
    """Return the path that the browser shows, and its values, the first of each name."""
    request = flask.request
    if not request.path.startswith("/_dash-update"):
        return request.path, request.args.to_dict()
    body = request.get_json(silent=True) or {}
    given = {each.get("property"): each.get("value") for each in body.get("inputs", []) if isinstance(each, dict)}
    values = parse_qsl(str(given.get("search") or "").removeprefix("?"))
    return str(given.get("pathname") or "/"), dict(reversed(values))


def _short(name: str) -> str:
    return on_one_line(name, TAB_CHARS)
