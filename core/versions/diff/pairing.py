"""Which removed line became which added one: similar lines are paired in order, within one gap between equal lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Indel, Prefix

Floats = npt.NDArray[np.float32]
Pair = tuple[int, int]
Similarity = Callable[[Sequence[str], Sequence[str]], Floats]

SIMILAR = 0.5
_SIMILAR_LETTERS = 0.8
_WORD_LENGTH = 15
_LONG_BEGINNING, _SAME_BEGINNING = 40, 0.33
"""Signs that two lines begin with alike, and their share of the shorter one, to be the same line though it grew."""
_PAIR_WORTH = 0.35
_WINDOW, _NARROW_WINDOW = 32, 8
_LONG_TEXT = 400
_FRUITLESS = 8
_SLICE_LINES = 512


@dataclass(slots=True)
class Texts:
    """Some lines of a text, which are read when they are asked for; the part that was read last is kept."""

    read: Callable[[list[int]], list[str]]
    places: list[int]
    _part: slice | None = None
    _texts: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, part: slice) -> list[str]:
        if part != self._part:
            self._part, self._texts = part, self.read(self.places[part])
        return self._texts

    def part(self, first: int, last: int) -> Texts:
        return Texts(self.read, self.places[first:last])


def pair_similar(old: Texts, new: Texts, similarity: Similarity, is_spent: Callable[[], bool]) -> list[Pair]:
    """Return pairs of lines, rising on both sides, whose texts are similar.

    Many lines are compared in windows that move down both sides; where several in a row yield nothing, the rest of the
    lines is left alone.
    """
    if len(old) == len(new) > _WINDOW and _are_similar_in_order(old, new):
        return list(zip(old.places, new.places, strict=True))
    average = max(sum(map(len, texts[:_WINDOW])) // min(_WINDOW, len(texts)) for texts in (old, new))
    window = _WINDOW if average <= _LONG_TEXT else _NARROW_WINDOW
    pairs: list[Pair] = []
    old_done = new_done = fruitless = 0
    while old_done < len(old) and new_done < len(new) and fruitless < _FRUITLESS and not is_spent():
        is_last = old_done + window >= len(old) and new_done + window >= len(new)
        similar = similarity(old[old_done : old_done + window], new[new_done : new_done + window])
        reach = window if is_last else window // 2
        found = [pair for pair in best_pairs(similar) if max(pair) < reach]
        pairs += [(old.places[old_done + first], new.places[new_done + second]) for first, second in found]
        if is_last:
            break
        fruitless = 0 if found else fruitless + 1
        last = (found[-1][0] + 1, found[-1][1] + 1) if found else (window // 2, window // 2)
        old_done, new_done = old_done + last[0], new_done + last[1]
    return pairs


def best_pairs(similar: Floats) -> list[Pair]:
    """Return the pairs in order that are most similar together; ``similar`` has shape ``(old, new)``."""
    rows, columns = similar.shape
    if rows == columns == 1:
        return [(0, 0)] if similar[0, 0] >= SIMILAR else []
    plain = _plain_pairs(similar)
    if plain is not None:
        return plain
    worth = np.where(similar >= SIMILAR, similar - _PAIR_WORTH, -1.0).astype(np.float64)
    best = np.zeros((rows + 1, columns + 1))
    for row in range(rows):
        taken = np.maximum(best[row, 1:], best[row, :-1] + worth[row])
        best[row + 1, 1:] = np.maximum.accumulate(taken)
    pairs = []
    row, column = rows, columns
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    return pairs[::-1]


def _plain_pairs(similar: Floats) -> list[Pair] | None:
    """Return each old line with the new one most like it, if these rise and none has a rival: no pairs are better."""
    best = similar.argmax(axis=1)
    most = similar[np.arange(len(similar)), best]
    rows = np.flatnonzero(most >= SIMILAR)
    columns = best[rows]
    if (columns[1:] <= columns[:-1]).any() or ((similar == most[:, None]).sum(axis=1)[rows] > 1).any():
        return None
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def line_similarity(old: Sequence[str], new: Sequence[str]) -> Floats:
    """Return how alike lines are, from 0 to 1, by their words or, where spaces part no words, by their letters."""
    if not _has_words(old) or not _has_words(new):
        similar = _compared(old, new)
        _see_beginnings(similar, old, new)
        return similar
    similar = _compared([text.split() for text in old], [text.split() for text in new])
    _see_beginnings(similar, old, new)
    if similar.max(initial=1.0) < SIMILAR or len(old) * len(new) == 1:
        letters = _compared(old, new)
        similar = np.where(letters >= _SIMILAR_LETTERS, np.maximum(similar, letters), similar)
    return similar


def _see_beginnings(similar: Floats, old: Sequence[str], new: Sequence[str]) -> None:
    """Have lines that begin alike at length count as just similar, however much longer one of them has become."""
    shares = [
        (at, other_at)
        for at, text in enumerate(old)
        for other_at, other in enumerate(new)
        if similar[at, other_at] < SIMILAR
        and text[:_LONG_BEGINNING] == other[:_LONG_BEGINNING]
        and Prefix.similarity(text, other) >= _SAME_BEGINNING * min(len(text), len(other))
    ]
    for at, other_at in shares:
        similar[at, other_at] = SIMILAR


def _are_similar_in_order(old: Texts, new: Texts) -> bool:
    for first in range(0, len(old), _SLICE_LINES):
        texts = old[first : first + _SLICE_LINES], new[first : first + _SLICE_LINES]
        if process.cpdist(*texts, scorer=Indel.normalized_similarity).min() < _SIMILAR_LETTERS:
            return False
    return True


def _compared(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> Floats:
    similar: Floats = process.cdist(old, new, scorer=Indel.normalized_similarity, dtype=np.float32)
    return similar


def _has_words(texts: Sequence[str]) -> bool:
    return sum(text.count(" ") for text in texts) * _WORD_LENGTH >= sum(map(len, texts))
