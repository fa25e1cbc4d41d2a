"""The one analyser: what a text is indexed by, and what a question asks for.

Every keyword index stores ``ANALYSER_ID`` with its rows; the extractor and the guard count the same terms.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.text import japanese

ANALYSER_ID = "ipadic-parts+snowball-english/1"
"""Names what the terms of an index were made by; any change of a term changes it."""

LONGEST_TERM = 64
_NORMALISE_CHARS = 500

_JAPANESE = (
    "\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_JAPANESE}]"
_RUN = re.compile(
    rf"(?P<japanese>[{_JAPANESE}]+)|(?P<word>[@#]?{_LETTER}+(?:[-._'’/&:@+\u2010]{_LETTER}+)*(?:\+\+|[+#])?)"
)
_JAPANESE_SIGN = re.compile(f"[{_JAPANESE}]")
_NOT_JAPANESE = re.compile(f"[^{_JAPANESE}]+")
_PART = re.compile(rf"{_LETTER}+")
_ACRONYM = re.compile(r"[a-z](?:\.[a-z])+")
_GROUPED = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINS = str.maketrans("", "", "-_'’\u2010")

_STOP_LINES = """
    a an the and or but nor not no so than as if because although while until before after
    i me my we us our ours you your yours he him his she her hers it its itself they them their theirs
    this that these those there such some any both each only other same all most more very just also too
    is am are was were be been being do does did done have has had can could may might must shall should will would
    of at by for with about between into during to from up in out on off over under through
    what which who whom whose when where why how
"""
_STOP_WORDS = frozenset(_STOP_LINES.split())


def normalise(text: str) -> str:
    """Return the text with one form for each sign (NFKC: width, ligatures), in pieces so that no input is slow."""
    if text.isascii():
        return text
    text = _SURROGATE.sub(" ", text)
    pieces = []
    start = 0
    while start < len(text):
        end = start + _NORMALISE_CHARS
        while end < min(len(text), start + 2 * _NORMALISE_CHARS) and _joins_the_sign_before(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFKC", text[start:end]))
        start = end
    return "".join(pieces)


def _joins_the_sign_before(sign: str) -> bool:
    return unicodedata.combining(sign) > 0 or sign in "\uff9e\uff9f"


def analyse(text: str) -> list[str]:
    """Return the terms that a text is indexed by, in order, with repetitions; no term holds white space."""
    found: list[str] = []
    for run, is_japanese in _runs(text):
        found.extend(japanese.terms(run) if is_japanese else _word_terms(run))
    return found


def analyse_query(text: str) -> list[str]:
    """Return the distinct terms that a question asks for; a capitalised IT or OR is a name, not a stop word."""
    found: dict[str, None] = {}
    shouted = _is_shouted(text)
    for run, is_japanese in _runs(text):
        if is_japanese:
            found.update(dict.fromkeys(japanese.terms(run)))
        elif not _is_stopped(run, shouted):
            found.update(dict.fromkeys(_word_terms(run)))
    return list(found)


def content_words(text: str) -> set[str]:
    """Return the terms that carry what a text says."""
    return set(analyse_query(text))


def whole_term(word: str) -> str:
    """Return the one term of a word or code that is kept whole, whatever signs or blanks join its parts."""
    joined = "".join(normalise(word).lower().split()).translate(_JOINS)
    if _JAPANESE_SIGN.search(joined):
        return japanese.stem(joined)[:LONGEST_TERM]
    return _stems(_fold(joined))[0]


def fold(text: str) -> str:
    """Return a text without the accents of letters; Japanese signs keep their marks."""
    return text if text.isascii() else _NOT_JAPANESE.sub(lambda match: _fold(match.group()), text)


def keywords(text: str) -> tuple[str, ...]:
    """Return the content words of a question as a person writes them, for display."""
    found: dict[str, None] = {}
    shouted = _is_shouted(text)
    for run, is_japanese in _runs(text):
        if is_japanese:
            found.update((word.base, None) for word in japanese.words(run) if not word.stopped)
        elif not _is_stopped(run, shouted):
            found[run if run.isupper() else run.lower()] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class AnalysedPiece:
    """A word of a text: its place, its terms in the index, and whether a question asks for them.

    ``kind`` is its part of speech, for Japanese; ``stopped`` is why it has no terms, or why nobody asks for them.
    """

    surface: str
    start: int
    end: int
    terms: tuple[str, ...]
    reading: str = ""
    kind: str = ""
    stopped: str = ""


def pieces(text: str) -> Iterator[AnalysedPiece]:
    """Yield the words of a normalised text without commas between digits, as ``analyse`` takes them."""
    shouted = _is_shouted(text)
    for match in _RUN.finditer(text):
        at = match.start()
        if match.lastgroup == "japanese":
            for word, reading, kind, stopped in japanese.described(match.group()):
                end = at + len(word.surface)
                terms = japanese.terms_of(word)
                yield AnalysedPiece(word.surface, at, end, terms, reading, kind, "" if terms else stopped)
                at = end
        else:
            stopped = "stop_word" if _is_stopped(match.group(), shouted) else ""
            yield AnalysedPiece(match.group(), at, match.end(), _word_terms(match.group()), stopped=stopped)


def commas_within_numbers(normalised: str) -> list[int]:
    """Return the places of the commas that group digits, which no term holds."""
    return [match.start() for match in _GROUPED.finditer(normalised)]


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of one script, and whether it is Japanese; digits grouped by commas are one number."""
    for match in _RUN.finditer(_GROUPED.sub("", normalise(text))):
        yield match.group(), match.lastgroup == "japanese"


def _is_shouted(text: str) -> bool:
    return text.isupper() and len(text.split()) > 2


def _is_stopped(word: str, shouted: bool) -> bool:
    plain = word.lower().removesuffix("'s").removesuffix("’s")
    return plain in _STOP_WORDS and (shouted or len(word) == 1 or not word.isupper())


def _word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word: its stem; of a code or a compound, the whole and its parts."""
    return _remembered_terms(word) if len(word) <= LONGEST_TERM else _fresh_terms(word)


_POSSESSIVE = ("'s", "’s")


def _fresh_terms(word: str) -> tuple[str, ...]:
    word = _fold(word.lower())
    parts = _PART.findall(word)
    if parts == [word]:
        return _stems(word)
    if word.endswith(_POSSESSIVE):
        while word.endswith(_POSSESSIVE):
            word = word[:-2]
        return _word_terms(word)
    if _ACRONYM.fullmatch(word):
        return (word.replace(".", ""),)
    if len(parts) == 1 and word[0] in "@#":
        return _stems(parts[0])
    whole = word.translate(_JOINS) if any(map(str.isalpha, parts)) else word
    terms = _stems(whole) if len(whole) <= LONGEST_TERM else ()
    if "'" not in word and "’" not in word:
        terms += tuple(stem for part in parts for stem in _stems(part))
    return tuple(dict.fromkeys(terms))


_remembered_terms = lru_cache(maxsize=65_536)(_fresh_terms)


def _fold(word: str) -> str:
    """Drop the accents of letters."""
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))


def _stems(word: str) -> tuple[str, ...]:
    if len(word) > LONGEST_TERM:
        return tuple(word[start : start + LONGEST_TERM] for start in range(0, len(word), LONGEST_TERM))
    return (_stemmer().stemWord(word),) if word.isalpha() else (word,)


_per_thread = threading.local()


def _stemmer() -> Any:
    if not hasattr(_per_thread, "stemmer"):
        import Stemmer

        _per_thread.stemmer = Stemmer.Stemmer("english")
    return _per_thread.stemmer
