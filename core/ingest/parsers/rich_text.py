"""Rich Text Format (rtf): through LibreOffice where it is installed, else its bare text."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import ParserFailed
from core.ingest.parsers import legacy
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.wording import pieces
from core.model import Block


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an rtf file; without LibreOffice it has no headings, lists and tables. Raises as legacy."""
    if legacy.converter() is not None:
        yield from legacy.parse(reading)
        return
    reading.note(parser="rtf")
    reading.warn("LibreOffice is not installed: the file was read without its headings, lists and tables.")
    outline = Outline()
    for paragraph in bare(reading.path.read_bytes()).split("\n"):
        if paragraph.strip():
            for piece in pieces(paragraph.strip()):
                yield outline.block(piece)


def bare(data: bytes) -> str:
    """Return the text of a rich text file. Raises: ``ParserFailed``."""
    from striprtf.striprtf import rtf_to_text  # type: ignore[import-untyped, unused-ignore]

    try:
        # Every byte is a character of its own here; the signs beyond ASCII are escaped in the format.
        return str(
            rtf_to_text(  # type: ignore[no-untyped-call]
                data.decode("latin-1"), encoding="cp1252", errors="replace"
            )
        )
    except (ValueError, IndexError, LookupError) as error:
        raise ParserFailed("The rich text inside the file is damaged.") from error
