"""Routes of the audit: every publication, page by page, or all of them as a download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence

import flask

from app.api.fields import whole_number
from app.context import kb
from core.errors import InvalidInput
from core.model import Publication, to_dict

audit = flask.Blueprint("audit", __name__, url_prefix="/api/v1")

ACTIONS = ("publish", "rollback", "unpublish", "delete", "restore", "purge")
COLUMNS = ("seq", "at", "actor", "action", "doc_key", "version", "subject", "note")
BATCH = 1_000
FORMULA = re.compile(r"(^|[;\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])")
"""Where a formula may begin, also in a spreadsheet that cuts cells at semicolons."""


@audit.get("/audit")
def list_publications() -> flask.Response:
    """Answer publications, newest first; ``next`` is the ``before`` of the next page, null at the end."""
    given = flask.request.args
    limit = whole_number(given.get("limit"), "limit", default=200, low=1, high=BATCH)
    before = whole_number(given.get("before"), "before", default=0, low=1, high=2**63 - 1) or None
    found = _page(limit + 1, before)
    rest = found[limit - 1].seq if len(found) > limit else None
    return flask.jsonify(publications=[to_dict(publication) for publication in found[:limit]], next=rest)


@audit.get("/audit.json")
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
    action = flask.request.args.get("action") or None
    if action is not None and action not in ACTIONS:
        raise InvalidInput(f"action must be one of {', '.join(ACTIONS)}.")
    key = flask.request.args.get("doc") or None
    return kb().audit(limit=limit, before=before, key=key, action=action)


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
