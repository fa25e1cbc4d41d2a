"""Settings: what can write answers, what built the index, models that were trained here, and training another."""

from __future__ import annotations

from typing import Any

from dash import ALL, Input, Output, State, callback, ctx, dcc, html, no_update, register_page, set_props
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate

from app import links
from app.components.settings.generations import generation_dialog, generation_form, generation_list, is_still, remark
from app.components.settings.models import ACTION as MODEL
from app.components.settings.models import generator_lines, model_list
from app.components.settings.training import ACTION as TRAINING
from app.components.settings.training import (
    CHOICES,
    NUMBERS,
    WORDS,
    question,
    question_dialog,
    told,
    training_form,
    training_list,
)
from app.components.shared.states import error_line, notify, report_callback_error, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb, principal
from app.i18n import t
from app.pages.settings.servers import servers
from core.errors import EvoRAGError, InvalidInput
from core.model import Role, Task, Training, TrainingCourse, TrainingLabels, TrainingState

register_page(__name__, path=links.SETTINGS, title=tab_title("settings.title"))

BUSY, READY = "btn btn-primary is-working", "btn btn-primary"
TICK_MS = 1_000
LABELS = ("privacy_level", *WORDS)


@shows_errors
def layout(**_: Any) -> html.Div:
    """What there is, and for administrators what can be done with it."""
    going, is_quiet = _trainings()
    parts: list[Component] = [
        _section("generators", html.Div(_generators(), id="settings-generators")),
        *([_section("servers", servers()), _section("index", _generations())] if _may_change() else []),
        _section("models", html.Div(_models(), id="settings-models")),
    ]
    train: list[Any] = [html.P(t("settings.demonstration"), className="settings-note")]
    train.append(html.Div(going, id="settings-trainings", className="run-list"))
    if _may_change():
        parts.append(_section("train", [*train, training_form()]))
        parts.append(question_dialog())
    elif going:
        parts.append(_section("train", train))
    ticks = [
        dcc.Interval(id="settings-tick", interval=TICK_MS, disabled=is_quiet),
        html.P(id="settings-said", role="status", className="visually-hidden"),
        dcc.Store(id="settings-states", data=_states(kb().training.trainings())),
    ]
    return named_page("settings", [*parts, *ticks])


def _section(name: str, children: Any) -> html.Section:
    title = html.H2(t(f"settings.{name}_title"), className="section-title")
    purpose = html.P(t(f"settings.{name}_purpose"), className="hint")
    return html.Section([title, purpose, html.Div(children)], className="card-plain")


def _may_change() -> bool:
    return principal().role.includes(Role.ADMIN)


def _generators() -> html.Ul:
    return generator_lines(kb().generators.health(), kb().generators.usual(Task.ANSWER))


def _generations() -> list[Any]:
    """What built the index, and building another generation of it."""
    found, configured = kb().generations.list(), kb().generations.configured
    return [
        html.Div(remark(found, configured), id="settings-generations-remark"),
        html.Div(generation_list(found), id="settings-generations", className="run-list"),
        generation_form(configured),
        generation_dialog(),
        dcc.Interval(id="settings-generations-tick", interval=TICK_MS, disabled=is_still(found)),
        html.P(id="settings-generations-said", role="status", className="visually-hidden"),
        dcc.Store(id="settings-generations-states", data={str(each.number): each.state.value for each in found}),
    ]


def _models() -> html.Div:
    return model_list(kb().training.artifacts(), may_change=_may_change())


def _trainings() -> tuple[list[html.Div], bool]:
    found = kb().training.trainings()
    is_quiet = all(each.state is not TrainingState.RUNNING for each in found)
    return training_list(found, may_change=_may_change()), is_quiet


def _states(trainings: list[Training]) -> dict[str, str]:
    return {each.name: each.state.value for each in trainings}


def _show() -> None:
    """Draw again what a change may have changed."""
    going, is_quiet = _trainings()
    set_props("settings-trainings", {"children": going})
    set_props("settings-models", {"children": _models()})
    set_props("settings-generators", {"children": _generators()})
    set_props("settings-tick", {"disabled": is_quiet})
    set_props("settings-states", {"data": _states(kb().training.trainings())})


@callback(
    Output("settings-trainings", "children", allow_duplicate=True),
    Output("settings-tick", "disabled", allow_duplicate=True),
    Output("settings-states", "data", allow_duplicate=True),
    Output("settings-said", "children"),
    Input("settings-tick", "n_intervals"),
    State("settings-states", "data"),
    prevent_initial_call=True,
)
def follow(ticks: int | None, before: dict[str, str]) -> tuple[Any, ...]:
    """Show how far the training is; once it has ended, what came of it."""
    if not ticks:
        raise PreventUpdate
    found = kb().training.trainings()
    states = _states(found)
    ended = [each for each in found if each.name in before and before[each.name] != each.state.value]
    if ended:
        set_props("settings-models", {"children": _models()})
        set_props("settings-generators", {"children": _generators()})
    running = next((each for each in found if each.state is TrainingState.RUNNING), None)
    said = "; ".join(t(f"settings.said_{each.state}", name=each.name) for each in ended) if ended else no_update
    if said is no_update and running is not None and running.steps and running.step % max(1, running.steps // 10) == 0:
        said = told(running)
    return training_list(found, may_change=_may_change()), running is None, states, said


@callback(
    Output("settings-error", "children"),
    Output("settings-artifact_name", "value"),
    Input("settings-start", "n_clicks"),
    State("settings-artifact_name", "value"),
    State("settings-spiking", "value"),
    *[State(f"settings-{name}", "value") for name in (*NUMBERS, *CHOICES, *WORDS)],
    prevent_initial_call=True,
    running=[(Output("settings-start", "className"), BUSY, READY)],
)
def start(clicks: int | None, given_name: object, spiking: bool | None, *values: Any) -> tuple[Any, Any]:
    """Train a model on the documents that everyone sees."""
    if not clicks:
        raise PreventUpdate
    name = given_name.strip() if isinstance(given_name, str) else ""
    given = dict(zip((*NUMBERS, *CHOICES, *WORDS), values, strict=True))
    try:
        if not name:
            raise InvalidInput(t("settings.without_name"), remedy=t("settings.without_name_remedy"))
        for field in NUMBERS:
            if type(given[field]) is not int:
                raise InvalidInput(t("settings.no_number", name=t(f"settings.{field}")))
        labels = TrainingLabels(name, **{field: str(given.pop(field) or "") for field in LABELS})
        begun = kb().training.start(labels, TrainingCourse(**given, spiking=bool(spiking)))
    except EvoRAGError as error:
        return error_line(error), no_update
    notify("working", t("settings.started", name=begun.name))
    _show()
    return None, ""


@callback(Input({"type": MODEL, "name": ALL, "action": ALL}, "n_clicks"), prevent_initial_call=True)
def act_on_model(_: list[int | None]) -> None:
    """Write with a model from now on, or ask before it goes."""
    name, action = _pressed()
    if action == "delete":
        return _ask(action, name)
    try:
        kb().training.choose(name)
        notify("ok", t("settings.was_chosen", name=name))
    except EvoRAGError as error:
        report_callback_error(error)
    _show()


@callback(Input({"type": TRAINING, "name": ALL, "action": ALL}, "n_clicks"), prevent_initial_call=True)
def act_on_training(_: list[int | None]) -> None:
    """Stop a training, go on with it, or ask before it goes."""
    name, action = _pressed()
    if action == "discard":
        return _ask(action, name)
    try:
        kb().training.cancel(name) if action == "cancel" else kb().training.resume(name)
    except EvoRAGError as error:
        report_callback_error(error)
    _show()


def _pressed() -> tuple[str, str]:
    """Return the name and the action of the button that was pressed."""
    chosen = ctx.triggered_id
    if not isinstance(chosen, dict) or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return str(chosen["name"]), str(chosen["action"])


def _ask(action: str, name: str) -> None:
    set_props("settings-asked", {"data": {"action": action, "name": name}})
    set_props("settings-question", {"children": question(action, name)})
    set_props("settings-confirm", {"children": t(f"settings.{action}")})
    set_props("settings-dialog", {"is_open": True})


@callback(
    Output("settings-dialog", "is_open"),
    Input("settings-confirm", "n_clicks"),
    Input("settings-keep", "n_clicks"),
    State("settings-asked", "data"),
    prevent_initial_call=True,
)
def answer(_confirm: int | None, _keep: int | None, asked: object) -> bool:
    """Do what was asked about, or leave it."""
    wanted = asked if isinstance(asked, dict) else {}
    action, name = wanted.get("action"), str(wanted.get("name"))
    is_confirmed = ctx.triggered_id == "settings-confirm" and ctx.triggered[0]["value"]
    if is_confirmed and action in ("delete", "discard"):
        try:
            kb().training.delete(name) if action == "delete" else kb().training.discard(name)
            notify("ok", t(f"settings.done_{action}", name=name))
        except EvoRAGError as error:
            report_callback_error(error)
        _show()
    return False
