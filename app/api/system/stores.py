"""Routes of the stores: whether they hold what the catalogue says, mending them, and writing them anew."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, one_of, operation, texts, words, yes_no
from app.api.description.reading import arguments, body
from app.api.documents.receiving import RECEIPTS, REFUSALS, WHERE, answer_receipt
from app.context import kb
from core.errors import NotFound
from core.model import FilesCheck, Role, StoreReport, UnnamedFile, to_dict

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


@stores.get("/stores/quarantine")
@operation(
    "Files that nothing names",
    tag="server",
    role=Role.ADMIN,
    answers={200: obj(files=[UnnamedFile])},
    is_linked=False,
)
def list_quarantine() -> flask.Response:
    """Answer the files that no row of the catalogue names; they stay until somebody takes them back or removes them."""
    return flask.jsonify(files=[to_dict(each) for each in kb().quarantine.list()])


@stores.post("/stores/quarantine/restore")
@operation(
    "Take an original back",
    tag="server",
    role=Role.ADMIN,
    body=obj(
        name=words("The SHA-256 by which it is listed.", most=64, required=True),
        file_name=words("The name of the file that it is, with its extension.", most=1_024, least=1, required=True),
    ),
    answers=RECEIPTS,
    answer_headers=WHERE,
    errors=(NotFound, *REFUSALS),
)
def restore_from_quarantine() -> tuple[flask.Response, int, dict[str, str]]:
    """Take an original that nothing names as the next version of the document that ``file_name`` says."""
    given = body()
    return answer_receipt(kb().quarantine.restore(given["name"], given["file_name"]))


@stores.post("/stores/quarantine/empty")
@operation(
    "Remove files that nothing names",
    tag="server",
    role=Role.ADMIN,
    body=obj(
        names=texts("The names of the files.", most=10_000, chars=256),
        all=yes_no("Remove every file that nothing names.", default=False),
    ),
    answers={200: obj(count=int)},
    errors=(NotFound,),
)
def empty_quarantine() -> flask.Response:
    """Remove files that nothing names for good; what was taken up meanwhile stays."""
    given = body()
    return flask.jsonify(count=kb().quarantine.empty(None if given["all"] else given["names"]))
