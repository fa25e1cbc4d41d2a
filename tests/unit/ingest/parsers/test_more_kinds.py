"""Files beside those of Office, PDF and text: OpenDocument, rich text, books, mails, data, source code and logs."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path

import pytest

from core.errors import Encrypted, TypeMismatch
from core.ingest.validate import check_type
from core.model import BlockKind
from core.model.file_types import EXTENSIONS, KIND_OF
from core.sample import documents
from tests import programs
from tests.unit.ingest.compound import compound, outlook
from tests.unit.ingest.documents import read, texts, zipped

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for name, long in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "svg": "svg-compatible",
    }.items()
)  # fmt: skip
MIME = "application/vnd.oasis.opendocument"


def opendocument(path: Path, kind: str, body: str, styles: str = "", **more: str) -> Path:
    """Write an OpenDocument file whose first entry says what it is, as the standard asks."""
    content = (
        f'<?xml version="1.0"?><office:document-content {NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zipped(path, {"mimetype": f"{MIME}.{kind}", "content.xml": content, **more})


def test_text_document_gives_headings_lists_tables_notes_and_remarks_in_order(tmp_path: Path) -> None:
    blocks, _ = read(opendocument(
        tmp_path / "a.odt",
        "text",
        """<text:p text:style-name="P1">The pump</text:p><text:h text:outline-level="1">Care</text:h>
        <text:p>Oil<text:s text:c="2"/>it <text:span>daily</text:span>.<text:note>
        <text:note-citation>1</text:note-citation>
        <text:note-body><text:p>Not on Sundays.</text:p></text:note-body></text:note></text:p>
        <text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
        <text:list text:style-name="L1"><text:list-item><text:p>first</text:p>
          <text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item>
          <text:list-item><text:p>second</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>part</text:p></table:table-cell>
          <table:table-cell><text:p>count</text:p></table:table-cell></table:table-row>
          <table:table-row><table:table-cell><text:p>seal</text:p></table:table-cell>
          <table:table-cell><text:p>4</text:p></table:table-cell></table:table-row></table:table>
        <text:p>End<office:annotation><dc:creator>Ada</dc:creator><text:p>Really?</text:p></office:annotation>
          <draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame></text:p>""",
        '<style:style style:name="P1" style:parent-style-name="Title"/>'
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>'
        "</text:list-style>",
    ))  # fmt: skip
    assert texts(blocks) == [
        "The pump", "Care", "Oil  it daily.*1", "*1 Not on Sundays.", "1. first\n  • inner\n2. second",
        "part | count\nseal | 4", "End", "[Ada: Really?]", "In a box",
    ]  # fmt: skip
    assert [block.kind for block in blocks[:2]] == [BlockKind.HEADING] * 2
    assert blocks[2].locator.heading_path == ("Care",)


def test_contents_of_a_text_document_are_a_list_of_entries(tmp_path: Path) -> None:
    body = (
        "<text:table-of-content><text:table-of-content-source/><text:index-body><text:index-title><text:p>Contents"
        "</text:p></text:index-title><text:p>Care of the lens<text:tab/>3</text:p><text:p>Spare parts<text:tab/>14"
        "</text:p></text:index-body></text:table-of-content><text:table-of-content/><text:p>It is cleaned.</text:p>"
    )
    blocks, metadata = read(opendocument(tmp_path / "a.odt", "text", body))
    assert texts(blocks) == ["Contents\nCare of the lens … 3\nSpare parts … 14", "It is cleaned."]
    assert "losses" not in metadata


def test_sheet_shows_cells_as_displayed_with_their_places(tmp_path: Path) -> None:
    def cell(text: str, kind: str = "string", more: str = "") -> str:
        return f'<table:table-cell office:value-type="{kind}" {more}><text:p>{text}</text:p></table:table-cell>'

    repeated = 'table:number-columns-repeated="2"'
    rows = (
        f"<table:table-row>{cell('part')}{cell('price')}</table:table-row>"
        f"<table:table-row>{cell('seal')}{cell('1,200.50 €', 'float')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1000"><table:table-cell'
        ' table:number-columns-repeated="16384"/></table:table-row>'
        f"<table:table-row><table:table-cell table:number-columns-repeated='2'/>{cell('7', 'float')}"
        f"{cell('9', 'float', repeated)}</table:table-row>"
    )
    path = opendocument(tmp_path / "a.ods", "spreadsheet", f'<table:table table:name="Prices">{rows}</table:table>')
    blocks, metadata = read(path)
    assert [(block.text, block.locator.sheet, block.locator.cells) for block in blocks[1:]] == [
        ("part | price\nseal | 1,200.50 €", "Prices", "A1:B2"),
        ("7 | 9 | 9", "Prices", "C1003:E1003"),
    ]
    assert metadata["sheets"] == 1


def test_slides_have_titles_and_notes(tmp_path: Path) -> None:
    page = (
        '<draw:page><draw:frame svg:y="5cm"><draw:text-box><text:p>Below</text:p></draw:text-box></draw:frame>'
        '<draw:frame presentation:class="title"><draw:text-box><text:p>On top</text:p></draw:text-box></draw:frame>'
        '<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>Say it</text:p>'
        "</draw:text-box></draw:frame></presentation:notes></draw:page>"
    )
    blocks, _ = read(opendocument(tmp_path / "a.odp", "presentation", page * 2))
    assert [(block.text, block.locator.slide) for block in blocks] == [
        (text, slide) for slide in (1, 2) for text in ("On top", "Below", "Say it")
    ]


def test_what_a_password_protects_is_named_as_such(tmp_path: Path) -> None:
    manifest = "<manifest><encryption-data/></manifest>"
    locked = opendocument(tmp_path / "a.odt", "text", "", **{"META-INF/manifest.xml": manifest})
    with pytest.raises(Encrypted):
        read(locked)
    parts = {"META-INF/container.xml": "<a/>", "META-INF/encryption.xml": '<a><EncryptionMethod Algorithm="aes"/></a>'}
    with pytest.raises(Encrypted):
        read(zipped(tmp_path / "a.epub", {"mimetype": "application/epub+zip", **parts}))


@programs.needs("soffice")
@pytest.mark.parametrize(("name", "to"), [
    ("employee-handbook.docx", "odt"), ("price-list.xlsx", "ods"), ("sales-training.pptx", "odp"),
    ("employee-handbook.docx", "rtf"),
])  # fmt: skip
def test_what_libreoffice_writes_reads_as_what_it_was_made_of(tmp_path: Path, name: str, to: str) -> None:
    from core.ingest.parsers.legacy import convert

    original = next(document.path for document in documents() if document.name == name)
    made = convert(original, name.rpartition(".")[2], to, tmp_path, 120)
    assert check_type(f"a.{to}", made.read_bytes()[:65_536], made) == to
    blocks, _ = read(made, to)
    wanted, _ = read(original)
    words, there = (set(" ".join(texts(each)).split()) for each in (wanted, blocks))
    assert len(words & there) >= 0.98 * len(words), words - there
    headings = [block.text for block in wanted if block.kind is BlockKind.HEADING]
    assert [block.text for block in blocks if block.kind is BlockKind.HEADING] == headings


def test_rich_text_is_read_without_libreoffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ingest.parsers.legacy.converter", lambda: None)
    path = tmp_path / "a.rtf"
    path.write_bytes(rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\f0 Gr\'fc\'dfe\par \u26085?\u26412? end.}")
    blocks, metadata = read(path)
    assert texts(blocks) == ["Grüße", "日本 end."]
    assert "LibreOffice" in metadata["warnings"][0]


def test_book_is_read_chapter_by_chapter_without_its_navigation(tmp_path: Path) -> None:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>On pumps</dc:title><dc:creator>Ada</dc:creator></metadata><manifest>"
        '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        '<item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    path = zipped(tmp_path / "a.epub", {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfile full-path="OPS/a.opf"/></container>',
        "OPS/a.opf": package,
        "OPS/nav.xhtml": "<html><body><p>contents</p></body></html>",
        "OPS/text/one.xhtml": "<html><head><title>x</title></head><body><h1>One</h1><p>First.</p></body></html>",
        "OPS/text/two b.xhtml": "<html><body><h1>Two</h1><p>Second.</p></body></html>",
    })  # fmt: skip
    blocks, metadata = read(path)
    assert texts(blocks) == ["One", "First.", "Two", "Second."]
    assert (metadata["title"], metadata["author"]) == ("On pumps", "Ada")
    assert check_type("a.epub", path.read_bytes()[:4096], path) == "epub"


def mail() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "森田 <morita@example.jp>", "ada@example.org"
    message["Subject"], message["Date"] = "Grüße from Suwa", "Tue, 3 Feb 2026 10:00:00 +0900"
    message.set_content("ポンプが止まった。\n\n連絡してください。\n", charset="iso-2022-jp")
    message.add_alternative("<p>not this one</p>", subtype="html")
    return message


def test_mail_says_who_wrote_what_and_what_hangs_on_it(tmp_path: Path) -> None:
    message, inner = mail(), EmailMessage()
    inner["Subject"] = "Before"
    inner.set_content("The first mail.")
    message.add_attachment("part,count\nseal,4\nvalve,7\n", subtype="csv", filename="stock.csv")
    message.add_attachment(inner)
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="logo.png")
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(message))
    blocks, metadata = read(path)
    assert texts(blocks) == [
        "Grüße from Suwa",
        "From: 森田 <morita@example.jp>\nTo: ada@example.org\nDate: Tue, 03 Feb 2026 10:00:00 +0900",
        "ポンプが止まった。", "連絡してください。", "stock.csv", "part | count\nseal | 4\nvalve | 7",
        "message.eml", "Before", "The first mail.", "logo.png",
    ]  # fmt: skip
    assert blocks[5].locator.heading_path == ("Grüße from Suwa", "stock.csv")
    assert (metadata["title"], metadata["attachments"]) == ("Grüße from Suwa", 3)
    assert metadata["created"] == "2026-02-03T10:00:00+09:00"
    assert "in_part" not in metadata


def test_attachment_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    message = mail()
    message.add_attachment(b"%PDF-1.4 nothing", maintype="application", subtype="pdf", filename="a.pdf")
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(message))
    blocks, metadata = read(path)
    assert blocks[-1].text == "a.pdf"
    assert metadata["losses"] == {"attachment": ""}


def test_mails_within_mails_end(tmp_path: Path) -> None:
    message = mail()
    for _ in range(6):
        outer = mail()
        outer.add_attachment(message)
        message = outer
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(message))
    blocks, metadata = read(path)
    assert texts(blocks).count("ポンプが止まった。") == 4
    assert metadata["losses"] == {"attachment": ""}


def test_mail_of_outlook_is_read_with_its_attachment(tmp_path: Path) -> None:
    path = outlook(
        tmp_path / "a.msg",
        {"0037": "Pump P-4711", "1000": "It stands still.\r\n\r\nPlease call.", "0C1A": "Ada", "0C1F": "ada@a.org"},
        {"notes.txt": b"The seal leaks since Monday."},
    )
    assert check_type("a.msg", path.read_bytes()[:4096], path) == "msg"
    blocks, metadata = read(path)
    assert texts(blocks) == [
        "Pump P-4711", 'From: "Ada" <ada@a.org>', "It stands still.", "Please call.", "notes.txt",
        "The seal leaks since Monday.",
    ]  # fmt: skip
    assert metadata["title"] == "Pump P-4711"
    with pytest.raises(TypeMismatch):
        check_type("a.doc", path.read_bytes()[:4096], path)


@pytest.mark.parametrize("stream", ["Workbook", "WORKBOOK", "BOOK", "Book"])
def test_old_workbooks_are_known_by_streams_of_any_case(tmp_path: Path, stream: str) -> None:
    path = compound(tmp_path / "a.xls", {stream: b"\x09\x08" + bytes(100)})
    assert check_type("a.xls", path.read_bytes()[:4096], path) == "xls"


def test_json_keeps_numbers_as_written_and_names_what_leads_to_values(tmp_path: Path) -> None:
    value = {"site": "Suwa", "limit": "X", "prices": [{"part": "seal", "price": "P"}, {"part": "valve", "price": "9"}],
             "care": {"oil": {"every": "day"}, "steps": ["open", "close"]}}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value).replace('"X"', "1.10").replace('"P"', "12345678901234567890.5"))
    blocks, _ = read(path)
    assert [(block.locator.heading_path, block.text) for block in blocks] == [
        ((), "site: Suwa\nlimit: 1.10"),
        ((), "prices"),
        (("prices",), "part | price\nseal | 12345678901234567890.5\nvalve | 9"),
        ((), "care"),
        (("care",), "oil"),
        (("care", "oil"), "every: day"),
        (("care",), "steps"),
        (("care", "steps"), "open\nclose"),
    ]


def test_one_value_a_line_becomes_rows_while_the_names_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n\n{"a": {"c": [1, 2]}, "d": true}\nno json at all\n')
    blocks, _ = read(path)
    assert [(block.header, block.text) for block in blocks] == [
        ("", "a | b\n1 | x\n2 | y"), ("", "a.c: 1, 2\nd: true"), ("", "no json at all"),
    ]  # fmt: skip


def test_json_that_is_none_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n  // how often\n  "oil": "daily",\n}\n')
    assert "// how often" in texts(read(path)[0])[0]
    path.write_text('{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n')
    assert texts(read(path)[0]) == ["a | b\n1 | 2\n3 | 4"]


def test_xml_gives_rows_paragraphs_and_titles(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<!DOCTYPE m [<!ELEMENT m ANY><!ENTITY secret SYSTEM "file:///etc/passwd">]><m><title>Manual</title>'
        '<part code="A-1" price="3"/><part code="A-2" price="4"/><section><title>Care</title>'
        "<p>Oil it <b>daily</b>.</p></section></m>"
    )
    blocks, metadata = read(path)
    assert [(block.kind.value, block.header, block.text) for block in blocks] == [
        ("heading", "", "Manual"), ("table", "", "code | price\nA-1 | 3\nA-2 | 4"), ("heading", "", "Care"),
        ("list", "", "Oil it daily."),
    ]  # fmt: skip
    assert metadata["title"] == "Manual"
    path.write_text("<rows><r><a>1</a><b>x</b></r><r><a>2</a><b>y</b></r></rows>")
    assert [(block.header, block.text) for block in read(path)[0]] == [("", "a | b\n1 | x\n2 | y")]


@pytest.mark.parametrize(
    "damage", ["<a><b>text that stays</a>", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x; text that stays</a>']
)
def test_damaged_xml_and_entities_of_its_own_leave_the_bare_text(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(damage)
    assert "text that stays" in " ".join(texts(read(path)[0]))


def test_source_is_parted_at_definitions_and_knows_their_names(tmp_path: Path) -> None:
    body = "\n".join(f"        value_{number} = compute({number})" for number in range(60))
    path = tmp_path / "a.py"
    path.write_text(f"import os\n\n\nclass Pump:\n    def start(self):\n{body}\n\n    def stop(self):\n{body}\n")
    blocks, _ = read(path)
    assert {block.kind for block in blocks} == {BlockKind.CODE}
    assert any(block.text.startswith("    def stop") for block in blocks)
    assert ("Pump", "stop") in {block.locator.heading_path for block in blocks}
    assert "\n".join(texts(blocks)).replace("\n", "") == path.read_text().rstrip().replace("\n", "")


def test_log_keeps_every_line(tmp_path: Path) -> None:
    lines = [f"2026-01-01 10:{number // 60:02}:{number % 60:02} INFO step {number}" for number in range(500)]
    path = tmp_path / "a.log"
    path.write_text("\n".join(lines))
    blocks, _ = read(path)
    assert "\n".join(texts(blocks)).split("\n") == lines
    assert len(blocks) > 5


@pytest.mark.parametrize("extension", [each for each in EXTENSIONS if KIND_OF[each] in ("code", "data", "text")])
def test_every_type_of_text_is_read(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    path.write_text("valve = 4711\n")
    assert check_type(path.name, path.read_bytes(), path) == extension
    assert "4711" in " ".join(texts(read(path)[0]))


def test_mail_in_a_code_page_of_east_asia_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    head = b"From: a@example.com\r\nSubject: Test\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\n"
    for page, text in (("950", "中文測試"), ("936", "中文测试"), ("949", "한국어"), ("932", "点検簿")):
        kind = f"Content-Type: text/plain; charset=windows-{page}\r\n\r\n".encode()
        path.write_bytes(head + kind + text.encode(f"cp{page}"))
        blocks, metadata = read(path)
        assert texts(blocks)[-1] == text and "warnings" not in metadata


def test_listings_of_a_text_document_stay_whole(tmp_path: Path) -> None:
    body = (
        '<text:p>Run:</text:p><text:p text:style-name="P1">if x:</text:p>'
        '<text:p text:style-name="Preformatted_20_Text"><text:s text:c="4"/>y()</text:p>'
        '<text:p text:style-name="P1"/><text:p text:style-name="P1">z()</text:p><text:p>Done.</text:p>'
    )
    style = '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>'
    named = '<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>'
    blocks, _ = read(opendocument(tmp_path / "a.odt", "text", body, named + style))
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.PARAGRAPH, "Run:"),
        (BlockKind.CODE, "if x:\n    y()\n\nz()"),
        (BlockKind.PARAGRAPH, "Done."),
    ]


MANUAL = """<?xml version="1.0"?>
<!DOCTYPE refentry PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [
<!ENTITY program "frob"> <!ENTITY deep "&program;&program;">
]>
<refentry><refmeta><refentrytitle>frob</refentrytitle><manvolnum>1</manvolnum></refmeta>
<refnamediv><refname>frob</refname><refpurpose>frobnicate files</refpurpose></refnamediv>
<refsynopsisdiv><cmdsynopsis><command>&program;</command><arg><option>-a</option></arg>
<group choice="req"><arg choice="plain">-x</arg><arg choice="plain">-y</arg></group>
<arg choice="plain" rep="repeat"><replaceable>FILE</replaceable></arg></cmdsynopsis></refsynopsisdiv>
<refsect1><title>Options</title><variablelist><varlistentry><term><option>-a</option></term>
<term><option>--all</option></term><listitem><para>All of them&mdash;even hidden &deep;. See <xref linkend="f"/>,
<citerefentry><refentrytitle>ls</refentrytitle><manvolnum>1</manvolnum></citerefentry>.</para>
<programlisting>frob -a \\
  x</programlisting></listitem></varlistentry></variablelist></refsect1>
<refsect1 id="f"><title>Files</title><para>Reads<footnote><para>once</para></footnote>:</para><informaltable>
<tgroup cols="2"><thead><row><entry>Key</entry><entry>Value</entry></row></thead><tbody><row><entry>a</entry>
<entry><para>1</para></entry></row></tbody></tgroup></informaltable><simplelist type="inline"><member>m</member>
<member>n</member></simplelist><refsect2><title>More</title><orderedlist><listitem><para>one</para></listitem>
<listitem><para>two</para></listitem></orderedlist></refsect2></refsect1></refentry>"""


def test_docbook_is_read_with_its_sections_terms_listings_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(MANUAL, encoding="utf-8")
    blocks, metadata = read(path)
    assert [(block.kind, block.header, block.text) for block in blocks] == [
        (BlockKind.HEADING, "", "frob"),
        (BlockKind.PARAGRAPH, "", "frob — frobnicate files"),
        (BlockKind.HEADING, "", "Synopsis"),
        (BlockKind.PARAGRAPH, "", "frob [-a] {-x | -y} FILE..."),
        (BlockKind.HEADING, "", "Options"),
        (BlockKind.PARAGRAPH, "", "-a"),
        (BlockKind.PARAGRAPH, "", "--all"),
        (BlockKind.PARAGRAPH, "-a, --all", "All of them—even hidden deep. See Files, ls(1)."),
        (BlockKind.CODE, "-a, --all", "frob -a \\\n  x"),
        (BlockKind.HEADING, "", "Files"),
        (BlockKind.PARAGRAPH, "", "Reads (once):"),
        (BlockKind.TABLE, "", "Key | Value\na | 1"),
        (BlockKind.PARAGRAPH, "", "m, n"),
        (BlockKind.HEADING, "", "More"),
        (BlockKind.LIST, "", "1. one\n2. two"),
    ]
    assert blocks[-1].locator.heading_path == ("frob", "Files", "More")
    assert metadata["title"] == "frob" and "warnings" not in metadata


def test_docbook_says_where_parts_of_it_stand_in_other_files_and_deep_elements_cost_only_their_structure(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.xml"
    deep = "<para>" * 120 + "Lantern" + "</para>" * 120
    path.write_text(
        '<article xmlns="http://docbook.org/ns/docbook" xmlns:xi="http://www.w3.org/2001/XInclude"><title>All</title>'
        f'<xi:include href="b.xml"/>{deep}</article>',
        encoding="utf-8",
    )
    blocks, metadata = read(path)
    assert texts(blocks) == ["All", "Lantern"]
    assert "other files" in metadata["warnings"][0]


def docbook(folder: Path, text: str) -> list[tuple[BlockKind, str]]:
    path = folder / "a.xml"
    path.write_text(text, encoding="utf-8")
    return [(block.kind, block.text) for block in read(path)[0]]


def test_docbook_without_a_title_keeps_its_paragraphs_and_lists(tmp_path: Path) -> None:
    assert docbook(
        tmp_path,
        "<article><para>One.</para><para>Two.</para><itemizedlist><listitem><para>a</para></listitem></itemizedlist>"
        "<section><title>More</title><para>Three.</para></section></article>",
    ) == [
        (BlockKind.PARAGRAPH, "One."),
        (BlockKind.PARAGRAPH, "Two."),
        (BlockKind.LIST, "• a"),
        (BlockKind.HEADING, "More"),
        (BlockKind.PARAGRAPH, "Three."),
    ]


def test_docbook_says_no_entries_of_its_index_in_titles_and_notes(tmp_path: Path) -> None:
    assert docbook(
        tmp_path,
        "<article><title>Guide<indexterm><primary>guide</primary></indexterm></title><para>Use it.<footnote>"
        "<para>Once<indexterm><primary>once</primary></indexterm>.</para><para>Or twice.</para></footnote></para>"
        "</article>",
    ) == [(BlockKind.HEADING, "Guide"), (BlockKind.PARAGRAPH, "Use it. (Once. Or twice.)")]


def test_docbook_shows_which_alternative_of_a_synopsis_repeats(tmp_path: Path) -> None:
    assert docbook(
        tmp_path,
        '<article><cmdsynopsis><command>t</command><group choice="req"><arg choice="plain">-x</arg>'
        '<arg choice="plain" rep="repeat">-y</arg></group></cmdsynopsis><para>It.</para></article>',
    ) == [(BlockKind.PARAGRAPH, "t {-x | -y...}"), (BlockKind.PARAGRAPH, "It.")]


def test_names_of_texts_are_told_wherever_the_type_ends_and_programs_are_left_as_they_are(tmp_path: Path) -> None:
    assert docbook(
        tmp_path,
        '<!DOCTYPE article[<!ENTITY prod "Foo Server">]><article><para>Use &prod;.</para>'
        "<programlisting><![CDATA[int *p = &value; a &lt; b]]></programlisting></article>",
    ) == [(BlockKind.PARAGRAPH, "Use Foo Server."), (BlockKind.CODE, "int *p = &value; a &lt; b")]


def test_a_document_type_without_a_name_costs_nothing(tmp_path: Path) -> None:
    assert docbook(tmp_path, "<!DOCTYPE><a><b>hello</b></a>") == [(BlockKind.LIST, "b: hello")]
