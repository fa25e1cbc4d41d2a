"""What a PDF's typography means: which size is running text, which rows are headings, and of what level."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from core.ingest.parsers.pdf_columns import gutters, rows
from core.ingest.parsers.pdf_page import Page, PageRow

LARGER = 1.12
"""Text this much larger than running text is a heading."""
MAX_HEADING_CHARS = 160
MAX_HEADING_ROWS = 3
MAX_TITLES = 200
"""Most bookmarks of one page that are compared with its rows."""

_NUMBERED = re.compile(
    r"(?:(\d{1,2}(?:[.．]\d{1,2}){0,4})[.．]?\s+(?=\D)|第\s*[\d一二三四五六七八九十]+\s*[章節条部編]|"
    r"(?:chapter|appendix|part|section)\s+[\dA-Z])",
    re.I,
)
_SENTENCE_END = re.compile(r"[。．.,、;；]\Z")
_NUMBER_KEY = re.compile(r"(?:chapter|appendix|part|section|第)?(?:\d{1,8}|[ivxlc]{1,6}|[a-z]\d{0,6})?[章節条部編]?\Z")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(slots=True)
class Typography:
    """The measures of one document, taken from a sample of its pages."""

    body_size: float = 10.0
    leading: float = 1.2
    """Distance from one line to the next, in sizes of the text."""
    sizes: list[float] = field(default_factory=list)
    outline: Mapping[int, Sequence[tuple[int, str]]] = field(default_factory=dict)
    gutters: Sequence[float] = ()
    is_bold: bool = False
    """Running text is bold, which then marks no headings."""
    _levels: dict[float, int] = field(default_factory=dict)

    @classmethod
    def of(cls, pages: Iterable[Page], outline: Mapping[int, Sequence[tuple[int, str]]]) -> Typography:
        """Measure the sampled pages."""
        pages = list(pages)
        characters: Counter[float] = Counter()
        large: Counter[float] = Counter()
        distances, bold = [], 0
        for page in pages:
            found = rows(page.upright)
            for row in found:
                if not row.mono:
                    characters[_rounded(row.size)] += len(row.text)
                    bold += len(row.text) if row.bold else 0
            for before, row in pairwise(found):
                if before.size == row.size and 0 < row.box[3] - before.box[3] < 3 * row.size:
                    distances.append((row.box[3] - before.box[3]) / row.size)
            for row in found:
                large[_rounded(row.size)] += 1
        body = max(characters, key=lambda size: characters[size], default=10.0)
        sizes = sorted((size for size in large if size >= LARGER * body), reverse=True)
        leading = min(max(median(distances), 0.9), 2.2) if distances else 1.2
        return cls(body, leading, sizes, outline, gutters(pages), 2 * bold > characters.total())

    def level_by_outline(self, page: int, found: Sequence[PageRow]) -> tuple[int, int]:
        """Return the level of the heading that ``found`` begins with, by the bookmarks, and how many rows it takes."""
        titles = sorted(
            ((level, _key(title)) for level, title in self.outline.get(page, ())[:MAX_TITLES]), key=_longest_first
        )
        text = ""
        for count, row in enumerate(found[:MAX_HEADING_ROWS], 1):
            if count > 1 and (row.size != found[0].size or row.box[1] - found[count - 2].box[3] > 1.5 * row.size):
                break
            text += " " + row.text
            key = _key(text)
            for level, title in titles:
                if title and key.endswith(title) and _is_number(key[: -len(title)]):
                    self._levels.setdefault(_rounded(found[0].size), level)
                    return min(level, 6), count
        return 0, 0

    def level_by_look(self, row: PageRow, gap: float) -> int:
        """Return the level of a row that looks like a heading, 0 for other rows; ``gap`` is the space above it."""
        text = row.text.strip()
        if row.mono or len(text) > MAX_HEADING_CHARS or not _LETTER.search(text):
            return 0
        numbered = _NUMBERED.match(text)
        size = _rounded(row.size)
        if size >= LARGER * self.body_size:
            if size in self._levels:
                return self._levels[size]
            return min(1 + sum(other > size + 0.4 for other in self.sizes), 6)
        if _SENTENCE_END.search(text) or size < self.body_size or len(text) > MAX_HEADING_CHARS / 2:
            return 0
        if self.outline and not (numbered and "." in (numbered[1] or "")):
            # Bookmarks name the headings, but often not those of sections in sections.
            return 0
        if row.bold and not self.is_bold and (numbered or gap > 0.6 * row.size):
            depth = numbered[1].count(".") + 1 if numbered and numbered[1] else 1
            return min(len(self.sizes[:3]) + depth, 6)
        return 0


def _longest_first(entry: tuple[int, str]) -> int:
    return -len(entry[1])


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _is_number(prefix: str) -> bool:
    return not prefix or _NUMBER_KEY.match(prefix) is not None
