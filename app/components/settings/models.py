"""What can write answers, and the models that were trained here, as the page Settings lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from app.components.attributes import aria, dataset
from app.components.shared.generator_choice import MEANINGS, generator_words
from app.components.shared.states import badge, empty
from app.components.shared.times import when
from app.i18n import has, size, t
from core.model import Artifact, GeneratorHealth

ACTION = "settings-model"
NOT_SET_UP = ("openai_unset", "command_unset", "trained_none", "trained_unchosen")
"""Reasons of generators that are there to be set up."""
COLUMNS = ("model", "spikes", "size", "created", "state")


def generator_lines(healths: Sequence[GeneratorHealth], default: str) -> html.Ul:
    """A line a generator: how it is, and what makes it available where it is not."""
    return html.Ul([_generator(health, default) for health in healths], className="settings-generators")


def _generator(health: GeneratorHealth, default: str) -> html.Li:
    key = f"settings.generator.{health.name}"
    words: list[Any] = [html.Strong(t(key) if has(key) else health.name)]
    if has(key):
        words.append(html.Code(health.name))
    words.append(html.Span(health.model, className="settings-model-name"))
    if health.name == default:
        words.append(html.Span(t("settings.default"), className="muted"))
    head: list[Component] = [html.Div(words, className="settings-words")]
    said = generator_words(health)
    if health.reason in NOT_SET_UP:
        # Nothing is wrong with what nobody has wanted yet.
        head.append(badge("neutral", t("settings.generator_unset")))
        how = html.Details([html.Summary(t("settings.generator_how")), said], className="settings-how")
        return html.Li([html.Div(head, className="settings-line"), how])
    head.append(badge(MEANINGS[health.state], t(f"ask.generator.state.{health.state}")))
    detail = html.P(said, className="hint") if said is not None else None
    return html.Li([html.Div(head, className="settings-line"), detail])


def model_list(models: Sequence[Artifact], *, may_change: bool) -> html.Div:
    """The trained models with their manifests, and what an administrator can do to them."""
    if not models:
        return empty("cpu", t("settings.no_models_title"), t("settings.no_models_text"))
    head = [html.Th(t(f"settings.column_{name}")) for name in COLUMNS]
    if may_change:
        head.append(html.Th(html.Span(t("settings.column_actions"), className="visually-hidden")))
    table = html.Table(
        [html.Thead(html.Tr(head)), html.Tbody([_row(model, may_change) for model in models])],
        className="access-table settings-table",
    )
    return html.Div(table, className="access-scroll")


def _row(model: Artifact, may_change: bool) -> html.Tr:
    named = html.Details([html.Summary(model.name), _manifest(model)], className="settings-manifest")
    state = badge("ok", t("settings.chosen")) if model.is_chosen else html.Span("–", className="muted")
    cells: list[tuple[str, Any]] = [
        ("model", named),
        ("spikes", t("settings.with_spikes" if model.is_spiking else "settings.without_spikes")),
        ("size", html.Span(size(model.size_bytes), className="numbers")),
        ("created", when(model.created_at)),
        ("state", state),
    ]
    shown = [html.Td(cell, **dataset(column=t(f"settings.column_{column}"))) for column, cell in cells]
    if not may_change:
        return html.Tr(shown)
    actions = [None if model.is_chosen else _action("choose", model), _action("delete", model)]
    return html.Tr([*shown, html.Td(html.Div(actions, className="button-row access-actions"))])


def _manifest(model: Artifact) -> html.Dl:
    pairs = [(name, _written(value)) for name, value in sorted(model.manifest.items())]
    rows = [html.Div([html.Dt(name), html.Dd(value)]) for name, value in pairs]
    return html.Dl(rows, className="settings-facts", lang="en")


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _action(name: str, model: Artifact) -> html.Button:
    return html.Button(
        t(f"settings.{name}"),
        id={"type": ACTION, "name": model.name, "action": name},
        type="button",
        className="btn btn-quiet btn-sm",
        **aria(label=f"{t(f'settings.{name}')}: {model.name}"),
    )
