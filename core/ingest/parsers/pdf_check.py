"""What of a PDF did not arrive: the words of each page against those of the blocks made from it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.ingest.parsers.lost_words import LEAST_RECALL, MOST_MULTIPLE, STRANGE, WIDE
from core.ingest.parsers.pdf_page import Page, has_strange_signs
from core.ingest.parsers.reading import Loss, ParserInput
from core.model import Block

FEW_WORDS = 20
"""A page with fewer words may lose or repeat so many of them by the way its lines are joined."""
_HELD = 12
"""Pages that a paragraph may reach over: so long a page waits for its words."""
_WORD = re.compile(f"[{WIDE}]|[^\\W_{WIDE}]+")
_HYPHENATED = re.compile(r"(?<=[a-zà-ÿ])[-\u00ad\u2010]\n\s*(?=[a-zà-ÿ])")


@dataclass(slots=True)
class _Awaited:
    """The words of a page that are still to come, and how many came."""

    words: Counter[str]
    found: Counter[str] = field(default_factory=Counter)
    alone: int = 0
    """Words in blocks that stand on this page alone."""


class SelfCheck:
    """Follows a PDF through its pages and blocks, and tells the reading which pages were lost, and how."""

    def __init__(self, reading: ParserInput) -> None:
        self._reading = reading
        self._pages: OrderedDict[int, _Awaited] = OrderedDict()

    def expect(self, page: Page) -> None:
        """Note what the engine found on a page, less what is left out because other pages repeat it."""
        if has_strange_signs(page.plain, STRANGE):
            self._reading.miss(Loss.SIGNS, page.number)
        elif page.has_picture and not any(map(str.isalnum, page.plain)):
            self._reading.miss(Loss.PICTURE, page.number)
        expected = words_of(page.plain)
        expected.subtract(words_of("\n".join(line.text for line in page.left_out)))
        self._pages[page.number] = _Awaited(+expected)
        while len(self._pages) > _HELD:
            self._judge(*self._pages.popitem(last=False))

    def checked(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass blocks on, and count their words for the pages that they stand on."""
        for block in blocks:
            self._take(block)
            yield block

    def finish(self) -> None:
        """Judge the pages that are still held."""
        while self._pages:
            self._judge(*self._pages.popitem(last=False))

    def _take(self, block: Block) -> None:
        first = block.locator.page
        if first is None:
            return
        words = words_of(block.text)
        last = block.locator.page_end or first
        for number in range(first, last + 1):
            if (page := self._pages.get(number)) is not None:
                page.found += words
                if first == last:
                    page.alone += sum(words.values())

    def _judge(self, number: int, page: _Awaited) -> None:
        total = sum(page.words.values())
        if total < FEW_WORDS:
            return
        if sum((page.words & page.found).values()) < LEAST_RECALL * total:
            self._reading.miss(Loss.WORDS, number)
        if page.alone > MOST_MULTIPLE * total:
            self._reading.miss(Loss.REPEATED, number)


def words_of(text: str) -> Counter[str]:
    """Return the words of a text, however its lines are broken and its letters are shaped; ideographs one by one."""
    plain = _HYPHENATED.sub("", text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain)
    return Counter(_WORD.findall(plain.casefold()))
