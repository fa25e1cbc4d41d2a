"""What the terms of a question in English or Japanese are in the other language, by a list of words written for this.

The list, ``translations.tsv``, has a Japanese word and its English ones in each line. It is looked up by index terms,
so that inflected words and other spellings of the same term are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from core.model.terms import Terms
from core.text.analysis import analyse, normalise

_LANGUAGES = ("en", "ja")
_FILE = "translations.tsv"
_LONGEST = 4
"""Terms of a compound that is looked up as one."""
_LONGEST_QUESTION = 500
_MOST_ALTERNATIVES = 12

Alternatives = tuple[frozenset[str], ...]
"""What a term may be in the other language: the terms of a word or a compound each."""


def translations(question: str, language: str) -> Mapping[str, Alternatives]:
    """Return what terms of a question in ``language`` may be in the other one, those of a compound together."""
    return _remembered(question[:_LONGEST_QUESTION], language) if language in _LANGUAGES else {}


def load_translations() -> None:
    """Read the list, which takes half a second, before the first question wants it."""
    _list()


@lru_cache(maxsize=500)
def _remembered(question: str, language: str) -> Mapping[str, Alternatives]:
    known = _list()[language]
    found: dict[str, dict[frozenset[str], None]] = {}
    for run in _runs(analyse(normalise(question))):
        for alternative in known.get(run, ()):
            for term in run:
                found.setdefault(term, {})[frozenset(alternative)] = None
    return {term: tuple(alternatives)[:_MOST_ALTERNATIVES] for term, alternatives in found.items()}


def _runs(terms: Sequence[str]) -> Iterator[Terms]:
    """Yield the longest runs of terms first, whose translations say more."""
    for size in range(_LONGEST, 0, -1):
        for start in range(len(terms) - size + 1):
            yield tuple(terms[start : start + size])


@cache
def _list() -> Mapping[str, Mapping[Terms, Sequence[Terms]]]:
    """Return for each language the terms of its words, and those of their translations, the usual ones first.

    A Japanese word is told by its English ones in this order; an English one is so by the Japanese words of which it
    is the first, then by those of which it is the second.
    """
    found: dict[str, dict[Terms, dict[Terms, int]]] = {language: {} for language in _LANGUAGES}
    text = files("core.text").joinpath(_FILE).read_text("utf-8")
    for line in text.splitlines():
        japanese, _, told = line.partition("\t")
        own = tuple(analyse(normalise(japanese)))
        for place, english in enumerate(told.split("; ")):
            other = tuple(analyse(english))
            if own and other and own != other:
                for language, word, meant in (("ja", own, other), ("en", other, own)):
                    known = found[language].setdefault(word, {})
                    known[meant] = min(place, known.get(meant, place))
    return {
        language: {word: tuple(sorted(others, key=lambda each: others[each])) for word, others in words.items()}
        for language, words in found.items()
    }
