"""The answers of the Compare page: one question asked of both versions, and the saved questions kept and run.

Saved questions are asked a few at a time: each step of at most half a second ends in the next one, started by the
browser, so that the page shows how many are done and can be left at any moment.
"""

from __future__ import annotations

import time
from typing import Any

from dash import (
    ALL,
    ClientsideFunction,
    Input,
    Output,
    Patch,
    State,
    callback,
    clientside_callback,
    ctx,
    no_update,
)
from dash.exceptions import PreventUpdate

from app.components.compare.address import Pair
from app.components.compare.answers import answer_comparison, impact_line, progress, saved_list
from app.components.shared.states import error_line, notify
from app.context import kb, rag
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput
from core.model import VersionRef

STEP_S = 0.5


@callback(
    Output("compare-answer", "children"),
    Input("compare-ask", "n_clicks"),
    Input("compare-question", "n_submit"),
    State("compare-question", "value"),
    State("compare-alone", "value"),
    State("compare-pair", "data"),
    running=[(Output("compare-ask", "className"), "btn btn-primary is-working", "btn btn-primary")],
)
def ask_both(_clicks: int | None, _sent: int | None, question: str | None, alone: bool, data: dict[str, Any]) -> Any:
    """Ask the question of both versions and show what differs; one in the address is asked when the field is drawn."""
    if ctx.triggered_id is None and not (question or "").strip():
        raise PreventUpdate
    compared = Pair(**data)
    try:
        if not (question or "").strip():
            raise InvalidInput(t("ask.no_question"), remedy=t("ask.no_question_remedy"))
        found = rag().compare_answers(
            (question or "").strip(),
            VersionRef(compared.doc, compared.old),
            VersionRef(compared.new_doc, compared.new),
            alone=bool(alone),
        )
    except EvoRAGError as error:
        return error_line(error)
    return answer_comparison(found, compared)


@callback(
    Output("compare-saved-list", "children"),
    Output("compare-save-text", "value"),
    Output("compare-impact-run", "disabled"),
    Input("compare-save", "n_clicks"),
    Input("compare-save-text", "n_submit"),
    State("compare-save-text", "value"),
    prevent_initial_call=True,
)
def keep_question(_clicks: int | None, _sent: int | None, text: str | None) -> tuple[Any, ...]:
    """Save the question that was written."""
    if not ctx.triggered[0]["value"] or not (text or "").strip():
        raise PreventUpdate
    kb().save_question((text or "").strip())
    return saved_list(kb().saved_questions()), "", False


@callback(
    Output("compare-saved-list", "children", allow_duplicate=True),
    Output("compare-impact-run", "disabled", allow_duplicate=True),
    Input({"type": "compare-forget", "id": ALL}, "n_clicks"),
    prevent_initial_call=True,
)
def forget_question(clicks: list[int | None]) -> tuple[Any, bool]:
    """Forget the question whose button was pressed."""
    if not any(clicks) or not isinstance(ctx.triggered_id, dict):
        raise PreventUpdate
    kb().forget_question(str(ctx.triggered_id["id"]))
    notify("ok", t("compare.forgotten"))
    saved = kb().saved_questions()
    return saved_list(saved), not saved


@callback(
    Output("compare-saved-list", "children", allow_duplicate=True),
    Input({"type": "compare-share", "id": ALL, "shared": ALL}, "n_clicks"),
    prevent_initial_call=True,
)
def share_question(clicks: list[int | None]) -> Any:
    """Show the question whose button was pressed to everybody, or to its owner alone."""
    chosen = ctx.triggered_id
    if not any(clicks) or not isinstance(chosen, dict):
        raise PreventUpdate
    changed = kb().share_question(str(chosen["id"]), bool(chosen["shared"]))
    notify("ok", t("sharing.shared" if changed.is_shared else "sharing.hidden", name=changed.text))
    return saved_list(kb().saved_questions())


@callback(
    Output("compare-impact-next", "data"),
    Output("compare-impact-progress", "children"),
    Output("compare-impact-changed", "children"),
    Output("compare-impact-same", "children"),
    Input("compare-impact-run", "n_clicks"),
    prevent_initial_call=True,
)
def start_impact(clicks: int | None) -> tuple[Any, ...]:
    """Begin with the first saved question."""
    saved = kb().saved_questions()
    if not clicks or not saved:
        raise PreventUpdate
    run = {"run": time.time(), "at": 0, "ids": [question.id for question in saved], "changed": 0}
    return run, progress(0, len(saved)), [], []


@callback(
    Output("compare-impact-done", "data"),
    Output("compare-impact-progress", "children", allow_duplicate=True),
    Output("compare-impact-changed", "children", allow_duplicate=True),
    Output("compare-impact-same", "children", allow_duplicate=True),
    Input("compare-impact-next", "data"),
    State("compare-subject", "data"),
    prevent_initial_call=True,
)
def ask_some(run: dict[str, Any], subject: list[Any] | None) -> tuple[Any, ...]:
    """Ask as many of the saved questions as half a second takes, at least one."""
    if not run or run["at"] >= len(run["ids"]):
        raise PreventUpdate
    known = {question.id: question for question in kb().saved_questions()}
    questions = [known[name] for name in run["ids"][run["at"] :] if name in known]
    changed, same = Patch(), Patch()
    began = time.monotonic()
    at = run["at"] if questions else len(run["ids"])
    count = run["changed"]
    try:
        impacts = rag().impact(subject[0], subject[1], questions) if subject else iter(())
        for impact in impacts:
            (changed if impact.comparison.is_changed else same).append(impact_line(impact))
            count += impact.comparison.is_changed
            at += 1
            if time.monotonic() - began > STEP_S:
                break
    except EvoRAGError as error:
        return {}, error_line(error), no_update, no_update
    total = len(run["ids"])
    done = at >= total
    shown = t("compare.impact_result", count=count, total=total) if done else progress(at, total)
    return {**run, "at": at, "changed": count}, shown, changed, same


clientside_callback(
    ClientsideFunction("compare", "again"),
    Output("compare-impact-went", "data"),
    Input("compare-impact-done", "data"),
    prevent_initial_call=True,
)
