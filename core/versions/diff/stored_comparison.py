"""A kept comparison on disk: its files, and reading single rows of it without loading the rest.

``rows.npy`` holds one fixed record a row, ``new.txt`` the new text whole, ``old.txt`` only the old lines that are not
the same in the new text, ``marks.jsonl`` the words or cells of changed rows, ``places.json`` where lines stand, and
``summary.json`` the summary. Offsets and sizes count bytes of UTF-8.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from core.model import BlockKind, CellPair, Change, ChangeSummary, Line, Locator, Row, Segment
from core.model.codec import from_dict

ROW = np.dtype(
    [
        ("change", "u1"),
        ("differs", "u1"),
        ("kind", "u1"),
        ("level", "u1"),
        ("old_joint", "u1"),
        ("new_joint", "u1"),
        ("old_no", "u4"),
        ("new_no", "u4"),
        ("old_start", "u4"),
        ("new_start", "u4"),
        ("old_at", "u4"),
        ("old_size", "u4"),
        ("new_at", "u4"),
        ("new_size", "u4"),
        ("old_width", "u4"),
        ("new_width", "u4"),
        ("both_width", "u4"),
        ("heading", "u4"),
        ("old_place", "u4"),
        ("new_place", "u4"),
        ("move", "u4"),
        ("marks_at", "u4"),
        ("marks_size", "u4"),
    ]
)
"""Line numbers and moves count from 1, 0 means none; ``differs`` is one of ``SAME`` (nothing but a line break differs),
``DIFFERS``, ``COLUMN`` and ``FIRST_COLUMN`` (only whole columns of the table came or went, here for the first time)."""

SAME, DIFFERS, COLUMN, FIRST_COLUMN = range(4)

CHANGES = (Change.EQUAL, Change.CHANGED, Change.REMOVED, Change.ADDED)
EQUAL, CHANGED, REMOVED, ADDED = range(4)
KINDS = tuple(BlockKind)
JOINTS = ("", "\n", "\n\n")
_CODES = {change: code for code, change in enumerate(CHANGES)}


def marks_line(row: Row) -> bytes:
    """Return the words or cells of a changed row; words as lengths, for their text is kept elsewhere."""
    if row.cells:
        cells = [
            [_CODES[c.change], c.old, c.new, c.old_column, c.new_column, [[_CODES[s.change], s.text] for s in c.words]]
            for c in row.cells
        ]
        return orjson.dumps({"c": cells}) + b"\n"
    return orjson.dumps({"w": [[_CODES[word.change], len(word.text)] for word in row.words]}) + b"\n"


def _words_of(marks: Sequence[Sequence[int]], old: str, new: str) -> tuple[Segment, ...]:
    found, old_at, new_at = [], 0, 0
    for code, length in marks:
        if code == REMOVED or not new:
            # The removed row of a line that was moved and edited has no new side.
            text = old[old_at : old_at + length]
        else:
            text = new[new_at : new_at + length]
            new_at += length
        if code != ADDED:
            old_at += length
        found.append(Segment(CHANGES[code], text))
    return tuple(found)


def _cell_of(fields: Sequence[Any]) -> CellPair:
    code, old, new, old_column, new_column, words = fields
    segments = tuple(Segment(CHANGES[kind], text) for kind, text in words)
    return CellPair(CHANGES[code], old, new, old_column, new_column, segments)


class StoredComparison:
    """The files of one comparison, mapped into memory; rows are read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary: ChangeSummary = from_dict(ChangeSummary, orjson.loads((folder / "summary.json").read_bytes()))
        self.index: npt.NDArray[np.void] = _mapped_rows(folder / "rows.npy")
        self._old = _mapped(folder / "old.txt")
        self._new = _mapped(folder / "new.txt")
        self._marks = _mapped(folder / "marks.jsonl")
        self._raw_places = _mapped(folder / "places.json")

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def _places(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(bytes(self._raw_places))
        return found

    @property
    def headings(self) -> list[list[str]]:
        """Every heading path that the rows stand under; ``index["heading"]`` counts from 0 in it."""
        found: list[list[str]] = self._places["headings"]
        return found

    @property
    def chapters(self) -> list[int]:
        """For each heading path, the place of its chapter in ``summary.chapters``, or -1."""
        found: list[int] = self._places["chapters"]
        return found

    def header_numbers(self) -> dict[str, npt.NDArray[np.int64]]:
        """For each place of each side, a number that stands for the header row of its table."""
        known: dict[str, int] = {}
        return {
            side: np.array([known.setdefault(place[-1], len(known)) for place in self._places[side]], dtype=np.int64)
            for side in ("old", "new")
        }

    def table_headers(self, first: int, last: int) -> tuple[str, str]:
        """Return the old and the new header row of the table in these rows; empty on a side that has none."""
        found = []
        for side in ("old", "new"):
            there = np.flatnonzero(self.index[f"{side}_no"][first:last])
            place = int(self.index[f"{side}_place"][first + there[0]]) if len(there) else None
            found.append("" if place is None else str(self._places[side][place][-1]))
        return found[0], found[1]

    def old_text(self, row: int) -> str:
        record = self.index[row]
        if record["change"] == EQUAL:
            return self.new_text(row)
        start = int(record["old_at"])
        return self._old[start : start + int(record["old_size"])].decode("utf-8", "surrogatepass")

    def new_text(self, row: int) -> str:
        record = self.index[row]
        start = int(record["new_at"])
        return self._new[start : start + int(record["new_size"])].decode("utf-8", "surrogatepass")

    def marks(self, row: int) -> tuple[tuple[Segment, ...], tuple[CellPair, ...]]:
        """Return the words and the cells of a row; both empty but for changed rows and for edited ones that moved."""
        record = self.index[row]
        size = int(record["marks_size"])
        if not size:
            return (), ()
        start = int(record["marks_at"])
        fields = orjson.loads(self._marks[start : start + size])
        if "c" in fields:
            return (), tuple(_cell_of(cell) for cell in fields["c"])
        return _words_of(fields["w"], self.old_text(row), self.new_text(row)), ()

    def row(self, row: int) -> Row:
        record = self.index[row]
        words, cells = self.marks(row)
        old = self._line(record, "old", self.old_text(row)) if record["old_no"] else None
        new = self._line(record, "new", self.new_text(row)) if record["new_no"] else None
        return Row(CHANGES[record["change"]], old, new, words, cells, int(record["move"]) or None)

    def _line(self, record: np.void, side: str, text: str) -> Line:
        kind, level, page, page_end, slide, sheet, cells, heading, *rest = self._places[side][
            int(record[f"{side}_place"])
        ]
        path = tuple(self.headings[heading])
        return Line(
            number=int(record[f"{side}_no"]),
            text=text,
            joint=JOINTS[record[f"{side}_joint"]],
            start=int(record[f"{side}_start"]),
            kind=KINDS[kind],
            level=level,
            # Comparisons of earlier releases end with the header row alone.
            locator=Locator(page, page_end, slide, sheet, cells, path, rest[0] if len(rest) > 1 else None),
        )

    def new_bytes(self) -> bytes | mmap.mmap:
        return self._new

    def old_bytes(self) -> bytes | mmap.mmap:
        return self._old


def _mapped(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _mapped_rows(path: Path) -> npt.NDArray[np.void]:
    try:
        found: npt.NDArray[np.void] = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        # An empty file cannot be mapped.
        found = np.load(path, allow_pickle=False)
    return found
