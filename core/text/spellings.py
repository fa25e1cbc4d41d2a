"""How figures of a question are written otherwise: with their unit attached or apart, in digits or in ideographs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_UNITS = (
    "[kmgtp]i?b|[kmgt]?bit|[kmgt]bps|fps|dpi|[kmcnµμ]?m|[kmµμ]?g|[mcdk]?l|k?w|kwh|wh|m?v|ma|a|m?ah|[kmg]?hz|[kmh]?pa|bar|psi"
    "|ms|s|secs?|mins?|h|hrs?|[cfk]|d[bv]|dba|px|pt|ft|lbs?|oz|mph|kmh|rpm|kva|va|nm|yen|usd|eur"
)
_UNIT = re.compile(_UNITS, re.IGNORECASE)
_FIGURE = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_WITH_UNIT = re.compile(rf"(?P<figure>{_FIGURE.pattern})(?P<unit>{_UNITS})", re.IGNORECASE)
_VERSION = re.compile(r"v(?P<figure>[0-9]+(?:\.[0-9]+)*)", re.IGNORECASE)
_COUNTED = tuple("条章項節日")
_COUNT = re.compile("[1-9][0-9]?")
_KANJI = "〇一二三四五六七八九"
_KANJI_COUNT = re.compile(
    f"(?<![{_KANJI}十百千万])(?:[二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=[{''.join(_COUNTED)}])"
)


def with_other_spellings(runs: Iterable[tuple[str, str]], *, joins: bool) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the runs of a question with their kind and how they are written otherwise, if they are.

    A figure and its unit stand together or apart, ``25MB`` and ``25 MB``; the number of an article is written in
    digits or in ideographs, 第3条 and 第三条. Where it ``joins``, a figure with the unit behind it is one piece.
    """
    left = list(runs)
    at = 0
    while at < len(left):
        run, kind = left[at]
        following = left[at + 1] if at + 1 < len(left) else ("", "")
        at += 1
        if kind == "japanese":
            otherwise = _KANJI_COUNT.sub(lambda match: str(_value(match.group())), run)
            yield (run,), kind, otherwise if otherwise != run else ""
        elif attached := _WITH_UNIT.fullmatch(run):
            yield (run,), kind, f"{attached['figure']} {attached['unit']}"
        elif version := _VERSION.fullmatch(run):
            yield (run,), kind, version["figure"]
        elif joins and _FIGURE.fullmatch(run) and _UNIT.fullmatch(following[0]):
            at += 1
            yield (run, following[0]), kind, run + following[0]
        elif _COUNT.fullmatch(run) and following[0][:1] in _COUNTED:
            yield (run,), kind, _in_kanji(int(run))
        else:
            yield (run,), kind, ""


def _value(kanji: str) -> int:
    """Return the number below 100 that ideographs write: 二十五 is 25."""
    tens, ten, ones = kanji.rpartition("十")
    return (_KANJI.index(tens) if tens else 1) * 10 * bool(ten) + (_KANJI.index(ones) if ones else 0)


def _in_kanji(number: int) -> str:
    tens, ones = divmod(number, 10)
    return (_KANJI[tens] if tens > 1 else "") + ("十" if tens else "") + (_KANJI[ones] if ones else "")
