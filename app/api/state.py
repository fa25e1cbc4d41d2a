"""Routes of state: is the server well, and the account of a question as a download."""

from __future__ import annotations

import flask

from app.context import kb
from core.model import to_dict

state = flask.Blueprint("state", __name__)


@state.get("/health")
def health() -> tuple[flask.Response, int]:
    """Answer the state of the stores: 200 while questions can be answered, 503 while a store is down."""
    now = kb().health()
    well = all(store.state != "down" for store in now.stores)
    return flask.jsonify(status="ok" if well else "degraded", **to_dict(now)), 200 if well else 503


@state.get("/api/v1/traces/<trace_id>.json")
def download_trace(trace_id: str) -> flask.Response:
    """Send everything that happened while a question was answered."""
    response = flask.jsonify(to_dict(kb().trace(trace_id)))
    response.headers.set("Content-Disposition", "attachment", filename=f"evorag-trace-{trace_id}.json")
    return response
