"""Pictures within documents that have text besides: those that may show text are recognised like pages that are one."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.model import Block, BlockKind, Locator
from core.model.recognition import Pictures, RecognisedPicture

MOST = 200
"""Pictures of one document that are recognised."""
MOST_BYTES = 512 * 1024 * 1024
"""That pictures of one document take while they wait."""
MIN_WIDTH, MIN_HEIGHT, MIN_PIXELS = 120, 40, 20_000
"""Smaller ones are icons, bullets and rules."""
OWN = "picture-"
"""How names of pictures begin that are no part of a page; the hash of their bytes follows."""
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
FEW_SIGNS = 12
"""A picture with fewer letters and figures, of which an ideograph is two, shows a name or none."""
LEAST_SURE = 0.5
"""Lines below are noise: patterns and pictures that look a little like letters."""
_POINTS = 0.5
"""That a pixel of a screenshot stands for."""
_SIGN = re.compile(r"[^\W_]")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(slots=True)
class Embedded:
    """The pictures within one document, each by the hash of its bytes, or by its place on a page of a PDF."""

    pictures: Pictures
    folder: Path
    """Where pictures wait that are not files of their own."""
    wanted: list[str] = field(default_factory=list)
    """Those that have yet to be recognised."""
    left_out: int = 0
    """Those that were not recognised: too many, or damaged."""
    _seen: set[str] = field(default_factory=set)
    _kept_bytes: int = 0

    def blocks(self, data: bytes, place: Locator) -> Iterator[Block]:
        """Yield what a picture shows as text, once however often it stands in the document."""
        name = f"{OWN}{hashlib.sha256(data).hexdigest()[:32]}"
        if name in self._seen:
            return
        self._seen.add(name)
        size = size_of(data)
        if size is None:
            yield from drawn(data, place)
            return
        if not may_show_text(*size):
            return
        if name in self.pictures:
            yield from self._told(self.pictures[name], size, place)
        elif self.asks(name, len(data)):
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(data)

    def is_new(self, key: str) -> bool:
        """Tell whether a picture of a PDF stands in it for the first time."""
        found = key not in self._seen
        self._seen.add(key)
        return found

    def asks(self, name: str, size_bytes: int = 0) -> bool:
        """Have a picture recognised, unless there are too many; tell whether it will be."""
        if len(self._seen) > 50 * MOST or len(self.wanted) + len(self.pictures) >= MOST:
            self.left_out += 1
            return False
        if self._kept_bytes + size_bytes > MOST_BYTES:
            self.left_out += 1
            return False
        self._kept_bytes += size_bytes
        self.wanted.append(name)
        return True

    def _told(self, found: RecognisedPicture | None, size: tuple[int, int], place: Locator) -> Iterator[Block]:
        if found is None:
            self.left_out += 1
            return
        yield from blocks_of(sure(found), size[0] * _POINTS, size[1] * _POINTS, place)


def drawn(data: bytes, place: Locator) -> Iterator[Block]:
    """Yield the text of a picture that is drawn in lines, where it is more than a name."""
    # Reading XML is heavy, and most documents hold no drawing.
    from core.ingest.parsers.drawing import lines_of

    text = "\n".join(lines_of(data))
    if signs(text) >= FEW_SIGNS:
        yield Block(text, BlockKind.PARAGRAPH, place)


def signs(text: str) -> int:
    """Count letters and figures; an ideograph is two."""
    return len(_SIGN.findall(text)) + len(_WIDE.findall(text))


def sure(picture: RecognisedPicture) -> RecognisedPicture:
    """Return a picture with the lines that are no noise; with none where they are too few to say anything."""
    found = tuple(line for line in picture.lines if line.confidence >= LEAST_SURE)
    return replace(picture, lines=found if sum(signs(line.text) for line in found) >= FEW_SIGNS else ())


def blocks_of(picture: RecognisedPicture, width: float, height: float, place: Locator) -> Iterator[Block]:
    """Yield a picture as the blocks of a small page, without headings: what stands around the picture goes on below."""
    if not picture.lines:
        return
    from core.ingest.parsers.pdf_flow import Flow
    from core.ingest.parsers.pdf_page import Page
    from core.ingest.parsers.pdf_style import Typography
    from core.ingest.parsers.recognised import set_on

    page = Page(1, width, height, [])
    set_on(page, picture)
    flow = Flow(Typography.of([page], {}))
    length = sum(len(line.text) for line in picture.lines)
    confidence = round(sum(len(line.text) * line.confidence for line in picture.lines) / length, 3)
    at = replace(place, confidence=confidence)
    for block in (*flow.page(page), *flow.finish()):
        kind = BlockKind.PARAGRAPH if block.kind is BlockKind.HEADING else block.kind
        yield replace(block, kind=kind, level=0, locator=at)


def size_of(data: bytes) -> tuple[int, int] | None:
    """Return the width and height of a picture in pixels; None of what is none, or is drawn in lines."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                return image.size
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None


def may_show_text(width: int, height: int) -> bool:
    """Tell whether a picture of so many pixels is large enough to show text."""
    return width >= MIN_WIDTH and height >= MIN_HEIGHT and width * height >= MIN_PIXELS
