"""Cell values as a spreadsheet shows them: percentages, thousands, currencies, dates in English and Japanese."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

from core.ingest.parsers.number_fraction import fraction_text
from core.ingest.parsers.number_names import counts_by_reigns, half_of, language_of, names_of

BUILTIN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0_);($#,##0)", 6: "$#,##0_);($#,##0)",
    7: "$#,##0.00_);($#,##0.00)", 8: "$#,##0.00_);($#,##0.00)", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd hh:mm", 27: "yyyy年m月", 28: "m月d日", 29: "m月d日", 30: "yyyy-mm-dd", 31: "yyyy年m月d日",
    32: "h時mm分", 33: "h時mm分ss秒", 34: "yyyy年m月", 35: "m月d日", 36: "yyyy年m月", 37: "#,##0_);(#,##0)",
    38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)", 41: '#,##0_);(#,##0);"-"',
    42: '$#,##0_);$(#,##0);$"-"', 43: '#,##0.00_);(#,##0.00);"-"', 44: '$#,##0.00_);$(#,##0.00);$"-"', 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@", 50: "yyyy年m月", 51: "m月d日", 52: "yyyy年m月",
    53: "m月d日", 54: "m月d日", 55: "yyyy年m月", 56: "m月d日", 57: "yyyy年m月", 58: "m月d日",
}  # fmt: skip
"""The formats that files name by number only ([ECMA-376] 18.8.30); of dates that depend on the country, the unambiguous
one. Programs that write 5 to 8 and 37 to 44 without their codes mean those of Excel's own English edition."""

_GENERAL = (
    "general|geral|generale|général|algemeen|allgemein|standard|standaard|standart|standardowy|ogólny|estándar|"
    "estàndard|allmänt|yleinen|normál|általános|všeobecný|všeobecné|obecný|splošno|općenito|genel|üldine|bendras|"
    "vispārīgs|основной|общий|основний|загальний|стандартен|общ|опште|γενικός τύπος|γενική|"
    "g/(?:general|standard|標準|표준|通用格式|一般格式)"
)
"""What programs in other languages call General; Excel itself always writes the English name."""
_TOKEN = re.compile(
    r'"([^"]*)"|\\(.)|_.|\*.|\[([^\]]*)\]|(AM/PM|A/P|上午/下午|午前/午後)'
    rf"|((?<![^\W\d_])(?:{_GENERAL})(?![^\W\d_])|@)"
    r"|([0#?.,%]|(?<=[0#?])E[+\-])|(y+|e+|m+|d+|h+|s+|g+|a{3,4}|b{2,4})|(.)",
    re.S | re.I,
)
_DAYS_JA = "月火水木金土日"
_STAMP = re.compile(r"(?<=d)T(?=h)|(?<=s)Z(?=;|\Z)", re.I)
"""Letters of ISO 8601, which programs leave without quotes."""
_LARGEST = Context(prec=400)
_TAIWAN_BEFORE = 1911
"""The year before the first of the Republic of China."""
_ERAS = (
    (date(2019, 5, 1), 2019, "令和", "R"),
    (date(1989, 1, 8), 1989, "平成", "H"),
    (date(1926, 12, 25), 1926, "昭和", "S"),
    (date(1912, 7, 30), 1912, "大正", "T"),
    (date(1868, 1, 25), 1868, "明治", "M"),
)


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    """``text``, ``date``, ``elapsed``, ``half`` (AM/PM), ``digit``, ``general``, ``fraction`` (of a second)."""
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    parts: tuple[_Part, ...]
    is_date: bool
    condition: str = ""
    is_understood: bool = True
    language: str = ""


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[_Section, ...]:
    sections: list[_Section] = []
    parts: list[_Part] = []
    condition = bare = language = ""
    for match in _TOKEN.finditer(_STAMP.sub(r'"\g<0>"', code[:512])):
        literal, escaped, bracket, half, plain, digit, letters, other = match.groups()
        if other == ";":
            sections.append(_section(parts, condition, bare, language))
            parts, condition, bare, language = [], "", "", ""
        elif bracket is not None:
            if bracket and not bracket.lower().strip("hms"):
                parts.append(_Part("elapsed", bracket.lower()))
            elif bracket.startswith("$"):
                money, _, country = bracket[1:].partition("-")
                parts.append(_Part("text", money))
                language = language_of(country) or language
            elif bracket[:1] in "<>=":
                condition = bracket
        elif literal is not None or escaped is not None or other is not None:
            parts.append(_Part("text", next(text for text in (literal, escaped, other) if text is not None)))
            bare += other or ""
        elif half:
            parts.append(_Part("half", half))
        elif plain:
            parts.append(_Part("general", ""))
        elif letters:
            parts.append(_Part("date", letters.lower()))
        elif digit:
            parts.append(_Part("digit", digit.upper()))
    sections.append(_section(parts, condition, bare, language))
    return tuple(sections)


def _section(parts: list[_Part], condition: str, bare: str, language: str) -> _Section:
    """A section of a format; ``bare`` is what stands in it without quotes and is no part of any format."""
    is_date = any(part.kind in ("date", "elapsed", "half") for part in parts)
    if is_date:
        parts = _with_fractions(parts)
    kinds = {part.kind for part in parts}
    # Letters of scripts with capitals must be quoted; signs, and units such as 円 and 年, often are not.
    foreign = any(letter.lower() != letter.upper() for letter in bare)
    mixed = is_date and ("general" in kinds or any(part.kind == "digit" and part.text not in ".," for part in parts))
    wordy = kinds == {"text"} and any(map(str.isalpha, bare))
    understood = not (foreign or mixed or wordy)
    return _Section(tuple(parts), is_date and understood, condition, understood, language)


def _with_fractions(parts: list[_Part]) -> list[_Part]:
    """The parts of a date with the digits after its seconds as one part."""
    found: list[_Part] = []
    for part in parts:
        last = found[-1] if found else _Part("", "")
        if part.kind == "digit" and part.text == "." and last.kind in ("date", "elapsed") and last.text[0] == "s":
            found.append(_Part("fraction", ""))
        elif part.kind == "digit" and part.text == "0" and last.kind == "fraction":
            found[-1] = _Part("fraction", last.text + "0")
        else:
            found.append(part)
    return [_Part("text", ".") if part == _Part("fraction", "") else part for part in found]


def is_date_format(code: str) -> bool:
    """Whether numbers under this format are shown as dates or times."""
    return _sections(code)[0].is_date


_EXACT = 2**53
"""Integers up to this are what was typed: numbers of cards and accounts are, and are looked for by all their digits."""


def general(value: float) -> str:
    """A number without a format: integers plainly, others with the 15 significant digits that spreadsheets keep.

    Excel shows as many as its cell has room for, LibreOffice all of them; with eleven a large sum lost its cents.
    """
    if value == int(value) and abs(value) <= _EXACT:
        return str(int(value))
    return f"{value:.15g}".replace("e", "E")


def shown(value: float, code: str, epoch_1904: bool = False) -> str:
    """Return ``value`` as the format ``code`` shows it; what cannot be formatted is shown plainly."""
    if code in ("General", "@", "") or not math.isfinite(value):
        return general(value) if math.isfinite(value) else str(value)
    sections = _sections(code)
    section, signed = _chosen(sections, value)
    if not section.is_understood:
        return general(value)
    try:
        if section.is_date:
            return _date_text(value, section, epoch_1904)
        return _number_text(value if signed else abs(value), section)
    except (ValueError, OverflowError, ArithmeticError):
        return general(value)


def _chosen(sections: tuple[_Section, ...], value: float) -> tuple[_Section, bool]:
    for section in sections:
        if section.condition:
            match = re.match(r"(<=|>=|<>|<|>|=)\s*(-?(?:\d+\.?\d*|\.\d+))\Z", section.condition)
            limit = float(match[2]) if match else 0.0
            sign = match[1] if match else ""
            holds = {"<": value < limit, ">": value > limit, "=": value == limit, "<=": value <= limit,
                     ">=": value >= limit, "<>": value != limit}  # fmt: skip
            if holds.get(sign):
                return section, not (limit == 0 and sign in ("<", "<="))
    plain = [section for section in sections if not section.condition] or list(sections)
    if value < 0 and len(plain) > 1:
        return plain[1], False
    if value == 0 and len(plain) > 2:
        return plain[2], True
    return plain[0], True


def _number_text(value: float, section: _Section) -> str:
    parts = section.parts
    if any(part.kind == "general" for part in parts):
        at = next(index for index, part in enumerate(parts) if part.kind == "general")
        lead, tail = ("".join(part.text for part in some if part.kind == "text") for some in (parts[:at], parts[at:]))
        return _signed(value < 0, lead, general(abs(value)) + tail)
    places = [index for index, part in enumerate(parts) if part.kind == "digit" and part.text in "0#?.,"]
    if not places:
        return "".join(part.text for part in parts)
    first, last = places[0], places[-1]
    lead = "".join(part.text for part in parts[:first])
    tail = "".join(part.text for part in parts[last + 1 :])
    if any(part.text[:1] == "E" for part in parts if part.kind == "digit"):
        return _signed(value < 0, lead, _scientific(abs(value), parts) + tail)
    if any(part == _Part("text", "/") for part in parts):
        said = fraction_text(abs(value), [(part.kind == "digit", part.text) for part in parts], _whole)
        negative = value < 0 and said is not None and any(digit in said.partition("/")[0] for digit in "123456789")
        return general(value) if said is None else _signed(negative, "", said.strip())
    pattern = "".join(parts[index].text for index in places)
    number = Decimal(repr(value))
    number *= Decimal(100) ** sum(part.kind == "digit" and part.text == "%" for part in parts)
    whole, _, fraction = pattern.partition(".")
    thousands = len(pattern) - len(pattern.rstrip(",")) + (len(whole) - len(whole.rstrip(",")) if fraction else 0)
    number /= Decimal(1000) ** thousands
    digits = _digits(number, whole.rstrip(","), fraction.replace(",", ""))
    among = _set_among(digits, parts[first : last + 1])
    return _signed(number < 0 and digits.strip("0.,") != "", lead, among + tail)


def _whole(number: int, pattern: str) -> str:
    return _digits(Decimal(number), pattern, "")


def _signed(negative: bool, lead: str, rest: str) -> str:
    """A number with its minus, which is not written where the format itself writes one."""
    return f"{'-' if negative and '-' not in lead else ''}{lead}{rest}".strip()


def _set_among(digits: str, parts: tuple[_Part, ...]) -> str:
    """The digits of a number with the text that the format sets between them, as in telephone numbers."""
    if all(part.kind == "digit" and part.text != "%" for part in parts):
        return digits
    whole, point, fraction = digits.partition(".")
    dot = next((at for at, part in enumerate(parts) if part.kind == "digit" and part.text == "."), len(parts))
    out: list[str] = []
    left = whole
    for index in range(dot - 1, -1, -1):
        part = parts[index]
        if part.kind == "text" or part.text == "%":
            out.append(part.text)
        elif part.text in "0#?" and left:
            taken = left[-2:] if left[-2:-1] == "," else left[-1:]
            left = left[: -len(taken)]
            out.append(taken)
    out.append(left)
    after = [point]
    for part in parts[dot + 1 :]:
        if part.kind == "text" or part.text == "%":
            after.append(part.text)
        elif part.text in "0#?" and fraction:
            after.append(fraction[0])
            fraction = fraction[1:]
    return "".join(reversed(out)) + "".join(after)


def _scientific(value: float, parts: tuple[_Part, ...]) -> str:
    """A number with its exponent, which is a multiple of the count of digits before the point."""
    at = next(index for index, part in enumerate(parts) if part.kind == "digit" and part.text[0] == "E")
    mantissa = "".join(part.text for part in parts[:at] if part.kind == "digit" and part.text in "0#?.")
    whole, _, fraction = mantissa.partition(".")
    least = sum(part.kind == "digit" and part.text == "0" for part in parts[at:])
    step, decimals = max(len(whole), 1), min(len(fraction), 30)
    exponent = int(f"{value:.{decimals + step - 1}E}".partition("E")[2]) // step * step
    number = Decimal(repr(value)).scaleb(-exponent).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    sign = "-" if exponent < 0 else "+" if parts[at].text == "E+" else ""
    return f"{number:f}E{sign}{abs(exponent):0{least}d}"


def _digits(number: Decimal, whole: str, fraction: str) -> str:
    decimals = min(len(fraction), 30)
    rounded = abs(number).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _LARGEST)
    integer, _, rest = f"{rounded:f}".partition(".")
    optional = len(fraction) - len(fraction.rstrip("#?"))
    while optional and rest.endswith("0"):
        rest, optional = rest[:-1], optional - 1
    integer = integer.lstrip("0").rjust(min(whole.count("0"), 30), "0")
    if "," in whole:
        integer = re.sub(r"(?<=\d)(?=(\d{3})+\Z)", ",", integer)
    return integer + ("." + rest if rest or "?" in fraction else "")


def _moment(value: int, epoch_1904: bool) -> datetime:
    if epoch_1904:
        return datetime(1904, 1, 1) + timedelta(days=value)
    return datetime(1899, 12, 31 if value < 60 else 30) + timedelta(days=value)


def _date_text(value: float, section: _Section, epoch_1904: bool) -> str:
    parts = section.parts
    elapsed = any(part.kind == "elapsed" for part in parts)
    if value < 0 and not elapsed:
        raise ValueError("There are no dates before the first one.")
    sign = "-" if value < 0 else ""
    value = abs(value)
    finest = max((len(part.text) for part in parts if part.kind == "fraction"), default=0)
    seconds_shown = any(part.kind in ("date", "elapsed") and part.text[0] == "s" for part in parts)
    if finest:
        exact = Decimal(repr(value)) * 86_400
        rounded = exact.quantize(Decimal(1).scaleb(-min(finest, 6)), rounding=ROUND_HALF_UP)
    else:
        unit = 1 if seconds_shown else 60
        rounded = Decimal(round(value * 86_400 / unit + (0 if seconds_shown else -0.499)) * unit)
    fraction = f"{rounded % 1:f}".partition(".")[2].ljust(finest, "0")
    whole = int(rounded)
    moment = _moment(whole // 86_400, epoch_1904) + timedelta(seconds=whole % 86_400)
    twelve = any(part.kind == "half" for part in parts)
    out = []
    for index, part in enumerate(parts):
        if part.kind == "date":
            is_minute = part.text[0] == "m" and _stands_in_a_time(parts, index)
            text = _minute(part.text, moment) if is_minute else _field(part.text, moment, twelve, section.language)
            out.append(text)
        elif part.kind == "elapsed":
            size = {"h": 3600, "m": 60, "s": 1}[part.text[0]]
            out.append(f"{whole // size:0{len(part.text)}d}")
        elif part.kind == "half":
            out.append(half_of(section.language, part.text, moment.hour >= 12))
        elif part.kind == "fraction":
            out.append("." + fraction[: len(part.text)])
        else:
            out.append(part.text)
    return sign + "".join(out).strip()


def _stands_in_a_time(parts: tuple[_Part, ...], index: int) -> bool:
    if len(parts[index].text) > 2:
        return False
    before = next((part.text[0] for part in reversed(parts[:index]) if part.kind in ("date", "elapsed")), "")
    after = next((part.text[0] for part in parts[index + 1 :] if part.kind in ("date", "elapsed")), "")
    return before == "h" or after == "s"


def _minute(letters: str, moment: datetime) -> str:
    return f"{moment.minute:0{len(letters)}d}"


def _field(letters: str, moment: datetime, twelve: bool, language: str) -> str:
    kind, length = letters[0], len(letters)
    names = names_of(language)
    if kind == "y":
        return f"{moment.year:04d}" if length > 2 else f"{moment.year % 100:02d}"
    if kind == "m":
        name, short = names.months[moment.month - 1], names.short_months[moment.month - 1]
        return {1: str(moment.month), 2: f"{moment.month:02d}", 3: short, 5: name[0]}.get(length, name)
    if kind == "d":
        name, short = names.days[moment.weekday()], names.short_days[moment.weekday()]
        return {1: str(moment.day), 2: f"{moment.day:02d}", 3: short}.get(length, name)
    if kind == "h":
        hour = (moment.hour - 1) % 12 + 1 if twelve else moment.hour
        return f"{hour:0{min(length, 2)}d}"
    if kind == "s":
        return f"{moment.second:0{min(length, 2)}d}"
    if kind == "a":
        return _DAYS_JA[moment.weekday()] + ("曜日" if length > 3 else "")
    if kind == "b":
        return str(moment.year + 543)
    if kind == "e" and not counts_by_reigns(language):
        is_republic = language == "zh-tw" and moment.year > _TAIWAN_BEFORE
        return str(moment.year - _TAIWAN_BEFORE * is_republic)
    era = next((era for era in _ERAS if moment.date() >= era[0]), None)
    if kind == "g":
        return "" if era is None else {1: era[3], 2: era[2][0]}.get(length, era[2])
    year = moment.year - era[1] + 1 if era else moment.year
    return f"{year:0{min(length, 2)}d}"
