"""Routes of differences as data, and of comparisons as downloads: summary, rows, page, patch, texts, images."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import flask

from app.api.description.describe import obj, one_of, operation, whole
from app.api.description.inputs import page_limit
from app.api.description.reading import arguments, path_number
from app.api.versions.pairs import REFUSALS, WHICH, compared, pair_of
from app.components.compare.address import Pair
from app.context import kb
from app.i18n import has, language, t
from core.errors import Conflict, Purged
from core.model import ChangeSummary, Row, to_dict

diff = flask.Blueprint("diff", __name__, url_prefix="/api/v1")

EXPORT_WORDS = (
    *("title", "old", "new", "changed", "added", "removed", "moved", "lines", "words"),
    *("unchanged_rows", "more_rows", "notices", "values", "chapters", "metadata", "images", "equal"),
    *("columns_added", "columns_removed"),
)
NAMED_METADATA = (
    *("title", "subject", "author", "language", "keywords", "pages", "slides", "sheets", "created", "modified"),
    *("producer", "encoding", "label", "file_name", "size_bytes", "extension"),
)
DOWNLOAD = {"Content-Disposition": ""}


@diff.get("/diff")
@operation("What differs", tag="compare", query=WHICH, answers={200: ChangeSummary}, errors=REFUSALS)
def show_summary() -> flask.Response:
    """Answer what changed between two versions, counted and listed: lines, words, values, chapters, images."""
    return flask.jsonify(to_dict(compared().summary))


@diff.get("/diff/rows")
@operation(
    "What differs, line by line",
    tag="compare",
    query={**WHICH, "start": whole("Index of the first row.", default=0), "limit": page_limit(100)},
    answers={200: obj(rows=[Row], total=int, next=int | None)},
    errors=REFUSALS,
)
def list_rows() -> flask.Response:
    """Answer rows of the difference in order; ``next`` is the ``start`` of the next page."""
    given = arguments()
    comparison = compared()
    end = given["start"] + given["limit"]
    rows = [to_dict(row) for row in comparison.rows(given["start"], end)]
    return flask.jsonify(rows=rows, total=comparison.count, next=end if end < comparison.count else None)


@diff.get("/compare.json")
@operation(
    "Summary of a comparison as a download",
    tag="compare",
    query=WHICH,
    answers={200: ChangeSummary},
    answer_headers=DOWNLOAD,
    errors=REFUSALS,
)
def download_summary() -> flask.Response:
    """Send what changed, counted and listed, without the rows."""
    pair = pair_of(arguments())
    response = flask.jsonify(to_dict(compared(pair).summary))
    return _download(response, pair, "json")


@diff.get("/compare.html")
@operation(
    "A comparison as one page",
    tag="compare",
    query=WHICH,
    answers={200: "binary"},
    answer_headers=DOWNLOAD,
    errors=REFUSALS,
)
def download_page() -> flask.Response:
    """Send the comparison as one page that needs nothing else."""
    pair = pair_of(arguments())
    texts = {name: t(f"compare.export.{name}") for name in EXPORT_WORDS} | {"lang": language()}
    texts |= {f"metadata.{name}": t(f"metadata.{name}") for name in NAMED_METADATA if has(f"metadata.{name}")}
    pieces = kb().export(compared(pair), "html", texts)
    return _download(flask.Response(_encoded(pieces), mimetype="application/octet-stream"), pair, "html")


@diff.get("/compare.patch")
@operation(
    "A comparison as a patch",
    tag="compare",
    query=WHICH,
    answers={200: "text/x-diff"},
    answer_headers=DOWNLOAD,
    errors=REFUSALS,
)
def download_patch() -> flask.Response:
    """Send the changes of the text as a unified patch."""
    pair = pair_of(arguments())
    pieces = kb().export(compared(pair), "patch")
    return _download(flask.Response(_encoded(pieces), mimetype="text/x-diff"), pair, "patch")


@diff.get("/compare.txt")
@operation(
    "One side as it was compared",
    tag="compare",
    query={**WHICH, "side": one_of("Which one.", "old", "new", required=True)},
    answers={200: "text"},
    answer_headers=DOWNLOAD,
    errors=REFUSALS,
)
def download_text() -> flask.Response:
    """Send the text of one ``side`` as it was compared: what the patch applies to, or what it gives."""
    pair = pair_of(arguments())
    side = arguments()["side"]
    doc, version = (pair.doc, pair.old) if side == "old" else (pair.new_doc, pair.new)
    pieces = kb().export(compared(pair), side)
    return named(flask.Response(_encoded(pieces), mimetype="text/plain"), f"{doc}-v{version}.txt")


@diff.get("/documents/<doc_key:doc_key>/versions/<number>/images/<image>")
@operation(
    "An image of a version",
    tag="versions",
    answers={200: "image/png", 206: "image/png", 304: None},
    answer_headers={"ETag": ""},
    errors=(Conflict, Purged),
)
def show_image(doc_key: str, number: str, image: str) -> flask.Response:
    """Send an image of a version; whatever was in the document, the browser is told that it is a PNG."""
    path = kb().image(doc_key, path_number(number), path_number(image, "image"))
    return flask.send_file(path.resolve(), mimetype="image/png", conditional=True)


def _encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece.encode("utf-8", "replace")


def _download(response: flask.Response, pair: Pair, form: str) -> flask.Response:
    return named(response, f"{pair.doc}-v{pair.old}-v{pair.new}.{form}")


def named(response: flask.Response, name: str) -> flask.Response:
    """Name a download: its ASCII letters for old clients, and all of it in the form of RFC 8187."""
    safe = "".join(sign if sign.isprintable() and sign not in '/\\"' else "_" for sign in name)
    ascii_name = safe.encode("ascii", "replace").decode().replace("?", "_")
    whole = f"UTF-8''{quote(safe.encode('utf-8', 'replace'), safe='')}"
    response.headers.set("Content-Disposition", "attachment", filename=ascii_name, **{"filename*": whole})
    return response
