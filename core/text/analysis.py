"""The one analyser: what a text is indexed by, and what a question asks for.

Every keyword index stores ``ANALYSER_ID`` with its rows; the extractor and the guard count the same terms.

A text has the terms that English and Japanese make of it, whatever its language: what two languages share, names and
codes above all, is found across them. A row in another language of Latin letters or in Chinese has the terms of its own
language besides, marked by its code, so that rows in English or Japanese never hold one. A question in such a language
asks for either, as for a word or its synonym.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

from core.model.terms import Clause, Terms
from core.text import japanese, stems, unspaced
from core.text.function_words import FUNCTION_WORDS, LATIN
from core.text.languages import language_of, languages_asked
from core.text.spellings import with_other_spellings
from core.text.stop_words import CONTRACTED, CONTRACTED_MORE, CUT_SHORT, STOP_WORDS

ANALYSER_ID = "ipadic-parts+snowball+pairs/2"
"""Names what the terms of an index were made by; any change of a term changes it."""

LONGEST_TERM = 64
_NORMALISE_CHARS = 500
_SHORT = 500
"""Characters of a text that may be a question, or a word of one, and is remembered."""

_MOST_WORDS, _FEW_WORDS = 65_536, 8_192
"""Words of a language whose terms are remembered."""
_OWN = ("en", "ja")

_JAPANESE = (
    "\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SIGN = rf"[^\W_{_JAPANESE}{unspaced.SIGNS}{unspaced.HANGUL}]"
_LETTERS = rf"{_SIGN}+(?:[{stems.MARKS}]+{_SIGN}*)*"
_OTHER_RUNS = {"japanese": f"[{_JAPANESE}]+", "unspaced": f"[{unspaced.SIGNS}]+", "hangul": f"[{unspaced.HANGUL}]+"}
_WORD = rf"[@#]?{_LETTERS}(?:[-._'’/&:@+\u2010]{_LETTERS})*(?:\+\+|[+#])?"
_RUN = re.compile("|".join(f"(?P<{kind}>{run})" for kind, run in (*_OTHER_RUNS.items(), ("word", _WORD))))
_ANY_RUN = re.compile("|".join((*_OTHER_RUNS.values(), _WORD)))
_ASCII_RUN = re.compile(_WORD.replace(_LETTERS, "[A-Za-z0-9]+"))
"""The same of a text in ASCII, whose runs are all words; a negated class is slow."""
_OTHER_SIGNS = {kind: re.compile(run) for kind, run in _OTHER_RUNS.items()}
_JAPANESE_SIGN = _OTHER_SIGNS["japanese"]
_NOT_JAPANESE = re.compile(f"[^{_JAPANESE}]+")
_PART = re.compile(_LETTERS)
_ACRONYM = re.compile(r"[a-z](?:\.[a-z])+")
_GROUPED = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINS = str.maketrans("", "", "-_'’\u2010")


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


def analyse(text: str, language: str = "") -> list[str]:
    """Return the terms of a text, in order, with repetitions; no term holds white space.

    They are those that every row has, or what the words of a ``language`` are in the rows of that language.
    """
    plain = _GROUPED.sub("", normalise(text))
    if plain.isascii():
        known = _known_terms(language if language in LATIN else "")
        return list(chain.from_iterable(map(known.__getitem__, _ASCII_RUN.findall(plain))))
    found: list[str] = []
    for run in _ANY_RUN.findall(plain):
        found += _terms(run, _kind_of(run), language)
    return found


def row_terms(text: str) -> list[str]:
    """Return the terms that a text is indexed by: of each word those that every row has, then those of its language."""
    plain = normalise(text)
    language = language_of(plain)
    plain = _GROUPED.sub("", plain)
    known = _known_row_words(language)
    if plain.isascii():
        return list(chain.from_iterable(map(known.__getitem__, _ASCII_RUN.findall(plain))))
    found: list[str] = []
    for run in _ANY_RUN.findall(plain):
        if _JAPANESE_SIGN.match(run) and language != "zh":
            found += japanese.terms(run)
        else:
            found += known[run]
    return found


class _Known(dict[str, Terms]):
    """The terms of words, made when one is first asked for: those of a collection come again, by Zipf's law."""

    def __init__(self, make: Callable[[str], Terms], most: int) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, word: str) -> Terms:
        terms = self._make(word)
        if len(word) <= LONGEST_TERM:
            if len(self) >= self._most:
                self.clear()
            self[word] = terms
        return terms


@cache
def _known_row_words(language: str) -> _Known:
    """Return the terms of runs in rows of a language."""
    return _Known(lambda run: _row_word(run, language), _MOST_WORDS if language in _OWN else _FEW_WORDS)


def _row_word(run: str, language: str) -> Terms:
    if run.isascii() and language in _OWN:
        return _known_terms("")[run]
    kind = _kind_of(run)
    return (*_terms(run, kind), *_spoken_terms(run, kind, language))


def _kind_of(run: str) -> str:
    if run[0] < "\u0e01":
        return "word"
    return next((kind for kind, sign in _OTHER_SIGNS.items() if sign.match(run)), "word")


def _spoken_terms(run: str, kind: str, language: str) -> Iterator[str]:
    """Yield the terms of a run that only rows of its language hold; little words have none, or rows would be long."""
    if language == "zh" or (language in LATIN and run.lower() not in FUNCTION_WORDS[language]):
        yield from filter(is_spoken, _terms(run, kind, language))


def is_spoken(term: str) -> bool:
    """Tell whether only rows of one language hold a term."""
    return stems.SPOKEN in term


def unmarked(term: str) -> str:
    """Return a term without the mark of its language."""
    return term.rpartition(stems.SPOKEN)[2]


def analyse_query(text: str, language: str = "") -> list[str]:
    """Return the distinct terms that a question asks for; a capitalised IT or OR is a name, not a stop word."""
    return list(_remembered_query(text, language) if len(text) <= _SHORT else _fresh_query(text, language))


def _fresh_query(text: str, language: str) -> Terms:
    found: dict[str, None] = {}
    for run, kind in _asked_runs(text, language):
        found.update(dict.fromkeys(_asked_terms(run, kind, language)))
    return tuple(found)


# A question, and each of its words, is analysed by several stations of its way.
_remembered_query = lru_cache(maxsize=2_000)(_fresh_query)


def question_clauses(text: str) -> tuple[Clause, ...]:
    """Return what a question asks for: each term that every row may hold, or a word's terms in any of its languages.

    The last alternative of a clause are the terms of every row; no term stands in two clauses.
    """
    languages = languages_asked(normalise(text))
    clauses: list[Clause] = []
    taken: set[str] = set()

    def left(terms: Iterable[str]) -> Terms:
        return tuple(dict.fromkeys(term for term in terms if term not in taken))

    runs = tuple(_asked_runs(text, languages[0] if len(languages) == 1 else ""))
    everything = Counter(chain.from_iterable(dict.fromkeys(_asked_terms(*run)) for run in runs))
    for words, kind, otherwise in with_other_spellings(runs, joins=not languages):
        plain = left(chain.from_iterable(_asked_terms(word, kind) for word in words))
        spoken = [_asked_spoken(word, kind, language) for language in languages for word in words]
        others = tuple(filter(None, map(left, spoken)))
        own = Counter(plain)
        variant = tuple(term for term in left(analyse(otherwise)) if everything[term] <= own[term])
        taken.update(plain, variant, *others)
        if others:
            clauses.append(Clause(tuple(filter(None, (*others, variant, plain)))))
            continue
        clauses.extend(Clause(((term,),)) for term in plain if not variant or term in variant)
        if variant:
            kept = (
                tuple(term for term in variant if term not in plain),
                tuple(term for term in plain if term not in variant),
            )
            if all(kept):
                clauses.append(Clause(kept))
            else:
                clauses.extend(Clause(((term,),)) for term in kept[1])
    return tuple(clauses)


def _asked_spoken(run: str, kind: str, language: str) -> Terms:
    """Return the terms of a run that only rows of a language hold."""
    if (kind == "japanese") != (language == "zh"):
        return ()
    return tuple(dict.fromkeys(filter(is_spoken, _asked_terms(run, kind, language))))


def content_words(text: str, language: str = "") -> set[str]:
    """Return the terms that carry what a text says."""
    return set(analyse_query(text, language))


def whole_term(word: str) -> str:
    """Return the one term of a word or code that is kept whole, whatever signs or blanks join its parts."""
    joined = "".join(normalise(word).lower().split()).translate(_JOINS)
    if _JAPANESE_SIGN.search(joined):
        return japanese.stem(joined)[:LONGEST_TERM]
    return _stems(joined)[0]


def fold(text: str) -> str:
    """Return a text without the accents of letters; Japanese signs keep their marks."""
    return text if text.isascii() else _NOT_JAPANESE.sub(lambda match: stems.fold(match.group()), text)


def keywords(text: str, language: str = "") -> tuple[str, ...]:
    """Return the content words of a question as a person writes them, for display."""
    return _remembered_keywords(text, language) if len(text) <= _SHORT else _fresh_keywords(text, language)


def _fresh_keywords(text: str, language: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for run, kind in _asked_runs(text, language):
        if kind == "japanese" and language != "zh":
            found.update((word.base, None) for word in japanese.words(run) if not word.stopped)
        elif kind in ("japanese", "unspaced"):
            found.update(dict.fromkeys(unspaced.words_asked(run)))
        else:
            found[run if run.isupper() else run.lower()] = None
    return tuple(found)


_remembered_keywords = lru_cache(maxsize=500)(_fresh_keywords)


@dataclass(frozen=True, slots=True)
class AnalysedPiece:
    """A word of a text: its place, its terms in the index, and whether a question asks for them.

    ``kind`` is its part of speech, for Japanese; ``stopped`` is why it has no terms, or why nobody asks for them;
    ``spoken`` are its terms that only rows of the language of the text hold.
    """

    surface: str
    start: int
    end: int
    terms: tuple[str, ...]
    reading: str = ""
    kind: str = ""
    stopped: str = ""
    spoken: tuple[str, ...] = ()


def pieces(text: str) -> Iterator[AnalysedPiece]:
    """Yield the words of a normalised text without commas between digits, as ``row_terms`` takes them."""
    shouted = _is_shouted(text)
    language = language_of(text)
    for match in _RUN.finditer(text):
        at, kind = match.start(), str(match.lastgroup)
        if kind == "japanese" and language != "zh":
            for word, reading, part_of_speech, stopped in japanese.described(match.group()):
                end = at + len(word.surface)
                terms = japanese.terms_of(word)
                yield AnalysedPiece(word.surface, at, end, terms, reading, part_of_speech, "" if terms else stopped)
                at = end
        else:
            run = match.group()
            stopped = "stop_word" if _is_stopped(run, kind, shouted, language if language in LATIN else "") else ""
            spoken = tuple(_spoken_terms(run, kind, language))
            yield AnalysedPiece(run, at, match.end(), tuple(_terms(run, kind)), stopped=stopped, spoken=spoken)


def commas_within_numbers(normalised: str) -> list[int]:
    """Return the places of the commas that group digits, which no term holds."""
    return [match.start() for match in _GROUPED.finditer(normalised)]


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the runs of one script with its kind; digits grouped by commas are one number."""
    for match in _RUN.finditer(_GROUPED.sub("", normalise(text))):
        yield match.group(), str(match.lastgroup)


def _asked_runs(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the runs that a question in a language asks for; contractions such as "don't" where it says no more."""
    shouted = _is_shouted(text)
    runs = list(_runs(text))
    asked = [(run, kind) for run, kind in runs if not _is_stopped(run, kind, shouted, language)]
    yield from asked or ((run, kind) for run, kind in runs if kind == "word" and CONTRACTED_MORE.search(run.lower()))


def _terms(run: str, kind: str, language: str = "") -> Iterable[str]:
    if kind == "japanese":
        return unspaced.chinese(run) if language == "zh" else japanese.terms(run)
    if kind == "unspaced":
        return unspaced.clusters(run)
    return unspaced.hangul(run) if kind == "hangul" else _known_terms(language if language in LATIN else "")[run]


def _asked_terms(run: str, kind: str, language: str = "") -> Iterable[str]:
    if kind == "japanese" and language == "zh":
        return unspaced.chinese_asked(run)
    return unspaced.clusters_asked(run) if kind == "unspaced" else _terms(run, kind, language)


def _is_shouted(text: str) -> bool:
    return text.isupper() and len(text.split()) > 2


def _is_stopped(run: str, kind: str, shouted: bool, language: str = "") -> bool:
    """Tell whether a question does not ask for a word, a little one of its language; of English where none is known."""
    if kind != "word":
        return kind == "hangul" and unspaced.is_korean_stop(run)
    plain = run.lower()
    if language in LATIN:
        said = stems.without_clitic(stems.lower(run, language), language) in FUNCTION_WORDS[language]
    else:
        bare = CONTRACTED.sub("", plain)
        said = bare in STOP_WORDS or (bare != plain and bare in CUT_SHORT) or stems.is_stopped(plain)
    return said and (shouted or len(run) == 1 or not run.isupper())


@cache
def _known_terms(language: str) -> _Known:
    """Return the terms of words: the stem of one; of a code or a compound, the whole and its parts."""
    return _Known(lambda word: _word_terms(word, language), _FEW_WORDS if language else _MOST_WORDS)


_POSSESSIVE = ("'s", "’s")


def _word_terms(word: str, language: str) -> Terms:
    if not language and len(word) <= LONGEST_TERM and word.isascii() and word.isalpha():
        return (stems.english(word.lower()),)
    word = stems.without_clitic(stems.lower(word, language), language)
    parts = _PART.findall(word)
    if parts == [word]:
        return _stems(word, language)
    if word.endswith(_POSSESSIVE):
        while word.endswith(_POSSESSIVE):
            word = word[:-2]
        return _known_terms(language)[word]
    if _ACRONYM.fullmatch(word):
        return (word.replace(".", ""),)
    if len(parts) == 1 and word[0] in "@#":
        return _stems(parts[0], language)
    whole = word.translate(_JOINS) if any(map(str.isalpha, parts)) else word
    terms = _stems(whole, language) if len(whole) <= LONGEST_TERM else ()
    if "'" not in word and "’" not in word:
        terms += tuple(stem for part in parts for stem in _stems(part, language))
    return tuple(dict.fromkeys(terms))


def _stems(word: str, language: str = "") -> tuple[str, ...]:
    if len(word) > LONGEST_TERM:
        word = stems.fold(word)
        return tuple(word[start : start + LONGEST_TERM] for start in range(0, len(word), LONGEST_TERM))
    if found := stems.of_script(word):
        return (found,)
    if not word.isalpha():
        return (stems.fold(word),)
    return (stems.spoken(word, language) if language else stems.english(stems.fold(word)),)
