"""Very large web pages are read in pieces, and say what they would say in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ingest.parsers import ParserInput, ParserLimits, html, html_pieces, parse
from core.model import Block, BlockKind

SECTION = """
<section><h2>Chapter {n}</h2><!-- <h2>not shown</h2> --><p>The pump <b>number {n}</b> needs oil.</p>
<script>if (a < b) document.write("<h1>hidden {n}</h1>")</script>
<ul><li>first {n}</li><li>second<ul><li>deep {n}</li></ul></li></ul><pre>line {n}
line</pre></section>
"""
PAGE = (
    "<html><head><title>Pumps</title></head><body>" + "".join(SECTION.format(n=n) for n in range(60)) + "</body></html>"
)


def blocks(folder: Path, page: str) -> list[Block]:
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    return list(parse(ParserInput(path, "html", ParserLimits())))


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "LARGE_BYTES", 0)
    monkeypatch.setattr(html_pieces, "PIECE_CHARS", 500)
    monkeypatch.setattr(html_pieces, "MOST_CHARS", 2_000)
    monkeypatch.setattr(html_pieces, "_LONGEST_TAG", 200)
    monkeypatch.setattr("core.ingest.parsers.encoding.READ_BYTES", 331)


def test_pieces_say_what_the_page_says(tmp_path: Path, small_pieces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    in_pieces = blocks(tmp_path, PAGE)
    monkeypatch.setattr(html, "LARGE_BYTES", 1 << 30)
    assert in_pieces == blocks(tmp_path, PAGE)
    assert len(in_pieces) == 60 * 4


def test_a_large_table_is_cut_between_rows_and_keeps_its_header(tmp_path: Path, small_pieces: None) -> None:
    rows = "".join(f"<tr><td>part {n}</td><td>{n * 7} mm</td></tr>\n" for n in range(400))
    found = blocks(tmp_path, f"<table><tr><th>Part</th><th>Size</th></tr>{rows}</table><p>The end.</p>")
    tables = [block for block in found if block.kind is BlockKind.TABLE]
    text = "\n".join(block.text for block in tables)
    assert all(f"part {n} | {n * 7} mm" in text for n in range(400))
    assert all("Part | Size" in (block.header or block.text) for block in tables)
    assert found[-1].text == "The end."


def test_what_is_hidden_stays_hidden_however_long_it_is(tmp_path: Path, small_pieces: None) -> None:
    long = "x < y; " * 2_000
    found = blocks(tmp_path, f"<p>Before.</p><script>{long}</script><!--{long}--><p>After.</p>" + "<p>More.</p>" * 99)
    assert [block.text for block in found[:3]] == ["Before.", "After.", "More."]
    assert len(found) == 101


def test_lists_without_an_end_do_no_harm(tmp_path: Path, small_pieces: None) -> None:
    found = blocks(tmp_path, "<ul>" * 3_000 + "<li>item " * 3_000 + "last")
    assert "last" in found[-1].text
