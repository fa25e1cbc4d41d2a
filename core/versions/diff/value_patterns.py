"""How numbers, dates and times are written: in digits, in English words and in kanji, with their units."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_ERA = "(?:明治|大正|昭和|平成|令和)"
_KANJI_DIGITS = {sign: value for value, sign in enumerate("〇一二三四五六七八九")}
_KANJI_SCALES = {"十": 10, "百": 100, "千": 1_000}
_KANJI_MYRIADS = {"万": 10**4, "億": 10**8, "兆": 10**12}
_KANJI_NUMBER = "[〇一二三四五六七八九十百千]"
_NO_KANJI = f"(?<!{_KANJI_NUMBER})"
_HALF_DAY = r"[ap]\.?m\.?(?![A-Za-z])"
_DATE = "|".join(
    (
        rf"(?:{_ERA}\s?(?:\d{{1,2}}|元)|(?<!\d)\d{{4}})\s?年度?(?:\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?日)?)?(?!間)",
        r"\d{1,2}\s?月\s?\d{1,2}\s?日",
        rf"{_NO_KANJI}(?:十[一二]?|[一二三四五六七八九])月(?:[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])日(?!間)",
        r"(?<!\d)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)",
        r"(?<![\d.])\d{1,2}[/.]\d{1,2}[/.]\d{4}(?!\d)",
        rf"(?<!\d)\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}(?:,?\s\d{{4}})?(?![A-Za-z])",
        rf"(?<![A-Za-z]){_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s\d{{4}})?",
        rf"(?<![A-Za-z]){_MONTH}\s\d{{4}}(?!\d)",
        rf"(?<!\d)\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?!\d)(?:\s?{_HALF_DAY})?",
        rf"(?<![\d.,])\d{{1,2}}\s?(?:{_HALF_DAY}|o['’]clock)",
        r"(?:午前|午後)?\s?(?<!\d)\d{1,2}\s?時(?![間点代期])(?:\s?\d{1,2}\s?分|半)?(?:\s?\d{1,2}\s?秒)?",
        rf"(?:午前|午後){_KANJI_NUMBER}{{1,3}}時(?![間点代期])(?:{_KANJI_NUMBER}{{1,3}}分|半)?",
        rf"{_NO_KANJI}{_KANJI_NUMBER}{{1,3}}時(?:{_KANJI_NUMBER}{{1,3}}分|半)",
        rf"{_NO_KANJI}(?:[二三四五六七八九]|十[一二]?)時(?![間点代期的])",
        rf"{_NO_KANJI}(?:十[一二]?|[一二三四五六七八九])月(?![間日曜額])",
        r"(?<![A-Za-z0-9])Q[1-4][\s/]{1,2}(?:FY\s?)?\d{4}(?!\d)|(?<![A-Za-z])FY\s?\d{2,4}(?!\d)",
    )
)
_NOUN = (
    r"(?:(?:calendar|business|working|consecutive)[- ])?(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|mins?|"
    r"seconds?|percentage\spoints?|percent|per\scent|dollars?|cents?|euros?|pounds?|yen|people|persons?|employees?|"
    r"members?|users?|copies|copy|pages?|items?|units?|times)(?![A-Za-z])"
)
_SYMBOL = (
    r"(?:%|‰|[°℃]C?|€|£|km/h|m[²³]|EUR|USD|JPY|GBP|CHF|CNY|KRW|ドル|ユーロ|ポンド|ウォン|パーセント|ポイント"
    r"|[kMG]?Wh?|[kMG]?Hz|k?V|dB|bar|ml|lb|oz|ft|mph|[kMGT]i?B|[kMGT]?bps|[kMGT]?bit/s|[kcm]?m|kg|g|ms|min|s|h|k|[x×](?!\s?\d))"
    r"(?![A-Za-z])"
)
_MAGNITUDE = r"(?:\s?(?:thousand|million|billion|trillion|bn|mn)(?![A-Za-z]))"
_MONTHS = "[ヶケか箇カヵ]月間?"
_UNIT = (
    rf"(?:{_MAGNITUDE}?(?:[-\s]?{_NOUN}|\s?{_SYMBOL})|{_MAGNITUDE}"
    r"| ?[十百千]?[万億兆]?(?:[十百千]?[万億兆])?"
    rf"(?:円|元(?![年の来気])|時間(?:\s?\d{{1,2}}\s?分)?|年(?:間)?\d{{1,2}}{_MONTHS}|{_MONTHS}"
    r"|[年日回人件個枚社階度]目|[年月日分秒回人名件個枚台社歳本週]間?|割(?:\d分)?|倍|つ|[ヶか][所国]|番目|[階度点泊坪畳戸冊箱杯]|号室"
    r"|平方(?:キロ)?メートル|(?:キロ|センチ|ミリ)?(?:メートル|グラム|リットル)|キロ)"
    r"|(?:st|nd|rd|th)(?![A-Za-z])|[万億兆])"
)
_MINUS = r"(?:[-+−△▲]|マイナス\s?|(?<![A-Za-z])minus\s)?"
_SIGN = r"(?:(?:(?:US|CA|AU|NZ|HK|NT)?[$]|[¥€£₩₹]|(?<![A-Za-z])(?:EUR|USD|JPY|GBP|CHF|CNY|KRW))\s?|(?<![A-Za-z0-9_.]))"
_DIGITS = r"(?:\d++[兆億万](?=\d)){0,3}+\d++(?:[,'\u00a0\u202f]\d{3}(?!\d))*+(?:\.\d++)*+(?:(?<=\d),\d{1,2}(?![\d,]))?+"
_DIGITS += r"(?:\^[-+−]?\d++|e[-+−]?\d{1,3}(?![A-Za-z0-9_]))?+"
_GROUPED = r"(?<!\d\s)[1-9]\d{0,2}(?:\s\d{3}){1,4}+(?:,\d{1,2})?+"
"""Thousands apart from each other, which a unit has to follow: they might be two numbers."""
_FRACTION = r"(?<![/⁄])(?:(?:\d{1,3}\s)?\d{1,3}[/⁄]\d{1,3}(?![/⁄\d])|(?:\d{1,3}\s?)?[¼-¾⅐-⅞])"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL = {word: value for value, word in enumerate(f"zero|{_ONES}|{_TEENS}".split("|"))} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS.split("|"), strict=True)
}
_FIRST_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ROUND_ORDINALS = {f"{word}th": value for word, value in _SMALL.items() if 10 <= value < 20 and word != "twelve"}
_ROUND_ORDINALS |= {f"{word[:-1]}ieth": value for word, value in _SMALL.items() if value >= 20}
_ROUND_ORDINALS |= {"twelfth": 12, "hundredth": 100, "thousandth": 1_000}
_ORDINALS = {word: value for value, word in enumerate(_FIRST_ORDINALS, 1)} | _ROUND_ORDINALS
NUMBER_WORDS = "|".join((*_SMALL, *_SCALES, *_ORDINALS, "half", "halves", "[a-z]{4,5}ths|thirds", "once", "twice"))
"""One of these is in each number that is spelled out in English."""
_BELOW_100 = rf"(?:(?:{_TENS})(?:[-\s](?:{_ONES})(?![A-Za-z]))?|{_TEENS}|{_ONES}|zero)"
_SCALE = f"(?:{'|'.join(_SCALES)})"
_SPELLED = (
    rf"(?<![A-Za-z])(?:{_BELOW_100}|a(?=\s{_SCALE}))(?![A-Za-z])"
    rf"(?:[-\s]{_SCALE}(?![A-Za-z])(?:(?:\sand)?\s{_BELOW_100}(?![A-Za-z]))?){{0,6}}"
)
# "First" and "second" alone may be an adverb and a unit of time.
_PART = "half|halves|thirds?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?"
_FRACTION_WORDS = (
    rf"(?<![A-Za-z])(?:(?:{_ONES})[-\s](?:{_PART})|a\s(?:half|third|quarter|fourth|fifth|tenth)(?=\sof\b|[.)]|$)"
    r"|half(?=\sof\b)|three[-\s]quarters(?=\sof\b|\smajority\b))(?![A-Za-z])"
)
_HOW_OFTEN = (
    r"(?<![A-Za-z])(?:once|twice)(?=\s(?:(?:an?|per|every|each)\s(?:day|week|month|quarter|year|hour|night|term)"
    r"|daily|weekly|monthly|yearly|annually)\b)"
)
_OFTEN = {"once": "1time", "twice": "2time"}
_AFTER = "".join(rf"(?<=\b{word}\s)|" for word in ("the", "every", "each", "this", "its", "their", "your", "our"))
_ORDINAL = (
    rf"(?<![A-Za-z])(?:(?:{_TENS})[-\s](?:{'|'.join(_FIRST_ORDINALS)})|(?:{_AFTER[:-1]})(?:first|second)"
    rf"|{'|'.join(sorted(set(_ORDINALS) - {'first', 'second'}, key=len, reverse=True))})"
    r"(?![A-Za-z]|[-\s]part(?:y|ies)\b)"
)
_JOINT = r"(?:\s?[–—~〜～]\s?|\sto\s)"
_RANGE = rf"(?:(?:{_JOINT}|(?<=\d)-(?=\d))(?:[¥$€£]\s?)?{_DIGITS}(?![-/:]?\d)(?:{_UNIT})?)?"
_COUNTER = (
    rf"(?:{_MONTHS}|時間|年間?|日間?(?!月)|週間?|分(?:間|後|前|以内)|秒間?|[円回人名件個枚台社歳割倍%]|[箇か]所|番目"
    "|パーセント)"
)
_NUMBER = "|".join(
    (
        rf"第\s?(?:\d+|{_KANJI_NUMBER}+)\s?[条項号章節編款]?(?:の\d+)?",
        r"§{1,2}\s?\d+(?:\.\d+)*",
        rf"\d{{1,3}}\s?分の\s?\d{{1,3}}|{_NO_KANJI}{_KANJI_NUMBER}{{1,3}}分の{_KANJI_NUMBER}{{1,3}}",
        rf"{_SIGN}{_MINUS}(?:{_FRACTION}(?:{_UNIT})?|{_GROUPED}{_UNIT})(?![A-Za-z_])",
        rf"{_SIGN}{_MINUS}{_DIGITS}(?:{_UNIT})?{_RANGE}(?![A-Za-z_])",
        r"(?<![A-Za-z0-9])v\d+(?:\.\d+)+(?![A-Za-z0-9])",
        _FRACTION_WORDS,
        _HOW_OFTEN,
        _ORDINAL,
        rf"{_SPELLED}(?:{_JOINT}{_BELOW_100}(?![A-Za-z]))?(?:[-\s]{_NOUN})?",
        rf"(?<![〇一二三四五六七八九十百千万億兆同唯統単均画随])"
        rf"(?:(?<![人件回個枚点戸本台日月年社総実])数(?=[十百千]))?"
        rf"{_KANJI_NUMBER}{{1,9}}(?:[万億兆]{_KANJI_NUMBER}{{0,9}}){{0,3}}{_COUNTER}",
        r"(?<![〇一二三四五六七八九十百千万])[一二三四五六七八九]つ",
        r"(?<![前後上下])半[年日月](?![分度間])",
    )
)
VALUE = re.compile(f"(?P<date>{_DATE})|(?P<number>{_NUMBER})", re.IGNORECASE)
_ALONE = re.compile("one|a|zero|一つ", re.IGNORECASE)
_FRACTION_IN_WORDS = re.compile(rf"(?:({_ONES}|an?)[-\s])?({_PART}|quarters?)", re.IGNORECASE)
_CLOCK = re.compile(r"\d:\d|時|\d[ap]\.?m|clock")
_ADDRESS = re.compile(r"(?:[a-z][a-z+.-]{1,15}://|(?<![\w.])www\.)[^\s<>\"'、。）」]++", re.IGNORECASE)
_NUMBER_WORDS = re.compile(_SPELLED, re.IGNORECASE)
_ORDINAL_WORDS = re.compile(rf"(?:(?:{_TENS})[-\s])?(?:{'|'.join(_ORDINALS)})(?![A-Za-z])", re.IGNORECASE)
_KANJI_RUN = re.compile(f"{_KANJI_NUMBER}[〇一二三四五六七八九十百千万億兆]*")
_SCALED = re.compile(r"(?:\d+(?:\.\d+)?(?:thousand|[mb]illion|trillion|[bm]n|[十百千万億兆]+)(?![a-z]))+\d*")
_MAGNITUDES = {"bn": 10**9, "mn": 10**6, **_SCALES, **_KANJI_SCALES}
_PLURAL = re.compile(r"(?<=[a-z]{2})(?<!bp)s$")
_SAME = (
    (re.compile(r"[ヶケ箇カヵ](?=[月所国])"), "か"),
    (re.compile(r"percent(?!age)|per\s?cent|パーセント"), "%"),
    (re.compile(r"(?<=\d)(?:st|nd|rd)(?![a-z])"), "th"),
    (re.compile(r"[—~〜～]|(?<=\d)-(?=\d)|(?<=\d)to(?=\d)"), "–"),
)
_SIGNS = str.maketrans({"−": "-", "△": "-", "▲": "-", "⁄": "/"})
_MINUS_WORDS = re.compile(r"(?:マイナス|\bminus)\s?(?=\d)")
_PARTS = re.compile(r"(\d+)分の(\d+)")
_PARTS_OF_ONE = {"hal": 2, "qua": 4} | {word[:3]: value for word, value in _ORDINALS.items() if 2 < value < 11}
_FAMILIES = (
    ("order", re.compile(r"^th$|目$")),
    (
        "time",
        re.compile(
            r"(?:day|week|month|quarter|year|hour|minute|min|second)$|^(?:ms|[hs])$|[年月日週時分秒]間?$|^半[年日月]"
        ),
    ),
    (
        "money",
        re.compile(r"[$¥€£₩₹円元]|eur|usd|jpy|gbp|chf|cny|krw|dollar|euro|pound|yen|cent|ドル|ユーロ|ポンド|ウォン"),
    ),
    ("share", re.compile(r"[%‰割倍]|point|ポイント")),
    ("mass", re.compile(r"^k?g$|グラム$")),
    ("length", re.compile(r"^[kcm]?m$|^(?:キロ|センチ|ミリ)?(?:メートル)?$")),
    ("volume", re.compile(r"^m?l$|リットル$")),
    ("rate", re.compile(r"bps$|bit/s$")),
    ("power", re.compile(r"^[kmg]?wh?$")),
    ("frequency", re.compile(r"hz$")),
    ("bytes", re.compile(r"^[kmgt]?i?b$")),
    ("people", re.compile(r"[人名]$|people|person|employee|member|user")),
    ("place", re.compile(r"[第§]")),
)


def is_value(text: str) -> bool:
    """Tell whether what matched is a number: "one" alone may be a pronoun, and "zero" part of a name."""
    return not _ALONE.fullmatch(text)


def is_clock(text: str) -> bool:
    """Tell whether a value is a time of day."""
    return _CLOCK.search(plain(text)) is not None


def addresses_in(text: str) -> list[tuple[int, int]]:
    """Return where addresses of the web stand: their digits count nothing."""
    if "://" not in text and "www." not in text.lower():
        return []
    return [found.span() for found in _ADDRESS.finditer(text)]


@lru_cache(maxsize=4_096)
def plain(text: str) -> str:
    """Return a value without what is only writing: widths of signs, white space, separators, words for digits."""
    narrow = unicodedata.normalize("NFKC", text).translate(_SIGNS).lower()
    narrow = _MINUS_WORDS.sub("-", narrow)
    if narrow in _OFTEN:
        return _OFTEN[narrow]
    if (fraction := _FRACTION_IN_WORDS.fullmatch(narrow)) and (fraction[1] or fraction[2] == "half"):
        return f"{_SMALL.get(fraction[1] or '', 1)}/{_PARTS_OF_ONE[fraction[2][:3]]}"
    narrow = _ORDINAL_WORDS.sub(lambda found: f"{_ordinal(found[0])}th", narrow)
    narrow = _NUMBER_WORDS.sub(lambda found: str(_counted(found[0])), narrow)
    narrow = re.sub(r"\s|(?<=\d)[,'](?=\d{3})|(?<=\d)-(?=[a-z])", "", narrow)
    narrow = _SCALED.sub(lambda found: _scaled(found[0]), narrow)
    narrow = _KANJI_RUN.sub(lambda found: str(_kanji_counted(found[0])), narrow)
    narrow = _PARTS.sub(r"\2/\1", narrow)
    for pattern, written in _SAME:
        narrow = pattern.sub(written, narrow)
    return _PLURAL.sub("", narrow)


def unit(text: str) -> str:
    """Return what a value counts, empty where it only counts."""
    return re.sub(r"[-+]?\d[\d.,/^]*(?:e[-+]?\d+)?|–", "", plain(text))


def may_replace(old: str, new: str) -> int:
    """Tell how well one number can have become another: 0 not at all, as what they count has nothing in common."""
    before, after = unit(old), unit(new)
    if before == after:
        return 4
    if not before or not after:
        return 2
    family = _family(before)
    return 3 if family and family == _family(after) else 0


def _family(of: str) -> str:
    return next((name for name, pattern in _FAMILIES if pattern.search(of)), "")


def _scaled(written: str) -> str:
    """Return the digits of a number that is written partly in digits, such as "1万2千" and "1.5million"."""
    total = part = Decimal(0)
    for digits, scale in re.findall(r"(\d+(?:\.\d+)?)?([a-z]+|[十百千万億兆]|$)", written):
        if scale in _KANJI_MYRIADS:
            total, part = total + (part + Decimal(digits or 0) or 1) * _KANJI_MYRIADS[scale], Decimal(0)
        else:
            part += Decimal(digits or (1 if scale else 0)) * _MAGNITUDES.get(scale, 1)
    whole = f"{total + part:f}"
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def _counted(words: str) -> int:
    total = part = 0
    for word in re.split(r"[-\s]+", words.strip()):
        if word in _SMALL:
            part += _SMALL[word]
        elif word == "a":
            part = 1
        elif word in ("hundred", "dozen"):
            part *= _SCALES[word]
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
    return total + part


def _ordinal(words: str) -> int:
    return sum(_ORDINALS.get(word) or _SMALL[word] for word in re.split(r"[-\s]+", words))


def _kanji_counted(signs: str) -> int:
    if not set(signs) & {*_KANJI_SCALES, *_KANJI_MYRIADS}:
        return int("".join(str(_KANJI_DIGITS[sign]) for sign in signs))
    total = part = digit = 0
    for sign in signs:
        if sign in _KANJI_DIGITS:
            digit = digit * 10 + _KANJI_DIGITS[sign]
        elif sign in _KANJI_SCALES:
            part, digit = part + (digit or 1) * _KANJI_SCALES[sign], 0
        else:
            total, part, digit = total + ((part + digit) or 1) * _KANJI_MYRIADS[sign], 0, 0
    return total + part + digit
