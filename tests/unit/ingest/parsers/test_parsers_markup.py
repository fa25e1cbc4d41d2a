"""Markdown and HTML: structure is kept, and nothing that a page could run, fetch or hide comes through."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ingest.parsers.markdown import SECTION_CHARS
from core.model import Block, BlockKind
from tests.unit.ingest.documents import read, texts


def markdown(folder: Path, text: str) -> list[Block]:
    path = folder / "a.md"
    path.write_text(text, encoding="utf-8")
    return read(path)[0]


def html(folder: Path, text: str, encoding: str = "utf-8") -> list[Block]:
    path = folder / "a.html"
    path.write_bytes(text.encode(encoding))
    return read(path)[0]


def test_markdown_headings_carry_their_path(tmp_path: Path) -> None:
    blocks = markdown(tmp_path, "# A\n\nx\n\n## B *b*\n\ny\n\nC\n=\n\nz\n")
    assert [(block.kind, block.level, block.text, block.locator.heading_path) for block in blocks] == [
        (BlockKind.HEADING, 1, "A", ()),
        (BlockKind.PARAGRAPH, 0, "x", ("A",)),
        (BlockKind.HEADING, 2, "B b", ("A",)),
        (BlockKind.PARAGRAPH, 0, "y", ("A", "B b")),
        (BlockKind.HEADING, 1, "C", ()),
        (BlockKind.PARAGRAPH, 0, "z", ("C",)),
    ]


def test_markdown_lines_join_as_their_script_wants(tmp_path: Path) -> None:
    blocks = markdown(tmp_path, "研究\n開発\n\nresearch\nand `code`  \nhard\n")
    assert texts(blocks) == ["研究開発", "research and code\nhard"]


def test_markdown_tables_lists_and_code(tmp_path: Path) -> None:
    text = "| x | y |\n|---|---|\n| 1 | a\\|b |\n\n- a\n  1. b\n  2. c\n- d\n\n```py\nif x:\n    # no heading\n```\n"
    assert [(block.kind, block.text) for block in markdown(tmp_path, text)] == [
        (BlockKind.TABLE, "x | y\n1 | a/b"),
        (BlockKind.LIST, "• a\n  1. b\n  2. c\n• d"),
        (BlockKind.CODE, "if x:\n    # no heading"),
    ]


def test_markdown_front_matter_is_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\ntitle: 'The plan'\nauthor: Aki\ndate: 2024-04-01\n---\nbody\n", encoding="utf-8")
    blocks, metadata = read(path)
    assert texts(blocks) == ["body"]
    assert (metadata["title"], metadata["author"], metadata["created"]) == ("The plan", "Aki", "2024-04-01")


def test_a_rule_at_the_start_is_no_front_matter(tmp_path: Path) -> None:
    assert texts(markdown(tmp_path, "---\n\nfirst\n\nsecond\n")) == ["first", "second"]


def test_raw_html_in_markdown_is_only_text(tmp_path: Path) -> None:
    text = (
        "[x](javascript:alert(1)) ![alt text](http://127.0.0.1:1/?q=)\n\n"
        "<div onclick=evil()>inside<script>alert(2)</script></div>\n\n<img src=x onerror=alert(3)>\n\n"
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(4)&gt;'>\n"
    )
    joined = " ".join(texts(markdown(tmp_path, text)))
    assert "x" in joined and "alt text" in joined and "inside" in joined
    for trace in ("javascript", "127.0.0.1", "alert", "onclick", "onerror", "<img"):
        assert trace not in joined


def test_a_long_markdown_file_is_read_in_sections_without_losing_structure(tmp_path: Path) -> None:
    section = "# H{n}\n\n" + "word " * 400 + "\n\n```\n# not a heading\n```\n\n"
    blocks = markdown(tmp_path, "".join(section.replace("{n}", str(n)) for n in range(2 * SECTION_CHARS // 2000)))
    headings = [block.text for block in blocks if block.kind is BlockKind.HEADING]
    assert headings == [f"H{n}" for n in range(len(headings))] and len(headings) == 2 * SECTION_CHARS // 2000
    assert sum(block.kind is BlockKind.CODE for block in blocks) == len(headings)


def test_html_keeps_the_main_text_and_leaves_out_the_frame(tmp_path: Path) -> None:
    page = (
        "<html><head><title>A page</title><style>p{}</style></head><body><header>Site</header><nav>menu</nav>"
        "<div>banner</div><main><h1>Title</h1><p>Main <b>text</b> that is long enough to be the main thing here."
        "<br>next line</p><h2>Part</h2><p>More.</p></main><footer>imprint</footer></body></html>"
    )
    path = tmp_path / "a.html"
    path.write_text(page, encoding="utf-8")
    blocks, metadata = read(path)
    assert metadata["title"] == "A page"
    assert [(block.text, block.locator.heading_path) for block in blocks] == [
        ("Title", ()),
        ("Main text that is long enough to be the main thing here.\nnext line", ("Title",)),
        ("Part", ("Title",)),
        ("More.", ("Title", "Part")),
    ]


def test_html_without_a_marked_main_part_loses_no_text(tmp_path: Path) -> None:
    assert texts(html(tmp_path, "<div>one<p>two</p>three</div><section>four</section>")) == [
        "one",
        "two",
        "three",
        "four",
    ]


def test_html_tables_repeat_what_spans_rows(tmp_path: Path) -> None:
    page = (
        "<table><caption>Prices</caption><tr><th>kind<th>size<th>price</tr><tr><td rowspan=2>tea<td>S<td>1</tr>"
        "<tr><td>L<td>2</tr><tr><td colspan=2>all<td>3</tr></table>"
    )
    blocks = html(tmp_path, page)
    assert texts(blocks) == ["Prices", "kind | size | price\ntea | S | 1\ntea | L | 2\nall |  | 3"]
    assert blocks[1].kind is BlockKind.TABLE


def test_a_table_that_only_lays_out_a_page_is_read_as_text(tmp_path: Path) -> None:
    page = (
        "<table><tr><td>menu</td><td><h1>Head</h1><p>Body</p><table><tr><td>a<td>b</table><h2>x</h2></td></tr></table>"
    )
    blocks = html(tmp_path, page)
    assert [(block.kind, block.text) for block in blocks[:3]] == [
        (BlockKind.PARAGRAPH, "menu"),
        (BlockKind.HEADING, "Head"),
        (BlockKind.PARAGRAPH, "Body"),
    ]
    assert (BlockKind.TABLE, "a | b") in [(block.kind, block.text) for block in blocks]


def test_html_lists_and_code(tmp_path: Path) -> None:
    page = "<ol><li>one<ul><li>in</ul><li>two</ol><pre>a\n  b</pre><dl><dt>term<dd>meaning</dl>"
    assert [(block.kind, block.text) for block in html(tmp_path, page)] == [
        (BlockKind.LIST, "1. one\n  • in\n2. two"),
        (BlockKind.CODE, "a\n  b"),
        (BlockKind.PARAGRAPH, "term"),
        (BlockKind.PARAGRAPH, "meaning"),
    ]


@pytest.mark.parametrize(
    ("declared", "encoding"), [("shift_jis", "cp932"), ("euc-jp", "euc_jp"), ("utf-8", "utf-8"), ("nonsense", "cp932")]
)
def test_html_is_read_in_the_encoding_that_it_names_or_has(tmp_path: Path, declared: str, encoding: str) -> None:
    page = (
        f'<html><head><meta charset="{declared}"></head><body><p>就業規則の第三条に定める通りとする。</p></body></html>'
    )
    assert texts(html(tmp_path, page, encoding)) == ["就業規則の第三条に定める通りとする。"]


def test_furigana_is_not_part_of_the_text(tmp_path: Path) -> None:
    assert texts(html(tmp_path, "<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です</p>")) == ["漢字です"]


def test_what_a_page_hides_is_left_out(tmp_path: Path) -> None:
    page = "<p>seen</p><p hidden>a</p><div style='display: none'>b</div><!-- c --><template>d</template>"
    assert texts(html(tmp_path, page)) == ["seen"]


def test_a_gdoc_export_is_read_as_page_or_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.gdoc"
    path.write_text("<html><body><h1>H</h1><p>x</p></body></html>", encoding="utf-8")
    assert texts(read(path)[0]) == ["H", "x"]
    path.write_text("plain\n\nexport", encoding="utf-8")
    assert texts(read(path)[0]) == ["plain", "export"]
