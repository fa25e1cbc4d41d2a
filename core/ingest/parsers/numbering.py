"""The numbers and bullets that Word shows before paragraphs, computed as Word does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.ingest.parsers.ooxml import attribute, local
from core.ingest.parsers.xml import Element

BULLET = "•"
_KANJI_DIGITS = "〇一二三四五六七八九"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list: how its numbers look and where they begin."""

    form: str = "bullet"
    pattern: str = ""
    start: int = 1


@dataclass(slots=True)
class Numbering:
    """The lists of one document and how far each has counted."""

    _levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    _lists: dict[str, str] = field(default_factory=dict)
    _overrides: dict[tuple[str, int], int] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _started: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def of(cls, root: Element) -> Numbering:
        """Read ``numbering.xml``."""
        numbering = cls()
        for element in root:
            if local(element) == "abstractNum":
                numbering._levels[attribute(element, "abstractNumId") or ""] = _levels(element)
            elif local(element) == "num":
                list_id = attribute(element, "numId") or ""
                for child in element:
                    if local(child) == "abstractNumId":
                        numbering._lists[list_id] = attribute(child, "val") or ""
                    elif local(child) == "lvlOverride":
                        level = _integer(attribute(child, "ilvl"), 0)
                        for start in child:
                            if local(start) == "startOverride":
                                numbering._overrides[list_id, level] = _integer(attribute(start, "val"), 1)
        return numbering

    def label(self, list_id: str, level: int) -> str:
        """Count one paragraph of a list and return what stands before it; empty where nothing does."""
        abstract = self._lists.get(list_id)
        if abstract is None:
            return ""
        levels = self._levels.get(abstract, {})
        shape = levels.get(level, Level())
        counts = self._counts.setdefault(abstract, {})
        override = self._overrides.get((list_id, level))
        if override is not None and (list_id, level) not in self._started:
            self._started.add((list_id, level))
            counts[level] = override - 1
        counts[level] = counts.get(level, shape.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if shape.form == "bullet":
            return BULLET
        if shape.form == "none":
            return ""

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            other = levels.get(at, Level("decimal"))
            return formatted(counts.get(at, other.start), other.form)

        return _PLACE.sub(number, shape.pattern)


def _integer(text: str | None, otherwise: int) -> int:
    try:
        return min(max(int(text or ""), -1), 32_767)
    except ValueError:
        return otherwise


def _levels(abstract: Element) -> dict[int, Level]:
    levels = {}
    for element in abstract:
        if local(element) == "lvl":
            values = {local(child): attribute(child, "val") or "" for child in element}
            levels[_integer(attribute(element, "ilvl"), 0)] = Level(
                values.get("numFmt", "decimal"), values.get("lvlText", ""), _integer(values.get("start"), 1)
            )
    return levels


def formatted(number: int, form: str) -> str:
    """Return a list number in one of Word's forms; unknown forms are decimal."""
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letters = chr(97 + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        letters = ""
        for value, sign in _ROMAN:
            letters += sign * (number // value)
            number %= value
        return letters if form == "lowerRoman" else letters.upper()
    if form == "decimalZero":
        return f"{number:02d}"
    if form.startswith("decimalFullWidth"):
        return str(number).translate(_FULL_WIDTH)
    if form.startswith("decimalEnclosedCircle") and 1 <= number <= 20:
        return chr(0x2460 + number - 1)
    if form.startswith("aiueo") and number > 0:
        return _AIUEO[(number - 1) % len(_AIUEO)]
    if form.startswith("iroha") and number > 0:
        return _IROHA[(number - 1) % len(_IROHA)]
    if form in ("japaneseCounting", "ideographTraditional", "chineseCounting") and 0 < number < 100:
        tens, ones = divmod(number, 10)
        return (
            (_KANJI_DIGITS[tens] if tens > 1 else "") + ("十" if tens else "") + (_KANJI_DIGITS[ones] if ones else "")
        )
    return str(number)
