"""A comparison as a unified patch that GNU patch applies to the old parsed text and that gives the new one exactly.

Rows are not what patch calls lines: between two blocks lies an empty line, and a long line is cut into several rows.
A patch is therefore made of stretches between places where both texts begin a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from core.model import ComparedVersion
from core.versions.diff.measure import Ints
from core.versions.diff.stored_comparison import EQUAL, JOINTS, StoredComparison
from core.versions.result import ComparisonResult

CONTEXT = 3
MOST_ROWS_AT_ONCE = 50_000
"""A longer stretch without an unchanged line is written as it is read."""
_NO_NEWLINE = "\\ No newline at end of file\n"

Step = tuple[str, str]
"""A sign (space, minus or plus) and a line with its end."""


def export_patch(comparison: ComparisonResult) -> Iterator[str]:
    """Yield the patch piece by piece; nothing where the texts are the same."""
    stored = comparison.stored
    hunks = _hunks(stored)
    first = next(hunks, None)
    if first is None:
        return
    yield f"--- {_file_name(comparison.summary.old)}\n+++ {_file_name(comparison.summary.new)}\n"
    yield first
    yield from hunks


def export_text(comparison: ComparisonResult, side: str) -> Iterator[str]:
    """Yield the text of the ``old`` or ``new`` side line by line, as a patch takes and gives it."""
    yield from _lines(comparison.stored, side, 0, len(comparison.stored))


def _file_name(side: ComparedVersion) -> str:
    """A name that no path, quote or line break of a document's name gets into."""
    plain = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in side.name).lstrip(".")
    return f"{plain or 'text'}.v{side.version}.txt"


def _hunks(stored: StoredComparison) -> Iterator[str]:
    index = stored.index
    differs = np.asarray(index["change"]) != EQUAL
    if not differs.any():
        return
    anchors = ~differs & (np.asarray(index["new_joint"]) > 0)
    anchors[0] = not differs[0]
    places = np.flatnonzero(anchors)
    old_lines = np.cumsum(index["old_joint"], dtype=np.int64)
    new_lines = np.cumsum(index["new_joint"], dtype=np.int64)
    for first, last in _stretches(np.flatnonzero(differs), places, len(index)):
        inside = places[np.searchsorted(places, first) : np.searchsorted(places, last)].tolist()
        at = (int(old_lines[first]), int(new_lines[first])) if first else (0, 0)
        steps: list[Step] = []
        for low, high in pairwise(sorted({first, *inside, last})):
            if high - low <= MOST_ROWS_AT_ONCE:
                steps += _steps(stored, low, high)
                continue
            yield from _written(steps, *at)
            yield from _streamed(
                stored, low, high, int(old_lines[low]) if low else 0, int(new_lines[low]) if low else 0
            )
            steps, at = [], (int(old_lines[high]), int(new_lines[high])) if high < len(index) else (0, 0)
        yield from _written(steps, *at)


def _stretches(differing: Ints, places: Ints, count: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of each stretch: changes, with enough anchors around them for their context."""
    before = np.searchsorted(places, differing) - CONTEXT - 1
    after = np.searchsorted(places, differing) + CONTEXT
    firsts = np.where(before >= 0, places[np.maximum(before, 0)] if len(places) else 0, 0)
    lasts = np.where(after < len(places), places[np.minimum(after, len(places) - 1)] if len(places) else 0, count)
    start, end = int(firsts[0]), int(lasts[0])
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        if first > end:
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


def _steps(stored: StoredComparison, first: int, last: int) -> list[Step]:
    """Return what becomes of the lines between two anchors: from the text of one up to that of the next."""
    old, new = list(_lines(stored, "old", first, last)), list(_lines(stored, "new", first, last))
    if old == new:
        return [(" ", line) for line in old]
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return [
        *((" ", line) for line in old[:head]),
        *(("-", line) for line in old[head : len(old) - tail]),
        *(("+", line) for line in new[head : len(new) - tail]),
        *((" ", line) for line in old[len(old) - tail :]),
    ]


def _lines(stored: StoredComparison, side: str, first: int, last: int) -> Iterator[str]:
    """Yield the lines of one side between two anchors, with their ends; the last one of a text may have none."""
    text_of = stored.old_text if side == "old" else stored.new_text
    joints, numbers = stored.index[f"{side}_joint"], stored.index[f"{side}_no"]
    parts: list[str] = []
    for row in range(first, min(last + 1, len(stored))):
        if not numbers[row]:
            continue
        # The break before the first anchor belongs to what comes before it.
        for _ in JOINTS[joints[row]] if row > first else "":
            yield "".join(parts) + "\n"
            parts = []
        if row != last:
            parts.append(text_of(row))
    if rest := "".join(parts):
        yield rest


def _streamed(stored: StoredComparison, first: int, last: int, old_at: int, new_at: int) -> Iterator[str]:
    """Yield one hunk without context for a stretch that is too long to be held: all lines go, all lines come."""
    counts = [sum(1 for _ in _lines(stored, side, first, last)) for side in ("old", "new")]
    yield f"@@ -{_range(old_at, counts[0])} +{_range(new_at, counts[1])} @@\n"
    for sign, side in (("-", "old"), ("+", "new")):
        for line in _lines(stored, side, first, last):
            yield _step(sign, line)


def _step(sign: str, line: str) -> str:
    return sign + (line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}")


def _written(steps: list[Step], old_at: int, new_at: int) -> Iterator[str]:
    """Yield the hunks of a stretch; ``old_at`` and ``new_at`` count the lines before it."""
    changes = [number for number, (sign, _) in enumerate(steps) if sign != " "]
    groups: list[list[int]] = []
    for number in changes:
        if groups and number - groups[-1][-1] <= 2 * CONTEXT:
            groups[-1].append(number)
        else:
            groups.append([number])
    done = 0
    for group in groups:
        first, last = max(group[0] - CONTEXT, 0), min(group[-1] + CONTEXT + 1, len(steps))
        old_at += _count(steps[done:first], "-")
        new_at += _count(steps[done:first], "+")
        hunk = steps[first:last]
        yield f"@@ -{_range(old_at, _count(hunk, '-'))} +{_range(new_at, _count(hunk, '+'))} @@\n"
        yield "".join(_step(sign, line) for sign, line in hunk)
        old_at += _count(hunk, "-")
        new_at += _count(hunk, "+")
        done = last


def _count(steps: Iterable[Step], sign: str) -> int:
    return sum(step[0] in (" ", sign) for step in steps)


def _range(before: int, count: int) -> str:
    """Where a hunk begins, from 1; an empty one names the line before it."""
    return f"{before + 1 if count else before},{count}"
