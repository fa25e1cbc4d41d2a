"""Files of any size for measures of uploading: text in two languages of which no paragraph is like another, or bytes.

A pool of passages (``benchmarks.corpus``) is written over and over, each time under another serial number and with
its sentences in another order, so that a gigabyte takes seconds to write and no two chunks are alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import WORDS, Writer

_POOL = 2_000
_PIECE = 1024 * 1024
_FORMS = {
    "txt": "Record {number}\n\n{text}\n\n",
    "md": "## Record {number}\n\n{text}\n\n",
    "html": "<h2>Record {number}</h2>\n<p>{text}</p>\n",
    "csv": '{number},"{text}"\n',
}
_HEADS = {"html": "<!DOCTYPE html><html><head><title>Records</title></head><body>\n", "csv": "number,text\n"}


def write_text(path: Path, size_bytes: int, seed: int = 7) -> None:
    """Write a text file of about this size, in the form that its extension says."""
    extension = path.suffix[1:]
    written = 0
    with path.open("w", encoding="utf-8", buffering=_PIECE) as file:
        file.write(_HEADS.get(extension, ""))
        for number, text in enumerate(_texts(seed)):
            piece = _FORMS[extension].format(number=number, text=text)
            file.write(piece)
            written += len(piece.encode())
            if written >= size_bytes:
                return


def _texts(seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    pool = []
    for language in ("en", "ja"):
        writer = Writer(language, seed)
        mark, joint = (". ", ". ") if language == "en" else ("。", "。")
        pool += [(writer.passage(WORDS[language]).text.split(mark), joint) for _ in range(_POOL // 2)]
    while True:
        sentences, joint = pool[draw.randrange(len(pool))]
        at = draw.randrange(len(sentences))
        yield joint.join(sentences[at:] + sentences[:at]).replace("\n", " ")


def write_bytes(path: Path, size_bytes: int, seed: int = 7) -> None:
    """Write a file of exactly this size that does not compress: a PDF by its first bytes."""
    draw = random.Random(seed)
    with path.open("wb") as file:
        left = size_bytes
        head = b"%PDF-1.4\n"
        while left:
            piece = (head + draw.randbytes(_PIECE - len(head)))[:left]
            head = b""
            file.write(piece)
            left -= len(piece)
