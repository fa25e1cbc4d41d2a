"""Two versions compared: the summary at once, and rows, screen lines, tables and images when they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

import numpy as np

from core.errors import InvalidInput, NotFound
from core.model import ChangeSummary, Row
from core.versions.diff.finding import find_rows
from core.versions.diff.folding import ViewOptions, options_of
from core.versions.diff.grid import TableGrid, TableRef, table_of, tables_of
from core.versions.diff.layout import RowView
from core.versions.diff.stored_comparison import StoredComparison

_KEPT_VIEWS = 8
_KEPT_ITEMS = 2_000_000
"""Rows and folds of the views that stay laid out; the newest view always does."""
_ONLY = ("changed", "added", "removed", "moved")


class ComparisonResult:
    """A kept comparison. Its files may be evicted meanwhile: what is open stays readable."""

    def __init__(self, folder: Path, images: tuple[Path, Path]) -> None:
        self.id = folder.name
        self._stored = StoredComparison(folder)
        self._images = images
        self._views: OrderedDict[ViewOptions, RowView] = OrderedDict()
        self._lock = threading.Lock()
        self.summary: ChangeSummary = self._stored.summary

    @property
    def count(self) -> int:
        return len(self._stored)

    def view(
        self,
        *,
        mode: str = "side",
        width: int = 80,
        folded: bool = True,
        context: int = 3,
        open_folds: Collection[int] = (),
        chapter: int | None = None,
        only: Collection[str] = (),
        outline: bool = False,
    ) -> RowView:
        """Lay the rows out for a screen; the newest few layouts are kept.

        ``width`` counts the cells of one column. ``open_folds`` are rows at which a fold begins; ``chapter`` is a place
        in ``summary.chapters``; ``only`` holds kinds of changes, all others count as unchanged; ``outline`` folds every
        section to one line. Raises: ``InvalidInput`` for a mode, a chapter or a kind that there is not.
        """
        if mode not in ("side", "inline"):
            raise InvalidInput("A comparison is shown “side” by side or “inline”.")
        if chapter is not None and not 0 <= chapter < len(self.summary.chapters):
            raise InvalidInput("There is no such chapter in this comparison.")
        if not set(only) <= set(_ONLY):
            raise InvalidInput(f"Changes are {', '.join(_ONLY)}.")
        options = options_of(mode, width, folded, context, open_folds, chapter, only, outline)
        with self._lock:
            view = self._views.get(options) or RowView(self._stored, options, self._moved_to)
            self._views[options] = view
            self._views.move_to_end(options)
            while len(self._views) > 1 and (
                len(self._views) > _KEPT_VIEWS
                or sum(len(kept.items.row) for kept in self._views.values()) > _KEPT_ITEMS
            ):
                self._views.popitem(last=False)
        return view

    @cached_property
    def _moved_to(self) -> dict[int, int]:
        moves = np.asarray(self._stored.index["move"])
        rows = np.flatnonzero(moves)
        ends: dict[int, list[int]] = {}
        for row, move in zip(rows.tolist(), moves[rows].tolist(), strict=True):
            ends.setdefault(move, []).append(row)
        pairs = [pair for pair in ends.values() if len(pair) == 2]
        return {row: other for a, b in pairs for row, other in ((a, b), (b, a))}

    def rows(self, start: int, end: int) -> list[Row]:
        """Return the rows from ``start`` up to, not including, ``end``."""
        return [self._stored.row(row) for row in range(max(start, 0), min(end, self.count))]

    def find(self, text: str, limit: int = 10_000) -> list[int]:
        """Return the rows that hold ``text`` on either side, whatever the case of its letters."""
        return find_rows(self._stored, text, limit)

    def path_of(self, row: int) -> tuple[str, ...]:
        """Return the headings above a row."""
        return tuple(self._stored.headings[int(self._stored.index[self._checked(row)]["heading"])])

    def chapter_of(self, row: int) -> int | None:
        """Return the place in ``summary.chapters`` of the chapter that a row stands in; None where nothing changed."""
        chapter = self._stored.chapters[int(self._stored.index[self._checked(row)]["heading"])]
        return chapter if chapter >= 0 else None

    def _checked(self, row: int) -> int:
        if not 0 <= row < self.count:
            raise NotFound(f"The comparison has no row {row}.")
        return row

    @cached_property
    def _tables(self) -> list[TableRef]:
        return tables_of(self._stored)

    def tables(self) -> list[TableRef]:
        """Return the tables of both versions in order."""
        return self._tables

    def table(self, index: int, start: int = 0, end: int | None = None) -> TableGrid:
        """Return rows of a table as a grid of cells. Raises: ``NotFound``."""
        if not 0 <= index < len(self._tables):
            raise NotFound(f"The comparison has no table {index}.")
        return table_of(self._stored, self._tables[index], self._moved_to, start, end)

    def image(self, side: str, number: int) -> Path:
        """Return the PNG of an image of the ``old`` or the ``new`` version. Raises: ``NotFound``."""
        path = self._images[0 if side == "old" else 1] / f"{number:d}.png"
        if side not in ("old", "new") or not path.is_file():
            raise NotFound(f"There is no image {number} on that side.")
        return path

    @property
    def stored(self) -> StoredComparison:
        return self._stored
