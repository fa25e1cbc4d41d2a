"""Routes of the audit: every publication, page by page, or all of them as a download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence

import flask

from app.api.description.describe import obj, one_of, operation, whole, words
from app.api.description.inputs import KEY_CHARS, page_limit
from app.api.description.reading import arguments
from app.context import kb
from core.errors import NotFound
from core.model import Publication, to_dict

audit = flask.Blueprint("audit", __name__, url_prefix="/api/v1")

ACTIONS = ("publish", "rollback", "unpublish", "delete", "restore", "purge", "reread")
COLUMNS = ("seq", "at", "actor", "action", "doc_key", "version", "subject", "note")
BATCH = 1_000
CHOSEN = {
    "doc": words("Only this document.", most=KEY_CHARS),
    "action": one_of("Only this action.", *ACTIONS),
}
FORMULA = re.compile(r"(^|[;\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])")
"""Where a formula may begin, also in a spreadsheet that cuts cells at semicolons."""


@audit.get("/audit")
@operation(
    "Publications",
    tag="audit",
    query={**CHOSEN, "limit": page_limit(), "before": whole("Only those before this one.", low=1, high=2**63 - 1)},
    answers={200: obj(publications=[Publication], next=int | None)},
    errors=(NotFound,),
)
def list_audit() -> flask.Response:
    """Answer the publications of all documents, newest first: what was shown from when on, and by whose doing."""
    limit = arguments()["limit"]
    found = _page(limit + 1, arguments()["before"])
    rest = found[limit - 1].seq if len(found) > limit else None
    return flask.jsonify(publications=[to_dict(publication) for publication in found[:limit]], next=rest)


@audit.get("/audit.json")
@operation(
    "Publications as one list",
    tag="audit",
    query=CHOSEN,
    answers={200: [Publication]},
    answer_headers={"Content-Disposition": ""},
    errors=(NotFound,),
)
def export_json() -> flask.Response:
    """Send every publication as one JSON list."""
    found = _everything()

    def parts() -> Iterator[str]:
        lead = "[\n"
        for publication in found:
            yield lead + json.dumps(to_dict(publication), ensure_ascii=False)
            lead = ",\n"
        yield "[]\n" if lead.startswith("[") else "\n]\n"

    return _download(parts(), "json", "application/json")


@audit.get("/audit.csv")
@operation(
    "Publications as a table",
    tag="audit",
    query=CHOSEN,
    answers={200: "text/csv"},
    answer_headers={"Content-Disposition": ""},
    errors=(NotFound,),
)
def export_csv() -> flask.Response:
    """Send every publication as a table; what a spreadsheet would take for a formula is sent as text."""
    found = _everything()

    def parts() -> Iterator[str]:
        yield "\ufeff" + _line(COLUMNS)
        for publication in found:
            row = to_dict(publication)
            yield _line([_plain(row[column]) for column in COLUMNS])

    return _download(parts(), "csv", "text/csv")


def _page(limit: int, before: int | None) -> list[Publication]:
    """The publications that the address asks for. Raises: ``InvalidInput``, ``NotFound``."""
    given = arguments()
    return kb().audit(limit=limit, before=before, key=given["doc"] or None, action=given["action"])


def _everything() -> Iterator[Publication]:
    """All of them, read in batches; the first one at once, so that a wrong address is answered as an error."""
    first = _page(BATCH, None)

    def batches() -> Iterator[Publication]:
        found = first
        while found:
            yield from found
            found = _page(BATCH, found[-1].seq) if len(found) == BATCH else []

    return batches()


def _download(parts: Iterator[str], kind: str, mimetype: str) -> flask.Response:
    response = flask.Response(flask.stream_with_context(parts), mimetype=mimetype)
    response.headers.set("Content-Disposition", "attachment", filename=f"evorag-audit.{kind}")
    return response


def _line(cells: Sequence[object]) -> str:
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow(cells)
    return written.getvalue()


def _plain(cell: object) -> object:
    """A cell that no spreadsheet computes."""
    return FORMULA.sub(lambda found: f"{found[0]}'", cell) if isinstance(cell, str) else cell
