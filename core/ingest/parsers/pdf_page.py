"""What a page of a PDF is to the parser, whichever library read it: lines of text with places, and ruled lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from core.ingest.parsers.lost_words import FEW_SIGNS
from core.ingest.parsers.pdf_turn import Box, Size, returned, turned, turned_size

SIGNS = str.maketrans(
    dict.fromkeys(range(0xF020, 0xF100), "•")
    | {"\xad": "", "\u00a0": " ", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"}
)
"""Signs of symbol fonts stand for bullets; ligatures and soft hyphens are how a word was set, not how it is spelt."""


@dataclass(slots=True)
class PageLine:
    """A run of text on one base line; ``table`` numbers the table that it stands for, where it stands for one.

    ``box`` is its place when the page is turned so that the line reads upright, ``turn`` how far its text is turned
    against the page: 0 for all but labels at the side, vertical cells of tables, watermarks and the like.
    """

    text: str
    box: Box
    size: float
    bold: bool = False
    mono: bool = False
    table: int = -1
    turn: int = 0
    gaps: list[tuple[int, float, float]] = field(default_factory=list)
    """Where in the text blanks are wider than usual, and from where to where these reach."""

    def parted(self, gaps: Sequence[tuple[int, float, float]]) -> list[PageLine]:
        """The texts between some of its wide blanks."""
        starts = [(0, self.box[0]), *((at, right) for at, _, right in gaps)]
        ends = [*((at, left) for at, left, _ in gaps), (len(self.text), self.box[2])]
        return [
            replace(self, text=self.text[start:end], box=(left, self.box[1], right, self.box[3]), gaps=[])
            for (start, left), (end, right) in zip(starts, ends, strict=True)
        ]

    @property
    def length(self) -> tuple[int, int]:
        """The turn and how much text has it, for ``prevailing``."""
        return self.turn, len(self.text)

    @property
    def width(self) -> float:
        return self.box[2] - self.box[0]


@dataclass(slots=True)
class PageRow:
    """What stands side by side at one height of a column; ``pieces`` are its parts, with wide gaps between them."""

    pieces: list[PageLine]
    text: str = ""
    box: Box = (0.0, 0.0, 0.0, 0.0)
    size: float = 0.0
    bold: bool = False
    mono: bool = False

    @classmethod
    def of(cls, pieces: list[PageLine]) -> PageRow:
        pieces.sort(key=lambda piece: piece.box[0])
        box = (
            pieces[0].box[0],
            min(piece.box[1] for piece in pieces),
            max(piece.box[2] for piece in pieces),
            max(piece.box[3] for piece in pieces),
        )
        largest = max(pieces, key=lambda piece: (len(piece.text), piece.size))
        mono = all(piece.mono for piece in pieces)
        text = pieces[0].text
        for before, piece in pairwise(pieces):
            gap = piece.box[0] - before.box[2]
            blanks = max(1, round(gap / (0.6 * piece.size or 1))) if mono else int(gap > 0.15 * piece.size)
            text = text.rstrip() + " " * min(blanks, 40) + piece.text.lstrip()
        return cls(pieces, text, box, largest.size, all(piece.bold for piece in pieces), mono)


FEW_WORDS = 20
"""A page that a picture covers may be a scan with a stamp, or with the name of the program that made it."""
MOST_OF_PAGE = 0.6


def is_stamp(lines: Sequence[PageLine]) -> bool:
    """Tell whether lines are so few that the text of their page may be in a picture."""
    return sum(len(line.text.split()) for line in lines) < FEW_WORDS and sum(len(line.text) for line in lines) < 120


UNREADABLE = 0.3
"""Share of a page's signs without a known meaning from which its letters are looked for in its picture."""
_NO_LETTER = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")


def has_strange_signs(plain: str, share: float = UNREADABLE) -> bool:
    """Tell whether more than a share of the signs of a page's text have no known meaning: its fonts tell none."""
    signs = "".join(plain.split()).translate(SIGNS)
    strange = len(_NO_LETTER.findall(signs))
    return strange >= FEW_SIGNS and strange > share * len(signs)


@dataclass(slots=True)
class Page:
    """One page, turned as most of its text reads; ``rules`` are straight lines drawn on it, each from start to end."""

    number: int
    width: float
    height: float
    lines: list[PageLine]
    rules: list[Box] = field(default_factory=list)
    shades: list[Box] = field(default_factory=list)
    """Filled areas behind the text, such as rows of a table."""
    plain: str = ""
    """All that the library finds on the page, a line each."""
    has_picture: bool = False
    """Something is drawn on a page without a word, a picture covers most of one with hardly any, or its signs say
    nothing."""
    links: list[tuple[str, str]] = field(default_factory=list)
    """The text of links and the address that each leads to."""
    remarks: list[str] = field(default_factory=list)
    """What readers have noted."""
    files: list[tuple[str, bytes]] = field(default_factory=list)
    """Files that hang on it, by their names."""
    left_out: list[PageLine] = field(default_factory=list)
    """Lines that are not read because neighbouring pages repeat them."""

    @classmethod
    def of(
        cls,
        number: int,
        size: Size,
        lines: list[PageLine],
        turn: int,
        rules: Sequence[Box] = (),
        shades: Sequence[Box] = (),
    ) -> Page:
        """A page as a library stores it, turned so that text of ``turn`` reads upright."""
        for line in lines:
            line.turn = (line.turn - turn) % 360
        width, height = turned_size(size, turn)
        lying = [turned(rule, turn, size) for rule in rules]
        return cls(number, width, height, lines, lying, [turned(shade, turn, size) for shade in shades])

    @property
    def size(self) -> Size:
        return self.width, self.height

    @property
    def upright(self) -> list[PageLine]:
        """The lines that read in the page's own turn."""
        return [line for line in self.lines if line.turn == 0]

    def place(self, line: PageLine, turn: int = 0) -> Box:
        """Where a line stands on the page, or on the page when text of another quarter turn reads upright."""
        if line.turn == turn:
            return line.box
        return turned(returned(line.box, line.turn, self.size), turn, self.size)


def rows_of_column(lines: Sequence[PageLine]) -> Iterator[PageRow]:
    """Yield what stands side by side as rows, from top to bottom."""
    pending: list[PageLine] = []
    top = bottom = 0.0
    for line in sorted(lines, key=lambda line: (round((line.box[1] + line.box[3]) / 2, 1), line.box[0])):
        middle = (line.box[1] + line.box[3]) / 2
        if pending and not (top <= middle <= bottom and _fits_beside(pending, line)):
            yield PageRow.of(pending)
            pending = []
        if not pending:
            top, bottom = line.box[1], line.box[3]
        pending.append(line)
    if pending:
        yield PageRow.of(pending)


def _fits_beside(pending: list[PageLine], line: PageLine) -> bool:
    left, right = line.box[0], line.box[2]
    return all(min(right, other.box[2]) - max(left, other.box[0]) < 0.5 * line.size for other in pending)
