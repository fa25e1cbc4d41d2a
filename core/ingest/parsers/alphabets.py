"""Which eight-bit encoding a text in Latin letters is in: the one that gives it the letters of one language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_ALPHABETS = {
    "Catalan": "àçèéíïòóúü",
    "Croatian, Slovenian": "čćđšž",
    "Czech": "áčďéěíňóřšťúůýž",
    "Danish, Norwegian": "åæéøòôóê",
    "Dutch": "áèéêëïíóöüú",
    "Estonian": "äõöüšž",
    "Finnish, Swedish": "äåéöšž",
    "French": "àâæçèéêëîïôœùûüÿ",
    "German": "äöüßé",
    "Hungarian": "áéíóöőúüű",
    "Icelandic": "áæéíðóöþúý",
    "Italian": "àèéìíîòóù",
    "Latvian": "āčēģīķļņšūž",
    "Lithuanian": "ąčęėįšųūž",
    "Polish": "ąćęłńóśźż",
    "Portuguese": "áàâãçéêíóôõúü",
    "Romanian": "ăâîșşțţ",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Spanish": "áéíñóúü",
    "Turkish": "çğıöşüâîûİ",
}
_LETTERS = {language: frozenset(letters + letters.upper()) for language, letters in _ALPHABETS.items()}
_VIETNAMESE = frozenset("àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ")
_WITH_TONES = frozenset(letter for letter in _VIETNAMESE if letter > "\u1e00") | frozenset("ăđơư")
_FEW_TONES, _NEARLY_ALL = 4, 0.97
ENCODINGS = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "mac_roman")
"""In the order in which they are taken where several give a text the letters of a language about as well."""
_CLEARLY, _BY_FAR = 1.25, 4.0
FEW = 2
"""Different letters of which a text has to use much more of an alphabet to be taken for one that comes later."""
MOST, LEAST = 0.98, 0.85
"""Share of accented letters that belong to one language, and that have to where no encoding has so many."""
_MOST_ACCENTED = 0.25
_JUDGED = 200_000
_WORD = re.compile(r"[^\W\d_]+")
_ALONE = frozenset("àÀáÁèÈéÉòÒóÓôÔœŒåÅöÖäÄøØæÆíÍêÊ")
"""Words of one accented letter: French à, Italian è, Swedish å, …"""
_SIGNS = frozenset("\xa0«»“”„‘’‚‹›–—…•·€£§°©®™ªº±×÷µ¶¹²³¼½¾¡¿†‡‰¢¥")
_INNER_SIGNS = frozenset("’·")


def latin_encoding(data: bytes) -> str:
    """Return the encoding in which ``data`` is text of one language in Latin letters; empty where none is."""
    if _is_vietnamese(data[:_JUDGED]):
        return "cp1258"
    found = {encoding: counted for encoding in ENCODINGS if (counted := _accented(data[:_JUDGED], encoding))}
    for least in (MOST, LEAST):
        chosen, most = "", 0.0
        for encoding, accented in found.items():
            used = max(_used(accented, known, least) for known in _LETTERS.values())
            if used > (_CLEARLY if len(accented) > FEW else _BY_FAR) * most:
                chosen, most = encoding, used
        if chosen:
            return chosen
    return ""


def _is_vietnamese(data: bytes) -> bool:
    """Tell whether letters and the tones that an encoding of its own sets behind them are those of Vietnamese."""
    text = unicodedata.normalize("NFC", data.decode("cp1258", "replace")).lower()
    beyond = [letter for letter in text if letter > "\x7f" and letter not in _SIGNS]
    own = [letter for letter in beyond if letter in _VIETNAMESE]
    return len(set(own) & _WITH_TONES) >= _FEW_TONES and len(own) >= _NEARLY_ALL * len(beyond)


def _accented(data: bytes, encoding: str) -> Counter[str] | None:
    """Count the letters beyond ASCII of a text; None where it cannot be one in Latin letters."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    accented: Counter[str] = Counter()
    astray = letters = 0
    for word in _WORD.findall(text):
        beyond = [letter for letter in word if letter > "\x7f" and letter not in _SIGNS]
        letters += len(word)
        accented.update(beyond)
        if len(beyond) == len(word) and word not in _ALONE:
            astray += len(beyond)
        elif not word.isupper():
            # A capital letter within a word is one of another encoding.
            astray += sum(letter.isupper() for letter in word[1:] if letter > "\x7f")
    total = accented.total()
    if not total or total > _MOST_ACCENTED * letters or astray > 0.1 * total or not _are_signs_in_place(text):
        return None
    return accented


def _used(accented: Counter[str], known: frozenset[str], least: float) -> float:
    """Return how much of an alphabet a text uses that consists of its letters; 0 where too many are of others."""
    own = [letter for letter in accented if letter in known]
    if sum(accented[letter] for letter in own) < least * accented.total():
        return 0.0
    return len({letter.lower() for letter in own}) / len({letter.lower() for letter in known})


def _are_signs_in_place(text: str) -> bool:
    """Tell whether all that is no letter beyond ASCII is a sign of print, and none stands within a word."""
    for at, sign in enumerate(text):
        if sign <= "\x7f" or (sign.isalpha() and sign not in "ªºµ"):
            continue
        if sign not in _SIGNS:
            return False
        within = 0 < at < len(text) - 1 and text[at - 1].isalpha() and text[at + 1].isalpha()
        if within and sign not in _INNER_SIGNS:
            return False
    return True
