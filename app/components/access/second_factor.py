"""The second factor of the person who asks: how it is set up, its recovery codes, and how it is removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.access.qr_code import qr_picture
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import t
from core.model import SecondFactor, SecondFactorSetup

CODE_CHARS = 100
KEY_GROUP = 4


def factor_state(factor: SecondFactor) -> list[Any]:
    """Whether a code is asked for at sign-in, and the way to the other state."""
    if not factor.is_on or factor.since is None:
        begin = html.Button(
            [icon("plus-lg"), t("factor.begin")], id="factor-begin", type="button", className="btn btn-secondary"
        )
        return [html.Div([badge("neutral", t("factor.off")), begin], className="button-row")]
    facts = [badge("ok", t("factor.on")), when(factor.since), html.Span(t("factor.left", count=factor.recovery_left))]
    remove = html.Button(t("factor.remove"), id="factor-remove", type="button", className="btn btn-danger")
    return [
        html.Div(facts, className="question-facts"),
        html.Div([_code("factor-remove-code", t("factor.remove_code")), remove], className="access-form"),
    ]


def factor_setup(setup: SecondFactorSetup) -> list[Any]:
    """The secret for an app as a picture and as text, and the field for the first code."""
    grouped = " ".join(setup.secret[at : at + KEY_GROUP] for at in range(0, len(setup.secret), KEY_GROUP))
    picture = html.Img(src=qr_picture(setup.uri), alt=t("factor.picture"), className="factor-picture")
    confirm = html.Button(t("factor.confirm"), id="factor-confirm", type="button", className="btn btn-primary")
    return [
        html.P(t("factor.scan")),
        picture,
        html.P(t("factor.type"), id="factor-key-label"),
        _copied("factor-key", grouped, **aria(labelledby="factor-key-label")),
        html.Div([_code("factor-code", t("factor.code"), focused=True), confirm], className="access-form"),
    ]


def recovery_card(codes: Sequence[str]) -> html.Div:
    """The recovery codes, which are shown this once."""
    return html.Div(
        [
            html.P([html.Strong(t("factor.codes_title")), " ", t("factor.codes_text")]),
            _copied("factor-codes", "\n".join(codes)),
        ],
        className="access-secret-card",
        role="status",
    )


def _copied(name: str, text: str, **attributes: Any) -> html.Div:
    button = html.Button(
        [icon("copy"), html.Span(t("access.copy"))],
        type="button",
        className="btn btn-secondary btn-sm",
        **dataset(copy=name, copied=t("access.copied")),
    )
    code = html.Code(text, id=name, className="access-secret factor-secret", **attributes)
    return html.Div([code, button], className="button-row")


def _code(name: str, label: str, *, focused: bool = False) -> html.Div:
    field = dbc.Input(id=name, maxLength=CODE_CHARS, autocomplete="one-time-code", autofocus=focused, value="")
    return html.Div([html.Label(label, htmlFor=name, className="form-label"), field], className="access-field")
