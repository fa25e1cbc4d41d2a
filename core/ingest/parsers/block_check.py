"""What of a document did not arrive, told by its blocks: signs that are no letters, words twice, nothing at all.

PDFs have a check of their own, page by page (``core.ingest.parsers.pdf_check``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.errors import EmptyDocument
from core.ingest.parsers.lost_words import FEW_SIGNS, MOST_MULTIPLE, STRANGE, STRANGE_SIGN
from core.ingest.parsers.reading import PART_OF, Loss, ParserInput
from core.ingest.parsers.source_length import characters_in
from core.model import Block, BlockKind
from core.model.documents import SHEETS

_REPEATED = 0.4
"""Share of the text in lines that stood before from which that of the file is measured."""
_LONG_LINE, _SHORT = 40, 1_000
_MISTAKEN = re.compile(
    "[ÂÃ][\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸ]|â(?:€[^\\w\\s]|€.)|ã[\u0080-\u00bf][\u0080-\u00bf]"
)
"""Two or three bytes of UTF-8 that were taken for letters of Western Europe."""
_NEARLY_ALL = 0.8
_MOST_LINES = 200_000


@dataclass(slots=True)
class _Signs:
    """The signs of one slide or sheet, or of all that is on none."""

    all: int = 0
    strange: int = 0
    foreign: int = 0
    mistaken: int = 0

    @property
    def is_unread(self) -> bool:
        if self.mistaken >= FEW_SIGNS and self.mistaken > _NEARLY_ALL * self.foreign:
            return True
        return self.strange >= FEW_SIGNS and self.strange > STRANGE * self.all


@dataclass(slots=True)
class BlockCheck:
    """Follows the blocks of a document that is no PDF, and tells the reading what was lost, and where."""

    reading: ParserInput
    _signs: dict[int | str | None, _Signs] = field(default_factory=dict)
    _lines: set[int] = field(default_factory=set)
    _length: int = 0
    _repeated: int = 0
    _told: set[int | str | None] = field(default_factory=set)
    """Slides and sheets that say something besides their names."""

    def checked(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass blocks on and judge them at the end. Raises: ``EmptyDocument`` of a workbook without cells."""
        for block in blocks:
            self._take(block)
            yield block
        self._judge()

    def _take(self, block: Block) -> None:
        locator, text = block.locator, block.text
        place = locator.slide or locator.sheet
        signs = self._signs.setdefault(place, _Signs())
        signs.all += len(text)
        if not text.isascii():
            signs.strange += len(STRANGE_SIGN.findall(text))
            mistaken = _MISTAKEN.findall(text)
            signs.mistaken += len(mistaken)
            signs.foreign += sum(letter > "\x7f" for letter in text) - sum(len(each) - 1 for each in mistaken)
        if block.kind is not BlockKind.HEADING or locator.sheet is None:
            self._told.add(place)
        self._length += len(text)
        for line in text.split("\n"):
            if len(line) >= _LONG_LINE:
                if (key := hash(line)) in self._lines:
                    self._repeated += len(line)
                elif len(self._lines) < _MOST_LINES:
                    self._lines.add(key)

    def _judge(self) -> None:
        for place, signs in self._signs.items():
            if signs.is_unread:
                self.reading.miss(Loss.SIGNS, place)
        if self.reading.embedded is None:
            for place in self.reading.pictured - self._told:
                self.reading.miss(Loss.PICTURE, place)
        if self._length >= _SHORT and self._repeated > _REPEATED * self._length and not self.reading.objects:
            # Whether the document says it again and again itself, or the reading does, its file tells.
            length = characters_in(self.reading.path, self.reading.extension)
            if length is not None and self._length > MOST_MULTIPLE * length:
                self.reading.miss(Loss.REPEATED)
        is_workbook = PART_OF.get(self.reading.extension) == SHEETS
        if is_workbook and self._signs and not self._told and not self.reading.within:
            raise EmptyDocument("The workbook holds nothing but empty sheets.")
