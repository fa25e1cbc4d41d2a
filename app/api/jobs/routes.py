"""Routes of background work: what runs, what one job did and how far it is, try again, cancel, sooner or later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flask

from app.api.description.describe import Field, obj, one_of, operation, whole, words
from app.api.description.inputs import KEY_CHARS, page_limit
from app.api.description.reading import arguments, body
from app.api.system.waiting import room_to_wait
from app.components.shared.states import error_words
from app.context import kb
from core.errors import Conflict, NotFound
from core.model import Job, JobEvent, JobFilter, JobKind, JobState, Role, to_dict

jobs = flask.Blueprint("jobs", __name__, url_prefix="/api/v1/jobs")

IDS_LIMIT = 100
LONGEST_WAIT_S = 25
FILTER: dict[str, Field] = {
    "state": Field(
        {"type": "array", "maxItems": len(JobState), "items": {"type": "string", "enum": list(JobState)}},
        "Only jobs in these states; the name may be repeated.",
        (),
    ),
    "kind": one_of("Only jobs of this kind.", *JobKind),
    "actor": words("Only jobs of this user.", most=64),
    "search": words("Literal text in the document's name.", most=KEY_CHARS),
    "doc_key": words("Only jobs of this document.", most=KEY_CHARS),
    "parent": words("Only jobs of the documents that this archive's job has found.", most=64),
}


@jobs.get("")
@operation(
    "Jobs",
    tag="jobs",
    query={
        "ids": words("Only these, with commas.", most=10_000),
        "active": one_of("`1`: only those that are not over.", "0", "1", default="0"),
        **FILTER,
        "before": words("Only those older than this job.", most=64),
        "changed_since": whole("Only those that changed after this number, which is the answer's `change`.", low=0),
        "wait_s": whole(
            "Wait so long for a change after `changed_since`; not at all while too many others wait.",
            low=0,
            high=LONGEST_WAIT_S,
            default=0,
        ),
        "limit": page_limit(),
    },
    answers={200: obj(jobs=[Job], change=int, counts=dict[str, int])},
    errors=(NotFound,),
)
def list_jobs() -> flask.Response:
    """Answer jobs, the newest first, how many there are in each state, and the number of the newest change.

    Unknown ones in ``ids`` are left out.
    """
    given = arguments()
    since = given["changed_since"]
    change = _change(-1 if since is None else since, given["wait_s"] if since is not None else 0)
    filters = _filter(given)
    ids = [name for name in given["ids"].split(",") if name][:IDS_LIMIT] if given["ids"] else None
    found = kb().jobs(
        filters,
        ids=ids,
        active=given["active"] == "1",
        before=given["before"] or None,
        changed_since=since,
        limit=given["limit"],
    )
    counts = {} if ids else kb().job_counts(replace(filters, states=()))
    return flask.jsonify(jobs=[_shown(job) for job in found], change=change, counts=counts)


@jobs.post("/retry-failed")
@operation(
    "Try all failed jobs again",
    tag="jobs",
    role=Role.EDITOR,
    body=obj({name: field for name, field in FILTER.items() if name != "state"}),
    body_optional=True,
    answers={200: obj(jobs=[Job])},
)
def retry_failed() -> flask.Response:
    """Start again what failed: one's own jobs, everybody's for administrators; those of no use are left alone."""
    again = kb().retry_failed(_filter(body()))
    return flask.jsonify(jobs=[_shown(job) for job in again])


@jobs.get("/<job_id>")
@operation("A job", tag="jobs", answers={200: Job})
def show_job(job_id: str) -> flask.Response:
    """Answer one job."""
    return flask.jsonify(_shown(kb().job(job_id)))


@jobs.post("/<job_id>/retry")
@operation("Try a job again", tag="jobs", role=Role.EDITOR, answers={200: Job}, errors=(Conflict,))
def retry_job(job_id: str) -> flask.Response:
    """Start a failed job again from its last finished stage."""
    return flask.jsonify(_shown(kb().retry(job_id)))


@jobs.post("/<job_id>/cancel")
@operation("Cancel a job", tag="jobs", role=Role.EDITOR, answers={200: Job}, errors=(Conflict,))
def cancel_job(job_id: str) -> flask.Response:
    """Cancel a job that has not finished."""
    return flask.jsonify(_shown(kb().cancel(job_id)))


@jobs.get("/<job_id>/log")
@operation(
    "A job's log",
    tag="jobs",
    query={"after": whole("Only lines after this one.", low=0, default=0)},
    answers={200: obj(events=[JobEvent])},
)
def show_log(job_id: str) -> flask.Response:
    """Answer what happened to a job, the oldest first; at most 1,000 lines are kept."""
    return flask.jsonify(events=[to_dict(event) for event in kb().job_log(job_id, arguments()["after"])])


@jobs.post("/<job_id>/priority")
@operation(
    "Work on a job sooner or later",
    tag="jobs",
    role=Role.EDITOR,
    body=obj(priority=whole("From -10, after all others, to 10.", low=-10, high=10, required=True)),
    answers={200: Job},
    errors=(Conflict,),
)
def prioritise_job(job_id: str) -> flask.Response:
    """Have a job worked on before or after its user's others."""
    return flask.jsonify(_shown(kb().prioritise(job_id, body()["priority"])))


def _change(since: int, wait_s: int) -> int:
    """The newest change, waited for where that is wished and there is room."""
    if not wait_s:
        return kb().jobs_changed(since, 0)
    with room_to_wait() as has_room:
        return kb().jobs_changed(since, wait_s if has_room else 0)


def _filter(given: Mapping[str, Any]) -> JobFilter:
    return JobFilter(
        states=tuple(JobState(state) for state in given.get("state") or ()),
        kinds=(given["kind"],) if given["kind"] else (),
        actor=given["actor"] or "",
        search=given["search"] or "",
        doc_key=given["doc_key"] or "",
        parent_id=given["parent"] or "",
    )


def _shown(job: Job) -> dict[str, object]:
    """A job as data, its error in the language of the request."""
    shown = dict(to_dict(job))
    if job.error:
        shown["error"] = error_words(job.error)
    return shown
