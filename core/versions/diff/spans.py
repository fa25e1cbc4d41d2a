"""The marked pieces of a row as a page shows them: what is the same, what is gone, what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.ingest.parsers.tables import CELL_JOINT
from core.model import CellPair, Change, Segment

Piece = tuple[str, str]
"""An operation (``equal``, ``removed`` or ``added``) and the text it is about."""

_EQUAL, _REMOVED, _ADDED = Change.EQUAL.value, Change.REMOVED.value, Change.ADDED.value


def old_pieces(text: str, words: Sequence[Segment], cells: Sequence[CellPair]) -> list[Piece]:
    """Return the old side of a changed row; joined it is ``text``."""
    if cells:
        side = sorted((cell for cell in cells if cell.old is not None), key=lambda cell: cell.old_column or 0)
        return _merged(_joined(_side(cell, cell.old or "", Change.ADDED, _REMOVED) for cell in side))
    if not words:
        return [(_REMOVED, text)]
    return _merged((word.change.value, word.text) for word in words if word.change is not Change.ADDED)


def new_pieces(text: str, words: Sequence[Segment], cells: Sequence[CellPair]) -> list[Piece]:
    """Return the new side of a changed row; joined it is ``text``."""
    if cells:
        side = sorted((cell for cell in cells if cell.new is not None), key=lambda cell: cell.new_column or 0)
        return _merged(_joined(_side(cell, cell.new or "", Change.REMOVED, _ADDED) for cell in side))
    if not words:
        return [(_ADDED, text)]
    return _merged((word.change.value, word.text) for word in words if word.change is not Change.REMOVED)


def both_pieces(old: str, new: str, words: Sequence[Segment], cells: Sequence[CellPair]) -> list[Piece]:
    """Return both sides of a changed row in one line."""
    if cells:
        return _merged(_joined(_both(cell) for cell in cells))
    if not words:
        return [(_REMOVED, old), (_ADDED, new)]
    return [(word.change.value, word.text) for word in words]


def _side(cell: CellPair, text: str, other: Change, sign: str) -> list[Piece]:
    if cell.change is Change.EQUAL:
        return [(_EQUAL, text)]
    if cell.words:
        return [(word.change.value, word.text) for word in cell.words if word.change is not other]
    return [(sign, text)]


def _both(cell: CellPair) -> list[Piece]:
    if cell.change is Change.EQUAL:
        return [(_EQUAL, cell.new or "")]
    if cell.words:
        return [(word.change.value, word.text) for word in cell.words]
    return [(_REMOVED, cell.old or ""), (_ADDED, cell.new or "")]


def _joined(cells: Iterable[list[Piece]]) -> Iterator[Piece]:
    for number, pieces in enumerate(cells):
        if number:
            yield (_EQUAL, CELL_JOINT)
        yield from pieces


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces without empty ones, neighbours of one kind as one."""
    found: list[Piece] = []
    for change, text in pieces:
        if not text:
            continue
        if found and found[-1][0] == change:
            found[-1] = (change, found[-1][1] + text)
        else:
            found.append((change, text))
    return found
