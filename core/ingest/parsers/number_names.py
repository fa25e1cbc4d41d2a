"""Months, days and halves of the day in the language that a number format names, as LibreOffice writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LANGUAGE_BITS = 0x3FF
_ENGLISH, _JAPANESE, _TAIWAN = "en", "ja", "zh-tw"
_NUMBERS = {4: "zh", 6: "da", 7: "de", 9: "en", 10: "es", 12: "fr", 16: "it", 17: "ja", 18: "ko", 19: "nl", 20: "nb",
            22: "pt", 29: "sv", 31: "tr"}  # fmt: skip
"""Languages by the low ten bits of their numbers ([MS-LCID])."""
_TAIWAN_NUMBER = 0x404
_HAN_MONTHS = "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月"
_HAN_SHORT = " ".join(f"{number}月" for number in range(1, 13))
_TABLE = {
    "en": (
        "January February March April May June July August September October November December",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "Mon Tue Wed Thu Fri Sat Sun",
    ),
    "da": (
        "januar februar marts april maj juni juli august september oktober november december",
        "jan feb mar apr maj jun jul aug sep okt nov dec",
        "mandag tirsdag onsdag torsdag fredag lørdag søndag",
        "man tir ons tor fre lør søn",
    ),
    "de": (
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        "Mo Di Mi Do Fr Sa So",
    ),
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sep oct nov dic",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lun mar mié jue vie sáb dom",
    ),
    "fr": (
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lun. mar. mer. jeu. ven. sam. dim.",
    ),
    "it": (
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "gen feb mar apr mag giu lug ago set ott nov dic",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "lun mar mer gio ven sab dom",
    ),
    "ja": (_HAN_MONTHS, _HAN_SHORT, "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日", "月 火 水 木 金 土 日"),
    "ko": (
        " ".join(f"{number}월" for number in range(1, 13)),
        " ".join(f"{number}월" for number in range(1, 13)),
        "월요일 화요일 수요일 목요일 금요일 토요일 일요일",
        "월 화 수 목 금 토 일",
    ),
    "nb": (
        "januar februar mars april mai juni juli august september oktober november desember",
        "jan. feb. mars april mai juni juli aug. sep. okt. nov. des.",
        "mandag tirsdag onsdag torsdag fredag lørdag søndag",
        "ma. ti. on. to. fr. lø. sø.",
    ),
    "nl": (
        "januari februari maart april mei juni juli augustus september oktober november december",
        "jan feb mrt apr mei jun jul aug sep okt nov dec",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        "ma di wo do vr za zo",
    ),
    "pt": (
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "jan fev mar abr mai jun jul ago set out nov dez",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "seg ter qua qui sex sáb dom",
    ),
    "sv": (
        "januari februari mars april maj juni juli augusti september oktober november december",
        "jan feb mar apr maj jun jul aug sep okt nov dec",
        "måndag tisdag onsdag torsdag fredag lördag söndag",
        "må ti on to fr lö sö",
    ),
    "tr": (
        "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
        "Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara",
        "Pazartesi Salı Çarşamba Perşembe Cuma Cumartesi Pazar",
        "Pzt Sal Çar Per Cum Cmt Paz",
    ),
    "zh": (_HAN_MONTHS, _HAN_SHORT, "星期一 星期二 星期三 星期四 星期五 星期六 星期日", "一 二 三 四 五 六 日"),
}
_HALVES = {"ja": ("午前", "午後"), "zh": ("上午", "下午"), _TAIWAN: ("上午", "下午"), "ko": ("오전", "오후"),
           "de": ("vorm.", "nachm."), "sv": ("fm", "em")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """What a language calls months and days, in full and short."""

    months: tuple[str, ...]
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    short_days: tuple[str, ...]


_NAMES = {language: Names(*(tuple(words.split()) for words in found)) for language, found in _TABLE.items()}


def language_of(code: str) -> str:
    """Return the language of what stands in brackets behind a hyphen, empty where it names none that is known."""
    if re.fullmatch(r"[0-9A-Fa-f]{2,8}", code):
        number = int(code, 16) & 0xFFFF
        # 0xF800 and 0xF400 stand for the reader's own.
        return (
            ""
            if number >= 0xF000
            else _TAIWAN
            if number == _TAIWAN_NUMBER
            else _NUMBERS.get(number & _LANGUAGE_BITS, "")
        )
    tag = code.lower()
    return _TAIWAN if tag.startswith(_TAIWAN) else tag[:2] if tag[:2] in _TABLE else ""


def names_of(language: str) -> Names:
    """Return the names of a language, the English ones for any that is not known."""
    return _NAMES["zh"] if language == _TAIWAN else _NAMES.get(language, _NAMES[_ENGLISH])


def half_of(language: str, written: str, is_later: bool) -> str:
    """Return what a language says for AM and PM; other marks, such as a/p, as the format writes them."""
    is_full = written.upper() == "AM/PM"
    own = _HALVES.get(language) if is_full else None
    return (own or (written.upper() if is_full else written).split("/"))[is_later]


def counts_by_reigns(language: str) -> bool:
    """Tell whether the year ``e`` is that of a Japanese era, which is so where a format names no other language."""
    return language in ("", _JAPANESE)
