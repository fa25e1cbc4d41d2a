"""How wide text is on a screen and how many words it has, for many lines at once.

Widths are in cells: East Asian wide signs take two, a tab four, combining marks none.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

TAB_CELLS = 4
_UNKNOWN = 255
_CHUNK_BYTES = 4 * 1024 * 1024
_AMBIGUOUS_WIDE_FROM = 0x203B
"""Signs that are wide in Japanese fonts only: those before it are common in Western text and narrow there."""

_WORD_CLASSES = (
    "",
    "\u3005-\u3007\u3400-\u9fff\uf900-\ufaff",
    "\u3041-\u309f",
    "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f",
)
_JAPANESE = [re.compile(f"[{signs}]") for signs in _WORD_CLASSES[1:]]
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_CELL_BITS = 0x0F
_CLASS_SHIFT = 4


@cache
def _table() -> Bytes:
    """By code point, the cells and the class of letters (0: no letter), filled as code points are met."""
    return np.full(0x110000, _UNKNOWN, dtype=np.uint8)


def _facts_of(code: int) -> int:
    sign = chr(code)
    kind = 0
    if sign == "_" or sign.isalnum() or sign in "\u3005\u3006\u30fc":
        kind = 1 + next((place for place, script in enumerate(_JAPANESE, 1) if script.match(sign)), 0)
    return kind << _CLASS_SHIFT | _cells_of(sign)


def _cells_of(sign: str) -> int:
    if sign == "\t":
        return TAB_CELLS
    if unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    kind = unicodedata.east_asian_width(sign)
    return 2 if kind in "WF" or (kind == "A" and ord(sign) >= _AMBIGUOUS_WIDE_FROM) else 1


def _facts(text: str) -> Bytes:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    table = _table()
    facts: Bytes = table[codes]
    if (facts == _UNKNOWN).any():
        for code in np.unique(codes[facts == _UNKNOWN]).tolist():
            table[code] = _facts_of(code)
        facts = table[codes]
    return facts


def char_cells(text: str) -> Bytes:
    """Return the cells of each character, shape ``(len(text),)``."""
    widths: Bytes = _facts(text) & np.uint8(_CELL_BITS)
    return widths


def cells(text: str) -> int:
    """Return how many cells a text takes."""
    return len(text) + (TAB_CELLS - 1) * text.count("\t") if text.isascii() else int(char_cells(text).sum())


def count_words(text: str) -> int:
    """Count the runs of letters and digits; in Japanese each run of kanji, of hiragana and of katakana is one."""
    if text.isascii():
        return sum(1 for _ in _ASCII_WORD.finditer(text))
    return int(_word_starts(_facts(text), 0).sum())


def _word_starts(facts: Bytes, before: int) -> npt.NDArray[np.bool_]:
    """Tell where words start; ``before`` is the class of the letter that comes before the first."""
    classes = facts >> _CLASS_SHIFT
    previous = np.concatenate(([np.uint8(before)], classes[:-1]))
    starts: npt.NDArray[np.bool_] = (classes > 0) & (classes != previous)
    return starts


class Measure(NamedTuple):
    """How many cells and words of a text come before each of some places in it."""

    cells: Ints
    words: Ints


def measure(data: bytes, bounds: Ints) -> Measure:
    """Measure UTF-8 text up to each of the ascending byte positions ``bounds``."""
    cells_at = np.zeros(len(bounds), dtype=np.int64)
    words_at = np.zeros(len(bounds), dtype=np.int64)
    done = cells_done = words_done = last_class = 0
    while done < len(data):
        end = _char_end(data, min(done + _CHUNK_BYTES, len(data)))
        piece = data[done:end]
        here = slice(*np.searchsorted(bounds, [done + 1, end + 1]).tolist())
        at: npt.NDArray[np.signedinteger] = bounds[here] - done - 1
        raw = np.frombuffer(piece, dtype=np.uint8)
        if piece.isascii():
            facts = _ascii_facts()[raw]
        else:
            at = np.cumsum((raw & 0xC0) != 0x80, dtype=np.int32)[at] - 1
            facts = _facts(piece.decode("utf-8", "surrogatepass"))
        cells_so_far = np.cumsum(facts & _CELL_BITS, dtype=np.int32)
        words_so_far = np.cumsum(_word_starts(facts, last_class), dtype=np.int32)
        cells_at[here] = cells_done + cells_so_far[at]
        words_at[here] = words_done + words_so_far[at]
        cells_done += int(cells_so_far[-1])
        words_done += int(words_so_far[-1])
        last_class = int(facts[-1]) >> _CLASS_SHIFT
        done = end
    return Measure(cells_at, words_at)


@cache
def _ascii_facts() -> Bytes:
    return np.array([_facts_of(code) for code in range(128)], dtype=np.uint8)


def _char_end(data: bytes, end: int) -> int:
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end
