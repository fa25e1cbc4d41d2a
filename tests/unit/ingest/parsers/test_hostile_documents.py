"""Documents made to harm (HOSTILE 13 to 28): each costs itself alone, within its limits, and reaches nothing."""

from __future__ import annotations

import http.server
import random
import struct
import subprocess
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from lxml import etree

from core.errors import ArchiveLimit, EmptyDocument, EvoRAGError, ParserFailed, ParserLimit, XmlForbidden
from core.ingest.parsers import EXPECTED_BYTES, xml
from core.ingest.sandbox import ParserLimits, ParserSandbox, read_blocks
from core.model import Block
from tests import programs
from tests.unit.ingest import documents
from tests.unit.ingest.documents import paragraph, read, slide_text, texts

MEBIBYTE = 1024 * 1024
# Its time is what these tests measure: no parser that goes astray keeps within it, and no busy machine needs as long.
LIMITS = ParserLimits(timeout_s=30, memory_bytes=1024 * MEBIBYTE, output_bytes=64 * MEBIBYTE)
needs_libreoffice = programs.needs("soffice")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ParserSandbox]:
    made = ParserSandbox(LIMITS)
    yield made
    made.close()


def through(sandbox: ParserSandbox, path: Path) -> list[Block]:
    """Parse as the product does, and prove that nothing but the result is left behind."""
    target = path.with_suffix(".jsonl")
    before = set(path.parent.rglob("*"))
    try:
        sandbox.parse(path, path.suffix[1:], target)
    finally:
        target_found = {target} if target.exists() else set()
        assert set(path.parent.rglob("*")) == before | target_found
    return list(read_blocks(target))


class Canary:
    """A server on this machine that counts who asks it for anything."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        canary = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canary.hits.append(self.path)
                self.send_response(200)
                self.end_headers()

            do_POST = do_HEAD = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def canary() -> Iterator[Canary]:
    made = Canary()
    yield made
    made.server.shutdown()
    made.server.server_close()
    assert made.hits == []


# ---- archives -------------------------------------------------------------------------------------------------------


def bomb(prefix: bytes, filler: bytes, size: int) -> bytes:
    """Deflated data of ``size`` bytes, built by repeating a packed piece of it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(prefix) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = filler * (4 * MEBIBYTE // len(filler))
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + packed * (size // len(piece)) + packer.flush()


WORD_HEAD = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
SHEET_HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


def with_entry(path: Path, make: Callable[[Path], Path], name: str, packed: bytes, claimed: int) -> Path:
    """A document whose entry ``name`` is replaced by one made by hand."""
    with zipfile.ZipFile(make(path)) as archive:
        parts: dict[str, str | bytes] = {each: archive.read(each) for each in archive.namelist() if each != name}
    return documents.stored(path, parts, [documents.deflated_entry(name, packed, claimed, 0)])


@pytest.mark.parametrize("claimed", [4 << 30, 10])
@pytest.mark.parametrize(
    ("suffix", "entry", "prefix", "filler"),
    [
        ("docx", "word/document.xml", WORD_HEAD + b"<w:p><w:r><w:t>", b" "),
        ("docx", "word/document.xml", WORD_HEAD, b"<w:p/>"),
        ("xlsx", "xl/sheet1.xml", SHEET_HEAD, b"<row/>"),
        ("xlsx", "xl/sharedStrings.xml", b"<sst>", b"<si><t>a</t></si>"),
        ("pptx", "ppt/slide1.xml", b"<sld>", b"<a/>"),
    ],
)
def test_an_archive_bomb_is_stopped_by_the_bytes_that_come_out(
    sandbox: ParserSandbox, tmp_path: Path, suffix: str, entry: str, prefix: bytes, filler: bytes, claimed: int
) -> None:
    plain = {
        "docx": lambda path: documents.docx(path, paragraph("x")),
        "xlsx": lambda path: documents.xlsx(path, "<sheetData/>"),
        "pptx": lambda path: documents.pptx(path, slide_text("x")),
    }[suffix]
    packed = bomb(prefix, filler, 4 << 30)
    path = with_entry(tmp_path / f"bomb.{suffix}", plain, entry, packed, min(claimed, 0xFFFFFFF0))
    with pytest.raises(ArchiveLimit):
        through(sandbox, path)


@pytest.mark.long
def test_a_bomb_costs_little_memory(tmp_path: Path) -> None:
    made = ParserSandbox(ParserLimits(timeout_s=30, memory_bytes=250 * MEBIBYTE))
    path = tmp_path / "bomb.xlsx"
    packed = bomb(SHEET_HEAD, b"<row><c><v>1</v></c></row>", 1 << 30)
    with_entry(path, lambda each: documents.xlsx(each, "<sheetData/>"), "xl/sheet1.xml", packed, 1 << 30)
    with pytest.raises(ArchiveLimit):
        through(made, path)
    made.close()


def test_overlapping_entries_are_refused(sandbox: ParserSandbox, tmp_path: Path) -> None:
    entry = documents.deflated_entry("word/document.xml", bomb(WORD_HEAD, b"<w:p/>", 8 * MEBIBYTE), 8 * MEBIBYTE, 0)
    others = [
        (entry[0], entry[1].replace(b"document.xml", b"docum%03d.xml" % number)[: len(entry[1])])
        for number in range(200)
    ]
    path = tmp_path / "overlap.docx"
    path.write_bytes(documents.archive_of([entry, *[(b"", each[1]) for each in others]], [0] * 201))
    with pytest.raises(ArchiveLimit, match="overlap"):
        through(sandbox, path)


def test_a_million_entries_are_refused_at_once(sandbox: ParserSandbox, tmp_path: Path) -> None:
    local, directory = documents.deflated_entry("a", b"\x03\x00", 0, 0)
    path = tmp_path / "many.xlsx"
    start = len(local)
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**6, 10**6, len(directory) * 10**6, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start + len(directory) * 10**6, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(local + directory * 10**6 + end64 + locator + end)
    with pytest.raises(ArchiveLimit):
        through(sandbox, path)


@pytest.mark.parametrize("entry", ["../../x", "/abs", "word/../../../x"])
def test_entries_that_point_outside_are_refused(sandbox: ParserSandbox, tmp_path: Path, entry: str) -> None:
    parts = {**documents.docx_parts(paragraph("x")), entry: "x"}
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    with pytest.raises(ArchiveLimit):
        through(sandbox, documents.zipped(folder / "slip.docx", parts))


# ---- XML ------------------------------------------------------------------------------------------------------------

QUADRATIC = '<!DOCTYPE q [<!ENTITY a "' + "x" * 50_000 + '">]>'


@pytest.mark.parametrize("prolog", [documents.LAUGHS, QUADRATIC, "<!-- " + "c" * 900_000 + " -->" + documents.LAUGHS])
@pytest.mark.parametrize("kind", ["docx", "sheet", "strings", "pptx"])
def test_entities_are_never_expanded(sandbox: ParserSandbox, tmp_path: Path, kind: str, prolog: str) -> None:
    entity = "&j;" if "LAUGH" in prolog or "lol" in prolog else "&a;" * 10_000
    path = {
        "docx": lambda: documents.docx(tmp_path / "a.docx", paragraph(entity), prolog),
        "sheet": lambda: documents.xlsx(tmp_path / "a.xlsx", f"<sheetData>{entity}</sheetData>", "", prolog),
        "strings": lambda: documents.xlsx(tmp_path / "a.xlsx", "", f"<si><t>{entity}</t></si>", "", prolog),
        "pptx": lambda: documents.pptx(tmp_path / "a.pptx", slide_text(entity), prolog),
    }[kind]()
    with pytest.raises(XmlForbidden):
        through(sandbox, path)


def test_nothing_is_read_before_the_root_is_known_to_follow_no_document_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expat puts off long tokens, so that another parser must not be ahead of it."""
    given: list[bytes] = []

    class Watched(etree.XMLPullParser):  # type: ignore[misc]
        def feed(self, data: bytes) -> None:
            given.append(data)
            super().feed(data)

    monkeypatch.setattr(xml.etree, "XMLPullParser", Watched)
    comment = b"<!-- " + b"c" * 100_000 + b" -->"
    with pytest.raises(XmlForbidden):
        list(xml.events([comment[:50_000], comment[50_000:], b"<!DOCTYPE a>", b"<a/>"], ["a"]))
    assert given == []
    found = list(xml.events([comment[:50_000], comment[50_000:] + b"<a>", b"text", b"</a>"], ["a"]))
    assert [element.text for _, element in found] == ["text"]
    assert given == [comment + b"<a>", b"text", b"</a>"]


def test_endless_start_is_refused() -> None:
    with pytest.raises(ArchiveLimit):
        list(xml.events([b"<!-- ", *([b"c" * 1_000_000] * 17), b" --><a/>"], ["a"]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_document_type_is_found_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    parts = documents.docx_parts(paragraph("&j;"), documents.LAUGHS)
    parts["word/document.xml"] = str(parts["word/document.xml"]).encode(encoding)
    with pytest.raises(XmlForbidden):
        read(documents.zipped(tmp_path / "a.docx", parts))


def test_external_entities_reach_neither_files_nor_the_network(tmp_path: Path, canary: Canary) -> None:
    secret = tmp_path / "secret"
    secret.write_text("top-secret")
    for target in (secret.as_uri(), "file:///etc/passwd", canary.url + "/x", "ftp://127.0.0.1/x"):
        for declaration in (f'<!ENTITY x SYSTEM "{target}">', f'<!ENTITY % x SYSTEM "{target}"> %x;'):
            prolog = f"<!DOCTYPE d [{declaration}]>"
            with pytest.raises(XmlForbidden):
                read(documents.docx(tmp_path / "a.docx", paragraph("&x;"), prolog))
        with pytest.raises(XmlForbidden):
            read(documents.docx(tmp_path / "a.docx", paragraph("x"), f'<!DOCTYPE d SYSTEM "{target}">'))


def test_external_relations_fields_and_macros_are_only_text(tmp_path: Path, canary: Canary) -> None:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="t" Type="http://x/attachedTemplate" Target="{canary.url}/t.dotm" TargetMode="External"/>'
        f'<Relationship Id="f" Type="http://x/footnotes" Target="{canary.url}/f" TargetMode="External"/>'
        f'<Relationship Id="i" Type="http://x/image" Target="{canary.url}/i.png" TargetMode="External"/>'
        '<Relationship Id="s" Type="http://x/styles" Target="../../../../etc/passwd"/>'
        "</Relationships>"
    )
    field = f'<w:p><w:r><w:instrText>DDEAUTO cmd "/c calc" INCLUDETEXT {canary.url}</w:instrText></w:r></w:p>'
    parts = documents.docx_parts(paragraph("visible") + field)
    parts.update({"word/_rels/document.xml.rels": relations, "word/vbaProject.bin": b"Sub AutoOpen()"})
    assert texts(read(documents.zipped(tmp_path / "a.docx", parts))[0]) == ["visible"]
    sheet = (
        '<sheetData><row><c><f>cmd|\'/c calc\'!A1</f><v>1</v></c><c t="str"><f>WEBSERVICE("' + canary.url + '")</f>'
        "<v>cached</v></c></row></sheetData>"
    )
    assert texts(read(documents.xlsx(tmp_path / "a.xlsx", sheet))[0]) == ["S", "1 | cached"]


@pytest.mark.parametrize("depth", [300, 1_000_000])
def test_xml_that_nests_without_end_is_refused(sandbox: ParserSandbox, tmp_path: Path, depth: int) -> None:
    with pytest.raises((XmlForbidden, ArchiveLimit)):
        through(sandbox, documents.docx(tmp_path / "a.docx", "<w:p>" * depth + "</w:p>" * depth))


def test_deep_relations_and_styles_are_refused_too(sandbox: ParserSandbox, tmp_path: Path) -> None:
    parts = documents.docx_parts(paragraph("x"))
    parts["_rels/.rels"] = "<a>" * 500_000
    with pytest.raises((XmlForbidden, ArchiveLimit)):
        through(sandbox, documents.zipped(tmp_path / "a.docx", parts))


# ---- spreadsheets ---------------------------------------------------------------------------------------------------


def test_a_dimension_that_lies_costs_nothing(sandbox: ParserSandbox, tmp_path: Path) -> None:
    sheet = (
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    )
    blocks = through(sandbox, documents.xlsx(tmp_path / "a.xlsx", sheet))
    assert (blocks[-1].text, blocks[-1].locator.cells) == ("1", "XFD1048576")


def test_a_row_of_distant_cells_stays_small(sandbox: ParserSandbox, tmp_path: Path) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}"><v>2</v></c></row>' for n in range(1, 2000))
    blocks = through(sandbox, documents.xlsx(tmp_path / "a.xlsx", f"<sheetData>{rows}</sheetData>"))
    assert [line for block in blocks[1:] for line in block.text.split("\n")] == ["1 | 2"] * 1999


def test_empty_styled_rows_are_skipped_or_refused(sandbox: ParserSandbox, tmp_path: Path) -> None:
    rows = "".join(f'<row r="{n}" s="1"><c r="A{n}" s="1"/></row>' for n in range(1, 200_001))
    sheet = f'<sheetData>{rows}<row r="200001"><c t="str"><v>end</v></c></row></sheetData>'
    assert through(sandbox, documents.xlsx(tmp_path / "a.xlsx", sheet))[-1].text == "end"


def test_more_cells_than_the_budget_give_a_part_and_a_warning(tmp_path: Path) -> None:
    rows = "".join(f"<row>{'<c><v>%d</v></c>' * 10}</row>" % tuple(range(n, n + 10)) for n in range(30_000))
    path = documents.xlsx(tmp_path / "a.xlsx", f"<sheetData>{rows}</sheetData>")
    made = ParserSandbox(ParserLimits(timeout_s=30, table_cells=50_000))
    metadata = made.parse(path, "xlsx", tmp_path / "out")
    made.close()
    assert (metadata["losses"], metadata["in_part"]) == ({"cut": "sheets S"}, "sheets S")
    assert sum(block.text.count("\n") + 1 for block in read_blocks(tmp_path / "out")) == 5_000 + 1


def test_a_workbook_that_repeats_one_long_text_is_cut_and_says_so(tmp_path: Path) -> None:
    text = "".join(f"word{number} " for number in range(3_500))
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 20_001))
    path = documents.xlsx(tmp_path / "a.xlsx", f"<sheetData>{rows}</sheetData>", f"<si><t>{text}</t></si>")
    assert path.stat().st_size < 150_000
    made = ParserSandbox(ParserLimits(timeout_s=60))
    metadata = made.parse(path, "xlsx", tmp_path / "out")
    made.close()
    assert (metadata["losses"], metadata["in_part"]) == ({"cut": ""}, "*")
    assert EXPECTED_BYTES * 0.9 < metadata["characters"] <= EXPECTED_BYTES


# ---- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["<div>", "<div/>", "<b>", "<x>", "<table><tr><td>", "<ul><li>", "<blockquote>"])
def test_pages_nested_without_end_are_read_fast(sandbox: ParserSandbox, tmp_path: Path, element: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(element * 100_000 + "the text" + "</x>" * 100_000)
    blocks = through(sandbox, path)
    assert "the text" in blocks[-1].text


@pytest.mark.parametrize(
    "text", ["<" + "a" * 500_000, "<!--" * 100_000, "<script>" * 50_000, "<a " + "/" * 500_000, "&#" * 200_000]
)
def test_markup_that_never_closes_is_read_fast(sandbox: ParserSandbox, tmp_path: Path, text: str) -> None:
    for suffix in ("html", "md"):
        path = tmp_path / f"a.{suffix}"
        path.write_text("first words\n\n" + text)
        assert through(sandbox, path)


def test_a_line_of_dots_in_a_pdf_is_read_fast(sandbox: ParserSandbox, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(documents.pdf(documents.text_pdf("." * 200_000 + "x")))
    through(sandbox, path)


def test_nothing_of_a_page_that_runs_or_fetches_is_indexed(tmp_path: Path, canary: Canary) -> None:
    page = (
        f'<html><head><base href="{canary.url}/"><meta http-equiv="refresh" content="0;url={canary.url}/r">'
        f"<style>@import url({canary.url}/c.css); body{{background:url({canary.url}/b)}}</style>"
        f'<link rel="stylesheet" href="{canary.url}/l.css"><script src="{canary.url}/s.js">alert(1)</script></head>'
        f'<body onload="alert(2)"><p onclick="alert(3)">Clean text</p><img src="{canary.url}/i" onerror="alert(4)">'
        '<a href="javascript:alert(5)">link</a><a href="data:text/html,<script>alert(6)</script>">data</a>'
        f'<svg onload="alert(7)"><text>s</text></svg><iframe src="{canary.url}/f"></iframe>'
        f'<object data="{canary.url}/o"></object>'
        '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(8)&gt;">'
    )
    path = tmp_path / "a.html"
    path.write_text(page)
    joined = "\n".join(texts(read(path)[0]))
    assert "Clean text" in joined and "link" in joined
    for trace in ("alert", "<img", "script", "javascript", "@import", "127.0.0.1"):
        assert trace not in joined


# ---- PDF ------------------------------------------------------------------------------------------------------------


def hostile_pdfs() -> dict[str, bytes]:
    plain = documents.text_pdf()
    cyclic = {**plain, 2: "<</Type /Pages /Kids [2 0 R 3 0 R 2 0 R] /Count 9>>"}
    parents = {**plain, 2: "<</Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R>>"}
    million = {**plain, 2: "<</Type /Pages /Kids [3 0 R] /Count 1000000>>"}
    huge = {**plain, 3: str(plain[3]).replace("[0 0 612 792]", "[0 0 1 1000000000]")}
    loop = documents.pdf(plain, trailer="")
    start = int(loop.rpartition(b"startxref\n")[2].split(b"\n")[0])
    looped = loop.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % start)
    packed = zlib.compress(b"BT /F1 12 Tf 72 700 Td (Plain text on a page) Tj ET " * 10)
    own = {**plain, 4: documents.pdf_stream(packed, "/Filter [/FlateDecode /FlateDecode /FlateDecode]")}
    self_stream = {
        **plain,
        6: documents.pdf_stream(b"6 0 <</Type /ObjStm>>", "/Type /ObjStm /N 1 /First 4 /Extends 6 0 R"),
    }
    jbig = {
        **plain,
        3: str(plain[3]).replace("/Font", "/XObject <</I 6 0 R>> /Font"),
        4: documents.pdf_stream(b"BT /F1 12 Tf 72 700 Td (Plain text on a page) Tj ET /I Do"),
        6: documents.pdf_stream(
            b"\0\0\0\0\x30\0\x01\0\0\0\x13\xff\xff\xff\xff\xff\xff\xff\xff" + bytes(11),
            "/Type /XObject /Subtype /Image /Width 2000000000 /Height 2000000000 /BitsPerComponent 1"
            " /ColorSpace /DeviceGray /Filter /JBIG2Decode",
        ),
    }
    form = {
        **plain,
        3: str(plain[3]).replace("/Font", "/XObject <</X 6 0 R>> /Font"),
        4: documents.pdf_stream(b"BT /F1 12 Tf 72 700 Td (Plain text on a page) Tj ET /X Do"),
        6: documents.pdf_stream(
            b"/X Do /X Do", "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <</XObject <</X 6 0 R>>>>"
        ),
    }
    outline = {
        **documents.text_pdf(Outlines="6 0 R"),
        6: "<</Type /Outlines /First 7 0 R /Last 7 0 R /Count 99>>",
        7: "<</Title (Loop) /Parent 6 0 R /Next 7 0 R /First 7 0 R /Dest [3 0 R /Fit]>>",
    }
    acting = {
        **documents.text_pdf(
            OpenAction="<</S /Launch /F (/bin/sh) /P (-c touch pwned)>>",
            AA="<</WC <</S /JavaScript /JS (app.alert\\(1\\))>>>>",
            Names="<</EmbeddedFiles <</Names [(evil.sh) 6 0 R]>>>>",
        ),
        6: "<</Type /Filespec /F (../../evil.sh) /EF <</F 7 0 R>>>>",
        7: documents.pdf_stream(b"#!/bin/sh\ntouch pwned\n", "/Type /EmbeddedFile"),
    }
    made = {"cyclic": cyclic, "parents": parents, "million": million, "huge": huge, "filters": own,
            "stream": self_stream, "jbig2": jbig, "form": form, "outline": outline, "acting": acting}  # fmt: skip
    return {**{name: documents.pdf(objects) for name, objects in made.items()}, "xref": looped}


@pytest.mark.parametrize("name", sorted(hostile_pdfs()))
def test_a_pdf_that_goes_in_circles_gives_its_text_or_an_error(
    sandbox: ParserSandbox, tmp_path: Path, name: str
) -> None:
    path = tmp_path / f"{name}.pdf"
    path.write_bytes(hostile_pdfs()[name])
    try:
        joined = " ".join(texts(through(sandbox, path)))
    except EvoRAGError as error:
        assert error.status == 422
    else:
        assert "Plain text on a page" in joined
    assert not list(tmp_path.rglob("pwned")) and not list(tmp_path.rglob("evil*"))


@pytest.mark.parametrize("name", ["acting", "jbig2", "outline", "xref"])
def test_what_is_only_decoration_does_not_cost_the_text(sandbox: ParserSandbox, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(hostile_pdfs()[name])
    assert "Plain text on a page" in " ".join(texts(through(sandbox, path)))


@pytest.mark.long
def test_a_content_stream_that_inflates_without_end_is_stopped(tmp_path: Path) -> None:
    made = ParserSandbox(ParserLimits(timeout_s=3, memory_bytes=1024 * MEBIBYTE))
    raw = bomb(b"BT /F1 12 Tf 72 700 Td (Plain) Tj ET ", b"q Q ", 10 << 30)
    objects = documents.text_pdf()
    objects[4] = documents.pdf_stream(b"\x78\xda" + raw, "/Filter /FlateDecode")
    path = tmp_path / "a.pdf"
    path.write_bytes(documents.pdf(objects))
    with pytest.raises((ParserLimit, ParserFailed, EmptyDocument)):
        through(made, path)
    made.close()


# ---- every format, damaged ------------------------------------------------------------------------------------------


def ordinary(folder: Path) -> dict[str, bytes]:
    """One small ordinary document of each format."""
    word = docx.Document()
    word.add_heading("Heading", 1)
    word.add_paragraph("本文 text", style="List Number")
    word.add_table(2, 2).cell(0, 0).text = "cell"
    word.save(str(folder / "a.docx"))
    book = openpyxl.Workbook()
    book.active.append(["name", "value"])
    book.active.append(["東京", 0.5])
    book.active["B2"].number_format = "yyyy/m/d"
    book.save(folder / "a.xlsx")
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Title"
    slide.notes_slide.notes_text_frame.text = "note"
    deck.save(str(folder / "a.pptx"))
    page = (
        "<html><head><title>t</title></head><body><h1>見出し</h1><table><tr><th>a<th>b<tr><td>1<td>2</table><ul><li>x"
    )
    return {
        "docx": (folder / "a.docx").read_bytes(),
        "xlsx": (folder / "a.xlsx").read_bytes(),
        "pptx": (folder / "a.pptx").read_bytes(),
        "pdf": documents.pdf(documents.text_pdf("Some text")),
        "html": page.encode(),
        "md": "---\ntitle: x\n---\n# 見出し\n\n|a|b|\n|---|---|\n|1|2|\n\n- x\n  1. y\n\n```\ncode\n```\n".encode(),
        "csv": '品名,数量\n"りんご, 青森",3\n'.encode("cp932") * 5,
        "txt": "日本語の文章です。\n\nSecond paragraph.\n".encode("euc_jp") * 5,
    }


def mutated(content: bytes, chance: random.Random) -> bytes:
    """``content`` with a few of its bytes changed, removed, repeated or cut off."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 2, 5, 20))):
        at = chance.randrange(len(data))
        match chance.randrange(6):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at] ^= 1 << chance.randrange(8)
            case 2:
                del data[at : at + chance.randrange(1, 64)]
            case 3:
                data[at:at] = data[at : at + chance.randrange(1, 64)]
            case 4:
                data[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"9999"))
            case _:
                del data[max(at, 16) :]
        data = data or bytearray(b"x")
    return bytes(data)


def mutated_inside(content: bytes, chance: random.Random, folder: Path) -> bytes:
    """An office document with one of its parts damaged before it is packed again."""
    source = folder / "source.zip"
    source.write_bytes(content)
    with zipfile.ZipFile(source) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    chosen = [name for name in parts if name.endswith((".xml", ".rels")) and "theme" not in name]
    name = chance.choice(chosen)
    parts[name] = mutated(bytes(parts[name]), chance)  # type: ignore[arg-type]
    return documents.zipped(source, parts).read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["docx", "xlsx", "pptx", "pdf", "html", "md", "csv", "txt"])
def test_damaged_documents_fail_alone(sandbox: ParserSandbox, tmp_path: Path, kind: str) -> None:
    chance = random.Random(f"damage {kind}")
    content = ordinary(tmp_path)[kind]
    path = tmp_path / f"damaged.{kind}"
    read_well = 0
    for number in range(130):
        inside = kind in ("docx", "xlsx", "pptx") and number % 2
        path.write_bytes(mutated_inside(content, chance, tmp_path) if inside else mutated(content, chance))
        try:
            sandbox.parse(path, kind, tmp_path / "out")
            read_well += 1
        except EvoRAGError as error:
            assert error.status in (415, 422)
    assert read_well > 5


@pytest.mark.long
def test_a_pdf_cut_anywhere_fails_alone(sandbox: ParserSandbox, tmp_path: Path) -> None:
    real = programs.place("/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf")
    content = real.read_bytes() if real.exists() else documents.pdf(documents.text_pdf("Some text")) * 3
    path = tmp_path / "cut.pdf"
    for end in range(0, len(content), max(len(content) // 60, 1)):
        path.write_bytes(content[:end])
        try:
            sandbox.parse(path, "pdf", tmp_path / "out")
        except EvoRAGError as error:
            assert error.status == 422


@pytest.fixture(scope="module")
def old_workbook(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("old")
    (folder / "a.xlsx").write_bytes(ordinary(folder)["xlsx"])
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", "--headless", profile, "--convert-to", "xls", "--outdir", str(folder), str(folder / "a.xlsx")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return (folder / "a.xls").read_bytes()


@pytest.mark.long
@needs_libreoffice
def test_a_compound_file_whose_sectors_go_in_circles_fails_alone(tmp_path: Path, old_workbook: bytes) -> None:
    sector = 1 << struct.unpack_from("<H", old_workbook, 30)[0]
    table = (struct.unpack_from("<I", old_workbook, 76)[0] + 1) * sector
    data = bytearray(old_workbook)
    for entry in range(table, min(table + sector, len(data)), 4):
        struct.pack_into("<I", data, entry, 0)
    path = tmp_path / "a.xls"
    path.write_bytes(bytes(data))
    made = ParserSandbox(ParserLimits(timeout_s=12))
    try:
        assert through(made, path)
    except EvoRAGError as error:
        assert error.status == 422
    made.close()


@pytest.mark.long
@needs_libreoffice
def test_random_bytes_of_the_old_kind_fail_alone(tmp_path: Path) -> None:
    made = ParserSandbox(ParserLimits(timeout_s=15))
    chance = random.Random(28)
    path = tmp_path / "a.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + chance.randbytes(20_000))
    try:
        blocks = through(made, path)
    except EvoRAGError as error:
        assert error.status == 422
    else:
        assert blocks
    made.close()
