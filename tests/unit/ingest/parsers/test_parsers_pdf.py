"""PDF: reading order, headings, paragraphs, tables and running lines, with both libraries where both can."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from core.errors import EmptyDocument, Encrypted
from core.ingest.parsers.pdf_flow import Flow
from core.ingest.parsers.pdf_page import Page
from core.ingest.parsers.reading import page_ranges
from core.model import Block, BlockKind
from tests import programs
from tests.unit.ingest import documents
from tests.unit.ingest.documents import read, texts

SENTENCE = "The committee reviewed the annual report and noted that the energy consumption fell after the change. "
REFERENCE = programs.place("/usr/share/debian-reference")


def made(folder: Path, *pages: list[tuple[Any, ...]], outline: list[list[Any]] | None = None) -> Path:
    """A PDF of pages of ``(x, y, text, size, font)`` lines."""
    document = pymupdf.open()
    for lines in pages:
        page = document.new_page()
        for x, y, text, *style in lines:
            size, font = (*style, *(10, "helv")[len(style) :])
            page.insert_text((x, y), text, fontsize=size, fontname=font)
    if outline:
        document.set_toc(outline)
    path = folder / "a.pdf"
    document.save(path)
    return path


def lines_of(text: str, x: float, y: float, width: int, step: float = 14, size: float = 10) -> list[tuple[Any, ...]]:
    """A paragraph set in lines of at most ``width`` characters."""
    out: list[tuple[Any, ...]] = []
    line = ""
    for word in text.split():
        if len(line) + len(word) + 1 > width:
            out.append((x, y + step * len(out), line, size))
            line = word
        else:
            line = f"{line} {word}".strip()
    out.append((x, y + step * len(out), line, size))
    return out


def flat(blocks: list[Block]) -> str:
    return " ".join(texts(blocks))


def test_lines_join_to_paragraphs_under_headings_by_size(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        [
            (72, 80, "Annual report", 20),
            (72, 120, "1 Energy", 14),
            *lines_of("First. " + SENTENCE * 3, 72, 150, 90),
            *lines_of("Second. " + SENTENCE * 2, 72, 260, 90),
            (72, 330, "2 Water", 14),
            *lines_of("Third. " + SENTENCE * 2, 72, 360, 90),
        ],
    )
    blocks, metadata = read(path)
    assert metadata["pages"] == 1 and metadata["parser"] == "pymupdf"
    assert [(block.kind, block.level, block.text.split(".")[0], block.locator.heading_path) for block in blocks] == [
        (BlockKind.HEADING, 1, "Annual report", ()),
        (BlockKind.HEADING, 2, "1 Energy", ("Annual report",)),
        (BlockKind.PARAGRAPH, 0, "First", ("Annual report", "1 Energy")),
        (BlockKind.PARAGRAPH, 0, "Second", ("Annual report", "1 Energy")),
        (BlockKind.HEADING, 2, "2 Water", ("Annual report",)),
        (BlockKind.PARAGRAPH, 0, "Third", ("Annual report", "2 Water")),
    ]
    assert blocks[2].text == ("First. " + SENTENCE * 3).strip()


def test_bookmarks_decide_what_is_a_heading(tmp_path: Path) -> None:
    body = lines_of(SENTENCE * 3, 72, 150, 90)
    path = made(
        tmp_path,
        [
            (72, 80, "3.1 Scope of the rules", 11, "hebo"),
            *body,
            (72, 400, "Note", 10, "hebo"),
            *lines_of(SENTENCE, 72, 414, 90),
        ],
        outline=[[1, "Rules", 1], [2, "Scope of the rules", 1]],
    )
    headings = [(block.text, block.level) for block in read(path)[0] if block.kind is BlockKind.HEADING]
    assert headings == [("3.1 Scope of the rules", 2)]


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    left = lines_of("Left begins. " + SENTENCE * 12 + "Left ends.", 60, 140, 44)
    right = lines_of("Right begins. " + SENTENCE * 12 + "Right ends.", 320, 140, 44)
    mixed = [line for pair in zip(left, right, strict=False) for line in reversed(pair)]
    title = [(60, 90, "A title that runs over both of the columns of this page", 18)]
    joined = flat(read(made(tmp_path, title + mixed))[0])
    places = [joined.index(mark) for mark in ("A title", "Left begins", "Left ends", "Right begins", "Right ends")]
    assert places == sorted(places)
    assert joined.count("The committee reviewed the annual report and noted that the energy") == 24


def test_running_headers_and_footers_are_said_once_and_page_numbers_never(tmp_path: Path) -> None:
    pages = [
        [
            (72, 40, "ACME handbook" if number % 2 else "Chapter on safety"),
            *lines_of(f"Page text {number}. " + SENTENCE * 3, 72, 120, 90),
            (280, 810, f"- {number + 1} -"),
            (72, 790, "Confidential 2024"),
            (300, 790, f"Pump manual, sheet {number + 1} of 8"),
            (500, 790, f"Chapter {number + 1}"),
        ]
        for number in range(8)
    ]
    blocks = read(made(tmp_path, *pages))[0]
    assert all(f"Page text {number}." in flat(blocks) for number in range(8))
    assert [(block.text, block.locator.page) for block in blocks if "Page text" not in block.text] == [
        ("Chapter on safety", 7), ("Confidential 2024", 8), ("Pump manual, sheet of", 8), ("ACME handbook", 8),
    ]  # fmt: skip


def test_running_lines_that_headings_say_are_not_said_again(tmp_path: Path) -> None:
    pages = [
        [(72, 40, "Chapter 3: Pumps and valves"), *lines_of(f"Page text {number}. " + SENTENCE * 3, 72, 150, 90)]
        for number in range(6)
    ]
    pages[0].insert(1, (72, 100, "3 Pumps and valves", 18))
    assert flat(read(made(tmp_path, *pages))[0]).count("Pumps and valves") == 1


def test_one_line_that_is_not_repeated_stays_whatever_its_place(tmp_path: Path) -> None:
    pages = [[(72, 40, f"Title {chr(65 + number) * 4}"), *lines_of(SENTENCE * 2, 72, 120, 90)] for number in range(5)]
    joined = flat(read(made(tmp_path, *pages))[0])
    assert all(f"Title {chr(65 + number) * 4}" in joined for number in range(5))


def test_a_sentence_goes_on_over_the_page_and_hyphens_at_line_ends_go(tmp_path: Path) -> None:
    first = [
        *lines_of(SENTENCE * 2, 72, 120, 90),
        (72, 700, "The new cooling system of the second building will be instal-"),
    ]
    path = made(tmp_path, first, [(72, 80, "led in March."), *lines_of("Next. " + SENTENCE, 72, 110, 90)])
    block = next(block for block in read(path)[0] if "cooling" in block.text)
    assert "will be installed in March." in block.text
    assert (block.locator.page, block.locator.page_end) == (1, 2)


def test_japanese_lines_join_without_blanks(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    text = "委員会は年次報告書を確認し新しい装置の導入後に消費量が減少したことを確認した。来年度も同様に続ける。"
    for number in range(0, len(text), 20):
        page.insert_text((72, 100 + number * 0.8), text[number : number + 20], fontsize=11, fontname="japan")
    page.insert_text((72, 300), "令和 6 年 4 月 1 日から施行する。", fontsize=11, fontname="japan")
    document.save(tmp_path / "a.pdf")
    assert texts(read(tmp_path / "a.pdf")[0]) == [text, "令和6年4月1日から施行する。"]


def test_ruled_tables_keep_their_cells_and_merged_ones_stand_once(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    cells = [["Region", "Year", "Sales"], ["North", "2023", "1,200"], ["", "2024", "1,350"], ["South", "2024", "980"]]
    for row, texts_of_row in enumerate(cells):
        top = 100 + 20 * row
        page.draw_line((72, top), (372, top)) if row != 2 else page.draw_line((172, top), (372, top))
        for column, text in enumerate(texts_of_row):
            page.insert_text((76 + 100 * column, top + 14), text, fontsize=10)
    page.draw_line((72, 180), (372, 180))
    for x in (172, 272):
        page.draw_line((x, 100), (x, 180))
    page.insert_text((72, 220), "After the table.", fontsize=10)
    document.save(tmp_path / "a.pdf")
    blocks, _ = read(tmp_path / "a.pdf")
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.TABLE, "Region | Year | Sales\nNorth | 2023 | 1,200\n | 2024 | 1,350\nSouth | 2024 | 980"),
        (BlockKind.PARAGRAPH, "After the table."),
    ]


def test_aligned_columns_without_rules_are_a_table(tmp_path: Path) -> None:
    rows = [("Item", "Count", "Price"), ("Tea", "12", "340"), ("Coffee", "7", "560"), ("Water", "30", "90")]
    lines = [
        (72 + 120 * column, 100 + 16 * row, text) for row, line in enumerate(rows) for column, text in enumerate(line)
    ]
    blocks, _ = read(made(tmp_path, [*lines, *lines_of(SENTENCE * 2, 72, 300, 90)]))
    assert (blocks[0].kind, blocks[0].text.split("\n")[1]) == (BlockKind.TABLE, "Tea | 12 | 340")


def test_code_keeps_its_lines_and_indents(tmp_path: Path) -> None:
    code = [(72, 200, "if ready:", 10, "cour"), (96, 212, "start()", 10, "cour"), (72, 224, "done()", 10, "cour")]
    blocks, _ = read(made(tmp_path, [*lines_of(SENTENCE * 2, 72, 100, 90), *code]))
    assert (blocks[-1].kind, blocks[-1].text) == (BlockKind.CODE, "if ready:\n    start()\ndone()")


def test_lists_keep_one_item_a_line(tmp_path: Path) -> None:
    items = [
        (72, 100, "- one item that is"),
        (82, 114, "set in two lines"),
        (72, 128, "- another"),
        (72, 142, "- third"),
    ]
    blocks, _ = read(made(tmp_path, items))
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.LIST, "- one item that is set in two lines\n- another\n- third")
    ]


def test_a_table_of_contents_is_a_list_of_entries_of_its_own(tmp_path: Path) -> None:
    entries = [(72, 100 + 16 * n, f"{n} Part number {n} " + ". " * 30 + str(n)) for n in range(1, 6)]
    page = [(72, 70, "Contents", 16), *entries, *lines_of("Body. " + SENTENCE * 2, 72, 300, 90)]
    body = [lines_of(f"Body {number}. " + SENTENCE * 2, 72, 100, 90) for number in range(3)]
    blocks, metadata = read(made(tmp_path, page, *body))
    others = [block for block in blocks if block.kind is not BlockKind.LIST]
    assert [block.text.split(".")[0] for block in others[:2]] == ["Contents", "Body"]
    (contents,) = (block for block in blocks if block.kind is BlockKind.LIST)
    assert contents.text.split("\n") == [f"{n} Part number {n} … {n}" for n in range(1, 6)]
    assert contents.locator.page == 1 and "losses" not in metadata


def test_a_table_beside_text_is_read(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, y, text, size in lines_of(SENTENCE * 3, 72, 100, 40):
        page.insert_text((x, y), text, fontsize=size)
    for row, texts_of_row in enumerate([["Loan", "Rate"], ["Fixed", "4.04"], ["Variable", "5.37"]]):
        for column, text in enumerate(texts_of_row):
            page.insert_text((324 + 100 * column, 106 + 20 * row), text, fontsize=10)
    for row in range(4):
        page.draw_line((320, 92 + 20 * row), (520, 92 + 20 * row))
    for x in (320, 420, 520):
        page.draw_line((x, 92), (x, 152))
    document.save(tmp_path / "a.pdf")
    blocks, metadata = read(tmp_path / "a.pdf")
    assert "Loan | Rate\nFixed | 4.04\nVariable | 5.37" in texts(blocks)
    assert "losses" not in metadata


def test_a_table_with_columns_of_merged_cells_says_each_word_once(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x in (72, 172, 272, 372):
        page.draw_line((x, 100), (x, 300))
    page.draw_line((72, 100), (372, 100))
    page.draw_line((72, 300), (372, 300))
    for row in range(1, 10):
        page.draw_line((172, 100 + 20 * row), (272, 100 + 20 * row))
    for row in range(10):
        page.insert_text((180, 114 + 20 * row), f"row{row}", fontsize=10)
    page.insert_text((80, 114), "everything", fontsize=10)
    page.insert_text((280, 114), "beside", fontsize=10)
    document.save(tmp_path / "a.pdf")
    blocks, _ = read(tmp_path / "a.pdf")
    words = flat(blocks).replace("|", " ").split()
    assert sorted(words) == sorted(["everything", "beside", *(f"row{row}" for row in range(10))])


def test_what_did_not_arrive_is_noted_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path, *(lines_of(f"Page {number}. " + SENTENCE * 3, 72, 100, 90) for number in range(6)))
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 100))
    with pymupdf.open(path) as document:
        document.new_page().insert_image(pymupdf.Rect(100, 100, 400, 300), pixmap=picture)
        document.new_page()
        document.save(tmp_path / "b.pdf")
    assert read(tmp_path / "b.pdf")[1]["losses"] == {"picture": "7"}, "an empty page lost nothing"
    taken = Flow.page

    def losing(flow: Flow, page: Page) -> Iterator[Block]:
        for block in taken(flow, page):
            yield from [block] * {2: 0, 3: 0, 5: 2}.get(block.locator.page or 0, 1)

    monkeypatch.setattr(Flow, "page", losing)
    monkeypatch.setattr(Flow, "_parts", lambda *_: True)
    metadata = read(path)[1]
    assert metadata["in_part"] == "2–3, 5"
    assert metadata["losses"] == {"repeated": "5", "words": "2–3"}


def test_of_two_pages_the_first_keeps_what_both_say_at_the_top(tmp_path: Path) -> None:
    pages = [
        [(72, 40, "Loan type and rate a year"), *lines_of(f"Page {number}. " + SENTENCE * 3, 72, 120, 90)]
        for number in range(3)
    ]
    assert flat(read(made(tmp_path, *pages[:2]))[0]).count("Loan type") == 1
    assert flat(read(made(tmp_path, *pages))[0]).endswith("Loan type and rate a year")


def test_pages_are_named_as_people_write_them() -> None:
    assert page_ranges([3, 9, 8, 7, 7]) == "3, 7–9"
    assert page_ranges([]) == ""


def test_pdf_metadata(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "text")
    document.set_metadata({"title": "規程集", "author": "総務部", "creationDate": "D:20240401093000+09'00'"})
    document.save(tmp_path / "a.pdf")
    metadata = read(tmp_path / "a.pdf")[1]
    assert (metadata["title"], metadata["author"], metadata["pages"]) == ("規程集", "総務部", 1)
    assert metadata["created"] == "2024-04-01T09:30:00+09:00"


@pytest.mark.parametrize(
    "title",
    ["(anonymous)", "Untitled", "untitled document", "無題", "Microsoft Word - draft 3.doc", "quick.dvi"],
)
def test_what_programs_write_where_no_title_was_given_is_none(tmp_path: Path, title: str) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "text")
    document.set_metadata({"title": title})
    document.save(tmp_path / "a.pdf")
    assert "title" not in read(tmp_path / "a.pdf")[1]


@pytest.mark.parametrize(
    "title",
    ["The Anonymous Letters", "Word processing in 1984", "Slide rules", "Untitled: a memoir", "From a.tex to a.dvi"],
)
def test_titles_that_only_begin_like_those_are_kept(tmp_path: Path, title: str) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "text")
    document.set_metadata({"title": title})
    document.save(tmp_path / "a.pdf")
    assert read(tmp_path / "a.pdf")[1]["title"] == title


@pytest.mark.parametrize("is_scan", [True, False])
def test_only_a_pdf_with_pictures_is_called_pictures_of_pages(tmp_path: Path, is_scan: bool) -> None:
    document = pymupdf.open()
    page = document.new_page()
    if is_scan:
        page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 280)))
    document.save(tmp_path / "a.pdf")
    with pytest.raises(EmptyDocument) as caught:
        read(tmp_path / "a.pdf")
    assert ("pictures of pages" in caught.value.message) is is_scan


def test_a_scan_without_text_says_that_it_needs_recognition(tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument) as caught:
        read(made(tmp_path, []))
    assert "OCR" in caught.value.remedy


def test_a_pdf_with_a_password_is_refused_and_one_with_an_empty_one_is_read(tmp_path: Path) -> None:
    document = pymupdf.open(stream=documents.pdf(documents.text_pdf("secret words")))
    for name, password in (("locked.pdf", "pw"), ("open.pdf", "")):
        document.save(tmp_path / name, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="owner")
    with pytest.raises(Encrypted):
        read(tmp_path / "locked.pdf")
    assert texts(read(tmp_path / "open.pdf")[0]) == ["secret words"]


def test_vertical_writing_is_read_from_right_to_left(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    columns = ["吾輩は猫である。名前はまだ", "無い。どこで生れたかとんと", "見当がつかぬ。"]
    content = "BT /F1 14 Tf "
    for number, column in enumerate(columns):
        codes = column.encode("utf-16-be").hex()
        content += f"1 0 0 1 {500 - 30 * number} 780 Tm <{codes}> Tj "
    font = document.get_new_xref()
    below = document.get_new_xref()
    document.update_object(
        below,
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo"
        "<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor<</Type/FontDescriptor/FontName/Ryumin-Light"
        "/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>",
    )
    document.update_object(
        font, f"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UCS2-V/DescendantFonts[{below} 0 R]>>"
    )
    stream = document.get_new_xref()
    document.update_object(stream, "<<>>")
    document.update_stream(stream, (content + "ET").encode())
    document.xref_set_key(page.xref, "Contents", f"{stream} 0 R")
    document.xref_set_key(page.xref, "Resources", f"<</Font<</F1 {font} 0 R>>>>")
    document.save(tmp_path / "a.pdf")
    assert "".join(texts(read(tmp_path / "a.pdf")[0])) == "".join(columns)


def test_pypdfium2_reads_where_pymupdf_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(
        tmp_path,
        *[
            [
                (72, 40, "Running title"),
                (72, 90, f"{n + 1} Part", 18),
                *lines_of(f"Text {n}. " + SENTENCE * 3, 72, 130, 90),
            ]
            for n in range(4)
        ],
        outline=[[1, f"{n + 1} Part", n + 1] for n in range(4)],
    )
    monkeypatch.setitem(sys.modules, "pymupdf", None)
    monkeypatch.delitem(sys.modules, "core.ingest.parsers.pdf_mupdf", raising=False)
    blocks, metadata = read(path)
    assert metadata["parser"] == "pypdfium2"
    assert [block.text for block in blocks if block.kind is BlockKind.HEADING] == [f"{n + 1} Part" for n in range(4)]
    assert [block.text for block in blocks if block.kind is BlockKind.PARAGRAPH] == [
        *((f"Text {n}. " + SENTENCE * 3).strip() for n in range(4)), "Running title",
    ]  # fmt: skip
    assert [block.locator.page for block in blocks] == [1, 1, 2, 2, 3, 3, 4, 4, 4]


@pytest.mark.long
@programs.needs("/usr/share/debian-reference/debian-reference.en.pdf")
def test_a_real_manual_in_english() -> None:
    blocks, metadata = read(REFERENCE / "debian-reference.en.pdf")
    assert metadata["title"] == "Debian Reference" and metadata["pages"] > 200
    headings = {block.text: block for block in blocks if block.kind is BlockKind.HEADING}
    assert headings["1.2.7 Links"].level == 3
    assert headings["1.2.7 Links"].locator.heading_path[-1] == "1.2 Unix-like filesystem"
    assert not any(block.text.startswith("Debian Reference") and "/" in block.text[:24] for block in blocks)
    assert any(block.kind is BlockKind.TABLE and "device file | action" in block.text for block in blocks)
    assert any(block.kind is BlockKind.CODE and "mkfifo mypipe" in block.text for block in blocks)
    assert len(flat(blocks)) > 450_000


@pytest.mark.long
@programs.needs("/usr/share/debian-reference/debian-reference.ja.pdf")
def test_a_real_manual_in_japanese() -> None:
    blocks, _ = read(REFERENCE / "debian-reference.ja.pdf")
    joined = flat(blocks)
    assert (
        "名前付きパイプに書き込む場合、パイプに書き込むプロセスは情報がパイプから読出されるまで終了しません。" in joined
    )
    assert "Debianリファレンス" not in [block.text for block in blocks if (block.locator.page or 0) > 30]
    assert any(block.text == "1.2.9 ソケット" and block.level == 3 for block in blocks)
