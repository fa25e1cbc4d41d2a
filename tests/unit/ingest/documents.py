"""Builds the documents that the parser tests read: ordinary ones with public libraries, hostile ones byte by byte."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.model import Block

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"'
    ' Target="{target}"/>{more}</Relationships>'
)
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


def read(path: Path, extension: str = "", limits: ParserLimits | None = None) -> tuple[list[Block], dict[str, Any]]:
    """Parse in this process and return the blocks and the metadata."""
    reading = ParserInput(path, extension or path.suffix[1:].lower(), limits or ParserLimits())
    return list(parse(reading)), reading.metadata


def texts(blocks: list[Block]) -> list[str]:
    return [block.text for block in blocks]


def zipped(path: Path, parts: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def docx_parts(body: str, prolog: str = "", **more: str | bytes) -> dict[str, str | bytes]:
    document = f'<?xml version="1.0"?>{prolog}<w:document {_W} {_R}><w:body>{body}</w:body></w:document>'
    return {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": _RELATIONS.format(kind="officeDocument", target="word/document.xml", more=""),
        "word/document.xml": document,
        **more,
    }


def docx(path: Path, body: str, prolog: str = "", **more: str | bytes) -> Path:
    """A Word document with the given XML as its body."""
    return zipped(path, docx_parts(body, prolog, **more))


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(path: Path, sheet: str, strings: str = "", sheet_prolog: str = "", strings_prolog: str = "") -> Path:
    """A workbook of one sheet with the given XML in its worksheet and in its shared strings."""
    more = (
        '<Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"'
        ' Target="sharedStrings.xml"/>'
    )
    return zipped(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": _RELATIONS.format(kind="officeDocument", target="xl/workbook.xml", more=""),
            "xl/_rels/workbook.xml.rels": _RELATIONS.format(kind="worksheet", target="sheet1.xml", more=more),
            "xl/workbook.xml": f'<workbook {_S} {_R}><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
            "xl/sheet1.xml": f"{sheet_prolog}<worksheet {_S}>{sheet}</worksheet>",
            "xl/sharedStrings.xml": f"{strings_prolog}<sst {_S}>{strings}</sst>",
        },
    )


def pptx(path: Path, shapes: str, prolog: str = "") -> Path:
    """A presentation of one slide with the given XML as its shape tree."""
    return zipped(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": _RELATIONS.format(kind="officeDocument", target="ppt/presentation.xml", more=""),
            "ppt/_rels/presentation.xml.rels": _RELATIONS.format(kind="slide", target="slide1.xml", more=""),
            "ppt/presentation.xml": f'<p:presentation {_P} {_R}><p:sldIdLst><p:sldId id="256" r:id="r1"/>'
            "</p:sldIdLst></p:presentation>",
            "ppt/slide1.xml": f"{prolog}<p:sld {_P} {_A}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
        },
    )


def slide_text(text: str) -> str:
    return f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


LAUGHS = (
    '<!DOCTYPE lol [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {after} "{("&" + before + ";") * 10}">'
        for before, after in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)
"""A document type whose entity ``&j;`` is two thousand million characters long."""


def deflated_entry(name: str, packed: bytes, claimed_size: int, crc: int) -> tuple[bytes, bytes]:
    """A local header with its data, and the directory entry (its offset is zero and is to be set)."""
    encoded = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, crc, len(packed), claimed_size, len(encoded), 0)
    local = b"PK\x03\x04" + common + encoded + packed
    directory = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + encoded
    return local, directory


def archive_of(entries: list[tuple[bytes, bytes]], offsets: list[int] | None = None) -> bytes:
    """A zip file of entries; ``offsets`` may point several directory entries at the same data."""
    out = bytearray()
    starts = []
    for local, _ in entries:
        starts.append(len(out))
        out += local
    start = len(out)
    for offset, (_, directory) in zip(offsets or starts, entries, strict=True):
        out += directory[:42] + struct.pack("<I", offset) + directory[46:]
    size = len(out) - start
    out += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(entries), len(entries), size, start, 0)
    return bytes(out)


def stored(path: Path, parts: dict[str, str | bytes], extra: list[tuple[bytes, bytes]]) -> Path:
    """A zip file of ordinary parts followed by entries made by hand."""
    entries = []
    for name, content in parts.items():
        raw = content.encode() if isinstance(content, str) else content
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        entries.append(deflated_entry(name, packer.compress(raw) + packer.flush(), len(raw), zlib.crc32(raw)))
    path.write_bytes(archive_of([*entries, *extra]))
    return path


def pdf(objects: dict[int, str | bytes], root: int = 1, trailer: str = "") -> bytes:
    """A PDF of the given objects with a correct cross-reference table."""
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places = {}
    for number, content in objects.items():
        places[number] = out.tell()
        body = content.encode("latin-1") if isinstance(content, str) else content
        out.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start = out.tell()
    size = max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        mark = b"n" if number in places else b"f"
        out.write(b"%010d 00000 %s \n" % (places.get(number, 0), mark))
    out.write(
        b"trailer\n<</Size %d /Root %d 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer.encode(), start)
    )
    return out.getvalue()


def pdf_stream(data: bytes, entries: str = "") -> bytes:
    return b"<<%s /Length %d>>\nstream\n" % (entries.encode(), len(data)) + data + b"\nendstream"


def text_pdf(text: str = "Plain text on a page", **catalog: str) -> dict[int, str | bytes]:
    """The objects of a PDF with one page of one line."""
    extra = " ".join(f"/{key} {value}" for key, value in catalog.items())
    return {
        1: f"<</Type /Catalog /Pages 2 0 R {extra}>>",
        2: "<</Type /Pages /Kids [3 0 R] /Count 1>>",
        3: "<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>>>>",
        4: pdf_stream(f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()),
        5: "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
    }


def slow_pdf(pages: int, strokes: int = 100_000) -> bytes:
    """A PDF of a few kB whose pages hold a drawing of very many strokes: one takes a parser a second or two."""
    objects = text_pdf()
    drawing = zlib.compress(
        b"0 0 m 9 9 l S " * strokes + b"BT /F1 12 Tf 72 700 Td (Lantern of the slow drawing) Tj ET", 9
    )
    objects[4] = pdf_stream(drawing, "/Filter /FlateDecode")
    numbers = range(10, 10 + pages)
    objects |= dict.fromkeys(numbers, objects[3])
    objects[2] = f"<</Type /Pages /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] /Count {pages}>>"
    return pdf(objects)
