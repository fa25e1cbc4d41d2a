"""Routes of state: is the server well, can it be asked, and how much does it hold."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, operation
from app.context import kb
from core.model import Counts, StoreHealth, to_dict
from core.model.file_types import ARCHIVES, KINDS

state = flask.Blueprint("state", __name__)

WELL = obj(status={"type": "string", "enum": ["ok", "degraded"]}, stores=[StoreHealth], outbox=int, models_ready=bool)
KIND = obj(kind=str, extensions=[str])
FILE_TYPES = obj(kinds=[KIND], archives=[str])
READY = obj(status={"type": "string", "enum": ["ready", "loading", "down"]})


@state.get("/health")
@state.get("/api/v1/health")
@operation("Health", tag="state", answers={200: WELL, 503: WELL})
def health() -> tuple[flask.Response, int]:
    """Answer the state of the stores: 200 while questions can be answered, 503 while a store is down.

    ``status`` is ``degraded`` with 200 too: where originals are damaged, the catalogue is of an earlier day, or the
    disk is full or nearly so.
    """
    now = kb().health()
    states = {store.state for store in now.stores}
    status = "degraded" if states & {"down", "damaged", "earlier", "low", "full"} else "ok"
    return flask.jsonify(status=status, **to_dict(now)), 503 if "down" in states else 200


@state.get("/health/live")
@state.get("/api/v1/health/live")
@operation("Is it alive", tag="state", answers={200: obj(status={"const": "alive"})}, is_open=True)
def live() -> flask.Response:
    """Answer that the process serves; says nothing of the stores."""
    return flask.jsonify(status="alive")


@state.get("/health/ready")
@state.get("/api/v1/health/ready")
@operation("Is it ready", tag="state", answers={200: READY, 503: READY})
def ready() -> tuple[flask.Response, int]:
    """Answer 200 once the models are loaded and every store answers, 503 before and otherwise."""
    now = kb().health()
    states = {store.state for store in now.stores}
    word = "down" if "down" in states else "ready" if now.models_ready and "loading" not in states else "loading"
    return flask.jsonify(status=word), 200 if word == "ready" else 503


@state.get("/api/v1/file-types")
@operation("File types", tag="state", answers={200: FILE_TYPES})
def file_types() -> flask.Response:
    """Answer which files are read: their extensions by kind, and those of archives that are unpacked."""
    kinds = [{"kind": kind, "extensions": list(extensions)} for kind, extensions in KINDS.items()]
    return flask.jsonify(kinds=kinds, archives=list(ARCHIVES))


@state.get("/api/v1/counts")
@operation("Counts", tag="state", answers={200: Counts})
def counts() -> flask.Response:
    """Answer how much there is: documents, versions, chunks, questions, running jobs, bytes, publications."""
    return flask.jsonify(to_dict(kb().counts()))
