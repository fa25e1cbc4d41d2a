"""What changed between two versions, as data: rows of operations with both places, and their summary.

``apply`` and ``mirror`` of ``core.versions.diff.difference`` state what these values promise: the new text follows
from the old one and the rows, and swapping the sides swaps the operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.model.documents import BlockKind, Locator


class Change(StrEnum):
    EQUAL = "equal"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of words. Equal and removed segments joined are the old text, equal and added ones the new text."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a parsed text: a paragraph, a heading, a row of a table, a line of code, a piece of a long line."""

    number: int
    """Counts from 1 within the version."""
    text: str
    joint: str
    """What stands before it in the parsed text: ``BLOCK_JOINT``, a line break, or nothing (also before the first)."""
    start: int
    """Where its text begins in the parsed text, in characters."""
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    locator: Locator = Locator()


@dataclass(frozen=True, slots=True)
class CellPair:
    """A cell of a table row on both sides; None where the column is on one side only. Columns count from 1."""

    change: Change
    old: str | None
    new: str | None
    old_column: int | None = None
    new_column: int | None = None
    words: tuple[Segment, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One step from the old text to the new one.

    An equal or changed row has both sides; the texts of an equal row are the same, joints included. ``move`` is shared
    by the removed row and the added row of one moved line; where that was edited as well, ``words`` of the removed row
    say what is gone, those of the added row what is new.
    """

    change: Change
    old: Line | None
    new: Line | None
    words: tuple[Segment, ...] = ()
    cells: tuple[CellPair, ...] = ()
    move: int | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many lines and words of each kind; a moved line counts once, and as neither added nor removed."""

    changed: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0
    words_added: int = 0
    words_removed: int = 0
    cells_changed: int = 0
    columns_added: int = 0
    """Columns put into tables. Rows that only got or lost whole columns are not among the changed lines."""
    columns_removed: int = 0


@dataclass(frozen=True, slots=True)
class ChapterChange:
    """What changed under one heading; ``row`` is the index of the first changed row."""

    heading_path: tuple[str, ...]
    row: int
    tally: Tally


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A number or a date that changed, with the words around it; None where it is on one side only."""

    kind: str
    """``number`` or ``date``."""
    old: str | None
    new: str | None
    context: str
    row: int
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonProgress:
    """How far a comparison that is being computed is; None where nobody can tell yet what is left of its time."""

    elapsed_s: float
    share: float
    """From 0 to 1."""
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class StripCell:
    """An equal share of the rows, for the heat strip: how many of them changed, and the first one that did."""

    rows: int
    changed: int
    added: int
    removed: int
    first_change: int | None


@dataclass(frozen=True, slots=True)
class MetadataChange:
    name: str
    change: Change
    old: Any = None
    new: Any = None


@dataclass(frozen=True, slots=True)
class ImageRef:
    """An image of a version, kept as PNG; ``number`` counts from 1, ``hash`` is its perceptual hash in hexadecimal."""

    number: int
    width: int
    height: int
    hash: str
    sha256: str
    locator: Locator = Locator()


@dataclass(frozen=True, slots=True)
class ImagePair:
    """An image on both sides; ``distance`` counts the bits (of 64) in which the hashes differ."""

    change: Change
    old: ImageRef | None
    new: ImageRef | None
    distance: int = 0


@dataclass(frozen=True, slots=True)
class ComparedVersion:
    doc_key: str
    name: str
    version: int
    lines: int = 0
    words: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """What two versions differ in, before any row is read. ``row`` numbers are indexes into the rows of the diff."""

    old: ComparedVersion
    new: ComparedVersion
    is_equal: bool
    rows: int
    tally: Tally
    values: tuple[ValueChange, ...] = ()
    chapters: tuple[ChapterChange, ...] = ()
    strip: tuple[StripCell, ...] = ()
    metadata: tuple[MetadataChange, ...] = ()
    images: tuple[ImagePair, ...] = ()
    notices: tuple[str, ...] = ()
    """Codes of what is coarser than usual: ``coarse_alignment``, ``words_skipped``, ``images_skipped``, …"""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
