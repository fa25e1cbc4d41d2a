"""What pages of a layout say that the text read of the same document does not: a check that knows no parser."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from core.ingest.parsers.lost_words import LEAST_RECALL, MOST_MULTIPLE, WIDE

FEW_MISSING, FEW_ON_PAGES = 10, 100
"""Different words that a page lacks, and words that all pages hold, at least where anything is said of them."""
_RUN, _BLANK_BETWEEN = re.compile(f"[{WIDE}]{{2,}}"), re.compile(f"(?<=[{WIDE}])\\s+(?=[{WIDE}])")
_WORD = re.compile(f"[^\\W\\d_{WIDE}]{{2,}}")
"""Of letters alone: figures count pages and rows, and their forms differ."""
_ARABIC = re.compile("[\u0600-\u06ff]")
_HYPHENATED = re.compile(r"(?<=\w)[-\u00ad\ufffe\u0002]\r?\n\s*(?=[^\W\d_])|\u00ad")


@dataclass(frozen=True, slots=True)
class LayoutFindings:
    """Pages of which a tenth of the words did not arrive, and whether words stand in the text far more often."""

    pages: int
    lost: tuple[int, ...]
    is_repeated: bool


def compared(said: Iterable[str], pages: Iterable[str]) -> LayoutFindings:
    """Hold pages against the text that was read, whatever its order; running heads may stand there once."""
    found: Counter[str] = Counter()
    for text in said:
        found.update(_words(text))
        if joined := _BLANK_BETWEEN.sub("", text):
            found.update({pair: 1 for pair in _pairs(joined) if pair not in found})
    expected: Counter[str] = Counter()
    lost, count = [], 0
    for count, page in enumerate(pages, start=1):
        words = Counter(_words(_HYPHENATED.sub("", page)))
        expected += words
        missing = {word: number for word, number in words.items() if word not in found}
        if len(missing) >= FEW_MISSING and sum(missing.values()) > (1 - LEAST_RECALL) * words.total():
            lost.append(count)
    more = sum(max(found[word] - number, 0) for word, number in expected.items())
    total = expected.total()
    is_repeated = total >= FEW_ON_PAGES and more > (MOST_MULTIPLE - 1) * total
    return LayoutFindings(count, tuple(lost), is_repeated)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = _WORD.findall(plain)
    if _ARABIC.search(plain):
        # Letters that are joined to one sign come back from a layout in either order.
        words = ["".join(sorted(word)) if _ARABIC.search(word) else word for word in words]
    return words + _pairs(plain)


def _pairs(plain: str) -> list[str]:
    """Return the pairs of neighbouring signs of scripts that set no blanks."""
    return [run[at : at + 2] for run in _RUN.findall(plain) for at in range(len(run) - 1)]
