"""An extracted answer as it reads best: table rows as a small table, steps and items as a list, the rest as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from dash import html
from dash.development.base_component import Component

from app.components.ask.support_marks import Pieces, supported_range, supported_text
from app.components.attributes import aria
from app.components.shared.citations import CITATION_MARK, CitationLink, citation_link
from app.components.shared.passage import CELL_JOINT
from app.i18n import t
from core.model import Answer, Citation

PAIR_JOINT, LABEL_END = "; ", ": "
LEAST_ITEMS = 2
_NUMBER = re.compile(r"\s*\(?(\d{1,2})[.)．）]\s*")
_BULLET = re.compile(r"\s*[-*•‣・●○■□◆◇▪–—]\s*")
_OTHER_MARK = re.compile(r"\s*(?:[①-⑳]|\(?[a-zA-Z][.)]\s|(?:step|手順)\s*\d)", re.IGNORECASE)
_ANNOUNCES = (":", "：")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table in the text of an answer: what its cells are called, where they stand, and its citation."""

    labels: tuple[str, ...]
    cells: tuple[Range, ...]
    citation: Citation


def answer_body(answer: Answer, link: CitationLink = citation_link) -> list[Component]:
    """The text of an answer in blocks; one that was written is one block, its sentences with what supports them."""
    if answer.sentences:
        return [html.P(supported_text(answer, link), className="answer-text")]
    blocks: list[Component] = []
    for labels, group in groupby(_stretches(answer), key=lambda part: part.labels if isinstance(part, Row) else None):
        parts = list(group)
        rows = [part for part in parts if isinstance(part, Row)]
        if labels is not None:
            blocks.append(_table(answer, labels, rows, link))
        for part in parts:
            if not isinstance(part, Row):
                blocks += _text_blocks(answer, part, link)
    return blocks


def row_of(text: str, at: int, end: int, citation: Citation) -> Row | None:
    """Read ``label: cell`` pairs of the cited row between two offsets; None where anything else stands there."""
    labels: list[str] = []
    cells: list[Range] = []
    for cell in (part.strip() for part in citation.text.split(CELL_JOINT)):
        found = _cell_at(text, cell, at, end) if cell else None
        if found is None:
            continue
        labels.append(text[at:found].removesuffix(LABEL_END).strip())
        cells.append((found, found + len(cell)))
        at = found + len(cell) + (0 if found + len(cell) == end else len(PAIR_JOINT))
    return Row(tuple(labels), tuple(cells), citation) if at == end and len(cells) >= LEAST_ITEMS else None


def _cell_at(text: str, cell: str, at: int, end: int) -> int | None:
    """Return where a cell stands as the whole of its pair, behind its label or at once."""
    found = text.find(cell, at, end)
    while found >= 0:
        behind = found + len(cell)
        is_whole = behind == end or text.startswith(PAIR_JOINT, behind)
        if is_whole and (found == at or text.endswith(LABEL_END, at, found)):
            return found
        found = text.find(cell, found + 1, end)
    return None


def _stretches(answer: Answer) -> Iterator[Row | Range]:
    """Yield the rows of tables, each with its mark, and the ranges of text between them."""
    known = {citation.number: citation for citation in answer.citations}
    done = at = 0
    for mark in CITATION_MARK.finditer(answer.text):
        citation = known.get(int(mark[1]))
        if citation is None:
            continue
        stretch = answer.text[at : mark.start()]
        first, last = at + len(stretch) - len(stretch.lstrip()), mark.start() - len(stretch) + len(stretch.rstrip())
        row = row_of(answer.text, first, last, citation) if CELL_JOINT in citation.text else None
        at = mark.end()
        if row is not None:
            yield from _range(answer.text, done, first)
            yield row
            done = at
    yield from _range(answer.text, done, len(answer.text))


def _range(text: str, start: int, end: int) -> Iterator[Range]:
    if text[start:end].strip():
        yield start, end


def _table(answer: Answer, labels: Sequence[str], rows: Sequence[Row], link: CitationLink) -> html.Div:
    source = html.Th(html.Span(t("answer.source"), className="visually-hidden"), scope="col")
    head = html.Thead(html.Tr([*[html.Th(label, scope="col") for label in labels], source]))
    body = [
        html.Tr([*[_cell(answer, cell, link) for cell in row.cells], html.Td(link(row.citation), className="cite")])
        for row in rows
    ]
    found = html.Table([head if any(labels) else None, html.Tbody(body)], className="passage-table answer-table")
    return html.Div(found, className="passage-scroll", tabIndex=0, role="group", **aria(label=t("passage.table")))


def _cell(answer: Answer, cell: Range, link: CitationLink) -> html.Td:
    is_deciding = any(start < cell[1] and end > cell[0] for start, end in answer.marked)
    return html.Td(supported_range(answer, *cell, link), className="is-deciding" if is_deciding else "")


def _text_blocks(answer: Answer, stretch: Range, link: CitationLink) -> Iterator[Component]:
    """Yield paragraphs and lists of the lines of a range."""
    lines = list(_lines(answer.text, *stretch))
    plain: list[Range] = []
    number = 0
    while number < len(lines):
        count = _items_from(answer.text, lines, number)
        if count < LEAST_ITEMS:
            plain.append(lines[number])
            number += 1
            continue
        yield from _paragraph(answer, plain, link)
        plain = []
        yield _list(answer, lines[number : number + count], link)
        number += count
    yield from _paragraph(answer, plain, link)


def _lines(text: str, start: int, end: int) -> Iterator[Range]:
    for line in re.finditer(r"[^\n]+", text[start:end]):
        first = start + line.start() + len(line[0]) - len(line[0].lstrip())
        if line[0].strip():
            yield first, start + line.start() + len(line[0].rstrip())


def _items_from(text: str, lines: Sequence[Range], number: int) -> int:
    """Return how many lines from one on are items of a list: lines with one kind of mark, or what a colon announces."""
    kinds = [_mark_of(text[start:end]) for start, end in lines[number:]]
    if kinds[0]:
        return next((count for count, kind in enumerate(kinds) if kind != kinds[0]), len(kinds))
    is_announced = number > 0 and text[: lines[number - 1][1]].endswith(_ANNOUNCES)
    return next((count for count, kind in enumerate(kinds) if kind), len(kinds)) if is_announced else 0


def _mark_of(line: str) -> str:
    kinds = (("number", _NUMBER), ("bullet", _BULLET), ("other", _OTHER_MARK))
    return next((kind for kind, mark in kinds if mark.match(line)), "")


def _list(answer: Answer, lines: Sequence[Range], link: CitationLink) -> Component:
    """Items under the numbers that they have, or under dots; other marks stay in the text."""
    kind = _mark_of(answer.text[lines[0][0] : lines[0][1]])
    items = []
    for start, end in lines:
        mark = {"number": _NUMBER, "bullet": _BULLET}.get(kind)
        cut = mark.match(answer.text[start:end]) if mark is not None else None
        pieces: Pieces = supported_range(answer, start + (cut.end() if cut else 0), end, link)
        items.append(html.Li(pieces, value=cut[1]) if cut and kind == "number" else html.Li(pieces))
    look = "answer-text answer-list answer-list-plain" if kind == "other" else "answer-text answer-list"
    return html.Ol(items, className=look) if kind == "number" else html.Ul(items, className=look)


def _paragraph(answer: Answer, lines: Sequence[Range], link: CitationLink) -> Iterator[Component]:
    if lines:
        yield html.P(supported_range(answer, lines[0][0], lines[-1][1], link), className="answer-text")
