"""Finds a passage of the parsed text on the page where it stands, though blanks, hyphens and order may differ."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from core.model.pages import PageArea, PageRun

_LEAST_ALIKE = 85.0
_SHORTEST_SEARCHED = 8
"""A shorter piece is only marked where it stands just as it is."""
_LONGEST_PIECE = 300
_PIECES = re.compile(r"[^\n。．！？]+[。．！？]*|[^\n]+")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a run's letters begin among those of its page, and which sign of the run each of them is."""

    begins: int
    run: int
    signs: Sequence[int]
    length: int


def marks_of(runs: Sequence[PageRun], passage: str) -> tuple[PageArea, ...]:
    """Return the areas that cover ``passage`` on the page, a line of runs each; none where it is not there."""
    text, places = _plain(runs)
    covered: dict[int, tuple[float, float]] = {}
    done = 0
    for piece in _pieces(passage):
        wanted = plain(piece)
        if not wanted:
            continue
        found = _find(text, wanted, done)
        if found is None:
            continue
        done = found[1]
        for index, begins, ends in _within(places, *found):
            low, high = covered.get(index, (1.0, 0.0))
            covered[index] = min(low, begins), max(high, ends)
    return tuple(_merged(runs, covered))


def _pieces(passage: str) -> Iterator[str]:
    for match in _PIECES.finditer(passage):
        for at in range(0, len(match[0]), _LONGEST_PIECE):
            yield match[0][at : at + _LONGEST_PIECE]


def plain(text: str) -> str:
    """Return what two settings of one text have in common: no blanks, no hyphens, one form of every letter."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())


def _plain(runs: Sequence[PageRun]) -> tuple[str, list[_Place]]:
    """Return the letters and figures of a page, and where each run's stand among them."""
    pieces, places = [], []
    length = 0
    for number, run in enumerate(runs):
        folded = [plain(sign) for sign in run.text]
        signs = [at for at, each in enumerate(folded) for _ in each]
        if signs:
            places.append(_Place(length, number, signs, len(run.text)))
            pieces.append("".join(folded))
            length += len(signs)
    return "".join(pieces), places


def _find(text: str, wanted: str, after: int) -> tuple[int, int] | None:
    at = text.find(wanted, after)
    at = text.find(wanted) if at < 0 else at
    if at >= 0:
        return at, at + len(wanted)
    if len(wanted) < _SHORTEST_SEARCHED or not text:
        return None
    alike = fuzz.partial_ratio_alignment(wanted, text, score_cutoff=_LEAST_ALIKE)
    if alike is None or alike.dest_end - alike.dest_start < _SHORTEST_SEARCHED:
        return None
    return alike.dest_start, alike.dest_end


def _within(places: Sequence[_Place], start: int, end: int) -> Iterator[tuple[int, float, float]]:
    """Yield the runs of a stretch of the page's letters, with the shares of each at which it begins and ends."""
    at = max(bisect_right(places, start, key=lambda place: place.begins) - 1, 0)
    for place in places[at:]:
        if place.begins >= end:
            return
        inside = place.signs[max(start - place.begins, 0) : end - place.begins]
        if inside:
            # Signs beside the first and the last letter of a run belong to them.
            begins = 0 if inside[0] == place.signs[0] else inside[0]
            ends = place.length if inside[-1] == place.signs[-1] else inside[-1] + 1
            yield place.run, begins / place.length, ends / place.length


def _merged(runs: Sequence[PageRun], covered: dict[int, tuple[float, float]]) -> Iterator[PageArea]:
    last: PageArea | None = None
    before = -2
    for number in sorted(covered):
        begins, ends = covered[number]
        area = runs[number].area
        width = area.right - area.left
        own = PageArea(round(area.left + begins * width, 5), area.top, round(area.left + ends * width, 5), area.bottom)
        is_beside = last is not None and number == before + 1 and not runs[before].ends_line
        if last is not None and is_beside and own.left >= last.left and own.top < last.bottom and last.top < own.bottom:
            last = PageArea(last.left, min(last.top, own.top), own.right, max(last.bottom, own.bottom))
        else:
            if last is not None:
                yield last
            last = own
        before = number
    if last is not None:
        yield last
