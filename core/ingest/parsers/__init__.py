"""The parser of each file type, loaded when the first document of that type is read."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import chain

from core.errors import UnsupportedType
from core.ingest.parsers.block_check import BlockCheck
from core.ingest.parsers.reading import DocumentParser, Loss, ParserInput, ParserLimits
from core.ingest.parsers.wording import finished
from core.model import Block
from core.model.file_types import KINDS

__all__ = ["ParserLimits", "ParserInput", "parse"]

EXPECTED_BYTES = 32 * 1024 * 1024
MOST_RATIO = 200
"""Characters that are read for a byte of a document, beyond those that any document may have: a bomb yields more."""
_PARSERS = {
    "txt": "html:parse_text",
    "log": "source:parse_log",
    "csv": "text:parse_csv",
    "tsv": "text:parse_csv",
    "md": "markdown:parse",
    "markdown": "markdown:parse",
    "html": "html:parse",
    "htm": "html:parse",
    "gdoc": "html:parse_export",
    "pdf": "pdf:parse",
    "docx": "word:parse",
    "xlsx": "excel:parse",
    "pptx": "powerpoint:parse",
    "doc": "legacy:parse",
    "xls": "legacy:parse_workbook",
    "ppt": "legacy:parse",
    "odt": "opendocument:parse_text",
    "ods": "opendocument:parse_sheets",
    "odp": "opendocument:parse_slides",
    "rtf": "rich_text:parse",
    "epub": "epub:parse",
    "eml": "mail:parse",
    "msg": "mail:parse_outlook",
    **dict.fromkeys(KINDS["image"], "picture:parse"),
    "json": "records:parse_json",
    "jsonl": "records:parse_jsonl",
    "xml": "records:parse_xml",
    **dict.fromkeys(KINDS["code"], "source:parse"),
}


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a document, clean and of bounded size; what is learnt on the way is in ``reading``.

    Raises: ``UnreadableDocument`` and its kinds, ``UnsupportedType``.
    """
    place = _PARSERS.get(reading.extension)
    if place is None:
        raise UnsupportedType(f"Files of type .{reading.extension} are not read.")
    module, _, function = place.partition(":")
    parser: DocumentParser = getattr(import_module(f"{__name__}.{module}"), function)
    most = max(EXPECTED_BYTES, MOST_RATIO * reading.path.stat().st_size)
    blocks = chain.from_iterable(map(finished, parser(reading)))
    for block in blocks if reading.extension == "pdf" else BlockCheck(reading).checked(blocks):
        most -= len(block.text)
        if most < 0:
            reading.miss(Loss.CUT)
            break
        yield block
    reading.note_losses()
