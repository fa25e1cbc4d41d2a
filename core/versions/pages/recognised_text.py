"""The text of pages that are pictures, or show some: the lines that were recognised there, as runs of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from unicodedata import east_asian_width

from core.blobs.block_file import read_places
from core.model.pages import PageArea, PageRun
from core.model.recognition import RecognisedLine
from core.versions.pages.marking import plain

_WORD = re.compile(r"\S+")
_BEGINNING = 12
"""Letters by which a line is found in the text that was made of its page."""


class RecognisedText:
    """What was recognised of one version, by the file of its parsed text; nothing where that keeps no places."""

    def __init__(self, parsed: Path) -> None:
        self._lines, self._texts = read_places(parsed)

    def runs(self, page: int) -> tuple[PageRun, ...]:
        """Return the words that were recognised on a page, in the order in which they are read."""
        lines = _in_order(self._lines.get(page, ()), "".join(map(plain, self._texts.get(page, ()))))
        return tuple(run for line in lines for run in _runs(line))

    def find(self, wanted: str) -> list[int]:
        """Return the pages whose recognised text holds ``wanted``, which ``plain`` has made."""
        return [page for page in self._lines if wanted in plain("".join(run.text for run in self.runs(page)))]


def _in_order(lines: Sequence[RecognisedLine], text: str) -> list[RecognisedLine]:
    """Sort lines as their text stands in ``text``; one that is not found there stays behind the one before it."""
    placed: list[tuple[int, int, RecognisedLine]] = []
    at = 0
    for number, line in enumerate(lines):
        beginning = plain(line.text)[:_BEGINNING]
        found = text.find(beginning, at) if beginning else -1
        found = text.find(beginning) if found < 0 and beginning else found
        at = at if found < 0 else found
        placed.append((at, number, line))
    return [line for _, _, line in sorted(placed, key=lambda each: each[:2])]


def _runs(line: RecognisedLine) -> Iterator[PageRun]:
    """Divide the place of a line among its words by how wide their signs usually are."""
    left, top, right, bottom = line.box
    widths = [0.0]
    for sign in line.text:
        widths.append(widths[-1] + (2.0 if east_asian_width(sign) in "WF" else 1.0))
    share = (right - left) / (widths[-1] or 1.0)
    words = list(_WORD.finditer(line.text))
    for number, word in enumerate(words, 1):
        area = PageArea(
            round(left + share * widths[word.start()], 5),
            round(top, 5),
            round(left + share * widths[word.end()], 5),
            round(bottom, 5),
        )
        yield PageRun(word[0], area, ends_line=number == len(words))
