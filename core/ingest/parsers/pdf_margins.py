"""Running headers, footers and page numbers of a PDF: what neighbouring pages repeat at the same place.

They part no text, and are said once at the end where they say more than headings do.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.ingest.parsers.pdf_page import Page, PageLine
from core.ingest.parsers.pdf_turn import is_slanted, turned_size
from core.ingest.parsers.wording import squeeze
from core.model import Block, BlockKind, Locator

NEIGHBOURS = 4
"""Pages on either side that are compared: left and right pages often have headers of their own."""
MARGIN = 0.085
"""Share of the page's height at its top and at its bottom where running lines are looked for."""
NUMBER_MARGIN = 0.2
"""The same for page numbers, which stand alone and may be further in."""

_DIGITS = re.compile(r"\d+")
_COUNTING = re.compile(r"\s*[\d/–-]*\d[\d\s/–-]*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_PAGE_NUMBER = re.compile(
    r"[\s\-–—―|(\[]*(?:page|p\.?|頁|ページ)?\s*(?:\d{1,4}|[ivxlc]{1,7})\s*(?:(?:/|of|頁中)\s*\d{1,4})?\s*"
    r"(?:頁|ページ)?[\s\-–—―|)\]]*\Z",
    re.I,
)

Sign = tuple[str, int]
MOST_SAID = 100
"""Different running lines of a document that are said: those of a dictionary name the words of each page."""
_FEW_WORDS, _FEW_LETTERS = 3, 12
_LEAST_KEY, _ADDED = 6, 10
"""Letters of a heading from which it may say what a running line does, and of what this adds to it: Appendix."""


def without_running_lines(pages: Iterable[Page]) -> Iterator[Page]:
    """Yield the pages without the lines that their neighbours repeat; holds a few pages at a time.

    Margins are those of the page as the line itself reads, so that a table set sideways does not hide the header above
    it; slanted lines that are repeated are watermarks, wherever they stand.
    """
    window: deque[tuple[Page, dict[Sign, list[PageLine]]]] = deque()
    at = 0
    for page in pages:
        window.append((page, _signs(page)))
        if len(window) > 2 * NEIGHBOURS + 1:
            window.popleft()
            at -= 1
        if len(window) - at > NEIGHBOURS:
            yield _cleared(window, at)
            at += 1
    while at < len(window):
        yield _cleared(window, at)
        at += 1


def _signs(page: Page) -> dict[Sign, list[PageLine]]:
    found: dict[Sign, list[PageLine]] = {}
    for line in page.lines:
        if is_slanted(line.turn):
            found.setdefault((line.text.strip().casefold()[:200], round(page.place(line)[1] / 4)), []).append(line)
            continue
        height = turned_size(page.size, line.turn)[1]
        top, bottom = line.box[1] / height, line.box[3] / height
        if top < NUMBER_MARGIN or bottom > 1 - NUMBER_MARGIN:
            text = _DIGITS.sub("#", line.text.strip().casefold())[:200]
            outer = _is_outer(line, height)
            if len(line.text) < 40 and _PAGE_NUMBER.match(line.text.strip()):
                text = "#"
            elif not outer or not _LETTERS.search(text):
                continue
            found.setdefault((text, round(line.box[1] / 4)), []).append(line)
    return found


def _is_outer(line: PageLine, height: float) -> bool:
    return line.box[1] < MARGIN * height or line.box[3] > (1 - MARGIN) * height


def _cleared(window: deque[tuple[Page, dict[Sign, list[PageLine]]]], at: int) -> Page:
    page, signs = window[at]
    others = [entry[1] for index, entry in enumerate(window) if index != at]
    needed = 2 if len(others) > 2 else 1
    dropped: set[int] = set()
    for (text, place), lines in signs.items():
        places = [(text, place), (text, place - 1), (text, place + 1)]
        repeated = sum(any(each in other for each in places) for other in others)
        if text == "#":
            own = lines[0].text.strip() == str(page.number)
            running = _is_outermost(lines[0], page) and (own or repeated >= 1)
        else:
            # Of two pages the first keeps what both say: it may be the head of a table or a form.
            running = bool(others) and repeated >= needed and not (len(others) == 1 and at == 0)
        if running:
            dropped.update(map(id, lines))
    if dropped:
        dropped -= {id(line) for line in page.lines if id(line) in dropped and _is_cell(line, page.lines, dropped)}
        page.left_out = [line for line in page.lines if id(line) in dropped]
        page.lines = [line for line in page.lines if id(line) not in dropped]
    return page


def _is_cell(line: PageLine, lines: list[PageLine], repeated: set[int]) -> bool:
    """Whether most of what stands beside a repeated line is not repeated: the head of one more table."""
    middle = (line.box[1] + line.box[3]) / 2
    row = [other for other in lines if other.turn == line.turn and other.box[1] < middle < other.box[3]]
    return 2 * sum(id(other) in repeated for other in row) < len(row)


def _is_outermost(line: PageLine, page: Page) -> bool:
    others = [page.place(other, line.turn) for other in page.lines]
    above = any(other[3] <= line.box[1] + 1 for other in others)
    below = any(other[1] >= line.box[3] - 1 for other in others)
    return above != below


@dataclass(slots=True)
class RunningLines:
    """Gathers what pages repeat, to be said once each unless a heading says it."""

    _said: dict[str, tuple[str, int]] = field(default_factory=dict)
    _headings: set[str] = field(default_factory=set)
    _read: set[str] = field(default_factory=set)
    """What stands at the top or bottom of a page and is read there."""

    def take(self, page: Page) -> None:
        """Note the lines of a page that are not read there."""
        self._read.update(_key(line.text) for line in page.lines if not line.turn and _is_outer(line, page.height))
        for line in page.left_out:
            text = squeeze(line.text.strip())
            key = _key(text)
            if key in self._said:
                known, _ = self._said[key]
                # Numbers that differ from page to page are those of pages.
                without = known if text == known else _COUNTING.sub(" ", known).strip()
                if without != known and len(without.split()) < _FEW_WORDS and len(key) < _FEW_LETTERS:
                    # "Chapter 3", "Sheet 2 of 9": without its number it says nothing.
                    without = ""
                self._said[key] = (without, page.number)
            elif len(key) > 2 and len(self._said) < MOST_SAID:
                self._said[key] = (text, page.number)

    def heard(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass blocks on, and note what headings say."""
        for block in blocks:
            if block.kind is BlockKind.HEADING and len(key := _key(block.text)) >= _LEAST_KEY:
                self._headings.add(key)
            yield block

    def blocks(self) -> Iterator[Block]:
        """Yield what no heading says, at the last page where it was left out: places never run backwards."""
        for key, (text, page) in sorted(self._said.items(), key=lambda each: each[1][1]):
            if text and key not in self._read and not any(_says(heading, key) for heading in self._headings):
                yield Block(text, locator=Locator(page=page))


def _says(heading: str, line: str) -> bool:
    return line in heading or (heading in line and len(line) - len(heading) <= _ADDED)


def _key(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))
