"""The figures that a text states, each in all the ways that it can be read, so that 1,000, １０００ and 千 are one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from decimal import Decimal

from core.text.analysis import normalise

_DIGITS = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}
_KANJI = "".join([*_DIGITS, *_SMALL, *_LARGE])
_COUNTED = "年月日世紀人名個回円台冊枚本件社国県市町村区階歳才頭匹羽倍割章条項号位点度戸校党州曲話巻目週泊秒"
_LOOSELY_COUNTED = "つ番分時秒行段組種類点者方種"
_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_WORDS = dict(zip(_NUMBERS.split(), [*range(20), *range(20, 100, 10)], strict=True))
_WORDS |= {"first": 1, "second": 2, "third": 3, "once": 1, "twice": 2, "dozen": 12, "hundred": 100}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth"
_SMALL_WORDS, _TENS = _NUMBERS.split()[:20], "|".join(_NUMBERS.split()[20:])
_UNITS = "|".join([*_SMALL_WORDS[1:10], *(word for word in _ORDINALS.split() if word != "second")])
_BELOW_HUNDRED = rf"(?:(?:{_TENS})(?:[- ](?:{_UNITS})\b)?|(?:{'|'.join(_SMALL_WORDS)}))\b"
_BELOW_THOUSAND = rf"{_BELOW_HUNDRED}(?:[- ]hundred\b(?:(?: and)? {_BELOW_HUNDRED}(?![- ]hundred\b))?)?"
# A list of numbers is no sum: "two thousand and three thousand".
_MORE = rf"\b(?:(?: and|,)? {_BELOW_THOUSAND}"
_SCALED = (
    rf"(?:[- ](?:thousand|dozen){_MORE}(?![- ](?:thousand|million|billion|trillion)\b))?"
    rf"|[- ](?:million|billion|trillion){_MORE}(?![- ](?:million|billion|trillion)\b))?)"
)
_IN_WORDS = rf"{_BELOW_THOUSAND}(?:{_SCALED})*"
_WORTH = _WORDS | {word: value for value, word in enumerate(_ORDINALS.split(), 1)}
_COUNTED_BY_WORD = re.compile(r"[かヶカヵケ箇]月|文字|時間|分間|行目|(?<!一)[時行]|(?<!十)分")

_FIGURE = re.compile(
    r"(?P<minus>(?<![A-Za-z0-9_.)\]%°'’′/+±ァ-ヺ一-鿿々-])(?<!\d )[-−]|\bminus "
    r"|(?:マイナス|氷点下|零下|地下(?=[^階]{1,3}階))\s?)?"
    r"(?:(?P<number>(?<![\d.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?P<unit>[{''.join([*_SMALL, *_LARGE])}]+(?:\d|[{_KANJI}])*[{_KANJI}]?)?"
    rf"(?:\s?(?P<scale>{'|'.join(_SCALES)})\b)?"
    rf"|(?P<kanji>[{_KANJI}]+))",
    re.IGNORECASE,
)
_BELOW_ZERO = re.compile(r"\s?(?:°\s?[CF]?|degrees?(?: celsius| fahrenheit)?) below (?:zero|freezing)", re.IGNORECASE)
_WORD = re.compile(rf"\b(?:{_IN_WORDS}|(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b)", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"^\s*[(（]?\d{1,2}[.)、．）]\s+", re.MULTILINE)
_LONGEST_DIGITS = 40
_VAGUE = frozenset(("first", "one", "once"))
_BEHIND = re.compile(r"[ -]?(%|°[CF]?|[A-Za-z]+|[ァ-ヺー]+|[かヶカヵケ箇]月|[一-鿿]{1,2}|[ぁ-ん])")
_MONEY = {"$": "dollar", "¥": "yen", "€": "euro", "£": "pound"}
_LIMITS = {
    "least": (
        re.compile(
            r"(?:at least|more than|over|above|no less than|not less than|minimum of|exceeding|exceeds?) $", re.I
        ),
        re.compile(r"\s?(?:\w{1,8}\s)?(?:or more|or above|and above)|[^、。]{0,4}(?:以上|超|を超え|を上回)"),
    ),
    "most": (
        re.compile(
            r"(?:at most|less than|fewer than|under|below|up to|no more than|not more than|maximum of|within) $", re.I
        ),
        re.compile(r"\s?(?:\w{1,8}\s)?(?:or less|or fewer|or below)|[^、。]{0,4}(?:以下|未満|以内|を下回)"),
    ),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as it is written, and the numbers that it can be read as, in one form each."""

    written: str
    readings: frozenset[str]


def stated_figures(text: str) -> list[Figure]:
    """Return what a text states as figures, once each.

    Kanji numerals count where more than one stands together or something is counted by them: 一番 states nothing.
    """
    matches = _FIGURE.finditer(_LIST_NUMBER.sub("", normalise(text)))
    figures = (_loose(match) for match in matches if _is_stated(match, _COUNTED))
    return list({figure.written: figure for figure in figures}.values())


def held_figures(text: str) -> frozenset[str]:
    """Return every number that a text can be read to hold, English number words among them."""
    plain = normalise(text)
    held: set[str] = set()
    for match in _FIGURE.finditer(plain):
        if _is_stated(match, _COUNTED + _LOOSELY_COUNTED):
            held |= _loose(match).readings
        if match["scale"]:
            held.add(_form(match["number"].replace(",", "")))
    held.update(_worth(match.group()) for match in _WORD.finditer(plain))
    return frozenset(held)


def foreign_figures(stated: Iterable[Figure], held: Set[str]) -> tuple[str, ...]:
    """Return the figures of which ``held`` has no reading, as they are written."""
    return tuple(figure.written for figure in stated if held.isdisjoint(figure.readings))


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """A figure at its place in a text, with what it counts and what limits it; ``follows`` is the word behind it."""

    readings: frozenset[str]
    start: int
    end: int
    unit: str
    limit: str
    follows: str


def placed_figures(plain: str) -> Iterator[PlacedFigure]:
    """Yield the figures of a normalised text, number words among them, in order."""
    found = [match for match in _FIGURE.finditer(plain) if _is_stated(match, _COUNTED)]
    found += [match for match in _WORD.finditer(plain) if match.group().lower() not in _VAGUE]
    for match in sorted(found, key=lambda match: match.start()):
        readings = frozenset({_worth(match.group())}) if match.re is _WORD else _figure(match).readings
        after, before = plain[match.end() : match.end() + 24], plain[max(0, match.start() - 14) : match.start()]
        behind = _BEHIND.match(after)
        follows = behind[1] if behind else ""
        money = _MONEY.get(before[-1:], "")
        limit = _limit(before, after)
        yield PlacedFigure(readings, match.start(), match.end(), money or follows, limit, follows)


def _limit(before: str, after: str) -> str:
    """Return which side a figure bounds: ``least``, ``most`` or none."""
    for side, (ahead, behind) in _LIMITS.items():
        if ahead.search(before) or behind.match(after):
            return side
    return ""


def _worth(words: str) -> str:
    """Return the number that English words say: two hundred and twenty-five."""
    whole = part = 0
    for word in re.findall("[a-z]+", words.lower()):
        if word in ("hundred", "dozen"):
            part = (part or 1) * _WORTH[word]
        elif word in _SCALES:
            whole, part = whole + part * _SCALES[word], 0
        elif word != "and":
            part += _WORTH[word]
    return str(whole + part)


def _loose(match: re.Match[str]) -> Figure:
    """Return a figure without its sign too where a word says that, which others may say elsewhere: below zero, B2."""
    figure = _figure(match)
    if match["minus"] in ("-", "−"):
        return figure
    return replace(figure, readings=figure.readings | {reading.removeprefix("-") for reading in figure.readings})


def _figure(match: re.Match[str]) -> Figure:
    figure = _unsigned(match)
    if match["minus"] or _BELOW_ZERO.match(match.string, match.end()):
        return replace(figure, readings=frozenset(f"-{reading}" for reading in figure.readings))
    return figure


def _unsigned(match: re.Match[str]) -> Figure:
    if kanji := match["kanji"]:
        return Figure(kanji, frozenset(_kanji_readings(kanji)) or frozenset({kanji}))
    number, unit, scale = match["number"].replace(",", ""), match["unit"], match["scale"]
    if len(number) > _LONGEST_DIGITS:
        return Figure(match.group().strip(), frozenset({number}))
    if unit:
        return Figure(match.group().strip(), frozenset(_kanji_readings(number + unit)) or frozenset({_form(number)}))
    scaled = Decimal(number) * _SCALES[scale.lower()] if scale else number
    return Figure(match.group().strip(), frozenset({_form(str(scaled))}))


def _is_stated(match: re.Match[str], counted: str) -> bool:
    kanji = match["kanji"]
    if not kanji:
        return True
    if not set(kanji) & (_DIGITS.keys() | _SMALL.keys()) or kanji[0] in _LARGE:
        return False
    is_counted = match.string[match.end() : match.end() + 1] in tuple(counted)
    return len(kanji) > 1 or is_counted or _COUNTED_BY_WORD.match(match.string, match.end()) is not None


def _kanji_readings(text: str) -> Iterator[str]:
    """Yield 三千七百 as 3700, 二〇二三 as 2023 and 1億2000万 as 120000000."""
    if all(sign in _DIGITS for sign in text):
        yield _form("".join(str(_DIGITS[sign]) for sign in text))
        return
    whole = part = Decimal(0)
    digits = ""
    for sign in text:
        if sign in _DIGITS or sign.isdigit() or sign == ".":
            digits += str(_DIGITS.get(sign, sign))
            continue
        if len(digits) > _LONGEST_DIGITS:
            return
        number = Decimal(digits) if digits else None
        digits = ""
        if sign in _SMALL:
            part += (1 if number is None else number) * _SMALL[sign]
        else:
            part += number or 0
            whole, part = whole + (part or 1) * _LARGE[sign], Decimal(0)
    if len(digits) <= _LONGEST_DIGITS:
        yield _form(str(whole + part + (Decimal(digits) if digits else 0)))


def _form(number: str) -> str:
    """Return one form for equal numbers: no leading zeros, no zeros after the decimal point."""
    whole, _, fraction = f"{Decimal(number[:_LONGEST_DIGITS]):f}".partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
