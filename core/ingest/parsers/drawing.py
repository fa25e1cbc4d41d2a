"""Text of pictures that are drawn in lines: Windows metafiles (EMF, EMF+, WMF), also packed, and SVG.

Office files show embedded objects by such a picture: what those look like is read. Each text is told with its place;
texts of one height in a row are a line. Nothing is drawn.

Source: [MS-EMF], [MS-EMFPLUS] and [MS-WMF].
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.errors import EvoRAGError
from core.ingest.parsers.wording import clean
from core.ingest.parsers.xml import Element, tree

MOST_BYTES = 32 * 1024 * 1024
"""Of a drawing, unpacked."""
MOST_TEXTS = 5_000
_PACKED, _PLACEABLE, _EMF = b"\x1f\x8b", b"\xd7\xcd\xc6\x9a", b" EMF"
_SVG = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|!DOCTYPE svg|(?:\w+:)?svg\b)", re.I)
_GLYPHS, _SMALL, _NO_RECTANGLE, _RECTANGLE = 0x10, 0x200, 0x100, 0x06
_BLANK = 0.3
"""The gap between two texts that is a blank, in widths of a letter."""
_CODES = {128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258",
          177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    left: float
    base: float
    width: float | None = None
    """How far the text reaches, where the drawing tells it."""


def lines_of(data: bytes) -> list[str]:
    """Return the lines that a drawing shows; none of what is no drawing, is damaged, or names glyphs alone."""
    if data.startswith(_PACKED):
        unpacking = zlib.decompressobj(31)
        try:
            data = unpacking.decompress(data, MOST_BYTES)
        except zlib.error:
            return []
    if len(data) > MOST_BYTES:
        return []
    try:
        if data[40:44] == _EMF:
            texts = _of_emf(data)
        elif data.startswith(_PLACEABLE) or data[:4] in (b"\x01\x00\x09\x00", b"\x02\x00\x09\x00"):
            texts = list(_of_wmf(data))
        elif _SVG.match(data):
            return _of_svg(tree(data))
        else:
            return []
    except (struct.error, EvoRAGError):
        return []
    return list(_lines(texts))


def _lines(texts: Iterable[_Text]) -> Iterator[str]:
    line, last = "", None
    for each in texts:
        if last is not None and each.base == last.base and each.left > last.left:
            line += ("" if _touches(last, each) else " ") + each.text
        else:
            yield from _said(line)
            line = each.text
        last = each
    yield from _said(line)


def _touches(one: _Text, next_one: _Text) -> bool:
    return one.width is not None and next_one.left - one.left - one.width < _BLANK * one.width / len(one.text)


def _said(line: str) -> Iterator[str]:
    if text := " ".join(clean(line).split()):
        yield text


def _of_emf(data: bytes) -> list[_Text]:
    plain: list[_Text] = []
    plus: list[_Text] = []
    at = 0
    while at + 8 <= len(data) and len(plain) + len(plus) < MOST_TEXTS:
        kind, size = struct.unpack_from("<II", data, at)
        if size < 8 or at + size > len(data):
            break
        record = data[at : at + size]
        at += size
        if kind in (83, 84) and size >= 76:
            plain.extend(_ext_text(record, wide=kind == 84))
        elif kind == 108 and size >= 36:
            plain.extend(_small_text(record))
        elif kind == 70 and record[12:16] == b"EMF+":
            plus.extend(_of_emf_plus(record))
    return max(plain, plus, key=lambda texts: sum(len(each.text) for each in texts))


def _ext_text(record: bytes, *, wide: bool) -> Iterator[_Text]:
    left, base, count, start, options = struct.unpack_from("<iiIII", record, 36)
    advances = struct.unpack_from("<I", record, 72)[0]
    raw = record[start : start + count * (2 if wide else 1)]
    if options & _GLYPHS or not 0 < count <= len(raw):
        return
    width = None
    if advances and advances + 4 * count <= len(record):
        width = float(sum(struct.unpack_from(f"<{count}I", record, advances)))
    yield _Text(raw.decode("utf-16-le" if wide else "cp1252", "replace"), left, base, width)


def _small_text(record: bytes) -> Iterator[_Text]:
    left, base, count, options = struct.unpack_from("<iiII", record, 8)
    start, each = 36 if options & _NO_RECTANGLE else 52, 1 if options & _SMALL else 2
    raw = record[start : start + count * each]
    if not options & _GLYPHS and 0 < count * each <= len(raw):
        yield _Text(raw.decode("latin-1" if each == 1 else "utf-16-le", "replace"), left, base)


def _of_emf_plus(record: bytes) -> Iterator[_Text]:
    at = 16
    while at + 12 <= len(record):
        kind, _, size, length = struct.unpack_from("<HHII", record, at)
        if size < 12:
            return
        body = record[at + 12 : at + 12 + length]
        at += size
        if kind == 0x401C and len(body) >= 28:
            count, left, top = struct.unpack_from("<Iff", body, 8)
            raw = body[28 : 28 + 2 * count]
        elif kind == 0x4036 and len(body) >= 16 and struct.unpack_from("<I", body, 4)[0] & 1:
            count = struct.unpack_from("<I", body, 12)[0]
            raw = body[16 : 16 + 2 * count]
            left, top = struct.unpack_from("<ff", body, 16 + 2 * count) if count else (0.0, 0.0)
        else:
            continue
        if raw:
            yield _Text(raw.decode("utf-16-le", "replace"), left, top)


def _of_wmf(data: bytes) -> Iterator[_Text]:
    at = (22 if data.startswith(_PLACEABLE) else 0) + 18
    code, told = "cp1252", 0
    while at + 6 <= len(data) and told < MOST_TEXTS:
        words, function = struct.unpack_from("<IH", data, at)
        if words < 3 or at + 2 * words > len(data):
            return
        body = data[at + 6 : at + 2 * words]
        at += 2 * words
        if function == 0x02FB and len(body) >= 18:
            code = "" if body[13] == 2 else _CODES.get(body[13], "cp1252")
        elif function == 0x0521:
            count = struct.unpack_from("<H", body, 0)[0]
            base, left = struct.unpack_from("<hh", body, 2 + count + count % 2)
            raw = body[2 : 2 + count]
        elif function == 0x0A32:
            base, left, count, options = struct.unpack_from("<hhHH", body, 0)
            start = 16 if options & _RECTANGLE else 8
            raw = b"" if options & _GLYPHS else body[start : start + count]
        if function in (0x0521, 0x0A32) and raw and code:
            told += 1
            yield _Text(raw.decode(code, "replace"), left, base)


def _of_svg(root: Element) -> list[str]:
    if str(root.tag).rpartition("}")[2] != "svg":
        return []
    found: list[str] = []
    for element in root.iter("{*}text", "{*}foreignObject", "text", "foreignObject"):
        parts = [text for text in element.itertext() if text.strip()]
        found.extend(_said(" ".join(parts) if len(parts) > 1 else "".join(parts)))
        if len(found) >= MOST_TEXTS:
            break
    return list(dict.fromkeys(found))
