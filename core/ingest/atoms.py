"""Blocks to atoms: the pieces of text that a chunk border never divides, with exact spans."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from core.ingest.labels import Labels, label_at
from core.model import BLOCK_JOINT, Block, BlockKind, Locator
from core.text.language import token_weights
from core.text.sentences import Span, split_sentences

_SLICE_CHARS = 65_536
_LONGEST_ATOM_CHARS = 4_000
_LONGEST_ROW_CHARS = 16_000
_LONGEST_HEADER_CHARS = 1_000
_LARGEST_HEADING = 0.2
_JOINERS = "\u200d\ufe0e\ufe0f"
_BREAKS = re.compile(r"[\s、，,;；:：・)）」]")

Section = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of the parsed text; ``gap`` is the white space between it and the atom before.

    ``header`` is the header row of a table, for other kinds the label that the text stands under.
    """

    text: str
    gap: str
    start: int
    tokens: float
    kind: BlockKind
    is_heading: bool
    starts_block: bool
    section: Section
    header: str
    locator: Locator

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def cut_into_atoms(blocks: Iterable[Block], *, longest_tokens: int, cut_tokens: int) -> Iterator[Atom]:
    """Yield the atoms of all blocks in order; one with more than ``longest_tokens`` is cut to ``cut_tokens``.

    A row of a table is cut only when it has more characters than the stores take (16,000).
    """
    section: Section = ()
    offset = 0
    gap = ""
    labels = Labels()
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            level = block.level or 1
            section = (*(each for each in section if each[0] < level), (level, block.text))
        header = block.header.strip()[:_LONGEST_HEADER_CHARS]
        stands = labels.of(block)
        done = 0
        for start, end, tokens in _spans(block, longest_tokens, cut_tokens):
            text = block.text[start:end]
            yield Atom(
                text=text,
                gap=gap + block.text[done:start],
                start=offset + start,
                tokens=tokens,
                kind=block.kind,
                is_heading=block.kind is BlockKind.HEADING and tokens <= _LARGEST_HEADING * cut_tokens,
                starts_block=done == 0 and block.kind is not BlockKind.TABLE,
                section=section,
                header=header if block.kind is BlockKind.TABLE else label_at(stands, start),
                locator=block.locator,
            )
            if block.kind is BlockKind.TABLE and not (header or block.is_headless):
                header = text[:_LONGEST_HEADER_CHARS]
            gap, done = "", end
        gap += block.text[done:] + BLOCK_JOINT
        offset += len(block.text) + len(BLOCK_JOINT)


def _spans(block: Block, longest_tokens: int, cut_tokens: int) -> Iterator[tuple[int, int, float]]:
    """Yield start, end and tokens of each atom of a block, which is read in slices so that memory stays bounded."""
    is_table = block.kind is BlockKind.TABLE
    longest_chars = _LONGEST_ROW_CHARS if is_table else _LONGEST_ATOM_CHARS
    begin = 0
    while begin < len(block.text):
        text = block.text[begin : begin + _SLICE_CHARS]
        spans = _CUTTERS.get(block.kind, split_sentences)(text)
        advance = len(text)
        if len(spans) > 1 and begin + len(text) < len(block.text):
            advance = spans.pop()[0]
        sums = [0.0, *np.cumsum(token_weights(text), dtype=np.float64).tolist()]
        for start, end in spans:
            tokens = sums[end] - sums[start]
            if end - start <= longest_chars and (tokens <= longest_tokens or is_table):
                pieces = [(start, end)]
            else:
                pieces = _cut(text, start, end, sums, cut_tokens, longest_chars)
            for first, last in pieces:
                yield begin + first, begin + last, sums[last] - sums[first]
        begin += advance


def _lines(text: str) -> list[Span]:
    spans = []
    begin = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            start = begin + len(line) - len(line.lstrip())
            spans.append((start, start + len(stripped)))
        begin += len(line) + 1
    return spans


def _whole(text: str) -> list[Span]:
    stripped = text.strip()
    start = len(text) - len(text.lstrip())
    return [(start, start + len(stripped))] if stripped else []


_CUTTERS = {BlockKind.TABLE: _lines, BlockKind.CODE: _lines, BlockKind.HEADING: _whole}


def _cut(text: str, start: int, end: int, sums: list[float], cut_tokens: int, longest_chars: int) -> list[Span]:
    """Return the pieces of what is too long: cut at white space or a comma, else between two characters."""
    pieces: list[Span] = []
    done = start
    while done < end:
        reach = bisect_right(sums, sums[done] + cut_tokens, done + 1, end + 1) - 1
        stop = min(max(reach, done + 1), done + longest_chars, end)
        if stop < end:
            stop = _character_border(text, done, _break_before(text, done, stop))
        pieces += [(done + first, done + last) for first, last in _whole(text[done:stop])]
        done = stop
    return pieces


def _break_before(text: str, start: int, stop: int) -> int:
    middle = (start + stop) // 2
    return max((match.end() for match in _BREAKS.finditer(text, middle, stop)), default=stop)


def _character_border(text: str, start: int, stop: int) -> int:
    """Return the last border up to ``stop`` that parts no surrogate pair and no sign from its combining marks."""
    for border in range(stop, max(start + 1, stop - 64), -1):
        before, following = text[border - 1], text[border]
        joined = unicodedata.combining(following) or following in _JOINERS or before == "\u200d"
        paired = "\ud800" <= before <= "\udbff" and "\udc00" <= following <= "\udfff"
        if not (joined or paired):
            return border
    return stop
