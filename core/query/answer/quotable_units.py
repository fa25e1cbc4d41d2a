"""Cuts a passage into what can be quoted: sentences, list items and table rows with their header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from core.model import LABEL_JOINT, Chunk
from core.text.sentences import split_statements

CELL_JOINT = " | "

_LINE = re.compile(r"[^\n]+")
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*[.．、)]?\s|第\s*\d+\s*[条章節]|#+\s)")
_ENDED = re.compile(r"[.。!?！？:：;；,、，…|][」』）)\"'”’]*$")
_BULLET = re.compile(r"[-*•‣・●○■□◆◇▪–—]")
_LONGEST_HEADING = 80


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


def quotable_units(chunk: Chunk, title: str = "") -> Iterator[Unit]:
    """Yield the units of a chunk in order; the header rows of tables are no units of their own."""
    headings = {title.strip(), *chunk.locator.heading_path}
    terms = [label.text.rsplit(LABEL_JOINT, 1)[-1] for label in chunk.labels]
    section = ""
    lines = [(match.start(), match.end()) for match in _LINE.finditer(chunk.text)]
    for is_row, group in groupby(lines, key=lambda line: CELL_JOINT in chunk.text[line[0] : line[1]]):
        spans = list(group)
        if is_row:
            yield from _rows(chunk, spans, section)
            continue
        first, last = spans[0][0], spans[-1][1]
        for start, end in split_statements(chunk.text[first:last]):
            text = chunk.text[first + start : first + end]
            is_heading = (
                text.lstrip("# ") in headings
                or any(text.strip() in term for term in terms)
                or _looks_like_heading(chunk.text, first + start, first + end)
            )
            label = "" if is_heading else chunk.label_at(first + start)
            yield Unit(first + start, first + end, text, "", section, is_heading, label)
            section = text if is_heading else section


def _rows(chunk: Chunk, spans: list[tuple[int, int]], section: str) -> Iterator[Unit]:
    if chunk.labels:
        headers = {chunk.label_at(start).strip() for start, _ in spans}
        for start, end in spans:
            if len(spans) == 1 or chunk.text[start:end].strip() not in headers:
                yield Unit(start, end, chunk.text[start:end], chunk.label_at(start), section, is_row=True)
        return
    # A chunk that was cut before labels were kept does not tell whether its first row is a header.
    goes_on = bool(chunk.header) and not chunk.text[: spans[0][0]].strip()
    header = chunk.header if goes_on else chunk.text[slice(*spans[0])]
    if len(spans) == 1 and not goes_on:
        yield Unit(*spans[0], header, "", section, is_row=True)
    for start, end in spans:
        if chunk.text[start:end].strip() != header.strip():
            yield Unit(start, end, chunk.text[start:end], header, section, is_row=True)


def _looks_like_heading(text: str, start: int, end: int) -> bool:
    """Tell whether a short line stands over something: a question, in capitals, numbered, or alone without a stop."""
    line, rest = text[start:end], text[end:]
    alone_on_line = (start == 0 or text[start - 1] == "\n") and rest.startswith("\n")
    if not alone_on_line or not rest.strip() or len(line) > _LONGEST_HEADING or _BULLET.match(line):
        return False
    if line.endswith(("?", "？")) or (line.isupper() and line.isascii()):
        return True
    if _ENDED.search(line):
        return False
    if _NUMBERED.match(line):
        return not _NUMBERED.match(rest.lstrip())
    return rest.startswith("\n\n") and (start == 0 or text[:start].endswith("\n\n"))
