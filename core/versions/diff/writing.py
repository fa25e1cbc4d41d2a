"""Writing a comparison to its files: equal stretches from arrays, and only the changed rows one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from core.versions.diff.difference import Difference
from core.versions.diff.lines import LinePlace
from core.versions.diff.marks import MarkWriter, Watcher
from core.versions.diff.progress import UNHEARD, Progress
from core.versions.diff.records import Records, RecordSide, RecordSizes, Rows
from core.versions.diff.stored_comparison import ADDED, EQUAL, KINDS, REMOVED, ROW

_ROWS_A_WRITE = 200_000
_MARKED = 0.6
"""Which share of the work is done then, as a rule."""


@dataclass(frozen=True, slots=True)
class WrittenComparison:
    """What the summary needs to know of the rows that were written; ``headings`` are heading paths by number."""

    rows: Rows
    headings: list[tuple[str, ...]]
    old_words: int
    new_words: int


def write_rows(folder: Path, difference: Difference, watch: Watcher, progress: Progress = UNHEARD) -> WrittenComparison:
    """Write the rows, the texts and the marks of a difference."""
    rows = Rows.of(difference)
    with (folder / "marks.jsonl").open("wb", buffering=1024 * 1024) as file:
        MarkWriter(file, difference, rows, watch, progress.part(0.0, _MARKED)).write()
    headings: dict[tuple[str, ...], int] = {}
    old, new = RecordSide(difference.old, headings), RecordSide(difference.new, headings)
    rows.heading = np.where(rows.new >= 0, new.column("heading", rows.new), old.column("heading", rows.old))
    (folder / "new.txt").write_bytes(difference.new.data)
    new_sizes = RecordSizes.of(difference.new.data, difference.new.starts, difference.new.ends)
    kept = np.flatnonzero((rows.change != EQUAL) & (rows.old >= 0))
    text, old_sizes = old.gathered(rows.old[kept])
    (folder / "old.txt").write_bytes(text)
    added = (rows.change == ADDED) & (rows.move == 0)
    removed = (rows.change[kept] == REMOVED) & (rows.move[kept] == 0)
    rows.words_added[added] = new_sizes.words[rows.new[added]]
    rows.words_removed[kept[removed]] = old_sizes.words[removed]
    records = Records(rows, old, new, new_sizes, old_sizes, kept)
    with (folder / "rows.npy").open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(ROW), "fortran_order": False, "shape": (len(rows),)}
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, len(rows), _ROWS_A_WRITE):
            records.part(first, min(first + _ROWS_A_WRITE, len(rows))).tofile(file)
            progress(_MARKED + (1 - _MARKED) * first / len(rows))
    equal_words = int(new_sizes.words[rows.new[rows.change == EQUAL]].sum())
    old_words = equal_words + int(old_sizes.words.sum())
    return WrittenComparison(rows, list(headings), old_words, int(new_sizes.words.sum()))


def write_places(folder: Path, difference: Difference, headings: list[tuple[str, ...]], chapters: list[int]) -> None:
    """Write where lines stand; ``chapters`` gives each heading path its place in the summary's chapters, or -1."""
    known = {path: number for number, path in enumerate(headings)}
    places = {
        "headings": headings,
        "chapters": chapters,
        "old": [_place(place, known) for place in difference.old.places],
        "new": [_place(place, known) for place in difference.new.places],
    }
    (folder / "places.json").write_bytes(orjson.dumps(places))


def _place(place: LinePlace, headings: dict[tuple[str, ...], int]) -> list[Any]:
    kind, level, at, header = place
    stands = (at.page, at.page_end, at.slide, at.sheet, at.cells)
    return [KINDS.index(kind), level, *stands, headings[at.heading_path], at.confidence, header]
