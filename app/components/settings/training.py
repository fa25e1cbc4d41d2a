"""Training a model from the page Settings: the form, how far a training is, and the question before something goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.attributes import aria
from app.components.shared.icon import icon
from app.components.shared.states import badge, error_words, one_text
from app.components.shared.times import time_left
from app.i18n import number, t
from core.model import (
    PRECISIONS,
    PRIVACY_LEVELS,
    QUANTISATIONS,
    TRAINING_BOUNDS,
    Training,
    TrainingCourse,
    TrainingLabels,
    TrainingState,
)

ACTION = "settings-training"
NUMBERS = ("steps", "layers", "width", "seed")
CHOICES = {"precision": PRECISIONS, "quantize": QUANTISATIONS, "privacy_level": PRIVACY_LEVELS}
WORDS = ("node_type", "license")
MEANINGS = {TrainingState.CANCELLED: "neutral", TrainingState.FAILED: "error"}
USUAL, USUAL_LABELS = TrainingCourse(), TrainingLabels("")
WORD_CHARS = 64


def training_form() -> html.Div:
    """What is asked before a training; everything but the name has a usual value."""
    first = [_field("artifact_name", _text("artifact_name", ""))]
    first += [_field(name, _number(name)) for name in NUMBERS[:3]]
    more = [_field(name, _choice(name)) for name in CHOICES] + [_field("seed", _number("seed"))]
    more += [_field(name, _text(name, getattr(USUAL_LABELS, name))) for name in WORDS]
    spiking = dbc.Checkbox(id="settings-spiking", label=t("settings.spiking"), value=False)
    button = html.Button(
        [icon("play-fill"), t("settings.start")], id="settings-start", type="button", className="btn btn-primary"
    )
    return html.Div(
        [
            html.Div(first, className="settings-fields"),
            spiking,
            html.Details(
                [html.Summary(t("settings.more")), html.Div(more, className="settings-fields")],
                className="settings-more",
            ),
            html.Div(button),
            html.Div(id="settings-error"),
        ],
        className="settings-form",
    )


def training_list(trainings: Sequence[Training], *, may_change: bool) -> list[html.Div]:
    """The trainings that are not done: a bar with what is done of how much, and what can be done to each."""
    return [_training(each, may_change) for each in trainings if each.state is not TrainingState.DONE]


def told(training: Training) -> str:
    """How far a training is, in words."""
    parts = [t("settings.step_of", step=training.step, steps=training.steps)]
    if training.loss is not None:
        parts.append(t("settings.loss", loss=number(training.loss, digits=2)))
    if training.held_out_loss is not None:
        parts.append(t("settings.held_out", loss=number(training.held_out_loss, digits=2)))
    if training.seconds_left is not None:
        parts.append(time_left(training.seconds_left))
    return " · ".join(parts) if training.step else t("settings.begins")


def _training(training: Training, may_change: bool) -> html.Div:
    is_running = training.state is TrainingState.RUNNING
    said = told(training) if is_running or training.step else ""
    words: list[Any] = [html.Strong(training.name), html.Span(said, className="muted numbers")]
    if not is_running:
        words.insert(1, badge(MEANINGS[training.state], t(f"settings.{training.state}")))
    actions = ("cancel",) if is_running else ("resume", "discard")
    buttons = html.Div([_action(name, training) for name in actions], className="button-row") if may_change else None
    parts: list[Any] = [html.Div([html.Div(words, className="run-words"), buttons], className="run-head")]
    parts.append(_bar(training, said or t("settings.begins"), is_open=is_running and not training.step))
    if is_running:
        parts.append(html.P(t("settings.goes_on"), className="hint"))
    if training.left_out:
        parts.append(html.P(t("settings.left_out", count=number(training.left_out)), className="hint"))
    if training.error:
        error = error_words({"code": training.code, "message": training.error, "remedy": training.remedy})
        reason: list[Any] = [html.Strong(one_text(error["title"])), " ", one_text(error["detail"], error["remedy"])]
        parts.append(html.P(reason, className="hint"))
    return html.Div(parts, className="run-progress settings-training")


def _bar(training: Training, said: str, *, is_open: bool) -> html.Div:
    share = training.step / training.steps if training.steps else 0.0
    width = "100%" if is_open else f"{share * 100:.1f}%"
    return html.Div(
        html.Div(className="bar-fill bar-unknown" if is_open else "bar-fill", style={"width": width}),
        className="bar",
        role="progressbar",
        **aria(
            label=training.name, valuemin="0", valuemax=str(training.steps), valuenow=str(training.step), valuetext=said
        ),
    )


def _action(name: str, training: Training) -> html.Button:
    return html.Button(
        t(f"settings.{name}"),
        id={"type": ACTION, "name": training.name, "action": name},
        type="button",
        className="btn btn-secondary btn-sm",
        **aria(label=f"{t(f'settings.{name}')}: {training.name}"),
    )


def question_dialog() -> html.Div:
    """The closed dialog that asks before a model or a training goes."""
    buttons = [
        html.Button(t("settings.keep"), id="settings-keep", type="button", className="btn btn-secondary"),
        html.Button("", id="settings-confirm", type="button", className="btn btn-danger"),
    ]
    dialog = dbc.Modal(
        html.Div(
            [
                html.Div(html.H2(id="settings-dialog-title"), id="settings-question"),
                html.Div(buttons, className="button-row dialog-buttons"),
            ],
            className="dialog-body",
        ),
        id="settings-dialog",
        is_open=False,
        fade=False,
        centered=True,
        labelledby="settings-dialog-title",
    )
    return html.Div([dialog, dcc.Store(id="settings-asked", data={})])


def question(action: str, name: str) -> list[Any]:
    """What is asked before ``action``, ``delete`` or ``discard``."""
    return [
        html.H2(t(f"settings.ask_{action}", name=name), id="settings-dialog-title", className="dialog-title"),
        html.P(t(f"settings.ask_{action}_text")),
    ]


def _field(name: str, control: Any) -> html.Div:
    label = html.Label(t(f"settings.{name}"), htmlFor=f"settings-{name}", className="form-label")
    return html.Div([label, control], className="run-field")


def _text(name: str, value: str) -> dbc.Input:
    return dbc.Input(id=f"settings-{name}", value=value, maxLength=WORD_CHARS, autocomplete="off")


def _number(name: str) -> dbc.Input:
    low, high = TRAINING_BOUNDS[name]
    step = 32 if name == "width" else 1
    return dbc.Input(id=f"settings-{name}", type="number", min=low, max=high, step=step, value=getattr(USUAL, name))


def _choice(name: str) -> dbc.Select:
    values = CHOICES[name]
    usual = getattr(USUAL_LABELS if name == "privacy_level" else USUAL, name)
    options = [{"value": value, "label": t(f"settings.{name}_{value}")} for value in values]
    return dbc.Select(id=f"settings-{name}", options=options, value=usual)
