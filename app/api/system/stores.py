"""Routes of the stores: whether they hold what the catalogue says, mending them, and writing them anew."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, one_of, operation, words, yes_no
from app.api.description.reading import arguments, body
from app.context import kb
from core.errors import NotFound
from core.model import FilesCheck, Role, StoreReport, to_dict

stores = flask.Blueprint("stores", __name__, url_prefix="/api/v1")

STORE = one_of("The store; both where none is given.", "vector", "keyword")


@stores.get("/stores/report")
@operation(
    "What a check of the stores has found",
    tag="server",
    role=Role.ADMIN,
    query={"job_id": words("The job that checks; the newest one where none is given.", most=32)},
    answers={200: StoreReport},
    errors=(NotFound,),
    is_linked=False,
)
def store_report() -> flask.Response:
    """Answer how each store stood before, how many rows were mended, and how each stood after, as far as the job is."""
    return flask.jsonify(to_dict(kb().store_report(arguments()["job_id"] or None)))


@stores.get("/stores/files")
@operation(
    "Hold the files against the catalogue",
    tag="server",
    role=Role.ADMIN,
    answers={200: FilesCheck},
    is_linked=False,
)
def check_files() -> flask.Response:
    """Answer which originals are gone or known to be damaged, and which files nothing names; those stay there."""
    return flask.jsonify(to_dict(kb().check_files()))


@stores.post("/stores/repair")
@operation(
    "Check the stores, and mend them",
    tag="server",
    role=Role.ADMIN,
    body=obj(
        store=STORE,
        dry_run=yes_no("Only look; what is wrong is mended where this is false.", default=True),
        deep=yes_no("Read every original and parsed text to its end; no store may be named then.", default=False),
    ),
    answers={202: obj(job_id=str)},
)
def repair_stores() -> tuple[flask.Response, int]:
    """Queue the job that compares stores with the catalogue, mends what is wrong and checks again.

    Missing rows are written, stale and misplaced ones replaced, orphaned ones removed. Rows that wait to be written
    are no faults.
    """
    given = body()
    job_id = kb().repair(given["store"] or None, dry_run=given["dry_run"], deep=given["deep"])
    return flask.jsonify(job_id=job_id), 202


@stores.post("/stores/reindex")
@operation(
    "Write a store anew",
    tag="server",
    role=Role.ADMIN,
    body=obj(store=STORE),
    answers={202: obj(job_id=str)},
)
def reindex_stores() -> tuple[flask.Response, int]:
    """Queue the job that writes every row of a store from the catalogue, while the present ones serve."""
    return flask.jsonify(job_id=kb().reindex(body()["store"] or None)), 202
