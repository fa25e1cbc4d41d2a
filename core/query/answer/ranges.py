"""Finds what a table says of a range that holds a number of the question: for "22 years old" the row of "21–24"."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.query.answer.quotable_units import CELL_JOINT, Unit

_NUMBER = r"(?!0\d)\d+(?:,\d{3})*(?:\.\d+)?"
_UNIT = r"[A-Za-z]{1,12}|[かヶケ]月[一-鿿]?|[一-鿿々ァ-ヴー]{1,4}|%"
_RANGE = re.compile(
    rf"(?<![A-Za-z\d.,-])(?P<first>{_NUMBER})\s?(?P<unit>{_UNIT})?\s?(?:[-‐‑–—−~〜]|\bto\b|から)\s?"
    rf"(?P<last>{_NUMBER})[\s-]?(?P<last_unit>{_UNIT})?"
)
_DIGITS = re.compile(r"\d[\d.,]*")
_FIGURE = re.compile(
    rf"(?<![A-Za-z\d.,/:])(?P<currency>[$€£¥]\s?)?(?P<value>{_NUMBER})(?![\d/:]|[.,]\d)(?P<parted>[\s-]?)(?=(?P<after>.{{0,20}}))"
)
_MEASURE = re.compile(
    r"[%月時分秒円歳才万億]|(?:am|pm|hundred|thousand|[mb]illion|years?[ -]old|percent|euros?|eur|dollars?|usd"
    r"|pounds?|gbp|yen|[kcm]?m|k?g|kilos?|miles?|seconds?|minutes?|hours?|days?|weeks?|months?"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b",
    re.IGNORECASE,
)
"""What a number counts that is no number of a thing, nor its size; a range has to be said to be of that, too."""
_COUNTED = re.compile(r"[a-z]+|\S")
_BEFORE = re.compile(r"([a-z]{3,}|[ァ-ヴー]{2,}|[一-鿿々]{2,})\W{0,2}\Z")
_NEAR = 30
_OFTEN_BEFORE = frozenset(("the", "and", "for", "from", "with", "over", "under", "than", "about", "are", "was", "has"))
_AGE = re.compile(r"years?[ -]old|歳|才")
_AGES = ("age", "歳", "年齢")
_LEAST_RANGES = 2
"""Cells of a column, or of a header, that are ranges without a unit: a single one may be a name, as that of a form."""


@dataclass(frozen=True, slots=True)
class _Range:
    """What a cell stands for; ``unit`` is the word that counts, empty where the cell has none."""

    low: float
    high: float
    unit: str


@dataclass(frozen=True, slots=True)
class _Figure:
    """A number in a text, with what is behind it; ``is_measure`` where it is an amount, a share, a length, a date …

    ``counted`` is what may say in the head of a column that it counts the same, ``beside`` what else names that.
    """

    value: float
    after: str
    is_measure: bool
    counted: Sequence[str]
    beside: str


def in_range(question: str, units: Sequence[tuple[int, Unit]]) -> list[bool]:
    """Tell which units, each with the number of its passage, are rows of a range that holds a number of the question.

    Their first cells are ranges. A number that a row has itself is in none.
    """
    asked: Sequence[_Figure] = _figures(question)
    if not asked:
        return [False] * len(units)
    ranges = [_range(unit.text.split(CELL_JOINT)[0]) if unit.is_row else None for _, unit in units]
    tables = Counter((passage, unit.header) for (passage, unit), own in zip(units, ranges, strict=True) if own)
    said: list[_Figure] = []
    for (_, unit), own in zip(units, ranges, strict=True):
        if unit.is_row:
            said += _figures(unit.text.partition(CELL_JOINT)[2] if own else unit.text)
    asked = _unsaid(asked, said)
    heads = [unit.header.split(CELL_JOINT)[0].casefold() for _, unit in units]
    held = [
        [figure for figure in asked if _holds(own, figure, head)]
        if own and tables[passage, unit.header] >= (1 if own.unit else _LEAST_RANGES)
        else []
        for (passage, unit), own, head in zip(units, ranges, heads, strict=True)
    ]
    # Of the tables with such ranges, one may say that it is of groups, where the number of a group is asked for.
    named = [any(_is_named(figure, head) for figure in figures) for figures, head in zip(held, heads, strict=True)]
    return named if any(named) else list(map(bool, held))


def column_of_range(question: str, heads: Sequence[str]) -> int | None:
    """Return the number of the one column whose head is a range that holds a number of the question."""
    asked: Sequence[_Figure] = _figures(question)
    ranges = [_range(head) for head in heads] if asked else []
    if len(ranges) - ranges.count(None) < _LEAST_RANGES:
        return None
    said = [each for head, own in zip(heads, ranges, strict=True) if own is None for each in _figures(head)]
    asked = _unsaid(asked, said)
    held = [
        number
        for number, own in enumerate(ranges)
        if own and any(_holds(own, figure, heads[0].casefold()) for figure in asked)
    ]
    return held[0] if len(held) == 1 else None


@lru_cache(maxsize=4_000)
def _range(cell: str) -> _Range | None:
    plain = unicodedata.normalize("NFKC", cell)
    match = _RANGE.search(plain)
    # A date or a time has more numbers.
    if match is None or len(_DIGITS.findall(plain)) != 2:
        return None
    first, last = _value(match["first"]), _value(match["last"])
    # The second year of "2010–15" has lost its century.
    if first > last and not match["unit"] and len(match["first"]) != len(match["last"]):
        return None
    unit = max(match["unit"] or "", match["last_unit"] or "", key=len)
    return _Range(min(first, last), max(first, last), _singular(unit))


@lru_cache(maxsize=4_000)
def _figures(text: str) -> tuple[_Figure, ...]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(_figure(match, plain) for match in _FIGURE.finditer(plain))


def _figure(match: re.Match[str], plain: str) -> _Figure:
    after = match["after"]
    is_glued = not match["parted"] and after[:1].isascii() and after[:1].isalpha()
    word = _COUNTED.match(after)
    counted = (_singular(word[0]), *(_AGES if _AGE.match(after) else ())) if word is not None else ()
    before = _BEFORE.search(plain[max(0, match.start() - _NEAR) : match.start()])
    beside = before[1] if before is not None and before[1] not in _OFTEN_BEFORE else ""
    is_measure = bool(match["currency"] or _MEASURE.match(after)) or is_glued
    return _Figure(_value(match["value"]), after, is_measure, counted, _singular(beside))


def _holds(own: _Range, figure: _Figure, head: str) -> bool:
    """Tell whether a number is within a range and counts the same, as far as range or ``head`` say what it counts."""
    if not own.low <= figure.value <= own.high:
        return False
    if own.unit.isascii() and own.unit.isalpha():
        return _singular(re.split(r"[^a-z]", figure.after, maxsplit=1)[0]) == own.unit
    if own.unit:
        return figure.after.startswith(own.unit)
    return not figure.is_measure or any(_is_in(word, head) for word in figure.counted)


def _is_named(figure: _Figure, head: str) -> bool:
    return any(len(word) > 1 and _is_in(word, head) for word in (figure.beside, *figure.counted))


def _is_in(word: str, head: str) -> bool:
    return re.search(rf"(?<![a-z]){re.escape(word)}s?(?![a-z])", head) is not None


def _unsaid(asked: Sequence[_Figure], said: Sequence[_Figure]) -> Sequence[_Figure]:
    """Return the numbers that none of those ``said`` is; an amount or a share is another than a plain number."""
    return [
        figure
        for figure in asked
        if not any(each.value == figure.value and each.is_measure <= figure.is_measure for each in said)
    ]


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _singular(unit: str) -> str:
    plain = unit.casefold()
    return plain.removesuffix("s") if plain.isascii() and len(plain) > 2 else plain
