"""Numbers and dates of text that was only wrapped anew: they stand in other lines, or in two, and did not change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from core.versions.diff.difference import Difference, Ints
from core.versions.diff.records import Rows
from core.versions.diff.stored_comparison import EQUAL
from core.versions.diff.value_patterns import plain
from core.versions.diff.values import LONGEST_TEXT, Changed, changed_values, values_in
from core.versions.diff.words import words_between

Numbered = tuple[int, Changed]

_MOST_HUNKS = 500
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def without_rewrapped(found: Sequence[Numbered], rows: Rows, difference: Difference) -> list[Numbered]:
    """Leave out values that are gone from one line and new in another where the lines of that place, joined, have them.

    So are those of which a line holds a part only, as the rest stands in the next one: "20 December" and "1996".
    A place is a run of lines that differ. Rows of tables are no such lines.
    """
    hunks = np.cumsum(np.append(True, np.diff((rows.change != EQUAL).astype(np.int8)) != 0))
    sole: dict[int, list[Numbered]] = defaultdict(list)
    pairs: dict[int, list[Numbered]] = defaultdict(list)
    for row, one in found:
        kept = sole if one.old is None or one.new is None else pairs
        if rows.move[row] == 0 and not _is_table(rows, row, difference):
            kept[int(hunks[row])].append((row, one))
    left_out: set[int] = set()
    for hunk in [*dict.fromkeys([*sole, *pairs])][:_MOST_HUNKS]:
        first, end = np.searchsorted(hunks, [hunk, hunk + 1]).tolist()
        lines = np.arange(first, end)
        gone = {_count(one.old) for _, one in sole[hunk] if one.old is not None}
        came = {_count(one.new) for _, one in sole[hunk] if one.new is not None}
        if len(lines) > 1:
            left_out |= _divided(sole[hunk] + pairs[hunk], lines, rows, difference)
            left_out |= _only_cut(pairs[hunk], lines, rows, difference)
        if gone & came:
            left_out |= _unchanged(sole[hunk], gone & came, lines, rows, difference)
    return [each for each in found if id(each[1]) not in left_out]


def _is_part(old: str, new: str) -> bool:
    short, long = sorted((plain(old), plain(new)), key=len)
    return short != long and (long.startswith(short) or long.endswith(short))


def _count(text: str) -> str:
    """Return a value without its unit, which may stand in the next line."""
    return plain(text).rstrip(_LETTERS) or plain(text)


def _is_table(rows: Rows, row: int, difference: Difference) -> bool:
    old, new = rows.old[row : row + 1], rows.new[row : row + 1]
    return bool(difference.old.is_table(old)[0] if old[0] >= 0 else difference.new.is_table(new)[0])


def _lines(hunk: Ints, rows: Rows, difference: Difference) -> tuple[list[str], list[str]]:
    old, new = (
        [text.strip() for text in side.texts_at(places[hunk][places[hunk] >= 0].tolist())]
        for side, places in ((difference.old, rows.old), (difference.new, rows.new))
    )
    return ([], []) if max(sum(map(len, old)), sum(map(len, new))) > LONGEST_TEXT else (old, new)


def _truly_changed(hunk: Ints, rows: Rows, difference: Difference) -> list[Changed] | None:
    """Return the values that differ once the lines of a place are joined; None where that is too long."""
    old, new = map(" ".join, _lines(hunk, rows, difference))
    return changed_values(old, new, words_between(old, new)) if old or new else None


def _divided(values: Sequence[Numbered], hunk: Ints, rows: Rows, difference: Difference) -> set[int]:
    """Return the identities of the values that both sides have, one of them in two lines: the whole or a part of it."""
    lines = _lines(hunk, rows, difference)
    whole = [{value.plain for value in values_in(" ".join(side))} for side in lines]
    within = [{value.plain for text in side for value in values_in(text)} for side in lines]

    def is_divided(side: int, text: str | None) -> bool:
        name = plain(text or "")
        if text is None or name in whole[side]:
            return text is None or name in whole[1 - side] - within[1 - side]
        return any(_is_part(name, each) for each in whole[0] & whole[1])

    return {id(one) for _, one in values if is_divided(0, one.old) and is_divided(1, one.new)}


def _only_cut(values: Sequence[Numbered], hunk: Ints, rows: Rows, difference: Difference) -> set[int]:
    """Return the identities of the pairs of a value and a part of it that are none once the lines are joined."""
    cut = [one for _, one in values if _is_part(one.old or "", one.new or "")]
    truly = _truly_changed(hunk, rows, difference) if cut else None
    pairs = {(one.old, one.new) for one in truly or ()}
    return set() if truly is None else {id(one) for one in cut if (one.old, one.new) not in pairs}


def _unchanged(values: Sequence[Numbered], both: set[str], hunk: Ints, rows: Rows, difference: Difference) -> set[int]:
    """Return the identities of the values that differ in no word once the lines are joined."""
    truly = _truly_changed(hunk, rows, difference)
    if truly is None:
        return set()
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
