"""Pictures that a page shows without the network: those that it holds itself, and those of the book it stands in."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from core.errors import ParserFailed
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import ParserInput
from core.model import Block

_LONGEST_WORD = 120
_FILE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp)\Z|\A(?:https?://|data:)", re.IGNORECASE)

PictureOf = Callable[[str], Callable[[], bytes] | None]
"""Returns what reads the picture of an address, None where the document does not hold it."""
_DATA = re.compile(r"data:image/[\w.+-]+(?:;[\w=.-]+)*;base64,", re.I)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is recognised in the pictures of a page."""

    reading: ParserInput
    inside: PictureOf | None = None

    def blocks(self, address: str, outline: Outline) -> Iterator[Block]:
        """Yield the text of the picture that an address names; none is ever fetched."""
        address = address.strip()
        if match := _DATA.match(address):
            data: Callable[[], bytes] | None = partial(_decoded, address[match.end() :])
        else:
            data = self.inside(address) if self.inside is not None else None
        if data is not None:
            yield from self.reading.within_picture(data, outline.locator())


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(unquote(text), validate=False)
    except (binascii.Error, ValueError) as error:
        raise ParserFailed("A picture of the page is damaged.") from error


def word_for(picture: LexborNode) -> str:
    """Return what a picture is called that stands for a word or a sign; empty where that is the name of a file."""
    text = " ".join((picture.attributes.get("alt") or "").split())
    return "" if len(text) > _LONGEST_WORD or _FILE.search(text) else text


def word_within(picture: LexborNode) -> str:
    """Return what a picture stands for in the middle of a sentence, a formula for example; empty elsewhere."""
    beside = (picture.prev, picture.next)
    is_within = all(each is not None and each.tag == "-text" and (each.text_content or "").strip() for each in beside)
    return word_for(picture) if is_within else ""
