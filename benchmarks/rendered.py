"""Documents whose structure is known because they are rendered here: from elements to HTML or OpenDocument to PDF.

What is drawn: the look (sizes, fonts, numbers of headings, columns, rulings of tables, running heads) and the order of
the elements. Their sentences are those of the sample's documents.
"""

from __future__ import annotations

import html
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from pathlib import Path

from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.model import BlockKind
from core.sample import documents
from core.text.sentences import split_sentences

LANGUAGES = ("en", "ja")
PAGE_S = 120
RULINGS = ("grid", "rows", "head", "none", "shaded")
_FEW, _MANY = 12, 160
_WORDS = {
    "en": (
        "pump|valve|sensor|filter|motor|relay|switch|cable|tank|pressure|flow|level|alarm|limit|value|unit|"
        "range|type|part|order|state|mode|signal|input|output|power|speed|torque|mass|volume|area|length"
    ),
    "ja": (
        "ポンプ|弁|感知器|濾過器|電動機|継電器|開閉器|電線|水槽|圧力|流量|水位|警報|上限値|測定値|単位|範囲|"
        "型式|部品|注文番号|状態|運転方式|信号|入力|出力|電力|速度|質量|体積|面積|長さ"
    ),
}
_TITLES = {
    "en": (
        "Setting up|Daily operation|Limits and alarms|Replacing parts|What the display shows|Cleaning|"
        "Storage|Measuring flow|Before the first start|Faults and remedies|Connecting cables|Technical data|"
        "Safety|Ordering spare parts|Changing the filter|Calibration of sensors"
    ),
    "ja": (
        "設置の手順|日常の運転|上限値と警報|部品の交換|表示の見方|清掃|保管|流量の測定|初めて始動する前に|"
        "故障と対処|電線の接続|技術資料|安全のために|予備部品の注文|濾過器の交換|感知器の校正"
    ),
}
_CAPTION = {"en": "Table {}. {}", "ja": "表{} {}"}
_NOTE = {"en": "Measured at sea level; series {}.", "ja": "海面の高さで測定した値。系列 {}。"}
_RUNNING = {"en": "Operating manual, series {}", "ja": "取扱説明書 系列{}"}


class Kind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CAPTION = "caption"
    NOTE = "note"


@dataclass(frozen=True)
class Element:
    """One element of a document; ``note`` is the footnote of a paragraph."""

    kind: Kind
    text: str = ""
    level: int = 0
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Look:
    """How a document is set."""

    columns: int
    size: float
    serif: bool
    is_numbered: bool
    heading_growth: float
    """What a level of headings is larger than the one below; 1 for headings that are only bold."""
    ruling: str
    is_justified: bool
    indents: bool
    """Paragraphs begin with an indent, without space between them."""
    running: str
    writer: str


@dataclass(frozen=True)
class Rendered:
    """A document, its look and its elements in reading order."""

    name: str
    path: Path
    look: Look
    language: str
    elements: tuple[Element, ...]


def rendered(folder: Path, count: int, seed: int, writers: Sequence[str]) -> Iterator[Rendered]:
    """Draw and render so many documents of each language by each of the ``writers`` that are installed."""
    sentences = {language: _sentences(folder, language) for language in LANGUAGES}
    for writer in writers:
        for language in LANGUAGES:
            for number in range(count):
                chance = random.Random(f"{seed} {writer} {language} {number}")
                look = _look(chance, number, language, writer)
                elements = tuple(_elements(chance, language, look, sentences[language]))
                name = f"{writer}-{language}-{number}"
                path = _RENDER[writer](folder, name, elements, look, language)
                yield Rendered(name, path, look, language, elements)


def _sentences(folder: Path, language: str) -> list[str]:
    found = []
    wide = language == "ja"
    for document in documents():
        if document.path.suffix not in {".md", ".txt"}:
            continue
        for block in parse(ParserInput(document.path, document.path.suffix[1:], ParserLimits())):
            if block.kind is BlockKind.PARAGRAPH and any("\u3040" <= sign <= "\u30ff" for sign in block.text) == wide:
                spans = split_sentences(block.text)
                found += [block.text[start:end].replace("\n", "" if wide else " ").strip() for start, end in spans]
    return [each for each in found if _FEW < len(each) < _MANY]


def _look(chance: random.Random, number: int, language: str, writer: str) -> Look:
    numbered = chance.random() < 0.5
    series = chance.randint(100, 999)
    return Look(
        columns=1 + number % 2,
        size=chance.choice((9.0, 10.0, 10.5, 11.0, 12.0)),
        serif=chance.random() < 0.5,
        is_numbered=numbered,
        heading_growth=chance.choice((1.0, 1.12, 1.2, 1.3)),
        ruling=RULINGS[(number // 2 + (writer == "office")) % len(RULINGS)],
        is_justified=chance.random() < 0.5,
        indents=chance.random() < 0.3,
        running=_RUNNING[language].format(series) if chance.random() < 0.8 else "",
        writer=writer,
    )


def _elements(chance: random.Random, language: str, look: Look, sentences: list[str]) -> Iterator[Element]:
    order = list(sentences)
    chance.shuffle(order)
    left = cycle(order)
    names = _TITLES[language].split("|")
    titles = cycle(chance.sample(names, len(names)))
    joint = " " if language == "en" else ""

    def paragraph(note: str = "") -> Element:
        return Element(Kind.PARAGRAPH, joint.join(next(left) for _ in range(chance.randint(2, 6))), note=note)

    def heading(level: int, number: str) -> Element:
        return Element(Kind.HEADING, f"{number} {next(titles)}" if look.is_numbered and number else next(titles), level)

    yield heading(1, "")
    yield paragraph()
    for chapter in range(1, 4):
        yield heading(2, f"{chapter}.")
        yield paragraph(_NOTE[language].format(chance.randint(100, 999)) if chance.random() < 0.4 else "")
        for section in range(1, chance.randint(2, 3)):
            yield heading(3, f"{chapter}.{section}")
            yield paragraph()
            if chance.random() < 0.5:
                yield Element(Kind.LIST, items=tuple(next(left) for _ in range(chance.randint(3, 5))))
            yield paragraph()
        if chance.random() < 0.7:
            yield Element(Kind.CAPTION, _CAPTION[language].format(chapter, next(titles)))
        yield Element(Kind.TABLE, rows=_grid(chance, language, look.columns, chapter == 2))
        yield paragraph()


def _grid(chance: random.Random, language: str, columns: int, is_long: bool) -> tuple[tuple[str, ...], ...]:
    """Draw a table: names first, figures or words after them, now and then an empty cell or one of several words."""
    words = _WORDS[language].split("|")
    width = chance.randint(2, 3) if columns == 2 else chance.randint(3, 5)
    height = chance.randint(25, 45) if is_long else chance.randint(3, 9)
    joint = " " if language == "en" else "の"
    numeric = [False] + [chance.random() < 0.6 for _ in range(width - 1)]
    rows = [tuple(word.capitalize() for word in chance.sample(words, width))]
    for number in range(1, height):
        cells = [joint.join(chance.sample(words, 2)).capitalize() + f" {number}"]
        for column in range(1, width):
            if chance.random() < 0.06:
                cells.append("")
            elif numeric[column]:
                cells.append(f"{chance.uniform(1, 5000):,.1f}")
            else:
                cells.append(joint.join(chance.sample(words, chance.choice((1, 1, 2, 6)))))
        rows.append(tuple(cells))
    return tuple(rows)


def _by_chromium(folder: Path, name: str, elements: Sequence[Element], look: Look, language: str) -> Path:
    source, target = folder / f"{name}.html", folder / f"{name}.pdf"
    source.write_text(_html(elements, look, language), encoding="utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={target}")
    subprocess.run(
        ["chromium-headless-shell", *flags, source.as_uri()], check=True, capture_output=True, timeout=PAGE_S
    )
    return target


_CELLS = {
    "grid": "td, th { border: 1px solid #444 }",
    "rows": "td, th { border-bottom: 1px solid #999 }",
    "head": "table { border-top: 1.5px solid; border-bottom: 1.5px solid } th { border-bottom: 1px solid }",
    "none": "",
    "shaded": "tr:nth-child(even) { background: #eee } th { background: #ddd }",
}


def _html(elements: Sequence[Element], look: Look, language: str) -> str:
    font = ("'DejaVu Serif', 'Noto Serif CJK JP'", "'DejaVu Sans', 'Noto Sans CJK JP'")[not look.serif]
    head = f'@top-center {{ content: "{look.running}"; font-size: 8pt }}' if look.running else ""
    sizes = "".join(
        f"h{level} {{ font-size: {look.size * look.heading_growth ** (4 - level):.1f}pt }}" for level in (1, 2, 3)
    )
    style = f"""
        @page {{ size: A4; margin: 22mm 20mm; {head} @bottom-center {{ content: counter(page); font-size: 8pt }} }}
        body {{ font: {look.size}pt/1.4 {font}; text-align: {"justify" if look.is_justified else "left"} }}
        main {{ column-count: {look.columns}; column-gap: 8mm }}
        p {{ margin: {"0" if look.indents else "0.6em 0"}; text-indent: {"1.2em" if look.indents else "0"} }}
        h1 {{ column-span: all }} h1, h2, h3 {{ break-after: avoid; margin: 1em 0 0.4em; line-height: 1.2 }} {sizes}
        p.caption {{ font-style: italic; font-size: 0.92em; text-indent: 0; margin: 0.8em 0 0.3em; break-after: avoid }}
        table {{ border-collapse: collapse; margin: 0.5em 0 1em }} tr {{ break-inside: avoid }}
        td, th {{ padding: 2px 7px; text-align: left; vertical-align: top }} {_CELLS[look.ruling]}
        aside {{ font-size: 0.8em; border-top: 1px solid; margin: 0.5em 0 }}
    """
    parts = []
    for each in elements:
        text = html.escape(each.text)
        if each.kind is Kind.HEADING:
            parts.append(f"<h{each.level}>{text}</h{each.level}>")
        elif each.kind is Kind.LIST:
            parts.append("<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in each.items) + "</ul>")
        elif each.kind is Kind.TABLE:
            first, *rest = each.rows
            head = "".join(f"<th>{html.escape(cell)}</th>" for cell in first)
            body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rest)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        elif each.kind is Kind.CAPTION:
            parts.append(f'<p class="caption">{text}</p>')
        else:
            parts.append(f"<p>{text}</p>" + (f"<aside>{html.escape(each.note)}</aside>" if each.note else ""))
    return f'<!doctype html><html lang="{language}"><meta charset="utf-8"><style>{style}</style><main>{"".join(parts)}'


def _by_office(folder: Path, name: str, elements: Sequence[Element], look: Look, language: str) -> Path:
    source = folder / f"{name}.fodt"
    source.write_text(_flat_text(elements, look), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="evorag-office-") as profile:
        order = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to", "pdf"]
        subprocess.run([*order, "--outdir", str(folder), str(source)], check=True, capture_output=True, timeout=PAGE_S)
    return folder / f"{name}.pdf"


_SPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        *(("office", "office"), ("text", "text"), ("table", "table"), ("style", "style")),
        *(("fo", "xsl-fo-compatible"), ("svg", "svg-compatible")),
    )
)
_BORDERS = {
    "grid": 'fo:border="0.5pt solid #444444"',
    "rows": 'fo:border-bottom="0.5pt solid #999999"',
    "head": "",
    "none": "",
    "shaded": "",
}


def _flat_text(elements: Sequence[Element], look: Look) -> str:
    font = ("Noto Serif CJK JP", "Noto Sans CJK JP")[not look.serif]
    names = f'style:font-name="{font}" style:font-name-asian="{font}"'

    def letters(size: float, *, bold: bool = False) -> str:
        weight = ' fo:font-weight="bold" style:font-weight-asian="bold"' if bold else ""
        return (
            f'<style:text-properties {names} fo:font-size="{size:.1f}pt" style:font-size-asian="{size:.1f}pt"{weight}/>'
        )

    def paragraph(name: str, more: str, text: str, master: str = "") -> str:
        return (
            f'<style:style style:name="{name}" style:family="paragraph"{master}>'
            f"<style:paragraph-properties {more}/>{text}</style:style>"
        )

    align = 'fo:text-align="justify"' if look.is_justified else 'fo:text-align="start"'
    spacing = 'fo:text-indent="0.42cm"' if look.indents else 'fo:margin-bottom="0.25cm"'
    growth = [look.size * look.heading_growth ** (4 - level) for level in (1, 2, 3)]
    near = 'fo:margin-top="0.45cm" fo:margin-bottom="0.18cm" fo:keep-with-next="always"'
    styles = [
        f'<style:font-face style:name="{font}" svg:font-family="\'{font}\'"/>',
        "".join(paragraph(f"H{level}", near, letters(growth[level - 1], bold=True)) for level in (1, 2, 3)),
        paragraph("Body", f'{align} {spacing} fo:line-height="130%"', letters(look.size)),
        paragraph("Caption", 'fo:margin-top="0.3cm" fo:keep-with-next="always"', letters(0.92 * look.size)),
        paragraph("Cell", "", letters(0.95 * look.size)),
        paragraph("Head", "", letters(0.95 * look.size, bold=True)),
        paragraph("Small", 'fo:text-align="center"', letters(8)),
        paragraph("Footnote", "", letters(0.8 * look.size)),
    ]
    under = 'fo:border-top="1pt solid #000000" fo:border-bottom="0.5pt solid #000000"'
    shade = ' fo:background-color="#dddddd"' if look.ruling == "shaded" else ""
    cell = f'<style:table-cell-properties fo:padding="0.08cm" {_BORDERS[look.ruling]}/>'
    top = (
        f'<style:table-cell-properties fo:padding="0.08cm" {under if look.ruling == "head" else _BORDERS[look.ruling]}'
    )
    automatic = [
        f'<style:style style:name="C" style:family="table-cell">{cell}</style:style>',
        f'<style:style style:name="CH" style:family="table-cell">{top}{shade}/></style:style>',
        '<style:style style:name="S" style:family="section"><style:section-properties text:dont-balance-text-columns='
        f'"true"><style:columns fo:column-count="{look.columns}" fo:column-gap="0.8cm"/></style:section-properties>'
        "</style:style>",
        '<style:page-layout style:name="P"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" '
        'fo:margin-top="1.6cm" fo:margin-bottom="1.6cm" fo:margin-left="2.1cm" fo:margin-right="2.1cm"/>'
        '<style:header-style><style:header-footer-properties fo:margin-bottom="0.5cm" fo:min-height="0.6cm"/>'
        '</style:header-style><style:footer-style><style:header-footer-properties fo:margin-top="0.5cm" '
        'fo:min-height="0.6cm"/></style:footer-style></style:page-layout>',
        '<text:list-style style:name="L"><text:list-level-style-bullet text:level="1" text:bullet-char="•">'
        '<style:list-level-properties text:space-before="0.4cm" text:min-label-width="0.5cm"/>'
        "</text:list-level-style-bullet></text:list-style>",
    ]
    running = html.escape(look.running)
    master = (
        '<style:master-page style:name="Standard" style:page-layout-name="P">'
        f'<style:header><text:p text:style-name="Small">{running}</text:p></style:header>'
        '<style:footer><text:p text:style-name="Small"><text:page-number/></text:p></style:footer></style:master-page>'
    )
    first, *rest = (_flat_element(each) for each in elements)
    body = f'{first}<text:section text:style-name="S" text:name="S">{"".join(rest)}</text:section>'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {_SPACES} office:version="1.3" '
        'office:mimetype="application/vnd.oasis.opendocument.text">'
        f"<office:font-face-decls>{styles[0]}</office:font-face-decls><office:styles>{''.join(styles[1:])}"
        f"</office:styles><office:automatic-styles>{''.join(automatic)}</office:automatic-styles>"
        f"<office:master-styles>{master}</office:master-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document>"
    )


def _flat_element(each: Element) -> str:
    text = html.escape(each.text)
    if each.kind is Kind.HEADING:
        return f'<text:h text:style-name="H{each.level}" text:outline-level="{each.level}">{text}</text:h>'
    if each.kind is Kind.CAPTION:
        return f'<text:p text:style-name="Caption">{text}</text:p>'
    if each.kind is Kind.LIST:
        items = "".join(
            f'<text:list-item><text:p text:style-name="Body">{html.escape(item)}</text:p></text:list-item>'
            for item in each.items
        )
        return f'<text:list text:style-name="L">{items}</text:list>'
    if each.kind is Kind.TABLE:
        first, *rest = each.rows
        columns = f'<table:table-column table:number-columns-repeated="{len(first)}"/>'
        head = f"<table:table-header-rows>{_flat_row(first, 'CH', 'Head')}</table:table-header-rows>"
        return f"<table:table>{columns}{head}{''.join(_flat_row(row, 'C', 'Cell') for row in rest)}</table:table>"
    note = (
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
        f'<text:p text:style-name="Footnote">{html.escape(each.note)}</text:p></text:note-body></text:note>'
        if each.note
        else ""
    )
    return f'<text:p text:style-name="Body">{text}{note}</text:p>'


def _flat_row(cells: Sequence[str], style: str, paragraph: str) -> str:
    return (
        "<table:table-row>"
        + "".join(
            f'<table:table-cell table:style-name="{style}"><text:p text:style-name="{paragraph}">{html.escape(cell)}'
            "</text:p></table:table-cell>"
            for cell in cells
        )
        + "</table:table-row>"
    )


_RENDER = {"chromium": _by_chromium, "office": _by_office}
PROGRAMS = {"chromium": "chromium-headless-shell", "office": "soffice"}
