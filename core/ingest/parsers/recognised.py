"""Pages that are pictures: the lines that were recognised in them, set on the page as if it held them as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from statistics import median

from core.ingest.parsers.embedded import LEAST_SURE
from core.ingest.parsers.pdf_page import Page, PageLine
from core.ingest.parsers.reading import ParserInput
from core.model import Block
from core.model.recognition import RecognisedLine

_LIKE = 0.2
"""Lines whose heights differ by no more than this part are of one size: recognition measures a little unevenly."""
_SIZE = 0.72
"""The size of a font in heights of its lines, as recognition measures them."""


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
        lines = [line for line in found if line.confidence >= LEAST_SURE]
        page.has_picture = False
        if _letters(line.text for line in lines) <= _letters(line.text for line in page.lines):
            return page
        page.lines = set_lines(lines, page)
        self.reading.places[page.number] = lines
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


def set_lines(lines: Iterable[RecognisedLine], page: Page) -> list[PageLine]:
    """Return lines as a page holds them, in sizes that differ only where the picture's do."""
    found = []
    for line in lines:
        left, top, right, bottom = line.box
        box = (left * page.width, top * page.height, right * page.width, bottom * page.height)
        found.append(PageLine(line.text, box, max(_SIZE * (box[3] - box[1]), 1.0)))
    usual = median(line.size for line in found) if found else 0.0
    for each in found:
        if abs(each.size - usual) <= _LIKE * usual:
            each.size = usual
    return found
