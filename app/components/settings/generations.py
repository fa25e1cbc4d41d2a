"""What the index was built by, as the page Settings shows it: the generation that serves, and those beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.attributes import aria
from app.components.shared.icon import icon
from app.components.shared.states import badge, error_words, one_text
from app.components.shared.times import joined, left_of, when
from app.i18n import number, t
from core.model import Generation, GenerationState

ACTION = "settings-generation"
MEANINGS = {
    GenerationState.BUILDING: "working",
    GenerationState.READY: "neutral",
    GenerationState.SERVING: "ok",
    GenerationState.REMOVING: "working",
}
ACTIONS = {GenerationState.BUILDING: ("remove",), GenerationState.READY: ("switch", "remove")}
NAME_CHARS = 1_000


def generation_list(found: Sequence[Generation]) -> list[html.Div]:
    """Each generation, the one that serves first: what built it, how far it is, and what can be done to it."""
    ordered = sorted(found, key=lambda each: (each.state is not GenerationState.SERVING, each.number))
    return [_generation(each) for each in ordered]


def is_still(found: Sequence[Generation]) -> bool:
    """Tell whether nothing is on its way to a generation."""
    moving = (GenerationState.BUILDING, GenerationState.REMOVING)
    return not any(each.state in moving or each.waiting or each.switches for each in found)


def remark(found: Sequence[Generation], configured: str) -> html.P | None:
    """What to do where another embedder is configured than the one that serves."""
    serves = next(each for each in found if each.state is GenerationState.SERVING)
    if serves.embedder == configured:
        return None
    said = t("settings.generation_remark", serves=serves.embedder, configured=configured)
    return html.P([badge("warning", t("settings.generation_differs")), " ", said], className="settings-note")


def generation_form(configured: str) -> html.Div:
    """What is asked before a generation is built: the embedder, and whether it serves by itself."""
    label = html.Label(t("settings.embedder"), htmlFor="settings-embedder", className="form-label")
    field = dbc.Input(id="settings-embedder", value=configured, maxLength=NAME_CHARS, autocomplete="off")
    button = html.Button(
        [icon("play-fill"), t("settings.build")], id="settings-build", type="button", className="btn btn-primary"
    )
    return html.Div(
        [
            html.Div(html.Div([label, field], className="run-field"), className="settings-fields"),
            html.P(t("settings.embedder_hint"), className="hint"),
            dbc.Checkbox(id="settings-switches", label=t("settings.switches"), value=False),
            html.Div(button),
            html.Div(id="settings-build-error"),
        ],
        className="settings-form",
    )


def generation_dialog() -> html.Div:
    """The closed dialog that asks before a generation goes."""
    buttons = [
        html.Button(t("settings.keep"), id="settings-generation-keep", type="button", className="btn btn-secondary"),
        html.Button(
            t("settings.generation_remove"),
            id="settings-generation-confirm",
            type="button",
            className="btn btn-danger",
        ),
    ]
    title = html.H2(id="settings-generation-title", className="dialog-title")
    body = [title, html.P(t("settings.ask_generation_text")), html.Div(buttons, className="button-row dialog-buttons")]
    dialog = dbc.Modal(
        html.Div(body, className="dialog-body"),
        id="settings-generation-dialog",
        is_open=False,
        fade=False,
        centered=True,
        labelledby="settings-generation-title",
    )
    return html.Div([dialog, dcc.Store(id="settings-generation-asked")])


def _generation(each: Generation) -> html.Div:
    is_building = each.state is GenerationState.BUILDING
    words: list[Any] = [
        html.Strong(t("settings.generation", number=each.number)),
        badge(MEANINGS[each.state], t(f"settings.generation_{each.state}")),
        html.Span(each.embedder, className="settings-model-name"),
    ]
    buttons = html.Div([_action(name, each) for name in ACTIONS.get(each.state, ())], className="button-row")
    parts: list[Any] = [html.Div([html.Div(words, className="run-words"), buttons], className="run-head")]
    parts.append(html.P(_facts(each), className="hint"))
    if is_building:
        parts.append(_bar(each))
        parts.append(html.P(t("settings.goes_on"), className="hint"))
    if each.error is not None:
        told = error_words(each.error)
        again = t("settings.generation_again")
        parts.append(
            html.P([html.Strong(one_text(told["title"])), " ", one_text(told["remedy"], again)], className="hint")
        )
    return html.Div(parts, className="run-progress settings-training")


def _facts(each: Generation) -> list[Any]:
    facts: list[Any] = [t("settings.dimensions", count=number(each.dimension)), each.analyser]
    if each.state is GenerationState.BUILDING:
        facts.append(joined(told(each), left_of(each.done, each.total, each.created_at)))
    else:
        facts.append(t("settings.passages", count=each.total))
    if each.waiting:
        facts.append(t("settings.rows_waiting", count=each.waiting))
    facts.append(when(each.created_at))
    shown = [html.Span(fact, className="text-nowrap") for fact in facts]
    return [part for fact in shown for part in (" · ", fact)][1:]


def told(each: Generation) -> str:
    """How far a generation is, in words."""
    return t("settings.passages_of", done=number(each.done), total=number(each.total))


def _bar(each: Generation) -> html.Div:
    share = each.done / each.total if each.total else 0.0
    return html.Div(
        html.Div(className="bar-fill", style={"width": f"{share * 100:.1f}%"}),
        className="bar",
        role="progressbar",
        **aria(
            label=t("settings.generation", number=each.number),
            valuemin="0",
            valuemax=str(each.total),
            valuenow=str(each.done),
            valuetext=told(each),
        ),
    )


def _action(name: str, each: Generation) -> html.Button:
    said = t(f"settings.generation_{name}")
    return html.Button(
        said,
        id={"type": ACTION, "name": str(each.number), "action": name},
        type="button",
        className="btn btn-secondary btn-sm",
        **aria(label=f"{said}: {t('settings.generation', number=each.number)}"),
    )
