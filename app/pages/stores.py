"""Stores: whether both indexes hold what the catalogue says, and mending what does not."""

from __future__ import annotations

from typing import Any

from dash import ALL, Input, Output, State, callback, ctx, dcc, html, register_page
from dash.exceptions import PreventUpdate

from app import links
from app.components.document.overview import counts_strip, stores_card
from app.components.settings.readings import ACT, readings_card, readings_of
from app.components.settings.store_checks import WRITE_ANEW, progress, report, write_anew
from app.components.shared.icon import icon
from app.components.shared.states import empty, error_line, notify, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from core.errors import NotFound
from core.model import JobState, ReadingState

TICK_MS = 1_000
LISTED = 20
AT_ONCE = 25
"""Readings that are used or taken back with one tick."""
BUSY, READY = "btn btn-primary is-working", "btn btn-primary"
ACTIVE = (JobState.QUEUED, JobState.RUNNING)

register_page(__name__, path=links.STORES, title=tab_title("stores.title"))


@shows_errors
def layout(job: str = "", **_: Any) -> html.Div:
    """How the stores are now, and the newest check, or the one that the address names."""
    shown, is_active, job_id = _report(job or None)
    check = html.Div(
        [
            html.Button(
                [icon("check2"), t("stores.check_deep")],
                id="stores-check-deep",
                type="button",
                className="btn btn-secondary",
                title=t("stores.check_deep_hint"),
                disabled=is_active,
            ),
            html.Button(
                [icon("search"), t("stores.check")],
                id="stores-check",
                type="button",
                className=READY,
                disabled=is_active,
            ),
        ],
        className="button-row",
    )
    shown_readings, is_still, at_work = _readings()
    content = [
        counts_strip(kb().counts()),
        stores_card(kb().health()),
        html.Section(html.Div(shown, id="stores-report", role="status"), className="card-plain"),
        readings_card(shown_readings),
        write_anew(),
        dcc.Interval(id="readings-tick", interval=TICK_MS, disabled=is_still),
        dcc.Store(id="readings-work", data=at_work),
        dcc.Interval(id="stores-tick", interval=TICK_MS, disabled=not is_active),
        dcc.Store(id="stores-job", data=job_id),
    ]
    return named_page("stores", content, action=check)


def _report(job_id: str | None) -> tuple[list[Any], bool, str | None]:
    """Return what to show of a job, whether it goes on, and its id."""
    try:
        found = kb().store_report(job_id)
    except NotFound:
        return [empty("database", t("stores.never_title"), t("stores.never_text"))], False, None
    job = kb().job(found.job_id)
    if job.state in ACTIVE:
        return [progress(job, found.act)], True, job.id
    parts: list[Any] = [error_line(job.error)] if job.error else []
    if found.before:
        parts += report(found, job)
    elif not parts:
        parts = [empty("database", t("stores.never_title"), t("stores.stopped_text"))]
    return parts, False, job.id


SHOWN = (
    ("stores-report", "children"),
    ("stores-tick", "disabled"),
    ("stores-job", "data"),
    ("stores-check", "disabled"),
)
SHOWN_TOO = tuple(Output(*each, allow_duplicate=True) for each in SHOWN)
"""What every callback of the page changes: the report, whether it is asked for again, the job, and the button."""


@callback(
    *(Output(*each) for each in SHOWN),
    Input("stores-check", "n_clicks"),
    prevent_initial_call=True,
    running=[(Output("stores-check", "className"), BUSY, READY)],
)
def check(clicks: int | None) -> tuple[Any, ...]:
    """Compare both stores with the catalogue."""
    if not clicks:
        raise PreventUpdate
    return _shown(kb().repair())


@callback(
    *SHOWN_TOO,
    Input("stores-check-deep", "n_clicks"),
    prevent_initial_call=True,
)
def check_deep(clicks: int | None) -> tuple[Any, ...]:
    """Compare both stores with the catalogue, and read every file to its end."""
    if not clicks:
        raise PreventUpdate
    return _shown(kb().repair(deep=True))


@callback(
    *SHOWN_TOO,
    Input("stores-mend", "n_clicks"),
    prevent_initial_call=True,
)
def mend(clicks: int | None) -> tuple[Any, ...]:
    """Mend what is wrong, and check again."""
    if not clicks:
        raise PreventUpdate
    return _shown(kb().repair(dry_run=False))


@callback(
    *SHOWN_TOO,
    Input({"type": WRITE_ANEW, "store": ALL}, "n_clicks"),
    prevent_initial_call=True,
)
def anew(clicks: list[int | None]) -> tuple[Any, ...]:
    """Write every row of a store anew, while the present ones serve."""
    if not any(clicks) or ctx.triggered_id is None:
        raise PreventUpdate
    return _shown(kb().reindex(ctx.triggered_id["store"]))


@callback(
    *SHOWN_TOO,
    Input("stores-tick", "n_intervals"),
    State("stores-job", "data"),
    prevent_initial_call=True,
)
def follow(ticks: int | None, job_id: str | None) -> tuple[Any, ...]:
    """Show how far the job is, and what it has found once it has ended."""
    if not ticks or not job_id:
        raise PreventUpdate
    return _shown(job_id)


@callback(
    *SHOWN_TOO,
    Input("stores-restore", "n_clicks"),
    State("stores-quarantine-file", "value"),
    State("stores-quarantine-name", "value"),
    prevent_initial_call=True,
)
def take_back(clicks: int | None, name: str | None, file_name: str | None) -> tuple[Any, ...]:
    """Take an original that nothing names back as a document, and check again."""
    if not clicks or not name:
        raise PreventUpdate
    done = kb().quarantine.restore(name, file_name or "")
    notify("ok", t("stores.quarantine_restored", name=done.doc_key))
    return _shown(kb().repair())


@callback(
    *SHOWN_TOO,
    Input("stores-empty", "submit_n_clicks"),
    prevent_initial_call=True,
)
def empty_quarantine(clicks: int | None) -> tuple[Any, ...]:
    """Remove what nothing names for good, once that was confirmed, and check again."""
    if not clicks:
        raise PreventUpdate
    notify("ok", t("stores.quarantine_emptied", count=kb().quarantine.empty()))
    return _shown(kb().repair())


def _shown(job_id: str) -> tuple[Any, ...]:
    shown, is_active, _ = _report(job_id)
    return shown, not is_active, job_id, is_active


def _readings(at_work: str = "") -> tuple[list[Any], bool, str]:
    """Return what to show of the readings, whether nothing changes by itself, and what is being done."""
    found = kb().readings.report()
    waiting = [] if at_work or not found.waiting else kb().readings.list(ReadingState.WAITING, limit=LISTED)
    return readings_of(found, waiting, at_work), not (at_work or found.reading), at_work


@callback(
    Output("readings-body", "children"),
    Output("readings-tick", "disabled"),
    Output("readings-work", "data"),
    Input({"type": ACT, "act": ALL}, "n_clicks"),
    prevent_initial_call=True,
)
def act_on_readings(clicks: list[int | None]) -> tuple[Any, bool, str]:
    """Read anew, drop, or begin to show or to take back, which goes on with every tick."""
    if not any(clicks) or ctx.triggered_id is None:
        raise PreventUpdate
    act = ctx.triggered_id["act"]
    if act == "begin":
        kb().readings.begin()
    elif act == "drop":
        kb().readings.drop()
    return _readings(act if act in ("show", "undo") else "")


@callback(
    Output("readings-body", "children", allow_duplicate=True),
    Output("readings-tick", "disabled", allow_duplicate=True),
    Output("readings-work", "data", allow_duplicate=True),
    Input("readings-tick", "n_intervals"),
    State("readings-work", "data"),
    prevent_initial_call=True,
)
def follow_readings(ticks: int | None, at_work: str) -> tuple[Any, bool, str]:
    """Show how far the reading is, and use or take back the next readings."""
    if not ticks:
        raise PreventUpdate
    done = 0
    if at_work == "show":
        done = kb().readings.show(limit=AT_ONCE)
    elif at_work == "undo":
        done = kb().readings.undo(limit=AT_ONCE)
    return _readings(at_work if done else "")
