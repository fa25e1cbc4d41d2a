"""Rows of PDF pages as blocks: lines join to paragraphs, across pages where a sentence goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.ingest.labels import is_term
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.pdf_aligned import Drawn, aligned_tables
from core.ingest.parsers.pdf_columns import columns, rows
from core.ingest.parsers.pdf_page import Page, PageLine, PageRow, rows_of_column
from core.ingest.parsers.pdf_style import Typography
from core.ingest.parsers.pdf_tables import PdfTable, ruled_tables
from core.ingest.parsers.tables import RowGroups
from core.ingest.parsers.wording import first_word_width, join_typeset, squeeze
from core.model import LABEL_JOINT, Block, BlockKind
from core.text.contents import as_entry

_BULLET = re.compile(r"(?:[•·∙‣▪■□◆◇●○◦➢✓※]\s*|[–\-*・]\s+|・|[①-⑳]\s*|\(?\d{1,3}[.)]\s+|\([a-z\d]\)\s+|[a-z]\)\s+)")
_SENTENCE_END = re.compile(r"[。！？.!?:：][」』）)\"”’]*\s*\Z")
_ENTRY = re.compile(r"\s*(?:\d[\d.]*|[A-Z]|第.{1,3}[章節])\s+\S.*\s\d{1,4}\s*\Z")
_LEADERS = re.compile(r"(?:\.\s?|…\s?|・){5,}\s*[\divxlc]*\s*\Z", re.I)
_LABEL = re.compile(r"(?:chapter|appendix|part)\s+[\dA-Z]{1,5}\Z|第\s*\w{1,4}\s*[章部編]\Z", re.I)
LIST_LINES = 40
MAX_TEXT_CHARS = 30_000
CODE_GAP = 3.2
"""Code goes on over a gap of this many sizes of its text: a blank line."""
INDENT = 1.5
"""Text that begins at least this many sizes of it to the right of a short line above is explained by that line."""


@dataclass(slots=True)
class Flow:
    """What is open while the pages go by: a paragraph, a list item or code, and the items before it."""

    style: Typography
    outline: Outline = field(default_factory=Outline)
    _text: str = ""
    _kind: BlockKind = BlockKind.PARAGRAPH
    _first_page: int = 0
    _last: PageRow | None = None
    _last_page: int = 0
    _item_left: float = 0.0
    _rows: int = 0
    """Rows of the text that is open; ``_left`` is where the leftmost begins, from the left edge of its page's text."""
    _left: float = 0.0
    _page_left: float = 0.0
    _terms: list[tuple[float, str]] = field(default_factory=list)
    """Lines that the text below is indented under, with their left edges."""
    _items: list[str] = field(default_factory=list)
    _items_page: int = 0
    _table: PdfTable | None = None
    _header: str = ""
    _first_row: str = ""

    def page(self, page: Page) -> Iterator[Block]:
        """Take one page; yields the blocks that it completes."""
        entries: list[str] = []
        tables, lines = ruled_tables(page)
        found = self._rows_of(page, tables, [line for line in lines if not line.turn])
        leaders = sum(map(_leads_on, found))
        edges = _right_edges(found, self.style.leading)
        self._page_left = min((row.box[0] for row in found), default=0.0)
        at = 0
        while at < len(found):
            row = found[at]
            at += 1
            if row.pieces[0].table >= 0:
                yield from self._tabulated(tables[row.pieces[0].table], page.number)
                continue
            if not row.text.strip():
                continue
            if leaders >= 3 and (_leads_on(row) or _ENTRY.match(row.text)):
                entries.append(row.text)
                continue
            level, taken = self.style.level_by_outline(page.number, found[at - 1 :])
            if not level:
                level, taken = self._level_by_look(row), 1
                while level and self._goes_on(row, found[at + taken - 2 : at + taken], taken):
                    taken += 1
            if level and _LABEL.match(row.text.strip()) and at < len(found):
                following, more = self.style.level_by_outline(page.number, found[at:])
                following = following or self._level_by_look(found[at])
                level, taken = (following, max(more, 1) + 1) if following else (level, taken)
            if level:
                yield from self.finish()
                self._terms = []
                text = ""
                for part in found[at - 1 : at - 1 + taken]:
                    text = join_typeset(text, part.text.strip())
                yield self.outline.heading(squeeze(text), level, page=page.number)
                at += taken - 1
                self._last, self._last_page, self._table = None, page.number, None
                continue
            yield from self._line(row, page.number, edges[at - 1])
        yield from self._asides(page.number, [line for line in lines if line.turn])
        for first in range(0, len(entries), LIST_LINES):
            some = "\n".join(map(as_entry, entries[first : first + LIST_LINES]))
            yield self.outline.block(some, BlockKind.LIST, page=page.number)

    def _rows_of(self, page: Page, tables: list[PdfTable], lines: list[PageLine]) -> list[PageRow]:
        """The rows of a page in reading order; a row stands for each table, aligned ones are added to ``tables``."""
        drawn = Drawn([rule for rule in page.rules if rule[2] - rule[0] > rule[3] - rule[1]], page.shades)
        found: list[PageRow] = []
        for column in columns(
            [*lines, *map(self._stand_in, range(len(tables)), tables)], self.style.gutters, page.rules
        ):
            aligned, left = aligned_tables(column, drawn, self.style.leading)
            left += map(self._stand_in, range(len(tables), len(tables) + len(aligned)), aligned)
            tables += aligned
            found += (row for line in rows_of_column(left) for row in _with_tables_apart(line))
        return found

    def _stand_in(self, number: int, table: PdfTable) -> PageLine:
        x0, y0, x1, _ = table.box
        return PageLine("", (x0, y0, x1, y0 + 1), self.style.body_size, table=number)

    def _asides(self, page: int, lines: list[PageLine]) -> Iterator[Block]:
        """Yield what reads in other turns than its page: sideways labels and notes, which are no headings.

        What is open stays open, so that a sentence still goes on from one page to the next.
        """
        for turn in sorted({line.turn for line in lines}):
            found = rows([line for line in lines if line.turn == turn])
            edges = _right_edges(found, self.style.leading)
            flow = Flow(self.style, self.outline)
            for row, right in zip(found, edges, strict=True):
                if row.text.strip():
                    yield from flow._line(row, page, right)
            yield from flow.finish()

    def _level_by_look(self, row: PageRow) -> int:
        last = self._last
        gap = row.box[1] - last.box[3] if last is not None and row.box[1] > last.box[1] else 2 * row.size
        return self.style.level_by_look(row, gap)

    def _goes_on(self, first: PageRow, rest: Sequence[PageRow], taken: int) -> bool:
        if taken >= 3 or len(rest) < 2:
            return False
        before, row = rest[0], rest[1]
        alike = abs(row.size - first.size) < 0.3 and row.bold == first.bold and row.pieces[0].table < 0
        return alike and 0 < row.box[3] - before.box[3] < 1.5 * row.size and self.style.level_by_look(row, 0) > 0

    def _line(self, row: PageRow, page: int, right: float) -> Iterator[Block]:
        text = row.text.strip()
        bullet = None if row.mono else _BULLET.match(text)
        if self._text and (bullet or self._parts(row, page, right)):
            yield from self._end_text(bullet is not None)
        left = row.box[0] - self._page_left
        self._rows, self._left = (self._rows + 1, min(self._left, left)) if self._text else (1, left)
        if self._last is not None and page == self._last_page and row.box[3] < self._last.box[1]:
            # The next column: what stood in the one before is not to the left of anything here.
            self._terms = []
        if not self._text:
            self._first_page = page
            if row.mono:
                self._kind = BlockKind.CODE
            else:
                self._kind = BlockKind.LIST if bullet else BlockKind.PARAGRAPH
            if not bullet:
                yield from self._end_items()
            self._item_left = row.box[0]
            self._text = text
        elif self._kind is BlockKind.CODE:
            indent = max(0, round((row.box[0] - self._item_left) / (0.6 * row.size)))
            far = self._last is not None and row.box[3] - self._last.box[3] > 1.7 * self.style.leading * row.size
            self._text += ("\n\n" if far else "\n") + " " * min(indent, 80) + text
        else:
            self._text = join_typeset(self._text, text)
        self._last, self._last_page, self._table = row, page, None

    def _parts(self, row: PageRow, page: int, right: float) -> bool:
        """Whether a row begins a new paragraph."""
        last = self._last
        if last is None or len(self._text) > MAX_TEXT_CHARS:
            return True
        ended = _SENTENCE_END.search(self._text[-20:]) is not None
        if row.mono and self._kind is not BlockKind.CODE and not ended and last.box[2] > right - 6 * row.size:
            # A line of running text that names nothing but commands is still running text.
            return page != self._last_page or not 0 < row.box[3] - last.box[3] < 1.3 * self.style.leading * row.size
        if row.mono != (self._kind is BlockKind.CODE) or abs(row.size - last.size) > 0.08 * last.size + 0.3:
            return True
        if page != self._last_page or row.box[3] < last.box[1]:
            # The next page or column: only a sentence that has not ended goes on there.
            if self._kind is BlockKind.LIST:
                return ended or row.box[0] < self._item_left + 0.5 * row.size or not row.text.strip()[:1].islower()
            return self._kind is BlockKind.CODE or ended or row.bold != last.bold
        distance = row.box[3] - last.box[3]
        if self._kind is BlockKind.CODE:
            return distance > CODE_GAP * row.size
        if distance > (1.3 * self.style.leading + 0.1) * row.size:
            return True
        if self._kind is BlockKind.LIST and row.box[0] < self._item_left - 0.5 * row.size:
            return True
        indented = row.box[0] - last.box[0] > 0.8 * row.size and last.box[0] <= self._item_left + 0.5 * row.size
        left_free = right - last.box[2]
        needed = first_word_width(row.text, row.box[2] - row.box[0], row.size) + (0.5 if ended else 2.0) * row.size
        return (indented and ended and self._kind is BlockKind.PARAGRAPH) or left_free > needed

    def _end_text(self, item_follows: bool = False) -> Iterator[Block]:
        text, self._text = self._text, ""
        if not text:
            return
        size = self._last.size if self._last is not None else self.style.body_size
        self._terms = [term for term in self._terms if term[0] + INDENT * size <= self._left]
        if self._kind is not BlockKind.LIST or not self._items:
            self.outline.label = LABEL_JOINT.join(term for _, term in self._terms)
        if self._rows == 1 and self._kind is not BlockKind.LIST and is_term(text):
            self._terms.append((self._left, squeeze(text)))
        if self._kind is BlockKind.LIST:
            self._items.append(squeeze(text))
            self._items_page = self._items_page or self._first_page
            if not item_follows or len(self._items) >= LIST_LINES:
                yield from self._end_items()
            return
        end = self._last_page if self._last_page > self._first_page else None
        if self._kind is not BlockKind.CODE:
            text = squeeze(text)
        yield self.outline.block(text, self._kind, page=self._first_page, page_end=end)

    def _end_items(self) -> Iterator[Block]:
        items, self._items = self._items, []
        first, self._items_page = self._items_page or self._first_page, 0
        if items:
            end = self._last_page if self._last_page > first else None
            yield self.outline.block("\n".join(items), BlockKind.LIST, page=first, page_end=end)

    def _tabulated(self, table: PdfTable, page: int) -> Iterator[Block]:
        yield from self.finish()
        lines = table.lines
        last = self._table
        goes_on = last is not None and page - self._last_page in (0, 1) and last.goes_on_in(table)
        if not goes_on:
            self._first_row = lines[0] if lines else ""
            self._header = self._first_row if table.has_header else ""
        elif lines and lines[0] == self._first_row:
            # What a table repeats where it goes on names its columns, however it is set.
            self._header = self._first_row
            lines = lines[1:]
        groups = RowGroups(lambda _first, _last: self.outline.locator(page=page), self._header)
        for line in lines:
            yield from groups.add(line)
        yield from groups.flush()
        self._table, self._last_page, self._last = table, page, None

    def finish(self) -> Iterator[Block]:
        """Yield what is still open."""
        yield from self._end_text()
        yield from self._end_items()


def _with_tables_apart(row: PageRow) -> list[PageRow]:
    """Part a row that stands beside a table from the table, which follows it."""
    beside = [piece for piece in row.pieces if piece.table < 0]
    if len(beside) == len(row.pieces) or len(row.pieces) == 1:
        return [row]
    tables = [PageRow.of([piece]) for piece in row.pieces if piece.table >= 0]
    return [PageRow.of(beside), *tables] if beside else tables


def _leads_on(row: PageRow) -> bool:
    """Whether dots lead from a title to its page number."""
    return len(row.text) < 500 and _LEADERS.search(row.text) is not None


def _right_edges(found: Sequence[PageRow], leading: float) -> list[float]:
    """The right edge of the stretch of text that each row belongs to."""
    edges: list[float] = []
    start = 0
    for at, row in enumerate(found):
        if at > start:
            before = found[at - 1]
            apart = not 0 < row.box[3] - before.box[3] < (1.3 * leading + 0.1) * row.size
            if apart or abs(row.size - before.size) > 0.5 or abs(row.box[0] - before.box[0]) > 3 * row.size:
                edges.extend([max(each.box[2] for each in found[start:at])] * (at - start))
                start = at
    if found:
        edges.extend([max(each.box[2] for each in found[start:])] * (len(found) - start))
    return edges
