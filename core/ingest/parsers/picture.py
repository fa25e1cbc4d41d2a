"""Image files: the text that was recognised in each of their pictures, laid out as on a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from PIL import Image

from core.errors import EmptyDocument, ParserFailed, RecognitionMissing
from core.ingest.parsers.pdf_flow import Flow
from core.ingest.parsers.pdf_page import Page
from core.ingest.parsers.pdf_style import Typography
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.recognised import Recognised
from core.model import Block

MOST_PAGES = 2_000
_WIDTH = 595.0
"""Points that a picture's width stands for: that of a page of A4."""


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an image file. Raises: ``RecognitionMissing``, ``EmptyDocument``, ``ParserFailed``."""
    reading.note(parser="picture")
    found = Recognised(reading)
    pages = [found.page(page) for page in _pages(reading)]
    if not reading.can_recognise:
        raise RecognitionMissing("The text of pictures is not recognised here.")
    if not any(page.lines for page in pages):
        raise EmptyDocument("No text was recognised in the picture.")
    reading.note(pages=len(pages))
    flow = Flow(Typography.of(pages, {}))
    for page in pages:
        yield from found.marked(flow.page(page))
    yield from found.marked(flow.finish())


def _pages(reading: ParserInput) -> list[Page]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(reading.path) as image:
                count = min(getattr(image, "n_frames", 1), MOST_PAGES) if image.format == "TIFF" else 1
                height = _WIDTH * image.height / max(image.width, 1)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise ParserFailed("The picture is damaged.") from error
    return [Page(number, _WIDTH, height, [], has_picture=True) for number in range(1, count + 1)]
