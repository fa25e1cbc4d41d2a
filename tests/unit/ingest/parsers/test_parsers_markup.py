"""Markdown and HTML: structure is kept, and nothing that a page could run, fetch or hide comes through."""

from __future__ import annotations

import time
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


SENTENCE = "The turquoise gate opens at nine and closes at five on every day but Monday. "
PAGE = f"""<html><body>
<div class="top"><ul><li><a href="/a">Home</a></li><li><a href="/b">All our products</a></li></ul></div>
<div class="page"><h1>The gate</h1><p class="lead">A lead that stands before the text.</p>
<div class="text"><p>{SENTENCE * 4}</p><h2>Care</h2><p>{SENTENCE * 3}</p>
<div class="share-buttons"><span>Share this with your friends</span></div>
<h2>Also of interest</h2>
<ul><li><a href="/1">Ten gates to see</a></li><li><a href="/2">Gates of the north</a></li></ul></div>
<div class="comments"><h3>What others say</h3><p>{"I went there by bicycle and found it closed. "}</p></div></div>
<div id="sidebar"><h3>Newest</h3><p><a href="/x">A link</a> <a href="/y">Another one</a></p></div>
<footer>All rights reserved</footer></body></html>"""


def test_html_without_a_marked_main_part_is_read_without_its_furniture(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(PAGE)
    blocks, metadata = read(path)
    assert texts(blocks) == [
        "The gate", "A lead that stands before the text.", (SENTENCE * 4).strip(), "Care", (SENTENCE * 3).strip(),
    ]  # fmt: skip
    shown = metadata["left_out"]
    for said in ("All our products", "Share this", "Ten gates to see", "found it closed", "Another one", "All rights"):
        assert said in shown, said


def test_sections_of_a_manual_are_not_taken_for_furniture_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    sections = "".join(
        f'<section id="{name}"><h2>{name}</h2><p>{SENTENCE * 2}</p></section>'
        for name in ("comments", "navigation", "related-parts", "sharing", "rating")
    )
    listed = "<ul><li><a href='#x'>the valve</a>: opens the gate by hand when the current is gone</li></ul>"
    path.write_text(f"<html><body><div class='document'><h1>Manual</h1>{sections}{listed}</div></body></html>")
    blocks, metadata = read(path)
    headings = [block.text for block in blocks if block.kind is BlockKind.HEADING]
    assert headings == ["Manual", "comments", "navigation", "related-parts", "sharing", "rating"]
    assert blocks[-1].text.startswith("• the valve: opens") and "left_out" not in metadata


def test_lines_of_links_to_the_own_sections_are_no_text(tmp_path: Path) -> None:
    running = "The pump is cleaned with warm water before the summer, and its filter is put into the drawer. " * 3
    entries = "".join(f'<a href="#q{n}">Q{n}. How is pump {n} cleaned?</a><br/>\n' for n in range(1, 5))
    said = f'<p>See <a href="#q1">one</a>, <a href="#q2">two</a> and <a href="#q3">three</a>.<br>{running}</p>'
    sections = "".join(f"<h2 id=q{n}>Q{n}. How is pump {n} cleaned?</h2><p>{running}</p>" for n in range(1, 5))
    path = tmp_path / "faq.html"
    path.write_text(f"<body><h1>Pumps</h1><h2>Contents</h2>{entries}{said}{sections}</body>")
    blocks, _ = read(path)
    assert texts(blocks).count("Q2. How is pump 2 cleaned?") == 1
    assert any("See one, two and three." in text for text in texts(blocks))
    assert not any("Q1. How is pump 1 cleaned?\nQ2." in text for text in texts(blocks))


def test_page_that_is_a_list_of_links_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<html><body><h1>Links</h1><ul>" + "<li><a href='/x'>A place</a></li>" * 20 + "</ul></body></html>")
    assert texts(read(path)[0])[1].count("A place") == 20


@pytest.mark.parametrize("name", ["note", "admonition warning"])
def test_boxed_note_ends_neither_the_section_nor_the_term_around_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<h1>Harbour</h1><h2>Ferry</h2><dl><dt>fare</dt><dd><p>It is two crowns.</p>"
        f'<div class="{name}"><h3>Note</h3><p>Children cross for nothing.</p></div><p>Dogs pay half.</p></dd></dl>'
    )
    blocks, _ = read(path)
    under = {block.text: (block.locator.heading_path, block.header) for block in blocks}
    assert under["Children cross for nothing."] == under["Dogs pay half."] == (("Harbour", "Ferry"), "fare")
    assert "Note" in under


def test_lists_that_hold_tables_and_definitions_leave_them_their_structure(tmp_path: Path) -> None:
    item = "<li>Keys:<table><tr><th>key</th><th>does</th></tr><tr><td>q</td><td>quits</td></tr></table></li>"
    terms = "<li>Options:<dl><dt>-q</dt><dd>Says nothing.</dd></dl>and more of it</li>"
    blocks = html(tmp_path, f"<h1>Pump</h1><ul>{item}{terms}</ul><p>The end.</p>")
    assert [(block.kind, block.text, block.header) for block in blocks[1:]] == [
        (BlockKind.LIST, "• Keys:", ""),
        (BlockKind.TABLE, "key | does\nq | quits", ""),
        (BlockKind.LIST, "• Options:", ""),
        (BlockKind.PARAGRAPH, "-q", ""),
        (BlockKind.PARAGRAPH, "Says nothing.", "-q"),
        (BlockKind.LIST, "  and more of it", ""),
        (BlockKind.PARAGRAPH, "The end.", ""),
    ]


def test_items_of_no_list_end_with_themselves(tmp_path: Path) -> None:
    for around in ("<menu>{}</menu>", "{}"):
        blocks = html(tmp_path, f"{around.format('<li>one</li><li>two</li>')}<p>Running text.</p>")
        assert blocks[-1].kind is BlockKind.PARAGRAPH
        assert {block.kind for block in blocks[:-1]} == {BlockKind.LIST}


def test_code_within_an_item_is_indented_as_the_item(tmp_path: Path) -> None:
    [block] = html(tmp_path, "<ul><li><p>Test it:</p><pre>make\nmake test</pre><p>That is all.</p></li></ul>")
    assert block.text == "• Test it:\n  make\n  make test\n  That is all."


def test_first_row_that_says_a_sentence_names_no_columns(tmp_path: Path) -> None:
    rows = "<tr><td>q<td>Quits the program.<tr><td>R<td>Reads it again."
    [said] = html(tmp_path, f"<table>{rows}</table>")
    [named] = html(tmp_path, f"<table><tr><td>key<td>does{rows}</table>")
    assert said.is_headless and not named.is_headless


def test_table_with_text_in_one_column_is_none(tmp_path: Path) -> None:
    note = "<table><tr><td rowspan=2><img src=x><th>Tip<tr><td>Close the tap. Then go.</table>"
    assert [block.text for block in html(tmp_path, note)] == ["Tip", "Close the tap. Then go."]


def page(folder: Path, inner: str) -> list[Block]:
    """Read a page whose main part has some running text around what is looked at."""
    return html(
        folder, f"<html><body><main><h1>Pump</h1><p>{SENTENCE * 3}</p>{inner}<p>{SENTENCE * 3}</p></main></body></html>"
    )


def test_a_term_is_read_whatever_its_id_is(tmp_path: Path) -> None:
    terms = (
        "<dt>pump.is_open()</dt><dd>Tells whether.</dd><dt id='pump.get_info'>pump.get_info()</dt><dd>Returns it.</dd>"
    )
    blocks = page(tmp_path, f"<dl>{terms}</dl>")
    assert [block.header for block in blocks if block.text == "Returns it."] == ["pump.get_info()"]


@pytest.mark.parametrize(
    "inner",
    [
        '<section id="build-info"><h2>Build</h2><p>Said in short.</p></section>',
        '<div class="alert alert-info">Said in short.</div>',
        '<div class="admonition info"><p>Said in short.</p></div>',
        '<p class="caption">Said in short.</p>',
        '<div class="code-block-caption"><span>Said in short.</span></div>',
        '<div role="tabpanel" hidden><p>Said in short.</p></div>',
    ],
)
def test_short_notes_captions_and_tabs_belong_to_the_text(tmp_path: Path, inner: str) -> None:
    assert "Said in short." in texts(page(tmp_path, inner))


def test_heading_in_the_header_of_a_section_is_read(tmp_path: Path) -> None:
    blocks = page(tmp_path, "<section><header><h2>Backups</h2></header><p>Kept 30 days.</p></section>")
    assert next(block.locator.heading_path for block in blocks if block.text == "Kept 30 days.") == ("Pump", "Backups")


def test_a_list_that_goes_on_behind_a_note_counts_on(tmp_path: Path) -> None:
    blocks = page(
        tmp_path,
        "<ol><li>Stop it.</li></ol><p>Wait.</p><ol start='2'><li>Open it.</li><li value='7'>Turn it.</li></ol>",
    )
    assert [block.text for block in blocks if block.kind is BlockKind.LIST] == [
        "1. Stop it.",
        "2. Open it.\n7. Turn it.",
    ]


def test_cells_part_what_stands_by_itself_and_nothing_else(tmp_path: Path) -> None:
    cells = "<td><dl><dt>fast</dt><dd>Quick.</dd></dl></td>"
    cells += "<td><code>--out</code>=<var>FILE</var><br>設定<b>ファイル</b>を読む。</td>"
    blocks = page(tmp_path, f"<table><tr><th>A</th><th>B</th></tr><tr>{cells}</tr></table>")
    [table] = [block for block in blocks if block.kind is BlockKind.TABLE]
    assert table.text == "A | B\nfast Quick. | --out=FILE 設定ファイルを読む。"


def test_header_of_two_rows_is_one_and_a_row_over_all_columns_is_a_title(tmp_path: Path) -> None:
    head = "<tr><th rowspan=2>Model</th><th colspan=2>Voltage</th></tr><tr><th>min</th><th>max</th></tr>"
    title = "<tr><th colspan=3>Specifications</th></tr>"
    blocks = page(tmp_path, f"<table>{title}{head}<tr><td>X1</td><td>9</td><td>12</td></tr></table>")
    at = next(number for number, block in enumerate(blocks) if block.kind is BlockKind.TABLE)
    assert (blocks[at - 1].text, blocks[at].text) == (
        "Specifications",
        "Model | Voltage min | Voltage max\nX1 | 9 | 12",
    )


def test_a_first_row_that_begins_with_an_option_as_the_others_do_is_no_header(tmp_path: Path) -> None:
    codes = ("%m", "the word"), ("%c", "its cost"), ("%h", "its class")
    rows = "".join(f"<tr><td>{code}</td><td>{told}</td></tr>" for code, told in codes)
    block = _table(tmp_path, rows)
    assert block.is_headless
    assert block.text == "%m | the word\n%c | its cost\n%h | its class"
    assert not _table(tmp_path, f"<tr><td>Code</td><td>Meaning</td></tr>{rows}").is_headless
    numbers = "".join(f"<tr><td>#{number}</td><td>told</td></tr>" for number in range(3))
    assert not _table(tmp_path, f"<tr><td>#ID</td><td>Meaning</td></tr>{numbers}").is_headless


def _table(folder: Path, rows: str) -> Block:
    blocks = page(folder, f"<table>{rows}</table>")
    return next(block for block in blocks if block.kind is BlockKind.TABLE)


def test_sections_of_a_table_are_rows_and_no_header(tmp_path: Path) -> None:
    parts = "<tr><th colspan=2>Fruits</th></tr><tr><td>Apple</td><td>1</td></tr><tr><th colspan=2>Roots</th></tr>"
    blocks = page(
        tmp_path, f"<table><tr><th>Name</th><th>Price</th></tr>{parts}<tr><td>Leek</td><td>3</td></tr></table>"
    )
    [table] = [block for block in blocks if block.kind is BlockKind.TABLE]
    assert table.text == "Name | Price\nFruits\nApple | 1\nRoots\nLeek | 3"


def test_a_cell_of_many_nested_elements_is_read(tmp_path: Path) -> None:
    deep = "<span>" * 1_100 + "deep<br>down" + "</span>" * 1_100
    blocks = page(tmp_path, f"<table><tr><th>A</th><th>B</th></tr><tr><td>{deep}</td><td>1</td></tr></table>")
    assert any("deep down | 1" in block.text for block in blocks)


def test_a_table_in_raw_markup_that_blank_lines_part_is_one_table_with_its_markdown(tmp_path: Path) -> None:
    text = (
        "<table>\n<tr><th>Option</th><th>Meaning</th></tr>\n\n<tr>\n<td>\n\n`--force`\n\n</td>\n<td>\n\n"
        "Removes **everything**.\n\n</td>\n</tr>\n\n</table>\n\nAfter *it*.\n"
    )
    assert [(block.kind, block.text) for block in markdown(tmp_path, text)] == [
        (BlockKind.TABLE, "Option | Meaning\n--force | Removes everything."),
        (BlockKind.PARAGRAPH, "After it."),
    ]


def test_terms_in_raw_markup_that_blank_lines_part_keep_their_explanations(tmp_path: Path) -> None:
    text = "<dl>\n<dt>alpha</dt>\n\n<dd>the first</dd>\n\n<dt>beta</dt>\n<dd>the second</dd>\n</dl>\n\nAfter.\n"
    assert [(block.header, block.text) for block in markdown(tmp_path, text)] == [
        ("", "alpha"), ("alpha", "the first"), ("", "beta"), ("beta", "the second"), ("", "After."),
    ]  # fmt: skip


def test_raw_markup_is_read_whole_where_it_stands_and_a_table_that_never_closes_takes_nothing_with_it(
    tmp_path: Path,
) -> None:
    text = "- one\n\n  <p>inner</p>\n\n- two\n\n<!-- <table> -->\n\n<table> open\n\nPlain `text`.\n"
    text += '\n<p><a href="a.md">Docs</a> | <a href="b.md">Install</a> | <a href="c.md">FAQ</a></p>\n'
    assert texts(markdown(tmp_path, text)) == [
        "• one\n  inner\n• two", "open", "Plain text.", "Docs | Install | FAQ",
    ]  # fmt: skip


def test_a_list_in_a_cell_parts_its_entries_and_a_command_keeps_the_table_whole(tmp_path: Path) -> None:
    rows = (
        "<tr><th>Option</th><th>Meaning</th></tr><tr><td>-a</td><td>Shows<ul><li>all files</li><li>hidden ones</li>"
        "</ul>as well.</td></tr><tr><td>-b</td><td><pre>run -b</pre></td></tr>"
    )
    assert [(block.kind, block.text) for block in html(tmp_path, f"<table>{rows}</table>")] == [
        (BlockKind.TABLE, "Option | Meaning\n-a | Shows all files; hidden ones; as well.\n-b | run -b"),
    ]


def test_a_listing_in_a_table_keeps_its_lines(tmp_path: Path) -> None:
    listing = "\n".join(f"line {number}" for number in range(5))
    page = f"<table><tr><th>Example</th><th>Note</th></tr><tr><td><pre>{listing}</pre></td><td>Runs.</td></tr></table>"
    assert (BlockKind.CODE, listing) in [(block.kind, block.text) for block in html(tmp_path, page)]


def test_a_picture_that_stands_for_a_word_says_it_in_a_sentence_and_in_a_cell(tmp_path: Path) -> None:
    page = (
        '<p><img src="i.png" alt="Icon"> The flow is <img src="e.png" alt="Q = v A"> in all pipes, see '
        '<img src="b.png" alt="b.png"> too.</p><table><tr><th>Part</th><th>Covered</th></tr><tr><td>Seal</td>'
        '<td><img src="y.png" alt="Yes"></td></tr></table>'
    )
    assert texts(html(tmp_path, page)) == [
        "The flow is Q = v A in all pipes, see too.", "Part | Covered\nSeal | Yes",
    ]  # fmt: skip


def test_raw_markup_that_never_closes_is_looked_for_a_limited_time(tmp_path: Path) -> None:
    started = time.process_time()
    assert texts(markdown(tmp_path, "<ul>\n\n" * 6_000 + "*A*\n")) == ["A"]
    assert time.process_time() - started < 15


def test_a_text_file_of_comments_is_no_page_and_is_looked_at_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("<!---->" * 100 + "hello", encoding="utf-8")
    assert read(path)[0][0].text.endswith("hello")
    path.write_text("<!-- a --> <!-- b --><html><p>Hi</p></html>", encoding="utf-8")
    assert texts(read(path)[0]) == ["Hi"]


def test_a_long_cell_is_looked_through_once_for_a_sentence(tmp_path: Path) -> None:
    started = time.process_time()
    blocks = html(tmp_path, f"<table><tr><td>{'x ' * 60_000}</td><td>y</td></tr><tr><td>a</td><td>b</td></tr></table>")
    assert blocks[-1].text.endswith("a | b")
    assert time.process_time() - started < 10


BOXES = [
    '!!! warning "File exists"\n    The ranges overlap.\n\n    - Change *one*.\n',
    '???+ warning "File exists"\n\n    The ranges overlap.\n\n    - Change *one*.\n',
    '=== "File exists"\n\n    The ranges overlap.\n\n    - Change *one*.\n',
    ":::warning[File exists]\nThe ranges overlap.\n\n- Change *one*.\n:::\n",
    "::: warning File exists\nThe ranges overlap.\n\n- Change *one*.\n:::\n",
    ':::warning{label="File exists"}\nThe ranges overlap.\n\n- Change *one*.\n:::\n',
]


@pytest.mark.parametrize("box", BOXES)
def test_a_box_or_a_tab_explains_its_title(tmp_path: Path, box: str) -> None:
    blocks = markdown(tmp_path, f"Before.\n\n{box}\nAfter.\n")
    assert [(block.kind, block.header, block.text) for block in blocks] == [
        (BlockKind.PARAGRAPH, "", "Before."),
        (BlockKind.PARAGRAPH, "", "File exists"),
        (BlockKind.PARAGRAPH, "File exists", "The ranges overlap."),
        (BlockKind.LIST, "File exists", "• Change one."),
        (BlockKind.PARAGRAPH, "", "After."),
    ]


@pytest.mark.parametrize("box", ["!!! note\n    Read it.\n", "::: note\nRead it.\n:::\n", "> [!NOTE]\n> Read it.\n"])
def test_the_kind_of_a_box_is_no_text(tmp_path: Path, box: str) -> None:
    assert texts(markdown(tmp_path, box)) == ["Read it."]


def test_boxes_stand_within_boxes_and_lists(tmp_path: Path) -> None:
    tabs = ":::: tabs\n::: tab Ruby\nOne.\n:::\n::: tab Groovy\nTwo.\n:::\n::::\n\n"
    steps = '1. a\n\n    !!! tip "Care"\n        b\n\n2. c\n'
    assert [(block.header, block.text) for block in markdown(tmp_path, tabs + steps)] == [
        ("", "Ruby"), ("Ruby", "One."), ("", "Groovy"), ("Groovy", "Two."), ("", "1. a\n  Care\n  b\n2. c"),
    ]  # fmt: skip


def test_tags_of_templates_are_no_text_but_in_code(tmp_path: Path) -> None:
    assert texts(markdown(tmp_path, "## Visa tips {#visa-tips}\n\n# `{#x}`\n")) == ["Visa tips", "{#x}"]
    tagged = (
        '{{< hint style="info" >}}\nSee [leave]({% page "/leave" %}).\n{{< /hint >}}\n\n```\n{% raw %}\n=== "a"\n```\n'
    )
    assert texts(markdown(tmp_path, tagged)) == ["See leave.", '{% raw %}\n=== "a"']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!!!注意!!!\n\nA\n", ["!!!注意!!!", "A"]),
        ("!!! This is important\n\nA\n=====\n", ["!!! This is important", "A"]),
        ("??? Why does it fail\n", ["??? Why does it fail"]),
        ("a\n\n::: pkg.mod\n\nb\n", ["a", "pkg.mod", "b"]),
        ("a\n\n:::\n\nb\n", ["a", "b"]),
        (':::image source="a.png" alt-text="A valve":::\n\nb\n', ["A valve", "b"]),
        ('Use:\n\n    {% if %}\n    === "x"\n', ["Use:", '{% if %}\n=== "x"']),
        ('> ```\n> === "x"\n> {% a %}\n> ```\n', ['=== "x"\n{% a %}']),
        ("- ```\n  {% a %}\n  ```\n\n# Tips {#t}\n\nb\n", ["• {% a %}", "Tips", "b"]),
        ("{% note %}Back up first.{% endnote %}\n", ["Back up first."]),
        ("Write `{% raw %}` here.\n", ["Write {% raw %} here."]),
        ('=== "GET /users/{id}"\n\n    A *b*.\n', ["GET /users/{id}", "A b."]),
        ("!!! note inline end\n    A\n\n\n    B\n\nC\n", ["A", "B", "C"]),
        ("::: warning See [docs](u) first\nA\n:::\n", ["See docs first", "A"]),
        ("| a | b |\n|---|---|\n|   | c |\n", ["a | b\n | c"]),
        ("Use C# now {#x}\n", ["Use C# now {#x}"]),
        ('<ul><li>\n\n!!! warning "Title"\n    Text.\n\n</li></ul>\n', ["• Title\n  Text."]),
    ],
)
def test_what_looks_like_a_box_or_a_tag_loses_no_words(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert texts(markdown(tmp_path, text)) == expected


def test_many_marks_that_nothing_closes_take_nothing_with_them(tmp_path: Path) -> None:
    blocks = markdown(tmp_path, "".join(f"::: pkg.mod{number}\n\nText {number}.\n\n" for number in range(60)))
    assert "Text 59." in texts(blocks) and {block.header for block in blocks} == {""}


@pytest.mark.parametrize("hostile", ['{label="', "[", "{{", "](", "a ", "{%a  ", ' "', "\t"])
@pytest.mark.parametrize("opens", [":::x ", "!!! a ", "# ", "{%", '=== "', ""])
def test_a_long_line_of_marks_is_read_at_once(tmp_path: Path, opens: str, hostile: str) -> None:
    began = time.perf_counter()
    markdown(tmp_path, opens + hostile * 5_000 + "\n\n    x\n")
    assert time.perf_counter() - began < 3
