"""How recognised lines look in their picture: the size of their letters, and whether these are bold."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.model.recognition import RecognisedLine
from core.model.weighted_median import weighted_median

_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]{}/\\ `\"-"), frozenset("mwMW@%&—…")
_BOLDER = 5.0
"""Strokes are bold that are thicker than usual by so many times what half of all signs differ from it by."""
_LEAST_BOLDER, _MOST_BOLDER = 0.13, 0.25
"""By what part of the usual thickness that is at least and at most: a blur makes thin strokes thicker."""
_BOLD_WIDER = 1.08
"""Bold letters are so much wider."""
_INK = 0.4
"""Share of the darkest from which a pixel is ink."""
_FEW_PIXELS = 30
_MARGIN = 2
_BLANK = 0.2
"""Gaps between letters are narrower, in sizes of the font."""
_MOSTLY_FULL = 0.8
"""Texts whose signs are this wide on average are mostly ideographs and kana, which stand at even distances."""
_WIDE_BLANK = 0.7
"""Blanks that are wider, in sizes of the font, may part what stands in two columns."""
_SHORT = 1.8
"""Texts that are narrower, in sizes of their font, are not measured: a figure, a bullet."""


@dataclass(frozen=True, slots=True)
class _Look:
    size: float
    """Pixels."""
    stroke: float
    is_full: bool
    length: int
    gaps: tuple[tuple[int, float, float], ...]
    left: float
    right: float


def with_looks(lines: Sequence[RecognisedLine], grey: np.ndarray) -> list[RecognisedLine]:
    """Return lines with the size of their letters, whether these are bold, and from where to where they have ink.

    ``grey`` is the brightness of the picture without lines that are drawn. The size is how wide the text is by how wide
    common fonts set it: boxes of lines are much less even.
    """
    looks = [_look(line, grey) for line in lines]
    measured = [look for look in looks if look is not None]
    # Ideographs and kana have strokes of their own, which are no measure for those of letters.
    least = {full: _least_bold([look for look in measured if look.is_full is full]) for full in (False, True)}
    height = grey.shape[0]
    found = []
    for line, look in zip(lines, looks, strict=True):
        if look is None:
            found.append(line)
            continue
        bold = look.stroke > least[look.is_full]
        size = round(look.size / (_BOLD_WIDER if bold else 1) / height, 5)
        box = look.left, line.box[1], look.right, line.box[3]
        found.append(replace(line, box=box, size=size, bold=bold, gaps=look.gaps))
    return found


def advance(text: str) -> float:
    """Return about how wide a text is in sizes of its font."""
    return sum(map(_advance, text))


def _advance(sign: str) -> float:
    if _is_wide(sign):
        return 1.0
    if sign in _NARROW:
        return 0.3
    if sign in _WIDE:
        return 0.87
    return 0.68 if sign.isupper() else 0.55


def _least_bold(looks: Sequence[_Look]) -> float:
    """Return the thickness from which strokes are bold."""
    usual = weighted_median([(look.stroke, look.length) for look in looks])
    unlike = weighted_median([(abs(look.stroke - usual), look.length) for look in looks])
    return usual + min(max(_BOLDER * unlike, _LEAST_BOLDER * usual), _MOST_BOLDER * usual)


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"


def _is_full(text: str) -> bool:
    """Tell whether a third of the signs are as wide as high."""
    return 3 * sum(map(_is_wide, text)) >= len(text)


def _look(line: RecognisedLine, grey: np.ndarray) -> _Look | None:
    height, width = grey.shape
    left, top, right, bottom = line.box
    start = max(int(left * width) - _MARGIN, 0)
    rows = slice(max(int(top * height) - _MARGIN, 0), int(bottom * height) + _MARGIN + 1)
    part = grey[rows, start : int(right * width) + _MARGIN + 1].astype(np.float32)
    if part.size < _FEW_PIXELS:
        return None
    dark, light = np.percentile(part, (2, 90))
    share = np.clip((light - part) / max(light - dark, 1.0), 0.0, 1.0)
    columns = np.nonzero((share > _INK).any(axis=0))[0]
    if len(columns) < _FEW_PIXELS:
        return None
    size, blanks = _measured(columns, line.text)
    outline = np.abs(np.diff(share, axis=0)).sum() + np.abs(np.diff(share, axis=1)).sum()
    gaps = tuple((at, round((start + a) / width, 5), round((start + b) / width, 5)) for at, a, b in blanks)
    stroke = float(4 * share.sum() / max(outline, 1.0))
    left, right = (round((start + float(column)) / width, 5) for column in (columns[0], columns[-1] + 1))
    return _Look(
        size if advance(line.text) >= _SHORT else 0.0, stroke, _is_full(line.text), len(line.text), gaps, left, right
    )


def _measured(columns: np.ndarray, text: str) -> tuple[float, list[tuple[int, float, float]]]:
    """Return the size of letters that have ink in ``columns``, and the wide blanks between them.

    The blanks of the text are its widest gaps. They do not count for the size, since justified text stretches them.
    """
    left, right = float(columns[0]), float(columns[-1] + 1)
    size = (right - left) / advance(text)
    blanks = [at for at, sign in enumerate(text) if sign.isspace()]
    steps = np.diff(columns) - 1
    wide = np.nonzero(steps > _BLANK * size)[0]
    wide = np.sort(wide[np.argsort(-steps[wide], kind="stable")[: len(blanks)]])
    if not len(wide):
        return size, []
    if advance(text) <= _MOSTLY_FULL * len(text):
        size = float(right - left - steps[wide].sum()) / (advance(text) - len(wide) * advance(" "))
    found = []
    for place in wide[steps[wide] > _WIDE_BLANK * size]:
        before = float(columns[place] + 1 - left - steps[wide[wide < place]].sum())
        letters = advance(" ") * np.count_nonzero(wide < place) + before / size
        at = min(blanks, key=lambda blank: abs(advance(text[:blank]) - letters))
        found.append((at, float(columns[place] + 1), float(columns[place + 1])))
    return size, found
