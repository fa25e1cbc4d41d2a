"""The frame of one page: its title, one sentence of purpose, its one main action, its content."""

from __future__ import annotations

from typing import Any

from dash import html

from app.i18n import t


def page(
    title: str, purpose: str, children: Any, *, action: Any = None, wide: bool = False, above: Any = None
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


def tab_title(key: str) -> Any:
    """Return what ``register_page(title=…)`` wants: the browser tab's title in the language of the request."""
    return lambda **_: f"{t(key)} · EvoRAG"
