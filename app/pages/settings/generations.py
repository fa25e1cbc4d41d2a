"""What is done to generations on the page Settings: one is built, followed, switched to, or goes."""

from __future__ import annotations

from typing import Any

from dash import ALL, Input, Output, State, callback, ctx, no_update, set_props
from dash.exceptions import PreventUpdate

from app.components.settings.generations import ACTION, generation_list, is_still, remark
from app.components.shared.states import error_line, notify, report_callback_error
from app.context import kb
from app.i18n import t
from core.errors import EvoRAGError
from core.model import Generation, GenerationState

BUSY, READY = "btn btn-primary is-working", "btn btn-primary"


@callback(
    Output("settings-generations", "children", allow_duplicate=True),
    Output("settings-generations-remark", "children", allow_duplicate=True),
    Output("settings-generations-tick", "disabled", allow_duplicate=True),
    Output("settings-generations-states", "data", allow_duplicate=True),
    Output("settings-generations-said", "children"),
    Input("settings-generations-tick", "n_intervals"),
    State("settings-generations-states", "data"),
    prevent_initial_call=True,
)
def follow_generations(ticks: int | None, before: dict[str, str]) -> tuple[Any, ...]:
    """Show how far a generation is, and say once that it is ready or serves."""
    if not ticks:
        raise PreventUpdate
    found = kb().generations.list()
    changed = [each for each in found if before.get(str(each.number), each.state.value) != each.state.value]
    said = " ".join(t(f"settings.said_generation_{each.state}", number=each.number) for each in changed)
    return *_drawn(found), said or no_update


def _drawn(found: list[Generation]) -> tuple[Any, ...]:
    states = {str(each.number): each.state.value for each in found}
    return generation_list(found), remark(found, kb().generations.configured), is_still(found), states


def _show() -> None:
    """Draw again what a change may have changed."""
    drawn, said, still, states = _drawn(kb().generations.list())
    set_props("settings-generations", {"children": drawn})
    set_props("settings-generations-remark", {"children": said})
    set_props("settings-generations-tick", {"disabled": still})
    set_props("settings-generations-states", {"data": states})


@callback(
    Output("settings-build-error", "children"),
    Input("settings-build", "n_clicks"),
    State("settings-embedder", "value"),
    State("settings-switches", "value"),
    prevent_initial_call=True,
    running=[(Output("settings-build", "className"), BUSY, READY)],
)
def build(clicks: int | None, embedder: str | None, switches: bool | None) -> Any:
    """Begin a generation."""
    if not clicks:
        raise PreventUpdate
    try:
        begun = kb().generations.build(embedder or "", switch=bool(switches))
    except EvoRAGError as error:
        return error_line(error)
    notify("working", t("settings.generation_begun", number=begun.number))
    _show()
    return None


@callback(Input({"type": ACTION, "name": ALL, "action": ALL}, "n_clicks"), prevent_initial_call=True)
def act_on_generation(_: list[int | None]) -> None:
    """Let a generation serve, which can be taken back, or ask before one goes."""
    pressed = ctx.triggered_id
    if not isinstance(pressed, dict) or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    number = int(pressed["name"])
    if pressed["action"] == "remove":
        set_props("settings-generation-asked", {"data": number})
        set_props("settings-generation-title", {"children": t("settings.ask_generation", number=number)})
        set_props("settings-generation-dialog", {"is_open": True})
        return
    former = next(each.number for each in kb().generations.list() if each.state is GenerationState.SERVING)
    try:
        kb().generations.switch(number)
        notify("ok", t("settings.generation_switched", number=number, former=former))
    except EvoRAGError as error:
        report_callback_error(error)
    _show()


@callback(
    Output("settings-generation-dialog", "is_open"),
    Input("settings-generation-confirm", "n_clicks"),
    Input("settings-generation-keep", "n_clicks"),
    State("settings-generation-asked", "data"),
    prevent_initial_call=True,
)
def answer_generation(_confirm: int | None, _keep: int | None, asked: int | None) -> bool:
    """Remove what was asked about, or leave it."""
    if ctx.triggered_id == "settings-generation-confirm" and ctx.triggered[0]["value"] and asked:
        try:
            kb().generations.remove(asked)
            notify("ok", t("settings.generation_removed", number=asked))
        except EvoRAGError as error:
            report_callback_error(error)
        _show()
    return False
