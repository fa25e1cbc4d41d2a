"""Stems of words by Snowball: by the script of a word where one language owns it, else by the language of its text."""

from __future__ import annotations

import re
import threading
import unicodedata
from typing import Any

from core.text.function_words import GREEK, LATIN, RUSSIAN

MARKS = "".join(sign for sign in map(chr, range(0x0591, 0x0E00)) if unicodedata.category(sign) in ("Mn", "Mc"))
"""Vowels and other marks that stand within words of Hebrew, Arabic and the scripts of India, and are no letters."""
SPOKEN = "~"
"""Stands between the code of a language and a term that only its rows hold; no word has it inside."""

_ALGORITHMS = {
    **{"da": "danish", "de": "german", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian"},
    **{"it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "sv": "swedish"},
    **{"tr": "turkish", "pl": "polish", "cs": "czech", "ca": "catalan", "id": "indonesian"},
}
_SCRIPTS = (
    ("russian", re.compile("[\u0400-\u04ff]+")),
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]+")),
    ("arabic", re.compile("[\u0610-\u06ff]+")),
    ("armenian", re.compile("[\u0531-\u0587]+")),
    ("hindi", re.compile("[\u0900-\u097f]+")),
    ("tamil", re.compile("[\u0b80-\u0bff]+")),
)
_STOPPED = RUSSIAN | GREEK
_ELIDING = ("fr", "it", "ca")
_APOSTROPHES = re.compile("['’]")
_CEDILLAS = str.maketrans("şţŞŢ", "șțȘȚ")

assert set(LATIN) == set(_ALGORITHMS)


def fold(word: str) -> str:
    """Drop the accents of letters."""
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))


def of_script(word: str) -> str:
    """Return the stem of a lower-case word whose script tells its language; empty for any other word."""
    if word.isascii():
        return ""
    for algorithm, script in _SCRIPTS:
        if script.fullmatch(word):
            return _of_script(word, algorithm)
    return ""


def is_stopped(word: str) -> bool:
    """Tell whether a lower-case word in a script of its own is one that a question does not ask for."""
    return not word.isascii() and word in _STOPPED


def _of_script(word: str, algorithm: str) -> str:
    if algorithm == "russian":
        word = word.replace("ё", "е")
    elif algorithm == "arabic":
        # Vowel signs and the seats of hamza are written or not.
        word = fold(word)
    stem: str = _stemmer(algorithm).stemWord(word)
    return fold(stem) if algorithm == "greek" else stem


def english(word: str) -> str:
    """Return the stem of a folded word as English has it."""
    stem: str = _stemmer("english").stemWord(word)
    return stem


def spoken(word: str, language: str) -> str:
    """Return the term of a lower-case word in a row of a language, marked by its code."""
    if language == "ro":
        word = word.translate(_CEDILLAS)
    return f"{language}{SPOKEN}{fold(_stemmer(_ALGORITHMS[language]).stemWord(word))}"


def lower(word: str, language: str) -> str:
    """Return a word in small letters as a language writes them."""
    if language == "tr":
        word = word.replace("I", "ı").replace("İ", "i")
    return word.lower().replace("i\u0307", "i")


def without_clitic(word: str, language: str) -> str:
    """Return a word without the article that French elides before it, or the ending that Turkish sets off from it."""
    if language in _ELIDING:
        return _APOSTROPHES.split(word)[-1] or word
    if language == "tr":
        return _APOSTROPHES.split(word)[0] or word
    return word


_per_thread = threading.local()


def _stemmer(algorithm: str) -> Any:
    known = vars(_per_thread).setdefault("stemmers", {})
    if algorithm not in known:
        import Stemmer

        # Its own memory of words costs five times what it saves, and terms are remembered by ``core.text.analysis``.
        known[algorithm] = Stemmer.Stemmer(algorithm, 0)
    return known[algorithm]
