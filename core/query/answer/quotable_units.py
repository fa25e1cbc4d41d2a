"""Cuts a passage into what can be quoted: sentences, list items and table rows with their header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.model import LABEL_JOINT, Chunk
from core.text.questions_and_answers import answer_mark, only_numbers_rows, pair_columns
from core.text.sentences import split_statements

CELL_JOINT = " | "

UNFINISHED = re.compile(
    r"\b(?:below|commands?|run(?:ning)?|typ(?:e|ing)|us(?:e|ing)|enter(?:ing)?|execut(?:e|ing)|call(?:ing)?|with|by)\Z|(?:例えば|たとえば)\Z",
    re.IGNORECASE,
)
"""How a sentence ends that goes on with a command on a line of its own."""

_LINE = re.compile(r"[^\n]+")
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*[.．、)]\s|\d+(?:\.\d+)+\s|第\s*\d+\s*[条章節]|#+\s)")
_COMMA = re.compile(r",\s+")
_STEP = re.compile(r"(?:^|\n)[(（]?(\d{1,2})[.．、)）]\s*[^\n]*")
_FIELD = re.compile(r"[:：]\s*\S")
_ENDED = re.compile(r"[.。．｡!?！？:：;；,、，…|][」』）)\"'”’]*$")
_STOPPED = re.compile(r"[.。．｡!?！？]\s*\Z")
_BULLET = re.compile(r"[-*•‣・●○■□◆◇▪–—]")
_ITEM = re.compile(r"[•*+-]\s+")
_SMALL = re.compile(
    r"^[^\w¿¡「『(\[#]|[\\\"$=<>{}|;]|://|^\S+ -{1,2}\w"
    r"|^(?:notes?|tips?|hints?|warnings?|cautions?|important|examples?|注|注意|注記|警告|重要|ヒント|メモ|備考|参考|例)[:：]?$",
    re.IGNORECASE,
)
"""A command on a line of its own, or what a boxed note is: it stands over a few lines and begins no section."""
COMMAND = re.compile(r"\s*[$%] [a-z./~]")
"""How a line begins that shows what is typed behind a prompt; a stroke in it hands on and parts no cells."""
_COLUMNS = re.compile(r"\S\t+\S|\n.*\n")
"""Of a line with columns, or of lines one below the other, which no heading takes."""
_TYPED = re.compile(
    r"\s*[a-z./~][\w./~+-]*(?: +[\w./~+-]+){0,3} +(?:-{1,2}[A-Za-z]|[/~.][\w.-]*/).*[^\s.?!]\s*\Z", re.ASCII | re.DOTALL
)
"""A line that is typed: a name in small letters, and soon behind it an option or a path; no sentence."""
_CODE = re.compile(r"^=|[^\s=]\s*=>?\s*[^\s=]|^[{}\]]|[;{]$|^[$%] \S")
"""What no heading has: an assignment, a formula with its value, a bracket of a program, or a prompt."""
_LONGEST_HEADING, _LONGEST_QUESTION = 80, 160
_LONGEST_ROW = 250
"""Characters of a row that an answer gives whole."""
_CODED_HEADING = re.compile(r"(?:[A-Z]{1,2}\d+(?:\.\d+)*|\d+(?:\.\d+)+)\.?\s+\S.*")
"""``9.4.14. Jobs`` or ``R10. It hangs.``"""


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of a chunk's text.

    ``header`` is that of a table row, ``section`` the heading above it, ``label`` the term, option, item or question
    that it stands under.
    """

    start: int
    end: int
    text: str
    header: str = ""
    section: str = ""
    is_heading: bool = False
    label: str = ""
    is_row: bool = False

    @property
    def said(self) -> str:
        """The text below what it stands under."""
        return "\n".join(each for each in (self.header or self.label, self.text) if each)


def is_typed(line: str) -> bool:
    """Tell whether a line shows what is typed: behind a prompt, or a command with an option or a path."""
    return COMMAND.match(line) is not None or _TYPED.match(line) is not None


def is_code(text: str) -> bool:
    """Tell whether a text is typed, or a part of a program, and no sentence."""
    return is_typed(text) or (_CODE.search(text) is not None and _STOPPED.search(text) is None)


def quotable_units(chunk: Chunk, title: str = "") -> Iterator[Unit]:
    """Yield the units of a chunk in order; the header rows of tables are no units of their own."""
    headings = {title.strip(), *chunk.locator.heading_path}
    terms = {part for label in chunk.labels for part in _parts_of(label.text.rsplit(LABEL_JOINT, 1)[-1])}
    section = ""
    lines = [(match.start(), match.end()) for match in _LINE.finditer(chunk.text)]

    def is_row_at(line: tuple[int, int]) -> bool:
        text = chunk.text[slice(*line)]
        # A header is a label as well, but no option.
        is_option = text.strip()[:1] == "-" and text.strip() in terms
        return CELL_JOINT in text and not is_option and not COMMAND.match(text)

    for is_row, group in groupby(lines, key=is_row_at):
        spans = list(group)
        if is_row:
            yield from _rows(chunk, spans, section)
            continue
        first, last = spans[0][0], spans[-1][1]
        for start, end in _statements(chunk.text[first:last]):
            text = chunk.text[first + start : first + end]
            is_term = text.strip() in terms
            is_heading = (
                is_term or text.lstrip("# ") in headings or _looks_like_heading(chunk.text, first + start, first + end)
            )
            label = "" if is_heading else chunk.label_at(first + start)
            bullet = _ITEM.match(text)
            said = text[bullet.end() :] if bullet else text
            if label and (mark := answer_mark(said)):
                text = said[len(mark) :]
                start = end - len(text)
            yield Unit(first + start, first + end, text, "", section, is_heading, label)
            if is_heading and not is_term and not _SMALL.search(text):
                section = text


def _parts_of(term: str) -> Iterator[str]:
    """Yield a term, and what it is cut into."""
    yield term.strip()
    yield from (term[start:end].strip() for start, end in split_statements(term))
    # A list of names may take two lines.
    for comma in _COMMA.finditer(term):
        yield from (term[: comma.start() + 1].strip(), term[comma.end() :].strip())
    # Options may take a line each, and were joined by commas.
    yield from (part.strip() for part in _COMMA.split(term) if part[:1] == "-")


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of sentences; a heading with a number, whose stop ends none, is one whole."""
    at = 0
    for line in _LINE.finditer(text):
        if _is_coded_heading(text, line.start(), line.end()):
            yield from ((at + start, at + end) for start, end in split_statements(text[at : line.start()]))
            yield line.start(), line.end()
            at = line.end()
    yield from ((at + start, at + end) for start, end in split_statements(text[at:]))


def _rows(chunk: Chunk, spans: list[tuple[int, int]], section: str) -> Iterator[Unit]:
    if chunk.labels:
        headers = {chunk.label_at(start).strip() for start, _ in spans}
        for start, end in spans:
            header, line = chunk.label_at(start), chunk.text[start:end].strip()
            if len(spans) == 1 or line not in headers or pair_columns([], line.split(CELL_JOINT)):
                yield from _row(chunk.text, start, end, header, section)
        return
    # A chunk that was cut before labels were kept does not tell whether its first row is a header.
    goes_on = bool(chunk.header) and not chunk.text[: spans[0][0]].strip()
    header = chunk.header if goes_on else chunk.text[slice(*spans[0])]
    if len(spans) == 1 and not goes_on:
        yield Unit(*spans[0], header, "", section, is_row=True)
    for start, end in spans:
        if chunk.text[start:end].strip() != header.strip():
            yield from _row(chunk.text, start, end, header, section)


def _row(text: str, start: int, end: int, header: str, section: str) -> Iterator[Unit]:
    """Yield a row whole; of one with a question and its answer, the sentences of the answer below the question.

    A long row whose first cell is a name that another cell describes is split the same way, as the entry of a list.
    """
    heads, cells = header.split(CELL_JOINT) if header else [], text[start:end].split(CELL_JOINT)
    columns = _pair_of(heads, cells) or _columns_that_tell(text[start:end], heads, cells)
    if columns:
        yield from _entry_of_row(start, heads, cells, section, columns[0], columns[1:])
    else:
        yield Unit(start, end, text[start:end], header, section, is_row=True)


def _pair_of(heads: Sequence[str], cells: Sequence[str]) -> Sequence[int]:
    """Return the columns of a question and of its answer where a row has both; none of others."""
    columns = pair_columns(heads, cells) or ()
    return columns if all(column < len(cells) and cells[column].strip() for column in columns) else ()


def _columns_that_tell(row: str, heads: Sequence[str], cells: Sequence[str]) -> Sequence[int]:
    """Return the column of a long row that names something, and those that describe it in sentences; none of others."""
    numbered = [column for column, head in enumerate(heads) if head.strip() and only_numbers_rows(head)]
    named = next((column for column, cell in enumerate(cells) if cell.strip() and column not in numbered), len(cells))
    if len(row) <= _LONGEST_ROW or named == len(cells):
        return []
    name = cells[named].strip()
    told = [column for column in range(named + 1, len(cells)) if len(list(split_statements(cells[column]))) > 1]
    return [named, *told] if told and len(name) <= _LONGEST_HEADING and not _ENDED.search(name) else []


def _entry_of_row(
    start: int, heads: Sequence[str], cells: Sequence[str], section: str, named: int, told: Sequence[int]
) -> Iterator[Unit]:
    """Yield the cell that names as a heading, the sentences of those that describe it, and the other cells as rows."""
    name = cells[named].strip()
    at = start
    for column, cell in enumerate(cells):
        head = heads[column].strip() if column < len(heads) else ""
        if column == named:
            yield Unit(at, at + len(cell), cell, "", section, is_heading=True)
        elif column in told:
            for first, last in split_statements(cell):
                yield Unit(at + first, at + last, cell[first:last], "", name, label=name)
        elif cell.strip() and not only_numbers_rows(head):
            yield Unit(at, at + len(cell), cell, head, section, label=name, is_row=True)
        at += len(cell) + len(CELL_JOINT)


def _is_coded_heading(text: str, start: int, end: int) -> bool:
    if end - start > _most_chars(text[start:end]) or not _CODED_HEADING.fullmatch(text[start:end]):
        return False
    return text[end:].startswith("\n\n") and (start == 0 or text[:start].endswith("\n\n"))


def _most_chars(line: str) -> int:
    """Return how long a heading may be: a question, as they stand in lists of such, longer than another one."""
    return _LONGEST_QUESTION if line.endswith(("?", "？")) else _LONGEST_HEADING


def _looks_like_heading(text: str, start: int, end: int) -> bool:
    """Tell whether a short line stands over something: a question, in capitals, numbered, or alone without a stop."""
    if _is_coded_heading(text, start, end):
        return True
    line, rest = text[start:end], text[end:]
    alone_on_line = (start == 0 or text[start - 1] == "\n") and rest.startswith("\n")
    if not alone_on_line or not rest.strip() or len(line) > _LONGEST_HEADING or _BULLET.match(line):
        return False
    if _COLUMNS.search(line) or is_typed(line):
        return False
    if line.endswith(("?", "？")) or _is_in_capitals(line):
        return True
    if _ENDED.search(line) or UNFINISHED.search(line):
        return False
    if _NUMBERED.match(line):
        return not _NUMBERED.match(rest.lstrip()) and not _is_next_step(text[:start], line)
    if not rest.startswith("\n\n") or not (start == 0 or text[:start].endswith("\n\n")):
        return False
    return not (_CODE.search(line) or _is_in_midst(text[:start], rest))


def _is_in_midst(before: str, rest: str) -> bool:
    """Tell whether a line interrupts a sentence, which goes on below it: "Set", the command, "to turn it off"."""
    ended = before.rstrip()
    return bool(ended) and ended[-1].isalpha() and ended[-1].isascii() and rest.lstrip()[:1].islower()


def _is_in_capitals(line: str) -> bool:
    """Tell whether a line is a heading for its capitals, and not a value for them: ``RAM: 8 GB``."""
    if not line.isupper() or not line.isascii() or _FIELD.search(line):
        return False
    return sum(map(str.isdigit, line)) < sum(map(str.isalpha, line))


def _is_next_step(before: str, line: str) -> bool:
    """Tell whether a numbered line goes on with the list whose last item is the line, or is in the block, before it."""
    own = _STEP.match(line)
    paragraphs = before.rstrip().rsplit("\n\n", 1)
    items = list(_STEP.finditer(paragraphs[-1]))
    if own is None or not items or int(items[-1][1]) != int(own[1]) - 1:
        return False
    is_same_block = not before.endswith("\n\n")
    return is_same_block or items[-1].end() == len(paragraphs[-1])
