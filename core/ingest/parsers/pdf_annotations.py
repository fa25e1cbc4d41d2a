"""What hangs on a PDF besides its text: remarks of readers, and files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.ingest.parsers.reading import MEBIBYTE
from core.ingest.parsers.wording import one_line

MOST = 500
"""Remarks of a page, and files of a document."""
LARGEST_BYTES = 256 * MEBIBYTE
"""Larger files that hang on a document are named only."""
_TEXT, _HIGHLIGHT, _STRIKE_OUT, _CARET, _FILE = 0, 8, 11, 14, 17
"""Kinds of annotations; those from highlights to what is struck out mark text, and may say something of it."""
_DAMAGED = (RuntimeError, ValueError, IndexError, KeyError, AttributeError, TypeError)


def of_page(page: Any) -> tuple[list[str], list[tuple[str, bytes]]]:
    """Return what readers noted on a page of PyMuPDF's with their names, and the files that hang there."""
    said: list[str] = []
    files: list[tuple[str, bytes]] = []
    if page.first_annot is None:
        return said, files
    try:
        for number, each in enumerate(page.annots()):
            if number >= MOST:
                break
            kind, told = each.type[0], each.info
            if kind == _FILE:
                files.append((one_line(each.file_info.get("filename", "")), each.get_file()))
            elif (kind in (_TEXT, _CARET) or _HIGHLIGHT <= kind <= _STRIKE_OUT) and told.get("content", "").strip():
                who, text = one_line(told.get("title", "")), one_line(told["content"])
                said.append(f"[{who}: {text}]" if who else f"[{text}]")
    except _DAMAGED:
        return said, files
    return said, files


def of_document(document: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the files that hang on a document of PyMuPDF's; damaged ones without their bytes."""
    for number in range(min(document.embfile_count(), MOST)):
        name, data = "", b""
        try:
            told = document.embfile_info(number)
            name = one_line(told.get("ufilename") or told.get("filename") or told.get("name") or "")
            if told.get("size", 0) <= LARGEST_BYTES:
                data = document.embfile_get(number)
        except _DAMAGED:
            pass
        yield name, data
