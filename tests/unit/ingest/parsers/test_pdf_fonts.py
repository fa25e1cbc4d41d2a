"""PDF: headings that are as large as the text and bold, and code in a typewriter's letters, however a file says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model import BlockKind
from tests.unit.ingest.documents import pdf, pdf_stream, read, text_pdf

HEADINGS = ("Spare parts", "Care of the lens")
SENTENCE = "The lamp is cleaned once a week with a dry cloth and water."
_UNICODE = (
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
    "1 begincodespacerange <00> <FF> endcodespacerange\n1 beginbfrange <20> <7A> <0020> endbfrange\nendcmap end end"
)


def _page(heading: str, text: str, titles: tuple[str, ...] = HEADINGS) -> dict[int, str | bytes]:
    """A page of two sections; ``heading`` and ``text`` are the operators that set the font of each."""
    lines = []
    for section, title in enumerate(titles):
        top = 700 - 120 * section
        lines.append(f"BT {heading} 72 {top} Td ({title}) Tj ET")
        lines.extend(f"BT {text} 72 {top - 30 - 14 * row} Td ({SENTENCE}) Tj ET" for row in range(5))
    return text_pdf() | {4: pdf_stream("\n".join(lines).encode())}


def _type_3(descriptor: str, widths: tuple[int, ...] = (500, 520)) -> dict[int, str | bytes]:
    """A font whose signs are drawn by operators, so that its descriptor alone tells its name: objects 6 to 8."""
    names = " ".join("/box" for _ in range(0x20, 0x7B))
    set_out = " ".join(str(widths[at % len(widths)]) for at in range(91))
    return {
        6: (
            "<</Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 32 "
            f"/LastChar 122 /Widths [{set_out}] /Encoding <</Type /Encoding /Differences [32 {names}]>> "
            "/CharProcs <</box 7 0 R>> /Resources <<>> /ToUnicode 8 0 R /FontDescriptor "
            f"<</Type /FontDescriptor /Flags 4 /ItalicAngle 0 {descriptor}>>>>"
        ),
        7: pdf_stream(b"500 0 0 0 400 700 d1 0 0 400 700 re f"),
        8: pdf_stream(_UNICODE.encode()),
    }


def _found(path: Path, objects: dict[int, str | bytes]) -> list[str]:
    path.write_bytes(pdf(objects))
    blocks, _ = read(path)
    assert SENTENCE in " ".join(block.text for block in blocks if block.kind is not BlockKind.HEADING)
    return [block.text for block in blocks if block.kind is BlockKind.HEADING]


@pytest.mark.parametrize(
    ("descriptor", "bold"),
    [
        ("/FontName /AAAAAA+Example-Bold", True),
        ("/FontName /AAAAAA+Example /FontWeight 700", True),
        ("/FontName /AAAAAA+Example-Regular /FontWeight 400", False),
        ("", False),
    ],
)
def test_fonts_of_type_3_are_as_bold_as_their_descriptor_says(tmp_path: Path, descriptor: str, bold: bool) -> None:
    objects = _page("/F2 12 Tf", "/F1 12 Tf") | _type_3(descriptor)
    objects[3] = str(objects[3]).replace("/F1 5 0 R", "/F1 5 0 R /F2 6 0 R")
    assert _found(tmp_path / "type3.pdf", objects) == (list(HEADINGS) if bold else [])


@pytest.mark.parametrize(
    ("heading", "bold"), [("/F1 12 Tf 2 Tr .4 w", True), ("/F1 12 Tf 0 Tr", False), ("/F1 12 Tf 1 Tr", False)]
)
def test_text_that_is_drawn_with_its_outline_is_bold(tmp_path: Path, heading: str, bold: bool) -> None:
    objects = _page(heading, "0 Tr /F1 12 Tf")
    assert _found(tmp_path / "outlined.pdf", objects) == (list(HEADINGS) if bold else [])


def test_a_document_that_is_all_drawn_with_its_outline_has_no_headings_by_it(tmp_path: Path) -> None:
    assert _found(tmp_path / "all.pdf", _page("2 Tr /F1 12 Tf", "2 Tr /F1 12 Tf")) == []


@pytest.mark.parametrize(("widths", "is_code"), [((525,), True), ((525, 525, 300), False), ((720,), False)])
@pytest.mark.parametrize("is_type_3", [True, False])
def test_text_in_letters_of_one_width_is_code(
    tmp_path: Path, widths: tuple[int, ...], is_code: bool, is_type_3: bool
) -> None:
    objects = _page("/F1 12 Tf", "/F2 12 Tf") | _type_3("", widths)
    objects[3] = str(objects[3]).replace("/F1 5 0 R", "/F1 5 0 R /F2 6 0 R")
    if not is_type_3:
        drawn = " ".join(str(widths[at % len(widths)]) for at in range(91))
        objects[6] = f"<</Type /Font /Subtype /Type1 /BaseFont /Example /FirstChar 32 /LastChar 122 /Widths [{drawn}]>>"
    path = tmp_path / "typewriter.pdf"
    path.write_bytes(pdf(objects))
    kinds = {block.kind for block in read(path)[0] if SENTENCE in " ".join(block.text.split())}
    assert kinds == {BlockKind.CODE if is_code else BlockKind.PARAGRAPH}


@pytest.mark.parametrize(
    ("name", "bold"),
    [
        ("CMBX10", True),
        ("AAAAAA+SFBX1095", True),
        ("NimbusRomNo9L-Medi", True),
        ("CMR10", False),
        ("Noto-Medium", False),
    ],
)
def test_bold_fonts_of_tex_and_urw_are_known_by_their_names(tmp_path: Path, name: str, bold: bool) -> None:
    objects = _page("/F2 12 Tf", "/F1 12 Tf")
    objects[3] = str(objects[3]).replace("/F1 5 0 R", "/F1 5 0 R /F2 6 0 R")
    objects[6] = f"<</Type /Font /Subtype /Type1 /BaseFont /{name}>>"
    assert _found(tmp_path / "named.pdf", objects) == (list(HEADINGS) if bold else [])


def test_bookmarks_do_not_hide_numbered_sections_that_they_do_not_name(tmp_path: Path) -> None:
    headings = ("1.1 Spare parts", "Care of the lens")
    objects = _page("/F2 12 Tf", "/F1 12 Tf", headings)
    objects[1] = "<</Type /Catalog /Pages 2 0 R /Outlines 7 0 R>>"
    objects[3] = str(objects[3]).replace("/F1 5 0 R", "/F1 5 0 R /F2 6 0 R")
    objects[6] = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold>>"
    objects[7] = "<</Type /Outlines /First 8 0 R /Last 8 0 R /Count 1>>"
    objects[8] = "<</Title (All of it) /Parent 7 0 R /Dest [3 0 R /Fit]>>"
    assert _found(tmp_path / "outlined.pdf", objects) == [headings[0]]
