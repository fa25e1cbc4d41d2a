"""Routes of comparisons that take long: begin without waiting, how far it is and what is left, stop."""

from __future__ import annotations

import flask

from app.api.description.describe import obj, operation
from app.api.description.reading import arguments, body
from app.api.versions.pairs import REFUSALS, WHICH, pair_of
from app.components.compare.address import Pair
from app.context import kb
from core.model import ComparisonProgress, to_dict

underway = flask.Blueprint("underway", __name__, url_prefix="/api/v1/compare")

PROGRESS = obj(progress=ComparisonProgress | None)


@underway.post("/begin")
@operation(
    "Begin a comparison",
    tag="compare",
    body=obj(WHICH),
    answers={200: PROGRESS, 202: PROGRESS},
    errors=REFUSALS,
)
def begin_comparison() -> tuple[flask.Response, int]:
    """Begin to compare two versions, and answer at once how far that is: 200 where the comparison is there already."""
    pair = pair_of(body())
    found = kb().compare(pair.doc, pair.old, pair.new, other=pair.other, wait=False)
    return _progress(pair), 202 if found is None else 200


@underway.get("/progress")
@operation("How far a comparison is", tag="compare", query=WHICH, answers={200: PROGRESS}, errors=REFUSALS)
def show_comparison_progress() -> flask.Response:
    """Answer how far a comparison is: a share of 1 where it is there, null where nobody computes it."""
    return _progress(pair_of(arguments()))


@underway.post("/cancel")
@operation("Stop a comparison", tag="compare", body=obj(WHICH), answers={200: obj(cancelled=bool)}, errors=REFUSALS)
def cancel_comparison() -> flask.Response:
    """Stop computing a comparison, and answer whether it was being computed. Others who wait for it still get it."""
    pair = pair_of(body())
    return flask.jsonify(cancelled=kb().cancel_comparison(pair.doc, pair.old, pair.new, other=pair.other))


def _progress(pair: Pair) -> flask.Response:
    found = kb().comparison_progress(pair.doc, pair.old, pair.new, other=pair.other)
    return flask.jsonify(progress=None if found is None else to_dict(found))
