"""Which rows a view shows and which it folds away, computed for all rows at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.model import BlockKind
from core.versions.diff.measure import Ints
from core.versions.diff.stored_comparison import CHANGES, DIFFERS, FIRST_COLUMN, KINDS, StoredComparison
from core.versions.diff.wrapping import pieces_needed

Bools = npt.NDArray[np.bool_]

NARROWEST, WIDEST = 10, 1_000


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """How rows are laid out; ``width`` counts the cells of one column of text."""

    mode: str = "side"
    width: int = 80
    folded: bool = True
    context: int = 3
    open_folds: frozenset[int] = frozenset()
    chapter: int | None = None
    only: frozenset[str] = frozenset()
    outline: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """What a view shows, in order: rows, and folds with the number of rows (and of differing rows) they hide."""

    row: Ints
    hidden: Ints
    hidden_changed: Ints
    lines: Ints


def chosen_rows(stored: StoredComparison, options: ViewOptions) -> Bools:
    """Tell which rows count as differing in this view."""
    index = stored.index
    chosen: Bools = index["differs"] == DIFFERS
    if options.only:
        moved = index["move"] > 0
        wanted = moved & ("moved" in options.only)
        for code, change in enumerate(CHANGES):
            if change.value in options.only:
                wanted |= (index["change"] == code) & ~moved
        chosen &= wanted
    return chosen


def items_of(stored: StoredComparison, options: ViewOptions, chosen: Bools) -> Items:
    index = stored.index
    count = len(index)
    allowed = np.ones(count, dtype=bool)
    heading = np.asarray(index["heading"])
    if options.chapter is not None:
        allowed = np.array(stored.chapters, dtype=np.int64)[heading] == options.chapter
    shown, opened = allowed.copy(), np.zeros(count, dtype=bool)
    if options.outline:
        shown[:] = False
    elif options.folded or options.only:
        # Of a column that came or went one row stays in sight, though it is no change of its own.
        seen = chosen if options.only else chosen | (index["differs"] == FIRST_COLUMN)
        sums = np.concatenate(([0], np.cumsum(seen & allowed)))
        near = np.arange(count)
        low, high = np.maximum(near - options.context, 0), np.minimum(near + options.context + 1, count)
        shown &= sums[high] > sums[low]
    starts = np.ones(count, dtype=bool)
    starts[1:] = (shown[1:] != shown[:-1]) | (allowed[1:] != allowed[:-1])
    if options.outline:
        is_heading = np.asarray(index["kind"]) == KINDS.index(BlockKind.HEADING)
        starts[1:] |= is_heading[1:] | ((heading[1:] != heading[:-1]) & ~is_heading[:-1])
    firsts = np.flatnonzero(starts)
    lengths = np.diff(np.concatenate((firsts, [count])))
    is_fold = allowed[firsts] & ~shown[firsts]
    # One row is not worth a fold that takes a line itself.
    is_open = np.isin(firsts, list(options.open_folds)) | ((lengths < 2) & (not options.outline))
    opened = np.repeat(is_fold & is_open, lengths)
    folds = firsts[is_fold & ~is_open]
    is_row = (shown | opened) & allowed
    item = is_row.copy()
    item[folds] = True
    rows = np.flatnonzero(item)
    hidden = np.zeros(count, dtype=np.int64)
    hidden[folds] = lengths[is_fold & ~is_open]
    changed = np.concatenate(([0], np.cumsum(chosen)))
    hidden = hidden[rows]
    hidden_changed = np.where(hidden > 0, changed[rows + hidden] - changed[rows], 0)
    if options.mode == "inline":
        lines = pieces_needed(np.asarray(index["both_width"])[rows], options.width)
    else:
        wider = np.maximum(np.asarray(index["old_width"])[rows], np.asarray(index["new_width"])[rows])
        lines = pieces_needed(wider, options.width)
    lines[hidden > 0] = 1
    return Items(rows, hidden, hidden_changed, lines)


def options_of(
    mode: str,
    width: int,
    folded: bool,
    context: int,
    open_folds: Collection[int],
    chapter: int | None,
    only: Collection[str],
    outline: bool,
) -> ViewOptions:
    """Return options within what can be laid out."""
    width = min(max(int(width), NARROWEST), WIDEST)
    return ViewOptions(mode, width, folded, max(context, 0), frozenset(open_folds), chapter, frozenset(only), outline)
