"""Routes of the Compare page: the lines that its grid shows, steps from change to change, search.

Every route names the two versions by ``doc``, ``old``, ``new`` and, for two documents, ``other``. A *position* counts
the screen lines of a view, a *row* the rows of the diff.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

import flask

from app.api.description.describe import obj, one_of, operation, whole, words
from app.api.description.fields import whole_number
from app.api.description.reading import arguments
from app.api.versions.pairs import REFUSALS, WHICH, compared
from app.components.compare.address import MODES
from app.components.compare.words import spoken
from app.i18n import t
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.versions.diff.layout import RowView
    from core.versions.result import ComparisonResult

compare = flask.Blueprint("compare", __name__, url_prefix="/api/v1")

LARGEST = 2**31 - 1
LINES_LIMIT = 1_000
OPEN_LIMIT = 2_000
FIND_CHARS = 200
LAID_OUT = {
    "mode": one_of("Side by side, or one column.", *MODES, default=MODES[0]),
    "width": whole("Cells of one column.", default=80),
    "folded": one_of("`0` shows unchanged lines as well.", "0", "1", default="1"),
    "open": words("Rows at which a fold is opened, with commas.", most=40_000),
    "chapter": whole("Only this one of the summary's chapters."),
    "only": words("Kinds of changes with commas: `changed`, `added`, `removed`, `moved`.", most=64),
    "outline": one_of("`1` folds every section to one line.", "0", "1", default="0"),
}
NUMBER = {"type": ["integer", "null"]}
LINES = {"type": "array", "items": {"type": "object"}}
BLOCK = {"start": int, "lines": LINES}


@compare.get("/compare/view")
@operation(
    "Lines and changes of a view",
    tag="compare",
    query={
        **WHICH,
        **LAID_OUT,
        "row": whole("A row to show."),
        "top": whole("A row to place."),
        "block": whole("Lines a block."),
    },
    answers={200: obj(BLOCK, total=int, changes=int, index=int, position=NUMBER, top=NUMBER, open=[int])},
    errors=REFUSALS,
)
def describe_view() -> flask.Response:
    """Answer how many lines and changes a view has, and where ``row`` stands; a fold around it is opened.

    ``top`` is a row whose place is wanted without opening anything. The block of ``block`` lines around the place is
    in the answer, so that a jump is one request.
    """
    comparison = compared()
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
@operation(
    "Screen lines",
    tag="compare",
    query={**WHICH, **LAID_OUT, "start": whole("First line.", default=0), "end": whole("Line after the last one.")},
    answers={200: obj(total=int, lines=LINES)},
    errors=REFUSALS,
)
def show_rows() -> flask.Response:
    """Answer the screen lines from ``start`` to before ``end``."""
    view = _view(compared())
    start = _number("start", 0)
    end = _number("end", start + 100)
    if not start <= end <= start + LINES_LIMIT:
        raise InvalidInput(f"end must be at most {LINES_LIMIT:,} lines after start.")
    return flask.jsonify(total=view.total, lines=[_line(line) for line in view.lines(start, min(end, view.total))])


@compare.get("/compare/step")
@operation(
    "The next change",
    tag="compare",
    query={
        **WHICH,
        **LAID_OUT,
        "from": whole("Position to begin at."),
        "row": whole("Row to begin at."),
        "to": one_of("Which way.", "next", "previous", default="next"),
        "block": whole("Lines a block."),
    },
    answers={
        200: obj(
            BLOCK,
            count=int,
            index=int,
            position=NUMBER,
            row=NUMBER,
            text=str,
            total=int,
            optional=("total", "start", "lines"),
        )
    },
    errors=REFUSALS,
)
def step() -> flask.Response:
    """Answer the change after (or, with ``to=previous``, before) a place, round the end, in words.

    The place is the position ``from``, or that of ``row``.
    """
    comparison = compared()
    view = _view(comparison)
    changes = view.changes
    if not len(changes):
        return flask.jsonify(count=0, index=0, position=None, row=None, text=t("compare.no_changes"))
    at = _number("from", -1)
    row = _number("row", -1)
    if at < 0 <= row < comparison.count:
        place = view.position_of(row)
        at = -1 if place is None else place
    if arguments()["to"] == "previous":
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
@operation(
    "Find in both versions",
    tag="compare",
    query={**WHICH, "q": words("Literal text.", most=10_000)},
    answers={200: obj(rows=[int])},
    errors=REFUSALS,
)
def find() -> flask.Response:
    """Answer the rows whose text on either side holds ``q``."""
    comparison = compared()
    wanted = arguments()["q"][:FIND_CHARS]
    return flask.jsonify(rows=[int(row) for row in comparison.find(wanted)] if wanted.strip() else [])


def _view(comparison: ComparisonResult, opened: list[int] | None = None) -> RowView:
    given = arguments()
    return comparison.view(
        mode=given["mode"],
        width=given["width"],
        folded=given["folded"] != "0",
        open_folds=_open_folds() if opened is None else opened,
        chapter=given["chapter"],
        only=tuple(name for name in given["only"].split(",") if name),
        outline=given["outline"] == "1",
    )


def _open_folds() -> list[int]:
    given = [part for part in arguments()["open"].split(",") if part]
    if len(given) > OPEN_LIMIT:
        raise InvalidInput(f"open can name at most {OPEN_LIMIT:,} folds.")
    return [whole_number(part, "open", default=0, low=0, high=LARGEST) for part in given]


def _number(name: str, default: int) -> int:
    given = arguments()[name]
    return default if given is None else int(given)


def _block(view: RowView, position: int) -> dict[str, Any]:
    """The block of lines that holds a position, as the grid would ask for it."""
    size = min(_number("block", 0), LINES_LIMIT)
    start = position // max(size, 1) * size
    return {"start": start, "lines": [_line(line) for line in view.lines(start, start + size)]}


def _line(line: Any) -> dict[str, Any]:
    shown: dict[str, Any] = line.as_dict()
    del shown["cells"]
    return shown
