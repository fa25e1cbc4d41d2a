"""Routes of readings: what an earlier EvoRAG has read is read anew, compared, shown, and taken back."""

from __future__ import annotations

from functools import partial

import flask

from app.api.description.describe import obj, one_of, operation, texts, whole, words
from app.api.description.reading import arguments, body
from app.context import kb
from core.errors import NotFound
from core.model import Reading, ReadingReport, ReadingState, Role, to_dict

readings = flask.Blueprint("readings", __name__, url_prefix="/api/v1")

MOST = 500
DOCS = texts("Only these documents, by their keys.", most=1_000, chars=1_024)
SOME = obj(docs=DOCS, limit=whole("At most so many documents in this call.", low=1, high=MOST, default=100))
COUNT = obj(count=int)

_of_versions = partial(operation, tag="versions")


@readings.get("/readings")
@_of_versions("What was read by an earlier EvoRAG", answers={200: ReadingReport})
def report_readings() -> flask.Response:
    """Answer how many documents were read by an earlier EvoRAG, and how many other readings there are of each kind."""
    return flask.jsonify(to_dict(kb().readings.report()))


@readings.get("/readings/list")
@_of_versions(
    "Readings that are not in use",
    query={
        "state": one_of("Only of this kind.", *ReadingState),
        "doc": words("Only of this document.", most=1_024),
        "after": whole("The id behind which to go on.", high=2**63 - 1, default=0),
        "limit": whole("Most readings in the answer.", low=1, high=MOST, default=50),
    },
    answers={200: obj(readings=[Reading])},
)
def list_readings() -> flask.Response:
    """Answer readings by id, each that waits with the words that it gains and loses against the one in use."""
    given = arguments()
    found = kb().readings.list(given["state"], key=given["doc"] or None, after=given["after"], limit=given["limit"])
    return flask.jsonify(readings=[to_dict(each) for each in found])


@readings.post("/readings")
@_of_versions("Read documents anew", role=Role.ADMIN, body=obj(docs=DOCS), answers={202: COUNT}, errors=(NotFound,))
def begin_readings() -> tuple[flask.Response, int]:
    """Read anew, in the background and after everything else, what an earlier EvoRAG has read; nothing is shown yet."""
    return flask.jsonify(count=kb().readings.begin(body()["docs"])), 202


@readings.post("/readings/show")
@_of_versions("Use the readings that wait", role=Role.ADMIN, body=SOME, answers={200: COUNT}, errors=(NotFound,))
def show_readings() -> flask.Response:
    """Use readings that wait, each by one publication; call it until it answers 0."""
    given = body()
    return flask.jsonify(count=kb().readings.show(given["docs"], limit=given["limit"]))


@readings.post("/readings/undo")
@_of_versions("Go back to former readings", role=Role.ADMIN, body=SOME, answers={200: COUNT}, errors=(NotFound,))
def undo_readings() -> flask.Response:
    """Use again the readings that were in use before; call it until it answers 0."""
    given = body()
    return flask.jsonify(count=kb().readings.undo(given["docs"], limit=given["limit"]))


@readings.post("/readings/drop")
@_of_versions(
    "Remove readings that were never used",
    role=Role.ADMIN,
    body=obj(docs=DOCS),
    answers={200: COUNT},
    errors=(NotFound,),
)
def drop_readings() -> flask.Response:
    """Remove the readings that wait, failed or are being made."""
    return flask.jsonify(count=kb().readings.drop(body()["docs"]))
