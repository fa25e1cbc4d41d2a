"""Routes of comparisons: the lines that a grid shows, steps from change to change, search, exports, images.

Every route names the two versions by ``doc``, ``old``, ``new`` and, for two documents, ``other``. A *position* counts
the screen lines of a view, a *row* the rows of the diff.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import flask

from app.api.fields import whole_number
from app.components.compare_address import MODES, Pair
from app.components.compare_words import spoken
from app.context import kb
from app.i18n import has, language, t
from core.errors import InvalidInput
from core.model import to_dict

if TYPE_CHECKING:
    from core.versions.comparison import Comparison, RowView

compare = flask.Blueprint("compare", __name__, url_prefix="/api/v1")

LARGEST = 2**31 - 1
LINES_LIMIT = 1_000
OPEN_LIMIT = 2_000
FIND_CHARS = 200
EXPORT_WORDS = (
    *("title", "old", "new", "changed", "added", "removed", "moved", "lines", "words"),
    *("unchanged_rows", "more_rows", "notices", "values", "chapters", "metadata", "images", "equal"),
    *("columns_added", "columns_removed"),
)
NAMED_METADATA = (
    *("title", "subject", "author", "language", "keywords", "pages", "slides", "sheets", "created", "modified"),
    *("producer", "encoding", "label", "file_name", "size_bytes", "extension"),
)


@compare.get("/compare.json")
def download_summary() -> flask.Response:
    """Send what changed, counted and listed, without the rows."""
    pair = _pair()
    response = flask.jsonify(to_dict(_comparison(pair).summary))
    return _download(response, pair, "json")


@compare.get("/compare.html")
def download_page() -> flask.Response:
    """Send the comparison as one page that needs nothing else."""
    pair = _pair()
    texts = {name: t(f"compare.export.{name}") for name in EXPORT_WORDS} | {"lang": language()}
    texts |= {f"metadata.{name}": t(f"metadata.{name}") for name in NAMED_METADATA if has(f"metadata.{name}")}
    pieces = kb().export(_comparison(pair), "html", texts)
    return _download(flask.Response(_encoded(pieces), mimetype="application/octet-stream"), pair, "html")


@compare.get("/compare.patch")
def download_patch() -> flask.Response:
    """Send the changes of the text as a unified patch."""
    pair = _pair()
    pieces = kb().export(_comparison(pair), "patch")
    return _download(flask.Response(_encoded(pieces), mimetype="text/x-diff"), pair, "patch")


@compare.get("/compare.txt")
def download_text() -> flask.Response:
    """Send the text of one ``side`` as it was compared: what the patch applies to, or what it gives."""
    pair = _pair()
    side = flask.request.args.get("side", "")
    if side not in ("old", "new"):
        raise InvalidInput("side must be old or new.")
    doc, version = (pair.doc, pair.old) if side == "old" else (pair.new_doc, pair.new)
    pieces = kb().export(_comparison(pair), side)
    return named(flask.Response(_encoded(pieces), mimetype="text/plain"), f"{doc}-v{version}.txt")


@compare.get("/compare/view")
def describe_view() -> flask.Response:
    """Answer how many lines and changes a view has, and where ``row`` stands; a fold around it is opened.

    ``top`` is a row whose place is wanted without opening anything. The block of ``block`` lines around the place is
    in the answer, so that a jump is one request.
    """
    comparison = _comparison(_pair())
    row = _number("row", -1)
    view, opened = _view(comparison), _open_folds()
    position = None
    if row >= 0:
        position = view.position_of(min(row, comparison.count - 1)) if comparison.count else None
        if position is not None and (line := view.lines(position, position + 1)[0]).fold is not None:
            opened = [*opened, line.row]
            view = _view(comparison, opened)
            position = view.position_of(row)
    wanted = _number("top", -1)
    top = view.position_of(min(wanted, comparison.count - 1)) if wanted >= 0 and comparison.count else None
    around = next((at for at in (position, top) if at is not None), 0)
    index = bisect.bisect_left(view.changes, position) if position is not None else len(view.changes)
    is_change = index < len(view.changes) and int(view.changes[index]) == position
    return flask.jsonify(
        total=view.total,
        changes=len(view.changes),
        index=index + 1 if is_change else 0,
        position=position,
        top=top,
        open=opened,
        **_block(view, around),
    )


@compare.get("/compare/rows")
def show_rows() -> flask.Response:
    """Answer the screen lines from ``start`` to before ``end``."""
    view = _view(_comparison(_pair()))
    start = _number("start", 0)
    end = _number("end", start + 100)
    if not start <= end <= start + LINES_LIMIT:
        raise InvalidInput(f"end must be at most {LINES_LIMIT:,} lines after start.")
    return flask.jsonify(total=view.total, lines=[_line(line) for line in view.lines(start, min(end, view.total))])


@compare.get("/compare/step")
def step() -> flask.Response:
    """Answer the change after (or, with ``to=previous``, before) a place, round the end, in words.

    The place is the position ``from``, or that of ``row``.
    """
    comparison = _comparison(_pair())
    view = _view(comparison)
    changes = view.changes
    if not len(changes):
        return flask.jsonify(count=0, index=0, position=None, row=None, text=t("compare.no_changes"))
    at = _number("from", -1)
    row = _number("row", -1)
    if at < 0 <= row < comparison.count:
        place = view.position_of(row)
        at = -1 if place is None else place
    if flask.request.args.get("to") == "previous":
        index = (bisect.bisect_left(changes, at) if at >= 0 else 0) - 1
    else:
        index = bisect.bisect_right(changes, at) if at >= 0 else 0
    index %= len(changes)
    position = int(changes[index])
    row = int(view.row_at(position))
    text = spoken(comparison.rows(row, row + 1)[0], comparison.path_of(row), index + 1, len(changes))
    found = {"count": len(changes), "index": index + 1, "position": position, "row": row}
    return flask.jsonify(**found, text=text, total=view.total, **_block(view, position))


@compare.get("/compare/find")
def find() -> flask.Response:
    """Answer the rows whose text on either side holds ``q``."""
    comparison = _comparison(_pair())
    wanted = flask.request.args.get("q", "")[:FIND_CHARS]
    return flask.jsonify(rows=[int(row) for row in comparison.find(wanted)] if wanted.strip() else [])


@compare.get("/documents/<path:doc_key>/versions/<number>/images/<image>")
def show_image(doc_key: str, number: str, image: str) -> flask.Response:
    """Send an image of a version; whatever was in the document, the browser is told that it is a PNG."""
    version = whole_number(number, "version", default=1, low=1, high=LARGEST)
    position = whole_number(image, "image", default=1, low=1, high=LARGEST)
    path = kb().image(doc_key, version, position)
    return flask.send_file(path.resolve(), mimetype="image/png", conditional=True)


def _pair() -> Pair:
    doc = flask.request.args.get("doc", "")
    if not doc:
        raise InvalidInput("doc must name a document.")
    if not flask.request.args.get("old") or not flask.request.args.get("new"):
        raise InvalidInput("old and new must be the numbers of two versions.")
    other = flask.request.args.get("other") or None
    return Pair(doc, _number("old", 1, low=1), _number("new", 1, low=1), None if other == doc else other)


def _comparison(pair: Pair) -> Comparison:
    return kb().compare(pair.doc, pair.old, pair.new, other=pair.other)


def _view(comparison: Comparison, opened: list[int] | None = None) -> RowView:
    arguments = flask.request.args
    mode = arguments.get("mode", MODES[0])
    if mode not in MODES:
        raise InvalidInput(f"mode must be {' or '.join(MODES)}.")
    chapter = _number("chapter", -1)
    return comparison.view(
        mode=mode,
        width=_number("width", 80),
        folded=arguments.get("folded", "1") != "0",
        open_folds=_open_folds() if opened is None else opened,
        chapter=None if chapter < 0 else chapter,
        only=tuple(name for name in arguments.get("only", "").split(",") if name),
        outline=arguments.get("outline") == "1",
    )


def _open_folds() -> list[int]:
    given = [part for part in flask.request.args.get("open", "").split(",") if part]
    if len(given) > OPEN_LIMIT:
        raise InvalidInput(f"open can name at most {OPEN_LIMIT:,} folds.")
    return [whole_number(part, "open", default=0, low=0, high=LARGEST) for part in given]


def _number(name: str, default: int, low: int = 0) -> int:
    return whole_number(flask.request.args.get(name), name, default=default, low=low, high=LARGEST)


def _block(view: RowView, position: int) -> dict[str, Any]:
    """The block of lines that holds a position, as the grid would ask for it."""
    size = min(_number("block", 0), LINES_LIMIT)
    start = position // max(size, 1) * size
    return {"start": start, "lines": [_line(line) for line in view.lines(start, start + size)]}


def _line(line: Any) -> dict[str, Any]:
    shown: dict[str, Any] = line.as_dict()
    del shown["cells"]
    return shown


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
