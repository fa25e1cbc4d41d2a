"""Routes of background work: what runs, what one job did, try again, cancel."""

from __future__ import annotations

import flask

from app.api.fields import whole_number
from app.components.states import error_words
from app.context import kb
from core.model import Job, to_dict

jobs = flask.Blueprint("jobs", __name__, url_prefix="/api/v1/jobs")

IDS_LIMIT = 100


@jobs.get("")
def list_jobs() -> flask.Response:
    """Answer the jobs named in ``ids`` (comma-separated; unknown ones are left out), else the newest ones."""
    arguments = flask.request.args
    if "ids" in arguments:
        wanted = [name for name in arguments["ids"].split(",") if name][:IDS_LIMIT]
        return flask.jsonify(jobs=[_shown(job) for job in kb().jobs(ids=wanted, limit=IDS_LIMIT)])
    limit = whole_number(arguments.get("limit"), "limit", default=200, low=1, high=1000)
    return flask.jsonify(jobs=[_shown(job) for job in kb().jobs(active=arguments.get("active") == "1", limit=limit)])


@jobs.get("/<job_id>")
def show_job(job_id: str) -> flask.Response:
    """Answer one job."""
    return flask.jsonify(_shown(kb().job(job_id)))


@jobs.post("/<job_id>/retry")
def retry_job(job_id: str) -> flask.Response:
    """Start a failed job again from its last finished stage."""
    return flask.jsonify(_shown(kb().retry(job_id)))


@jobs.post("/<job_id>/cancel")
def cancel_job(job_id: str) -> flask.Response:
    """Cancel a job that has not finished."""
    return flask.jsonify(_shown(kb().cancel(job_id)))


def _shown(job: Job) -> dict[str, object]:
    """A job as data, its error in the language of the request."""
    shown = dict(to_dict(job))
    if job.error:
        shown["error"] = error_words(job.error)
    return shown
