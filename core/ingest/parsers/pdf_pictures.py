"""Pictures on pages of a PDF that have words besides: those that may show more words are recognised by their places."""

from __future__ import annotations

import mmap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from core.ingest.parsers.embedded import Embedded, blocks_of, may_show_text, sure
from core.ingest.parsers.pdf_page import FEW_WORDS, Page
from core.ingest.parsers.pdf_turn import Box, Size
from core.ingest.parsers.reading import ParserInput
from core.model import Block, Locator
from core.model.recognition import RecognisedLine

MIN_WIDTH, MIN_HEIGHT = 80.0, 24.0
"""Points; what is shown smaller is an icon, or too small to be read."""
MIN_DPI, MAX_DPI = 150, 400
_JOINT = 2.0
"""Points between parts of one picture, which programs have cut into strips."""
_FINE = 10_000


@dataclass(frozen=True, slots=True)
class PageImage:
    """A picture on a page: its place in shares of the page as it is shown, its pixels, and the page's own size."""

    box: Box
    pixels: tuple[int, int]
    page: Size
    key: Callable[[], str]
    """Returns the same for the same picture on other pages; it has to be unpacked for that."""
    text: Callable[[], str]
    """Returns the words that the page itself holds there."""

    @property
    def size(self) -> Size:
        """Width and height in points."""
        return (self.box[2] - self.box[0]) * self.page[0], (self.box[3] - self.box[1]) * self.page[1]

    @property
    def name(self) -> str:
        """What tells the process that recognises which part of which page to draw, and how finely."""
        width, height = self.size
        dpi = max(self.pixels[0] / width, self.pixels[1] / height) * 72
        place = ",".join(str(round(side * _FINE)) for side in self.box)
        return f"{place}:{round(min(max(dpi, MIN_DPI), MAX_DPI))}"


class _Document(Protocol):
    def images(self, index: int) -> list[PageImage]: ...


class PagePictures:
    """Finds the pictures of one PDF that may show text, page by page, and yields what they say."""

    def __init__(self, reading: ParserInput, document: _Document) -> None:
        self._reading = reading
        self._document = document
        # A file that hangs on a mail is gone when its pictures would be drawn.
        is_read = reading.embedded is not None and not reading.within
        self._embedded = reading.embedded if is_read and _has_images(reading.path) else None
        self.due: list[Block] = []
        """What pages that were taken show, which follows their last paragraphs."""

    def among(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass blocks on, and before those of each page what is shown by the pages before it."""
        for block in blocks:
            while self.due and (self.due[0].locator.page or 0) < (block.locator.page or 0):
                yield self.due.pop(0)
            yield block

    def take(self, page: Page, place: Locator) -> None:
        """Take what is recognised in the pictures of a page; of one that is a picture itself nothing."""
        if self._embedded is None or self._is_one(page):
            return
        for image in _joined(self._document.images(page.number - 1)):
            width, height = image.size
            is_large = width >= MIN_WIDTH and height >= MIN_HEIGHT and may_show_text(*image.pixels)
            if is_large and self._embedded.is_new(image.key()):
                said = image.text()
                if len(said.split()) < FEW_WORDS:
                    self.due += self._told(self._embedded, image, place, said)

    def _is_one(self, page: Page) -> bool:
        name = str(page.number)
        return page.has_picture or name in self._reading.pictures or name in (self._reading.recognised_pictures or {})

    def _told(self, embedded: Embedded, image: PageImage, place: Locator, said: str) -> Iterator[Block]:
        number = place.page or 0
        name = f"{number}:{image.name}"
        if name not in embedded.pictures:
            embedded.asks(name)
            return
        found = embedded.pictures[name]
        if found is None:
            embedded.left_out += 1
            return
        known = _plain(said)
        new = tuple(line for line in found.lines if not (known and _plain(line.text) in known))
        picture = sure(replace(found, lines=new))
        if picture.lines:
            self._reading.places.setdefault(number, []).extend(_on_page(picture.lines, image.box))
            yield from blocks_of(picture, *image.size, place)


def part_of(name: str) -> tuple[int, Box, int] | None:
    """Return the page, the place and the dots an inch that a picture's name tells; None of another picture's."""
    if ":" not in name:
        return None
    number, place, dpi = name.split(":")
    left, top, right, bottom = (int(side) / _FINE for side in place.split(","))
    return int(number), (left, top, right, bottom), int(dpi)


def _has_images(path: Path) -> bool:
    """Tell whether a file holds any picture at all: what describes one is never compressed."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"/Image") >= 0


def _joined(images: Sequence[PageImage]) -> Iterator[PageImage]:
    """Yield pictures, one for those that stand on top of each other as strips of the same width."""
    last: PageImage | None = None
    for image in images:
        if last is not None and _goes_on(last, image):
            box = last.box[0], min(last.box[1], image.box[1]), last.box[2], max(last.box[3], image.box[3])
            pixels = last.pixels[0], last.pixels[1] + image.pixels[1]
            said = partial(_said, last.text, image.text)
            last = replace(last, box=box, pixels=pixels, key=partial(_said, last.key, image.key), text=said)
            continue
        if last is not None:
            yield last
        last = image
    if last is not None:
        yield last


def _said(above: Callable[[], str], below: Callable[[], str]) -> str:
    return f"{above()}\n{below()}"


def _goes_on(above: PageImage, below: PageImage) -> bool:
    width, height = above.page
    is_under = abs(above.box[3] - below.box[1]) * height < _JOINT
    is_level = max(abs(above.box[0] - below.box[0]), abs(above.box[2] - below.box[2])) * width < _JOINT
    return is_under and is_level


def _on_page(lines: Sequence[RecognisedLine], place: Box) -> list[RecognisedLine]:
    left, top, right, bottom = place
    across, down = right - left, bottom - top
    return [
        replace(
            line,
            box=(
                left + line.box[0] * across,
                top + line.box[1] * down,
                left + line.box[2] * across,
                top + line.box[3] * down,
            ),
        )
        for line in lines
    ]


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
