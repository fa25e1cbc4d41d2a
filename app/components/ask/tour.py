"""A tour of four steps on the first page, for whoever has not seen it in this browser.

``assets/modules/ask/tour.js`` leads it. It stands in the page and covers nothing: whoever does not want it types a
question, leaves it, or presses Esc.
"""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.i18n import t

STEPS = (
    ("ask", "#ask-asking", ""),
    ("evidence", "", ""),
    ("documents", "#door-documents", links.UPLOAD),
    ("compare", "#door-compare", links.COMPARE),
)
"""Each with what of the page it is about, and where it leads."""


def tour() -> html.Section:
    """The tour before it has begun: nothing of it is shown."""
    return html.Section(
        [
            *(_step(number, *step) for number, step in enumerate(STEPS, 1)),
            html.Div(
                [
                    _button("back", "btn btn-quiet btn-sm"),
                    _button("next", "btn btn-primary btn-sm"),
                    _button("done", "btn btn-primary btn-sm"),
                    _button("leave", "btn btn-quiet btn-sm"),
                ],
                className="button-row tour-buttons",
            ),
        ],
        id="tour",
        className="card-plain tour",
        hidden=True,
        **aria(label=t("tour.title")),
    )


def _step(number: int, name: str, about: str, leads: str) -> html.Div:
    words: list[Any] = [t(f"tour.{name}.text")]
    if name == "ask":
        # The box comes while the page is open, with the first document.
        empty = html.Span(t("tour.ask.text_empty"), className="tour-before-box")
        words = [html.Span(words, className="tour-of-box"), empty]
    if leads:
        words += [" ", dcc.Link(t(f"tour.{name}.go"), href=leads)]
    parts = [
        html.P(t("tour.step", number=number, count=len(STEPS)), className="muted tour-step-of"),
        html.H2(t(f"tour.{name}.title"), className="section-title", tabIndex=-1),
        html.P(words),
    ]
    return html.Div(parts, hidden=True, **dataset(tour_step=number, tour_about=about))


def _button(act: str, look: str) -> html.Button:
    return html.Button(t(f"tour.{act}"), type="button", className=look, **dataset(tour=act))
