"""Numbers and dates of text that was only wrapped anew: they stand in other lines, and did not change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from core.versions.diff.difference import Difference, Ints
from core.versions.diff.records import Rows
from core.versions.diff.stored_comparison import EQUAL
from core.versions.diff.value_patterns import plain
from core.versions.diff.values import LONGEST_TEXT, Changed, changed_values
from core.versions.diff.words import words_between

Numbered = tuple[int, Changed]

_MOST_HUNKS = 500
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def without_rewrapped(found: Sequence[Numbered], rows: Rows, difference: Difference) -> list[Numbered]:
    """Leave out values that are gone from one line and new in another where the lines of that place, joined, have them.

    A place is a run of lines that differ. Rows of tables are no such lines.
    """
    hunks = np.cumsum(np.append(True, np.diff((rows.change != EQUAL).astype(np.int8)) != 0))
    sole: dict[int, list[Numbered]] = defaultdict(list)
    for row, one in found:
        if (one.old is None or one.new is None) and rows.move[row] == 0 and not _is_table(rows, row, difference):
            sole[int(hunks[row])].append((row, one))
    left_out: set[int] = set()
    for hunk, values in list(sole.items())[:_MOST_HUNKS]:
        gone = {_count(one.old) for _, one in values if one.old is not None}
        came = {_count(one.new) for _, one in values if one.new is not None}
        if gone & came:
            left_out |= _unchanged(values, gone & came, np.flatnonzero(hunks == hunk), rows, difference)
    return [each for each in found if id(each[1]) not in left_out]


def _count(text: str) -> str:
    """Return a value without its unit, which may stand in the next line."""
    return plain(text).rstrip(_LETTERS) or plain(text)


def _is_table(rows: Rows, row: int, difference: Difference) -> bool:
    old, new = rows.old[row : row + 1], rows.new[row : row + 1]
    return bool(difference.old.is_table(old)[0] if old[0] >= 0 else difference.new.is_table(new)[0])


def _unchanged(values: Sequence[Numbered], both: set[str], hunk: Ints, rows: Rows, difference: Difference) -> set[int]:
    """Return the identities of the values that differ in no word once the lines are joined."""
    old, new = (
        " ".join(text.strip() for text in side.texts_at(places[hunk][places[hunk] >= 0].tolist()))
        for side, places in ((difference.old, rows.old), (difference.new, rows.new))
    )
    if max(len(old), len(new)) > LONGEST_TEXT:
        return set()
    truly = changed_values(old, new, words_between(old, new))
    differ = (
        Counter(_count(one.old) for one in truly if one.old is not None),
        Counter(_count(one.new) for one in truly if one.new is not None),
    )
    found: set[int] = set()
    for _, one in values:
        side, text = (0, one.old) if one.old is not None else (1, one.new)
        name = _count(text or "")
        if name not in both:
            continue
        if differ[side][name] > 0:
            differ[side][name] -= 1
        else:
            found.add(id(one))
    return found
