"""What is done on the Evaluate page: sets come in and go, runs start, go on and end, drafts are checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
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
    html,
    no_update,
)
from dash.exceptions import PreventUpdate

from app import links
from app.components.evaluate.forms import EXAMPLE
from app.components.evaluate.gate import verdicts
from app.components.evaluate.run_form import chosen
from app.components.shared.states import error_line, notify, report_callback_error
from app.context import kb
from app.i18n import size, t
from app.pages.evaluate.as_of import as_of_written
from app.pages.evaluate.view import PAGE_OUTCOMES, outcomes_page, outcomes_part, questions_of, run_part, runs_part
from core.errors import EvoRAGError, InvalidInput, NotFound
from core.model import Query

BUSY = "btn btn-primary is-working"
READY = "btn btn-primary"


@callback(
    Output("evaluate-lines", "value"),
    Output("evaluate-name", "value"),
    Input("evaluate-example", "n_clicks"),
    prevent_initial_call=True,
)
def show_example(clicks: int | None) -> tuple[str, str]:
    """Put lines into the form that can be imported as they are."""
    if not clicks:
        raise PreventUpdate
    return EXAMPLE, t("evaluate.example_name")


@callback(
    Output("evaluate-file-name", "children"),
    Output("evaluate-name", "value", allow_duplicate=True),
    Input("evaluate-file", "data"),
    State("evaluate-name", "value"),
    prevent_initial_call=True,
)
def tell_file(file: dict[str, Any] | None, name: str | None) -> tuple[Any, Any]:
    """Name the chosen file; the set is named after it where it has no name yet."""
    if not file:
        raise PreventUpdate
    told = t("evaluate.file_chosen", name=file["name"], size=size(int(file["size"])))
    return told, no_update if (name or "").strip() else PurePath(file["name"]).stem


clientside_callback(
    ClientsideFunction("evaluate", "send"),
    Output("evaluate-sent", "data"),
    Input("evaluate-import", "n_clicks"),
    State("evaluate-name", "value"),
    State("evaluate-lines", "value"),
    State("evaluate-shared", "value"),
    prevent_initial_call=True,
)


@callback(
    Output("evaluate-go", "href"),
    Output("evaluate-import-error", "children"),
    Input("evaluate-sent", "data"),
    prevent_initial_call=True,
)
def imported(sent: dict[str, Any] | None) -> tuple[Any, Any]:
    """Go to the set that the browser has sent, or say why there is none."""
    if not sent:
        raise PreventUpdate
    if "set" in sent:
        notify("ok", t("evaluate.imported", name=sent["set"]["name"], count=sent["set"]["size"]))
        return links.evaluate(sent["set"]["id"]), None
    if "refused" in sent:
        return no_update, error_line(sent["refused"])
    what = "name" if sent.get("missing") == "name" else "lines"
    return no_update, error_line(InvalidInput(t(f"evaluate.no_{what}"), remedy=t(f"evaluate.no_{what}_remedy")))


def _named(name: str | None) -> str:
    if not (name or "").strip():
        raise InvalidInput(t("evaluate.no_name"), remedy=t("evaluate.no_name_remedy"))
    return (name or "").strip()


@callback(
    Output("evaluate-picked", "value"),
    Input("evaluate-all", "n_clicks"),
    Input("evaluate-none", "n_clicks"),
    State("evaluate-picked", "options"),
    prevent_initial_call=True,
)
def pick(_all: int | None, _none: int | None, options: Sequence[dict[str, Any]]) -> list[str]:
    """Choose every question that is offered, or none."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return [option["value"] for option in options] if ctx.triggered_id == "evaluate-all" else []


@callback(Output("evaluate-chosen", "children"), Input("evaluate-picked", "value"))
def count_picked(picked: Sequence[str] | None) -> str:
    """Say how many questions are chosen."""
    return t("evaluate.chosen", count=len(picked or ()))


@callback(
    Output("evaluate-go", "href", allow_duplicate=True),
    Output("evaluate-history-error", "children"),
    Input("evaluate-make", "n_clicks"),
    State("evaluate-name", "value"),
    State("evaluate-picked", "value"),
    State("evaluate-shared", "value"),
    prevent_initial_call=True,
    running=[(Output("evaluate-make", "className"), BUSY, READY)],
)
def make_set(
    clicks: int | None, name: str | None, picked: Sequence[str] | None, shared: bool | None = True
) -> tuple[Any, Any]:
    """Make a set of the chosen questions and go to it."""
    if not clicks:
        raise PreventUpdate
    try:
        if not picked:
            raise InvalidInput(t("evaluate.none_chosen"), remedy=t("evaluate.none_chosen_remedy"))
        made = kb().evaluations.set_from_history(_named(name), list(picked), shared=shared is not False)
    except EvoRAGError as error:
        return no_update, error_line(error)
    notify("ok", t("evaluate.imported", name=made.name, count=made.size))
    return links.evaluate(made.id), None


@callback(
    Output("evaluate-gate", "value"),
    Input("evaluate-gate", "value"),
    State("evaluate-set", "data"),
    prevent_initial_call=True,
)
def gate(is_on: bool, known: dict[str, Any]) -> Any:
    """Let the set warn before drafts are published, or not; the switch goes back where that is refused."""
    try:
        kb().evaluations.set_gate(known["id"], bool(is_on))
    except EvoRAGError as error:
        report_callback_error(error)
        return not is_on
    notify("ok", t("evaluate.gate_on" if is_on else "evaluate.gate_off", name=known["name"]))
    return no_update


@callback(
    Output("evaluate-share", "value"),
    Input("evaluate-share", "value"),
    State("evaluate-set", "data"),
    prevent_initial_call=True,
)
def share(is_on: bool, known: dict[str, Any]) -> Any:
    """Show the set to everybody, or to its owner alone; the switch goes back where that is refused."""
    try:
        kb().evaluations.share_set(known["id"], bool(is_on))
    except EvoRAGError as error:
        report_callback_error(error)
        return not is_on
    notify("ok", t("sharing.shared" if is_on else "sharing.hidden", name=known["name"]))
    return no_update


@callback(
    Output("evaluate-delete-dialog", "is_open"),
    Input("evaluate-delete", "n_clicks"),
    Input("evaluate-delete-cancel", "n_clicks"),
    prevent_initial_call=True,
)
def ask_to_delete(_ask: int | None, _keep: int | None) -> bool:
    """Ask before a set goes with its runs."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return bool(ctx.triggered_id == "evaluate-delete")


@callback(
    Output("evaluate-go", "href", allow_duplicate=True),
    Output("evaluate-delete-dialog", "is_open", allow_duplicate=True),
    Input("evaluate-delete-confirm", "n_clicks"),
    State("evaluate-set", "data"),
    prevent_initial_call=True,
)
def delete_set(clicks: int | None, known: dict[str, Any]) -> tuple[str, bool]:
    """Remove the set and go back to the list."""
    if not clicks:
        raise PreventUpdate
    kb().evaluations.delete_set(known["id"])
    notify("ok", t("evaluate.deleted", name=known["name"]))
    return links.EVALUATE, False


@callback(
    Output("evaluate-progress", "children"),
    Output("evaluate-runs", "children", allow_duplicate=True),
    Output("evaluate-tick", "disabled"),
    Output("evaluate-run-error", "children"),
    Input("evaluate-run", "n_clicks"),
    State("evaluate-label", "value"),
    State("evaluate-rerank", "value"),
    State("evaluate-fusion", "value"),
    State("evaluate-generator", "value"),
    State("evaluate-as-of", "value"),
    State("evaluate-set", "data"),
    prevent_initial_call=True,
    running=[(Output("evaluate-run", "className"), BUSY, READY)],
)
def start(
    clicks: int | None,
    label: str | None,
    rerank: str | None,
    fusion: str | None,
    generator: str | None,
    as_of: str | None,
    known: dict[str, Any],
) -> tuple[Any, ...]:
    """Start a run with the chosen options; it goes on without the page."""
    if not clicks:
        raise PreventUpdate
    try:
        settings = kb().settings.search
        query = Query(
            "",
            top_k=settings.top_k,
            depth=settings.search_depth,
            rerank=chosen(rerank),
            fusion=fusion or "rrf",
            generator=chosen(generator),
            as_of=as_of_written(as_of) if as_of and as_of.strip() else None,
        )
        kb().evaluations.run(known["id"], query, (label or "").strip())
    except EvoRAGError as error:
        return no_update, no_update, no_update, error_line(error)
    going, results, _, _ = runs_part(known["id"])
    # While the first run goes, nothing says any more that there is none.
    return going, no_update if results else results, False, None


@callback(
    Output("evaluate-progress", "children", allow_duplicate=True),
    Output("evaluate-runs", "children"),
    Output("evaluate-tick", "disabled", allow_duplicate=True),
    Output("evaluate-seen", "data"),
    Output("evaluate-said", "children"),
    Input("evaluate-tick", "n_intervals"),
    Input({"type": "evaluate-cancel", "run": ALL}, "n_clicks"),
    State("evaluate-set", "data"),
    State("evaluate-seen", "data"),
    prevent_initial_call=True,
)
def follow(_: int | None, _clicks: Sequence[int | None], known: dict[str, Any], seen: str) -> tuple[Any, ...]:
    """Show how far the runs are, and their results as soon as they end; or cancel one."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    if isinstance(ctx.triggered_id, dict):
        kb().evaluations.cancel(ctx.triggered_id["run"])
    going, results, is_still, now = runs_part(known["id"], known["limit"])
    if now == seen:
        return going, no_update, is_still, no_update, no_update
    return going, results, is_still, now, t("evaluate.run_ended")


@callback(
    Output("evaluate-run-part", "children"),
    Output("evaluate-outcomes-part", "children"),
    Output("evaluate-run-tick", "disabled"),
    Output("evaluate-run-said", "children"),
    Input("evaluate-run-tick", "n_intervals"),
    State("evaluate-run-id", "data"),
    prevent_initial_call=True,
)
def follow_one(ticks: int | None, run_id: str) -> tuple[Any, ...]:
    """Show how far the run of the page is until it ends, then what came of it."""
    if not ticks:
        raise PreventUpdate
    try:
        run = kb().evaluations.run_of(run_id)
        if run.state == "running":
            return run_part(run), no_update, False, no_update
        return run_part(run), outcomes_part(run_id), True, t("evaluate.this_run_ended")
    except NotFound as error:
        # Its set was deleted: nothing is left to follow.
        return error_line(error), [], True, no_update


@callback(
    Output("evaluate-run-part", "children", allow_duplicate=True),
    Input({"type": "evaluate-cancel-shown", "run": ALL}, "n_clicks"),
    State("evaluate-run-id", "data"),
    prevent_initial_call=True,
)
def cancel_one(clicks: Sequence[int | None], run_id: str) -> list[Any]:
    """Cancel the run of the page; the next tick shows what was asked until then."""
    if not any(clicks):
        raise PreventUpdate
    return run_part(kb().evaluations.cancel(run_id))


@callback(
    Output("evaluate-run-delete-dialog", "is_open"),
    Input("evaluate-run-delete", "n_clicks"),
    Input("evaluate-run-delete-cancel", "n_clicks"),
    prevent_initial_call=True,
)
def ask_to_delete_run(_ask: int | None, _keep: int | None) -> bool:
    """Ask before a run goes with what its questions got."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return bool(ctx.triggered_id == "evaluate-run-delete")


@callback(
    Output("evaluate-go", "href", allow_duplicate=True),
    Output("evaluate-run-delete-dialog", "is_open", allow_duplicate=True),
    Input("evaluate-run-delete-confirm", "n_clicks"),
    State("evaluate-run-id", "data"),
    State("evaluate-run-set", "data"),
    prevent_initial_call=True,
)
def delete_run(clicks: int | None, run_id: str, known: dict[str, str]) -> tuple[str, bool]:
    """Remove the run and go back to its set."""
    if not clicks:
        raise PreventUpdate
    kb().evaluations.delete_run(run_id)
    notify("ok", t("evaluate.run_deleted", name=known["name"]))
    return links.evaluate(known["id"]), False


@callback(
    Output("evaluate-go", "href", allow_duplicate=True),
    Input("evaluate-compare", "n_clicks"),
    State("evaluate-old", "value"),
    State("evaluate-new", "value"),
    prevent_initial_call=True,
)
def compare(clicks: int | None, old: str, new: str) -> str:
    """Go to the two chosen runs side by side."""
    if not clicks:
        raise PreventUpdate
    return links.evaluate(old=old, new=new)


@callback(
    Output("evaluate-outcomes", "children"),
    Output("evaluate-more", "hidden"),
    Output("evaluate-run-shown", "data"),
    Input("evaluate-more", "n_clicks"),
    State("evaluate-run-shown", "data"),
    prevent_initial_call=True,
)
def more_outcomes(clicks: int | None, shown: dict[str, Any]) -> tuple[Any, bool, dict[str, Any]]:
    """Add the next outcomes under those that are shown."""
    if not clicks:
        raise PreventUpdate
    items, more = outcomes_page(shown["run"], int(shown["after"]))
    added = Patch()
    added.extend(items)
    return added, not more, {**shown, "after": int(shown["after"]) + PAGE_OUTCOMES}


@callback(
    Output("evaluate-verdicts", "children"),
    Input("evaluate-check", "n_clicks"),
    State("evaluate-draft", "data"),
    prevent_initial_call=True,
    running=[(Output("evaluate-check", "className"), BUSY, READY)],
)
def check_draft(clicks: int | None, draft: dict[str, Any]) -> list[html.Section] | html.Div:
    """Ask the gating sets with the draft and without, and say what publishing it would change."""
    if not clicks:
        raise PreventUpdate
    try:
        found = kb().evaluations.gate(draft["doc"], int(draft["version"]))
    except EvoRAGError as error:
        return error_line(error)
    texts = {each.set_id: questions_of(each.set_id) for each in found}
    return verdicts(found, texts)
