"""Pages that are pictures: what was recognised in them, set on the page as if it held that as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.ingest.parsers.embedded import LEAST_SURE
from core.ingest.parsers.pdf_page import Page, PageLine
from core.ingest.parsers.pdf_turn import Box, leaned
from core.ingest.parsers.reading import ParserInput
from core.model import Block
from core.model.recognition import RecognisedLine, RecognisedPicture
from core.model.weighted_median import weighted_median

_LIKE = 1.12
"""Letters whose sizes differ by no more than this factor are of one size: they are measured a little unevenly."""
_MUCH = 1.25
"""Few letters may differ by this factor, and those that are not bold be larger by it: so unlike are fonts and words."""
_FEW_SIGNS = 5
_STEP = 1.12
"""Sizes beyond differ by such factors."""
_HIGHER = 1.05
"""Larger letters have boxes that are at least so much higher than usual, as wide ones do not."""
_OF_BOX = 0.72
"""The size of letters in heights of the box of their line, where nobody measured them."""
_HALF = 0.6
"""Half of the height of a line, in sizes of its letters."""


@dataclass(slots=True)
class Recognised:
    """Sets recognised lines on pages without text, and marks the blocks that come of them."""

    reading: ParserInput
    _confidence: dict[int, float] = field(default_factory=dict)

    def page(self, page: Page) -> Page:
        """Return a page with the lines that were recognised on it; ask for them where nobody has looked yet."""
        if not page.has_picture:
            return page
        found = self.reading.recognised(str(page.number))
        if found is None:
            return page
        lines = tuple(line for line in found.lines if line.confidence >= LEAST_SURE)
        page.has_picture = False
        if _letters(line.text for line in lines) <= _letters(line.text for line in page.lines):
            return page
        set_on(page, replace(found, lines=lines))
        self.reading.places[page.number] = list(lines)
        page.plain = "\n".join(line.text for line in lines)
        if lines:
            signs = sum(len(line.text) for line in lines)
            self._confidence[page.number] = sum(len(line.text) * line.confidence for line in lines) / signs
        return page

    def marked(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass blocks on; those of recognised pages with how sure the recognition was."""
        for block in blocks:
            here = block.locator
            sure = self._confidence.get(here.page or 0, self._confidence.get(here.page_end or 0))
            yield block if sure is None else replace(block, locator=replace(here, confidence=round(sure, 3)))


def _letters(texts: Iterable[str]) -> int:
    """Count letters and digits: signs without a known meaning are none."""
    return sum(sum(map(str.isalnum, text)) for text in texts)


def set_on(page: Page, picture: RecognisedPicture) -> None:
    """Give a page what its picture shows: straight rows of text, whose sizes differ as its own do, and lines."""
    sizes = [line.size * page.height for line in picture.lines]
    if not any(sizes):
        sizes = [_OF_BOX * _height(line) * page.height for line in picture.lines]
    usual = weighted_median((size, len(line.text)) for size, line in zip(sizes, picture.lines, strict=True) if size)
    high = weighted_median((_height(line), len(line.text)) for line in picture.lines)
    for left, top, right, bottom in picture.rulings:
        page.rules.append((left * page.width, top * page.height, right * page.width, bottom * page.height))
    upright = [rule for rule in page.rules if rule[3] - rule[1] > rule[2] - rule[0]]
    page.lines = []
    for line, size in zip(picture.lines, sizes, strict=True):
        left, top, right, bottom = leaned(line.box, -picture.skew, page.width, page.height)
        size = usual * _step(size / usual, _height(line) / high, line) if size else usual
        middle, half = (top + bottom) / 2 * page.height, max(_HALF * size, 0.5)
        box = (left * page.width, middle - half, right * page.width, middle + half)
        gaps = [(at, start * page.width, end * page.width) for at, start, end in line.gaps]
        whole = PageLine(line.text, box, max(round(2 * size) / 2, 1.0), bold=line.bold, gaps=gaps)
        page.lines += whole.parted([gap for gap in gaps if _is_parted(gap, middle, upright)])


def _is_parted(gap: tuple[int, float, float], y: float, upright: Sequence[Box]) -> bool:
    """Tell whether a line is drawn through a blank: recognition takes neighbouring cells for one."""
    return any(gap[1] <= (x0 + x1) / 2 <= gap[2] and y0 <= y <= y1 for x0, y0, x1, y1 in upright)


def _height(line: RecognisedLine) -> float:
    return line.box[3] - line.box[1]


def _step(size: float, height: float, line: RecognisedLine) -> float:
    """Return a size in steps, so that what was set alike is alike; all are in parts of what is usual on the page."""
    is_short = len(line.text) <= _FEW_SIGNS
    most, least = (_LIKE, 1 / _LIKE) if line.bold and not is_short else (_MUCH, 1 / (_MUCH if is_short else _LIKE))
    if least <= size <= most or (size > 1 and height < _HIGHER):
        return 1.0
    return float(_STEP ** round(math.log(size, _STEP)))
