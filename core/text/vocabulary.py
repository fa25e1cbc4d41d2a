"""A vocabulary of a knowledge base's own: words that are terms as a whole besides their parts, and words that mean
the same.

It stands on ``core.text.analysis`` and only adds to it, so that a question that was analysed without a vocabulary finds
every row that was analysed with one. Each keyword index is handed the words that its rows and its questions go by.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import fsum

from core.model import TermScore
from core.model.terms import Clause, Terms
from core.text import unspaced
from core.text.analysis import (
    ANALYSER_ID,
    LONGEST_TERM,
    analyse,
    analyse_query,
    fold,
    normalise,
    question_clauses,
    row_terms,
    whole_term,
)
from core.text.languages import language_asked
from core.text.translations import translations

_MOST_TRANSLATIONS = 4
"""Of a term that a question asks for; more are rare senses."""
_GAP = re.compile(r"\s+|(?<=\w)[-_./'’\u2010]+(?=\w)")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]")
_LETTER = re.compile(
    "[^\\W_\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    f"{unspaced.SIGNS}{unspaced.HANGUL}]"
)
_FIRST = 2
SHORTEST = _FIRST
"""Signs of the shortest word: one alone is found by itself, or stands in too many others."""


@dataclass(frozen=True, slots=True)
class VocabularyMatch:
    """A word of the vocabulary in a text: its term, and its place in the normalised text."""

    word: str
    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Member:
    """A word of a group of synonyms: what a question asks for it, and the terms in a row that tell it."""

    word: str
    asked: Terms
    told: tuple[Terms, ...]


class Words:
    """A vocabulary that texts and questions are analysed with; it never changes."""

    def __init__(self, words: Iterable[str] = (), synonyms: Iterable[Sequence[str]] = ()) -> None:
        self._by_start: dict[str, list[tuple[str, str, str]]] = {}
        known = dict.fromkeys(words)
        self.built_by = _analyser_with(known)
        """What makes the terms of rows: synonyms do not."""
        for word in known:
            form = scannable(normalise(word))[0].strip()
            if len(form) >= _FIRST:
                self._by_start.setdefault(form[:_FIRST], []).append((form, word, whole_term(word)))
        for entries in self._by_start.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self._groups = [tuple(map(self._member, group)) for group in synonyms]
        self._by_term: dict[str, list[tuple[Terms, int, _Member]]] = {}
        for number, group in enumerate(self._groups):
            for member in group:
                for told in filter(None, member.told):
                    self._by_term.setdefault(told[0], []).append((told, number, member))

    def _member(self, word: str) -> _Member:
        asked = dict.fromkeys(analyse_query(word) or analyse(word)) | dict.fromkeys(self._wholes(word))
        told = tuple(dict.fromkeys((tuple(analyse(word)), (whole_term(word),))))
        return _Member(word, tuple(asked), told)

    def analyse(self, text: str) -> list[str]:
        """Return the terms that a text is indexed by, with repetitions: those of its words, and the whole words."""
        found = row_terms(text)
        for term, count in Counter(self._wholes(text)).items():
            found += [term] * (count - found.count(term))
        return found

    def ask(self, text: str) -> tuple[Clause, ...]:
        """Return what a question asks for; a question in words without synonyms asks for each term by itself."""
        asked = question_clauses(text)
        plain = [term for clause in asked for term in clause.alternatives[-1]]
        asked += tuple(Clause(((term,),)) for term in dict.fromkeys(self._wholes(text)) if term not in plain)
        if not self._groups:
            return _with_translations(asked, text)
        terms = list(dict.fromkeys((*plain, *self._wholes(text))))
        clauses: dict[Terms, Clause] = {}
        taken: set[str] = set()
        for number, member in self._told(text):
            own = tuple(term for term in member.asked if term in terms)
            if not own or (taken.intersection(own) and own not in clauses):
                continue
            before = clauses.get(own, Clause((own,), member.word))
            taken.update(own)
            others = [self._other(each, own, terms, taken) for each in self._groups[number] if each is not member]
            clauses[own] = replace(before, alternatives=(*before.alternatives, *filter(None, others)))
        return _with_translations((*clauses.values(), *_left_of(asked, taken)), text)

    @staticmethod
    def _other(member: _Member, own: Terms, terms: Sequence[str], taken: set[str]) -> Terms:
        """Return the terms of a synonym that the question does not ask for anyway; a term stands in one clause only."""
        found = tuple(term for term in member.asked if term in own or (term not in terms and term not in taken))
        taken.update(found)
        return found if found != own else ()

    def _told(self, text: str) -> list[tuple[int, _Member]]:
        """Return the synonyms that a question holds with the numbers of their groups, the longest first."""
        found = self._told_in(analyse(text))
        return list({(number, member.word): (number, member) for _, _, number, member in found}.values())

    def _told_in(self, terms: Sequence[str]) -> list[tuple[int, int, int, _Member]]:
        found = [
            (-len(told), at, number, member)
            for at, term in enumerate(terms)
            for told, number, member in self._by_term.get(term, ())
            if tuple(terms[at : at + len(told)]) == told
        ]
        return sorted(found, key=lambda each: each[:3])

    def synonyms_in(self, terms: Sequence[str]) -> dict[int, tuple[str, ...]]:
        """Return the words that mean the same as one that begins at a place in the terms of a text, by these places."""
        found: dict[int, dict[str, None]] = {}
        for _, at, number, member in self._told_in(terms):
            others = [each.word for each in self._groups[number] if each.word != member.word]
            found.setdefault(at, {}).update(dict.fromkeys(others))
        return {at: tuple(words) for at, words in found.items()}

    def _wholes(self, text: str) -> list[str]:
        return [found.term for found in self.find(normalise(text))] if self._by_start else []

    def find(self, normalised: str) -> Iterator[VocabularyMatch]:
        """Yield the words of the vocabulary in a normalised text, the longest at each place; none overlaps another.

        A word of letters or of katakana is none within a longer one.
        """
        if not self._by_start:
            return
        text, places = scannable(normalised)
        at = 0
        while at < len(text) - 1:
            for form, word, term in self._by_start.get(text[at : at + _FIRST], ()):
                end = at + len(form)
                if text.startswith(form, at) and not _goes_on(text, at) and not _goes_on(text, end):
                    yield VocabularyMatch(word, term, places[at], places[end - 1] + 1)
                    at = end
                    break
            else:
                at += 1


def _with_translations(asked: Sequence[Clause], text: str) -> tuple[Clause, ...]:
    """Let what a question asks for by one term be asked for in the other language of English and Japanese as well."""
    known = translations(text, language_asked(text))
    taken = set(terms_of(asked))
    found: list[Clause] = []
    for clause in asked:
        own = clause.alternatives[0]
        others: list[Terms] = []
        if own == clause.alternatives[-1] and len(own) == 1:
            for terms in sorted(known.get(own[0], ()), key=len):
                if len(others) < _MOST_TRANSLATIONS and taken.isdisjoint(terms):
                    others.append(tuple(sorted(terms)))
                    taken.update(terms)
        found.append(Clause((own, *others), clause.word or own[0]) if others else clause)
    return tuple(found)


def _left_of(asked: Iterable[Clause], taken: set[str]) -> Iterator[Clause]:
    """Yield what a question asks for besides the words that have synonyms."""
    for clause in asked:
        left = [tuple(term for term in terms if term not in taken) for terms in clause.alternatives]
        if left[-1] == clause.alternatives[-1]:
            yield replace(clause, alternatives=tuple(filter(None, left)))
        else:
            yield from (Clause(((term,),)) for term in left[-1])


def _analyser_with(words: Iterable[str]) -> str:
    """Name the analyser with a vocabulary, by a hash of its words, whatever their order."""
    named = "\0".join(sorted(words)).encode("utf-8", "surrogatepass")
    return f"{ANALYSER_ID}+{sha256(named).hexdigest()[:16]}" if named else ANALYSER_ID


PLAIN = Words()
"""No vocabulary: the terms are those of ``core.text.analysis``."""


def terms_of(asked: Sequence[Clause]) -> list[str]:
    """Return every term that a question asks for, each once."""
    return list(dict.fromkeys(term for clause in asked for terms in clause.alternatives for term in terms))


def counted(asked: Sequence[Clause], scores: Mapping[str, TermScore]) -> tuple[TermScore, ...]:
    """Return the scores of a row's terms that count: of each clause those of its best alternative."""
    found: list[TermScore] = []
    for clause in asked:
        if len(clause.alternatives) == 1:
            for term in clause.alternatives[0]:
                if term in scores:
                    found.append(scores[term])
            continue
        held = [[scores[term] for term in terms if term in scores] for terms in clause.alternatives]
        best = max(range(len(held)), key=lambda at: (fsum(part.score for part in held[at]), -at))
        own = clause.alternatives[0]
        found += [part if part.term in own else replace(part, stands_for=clause.word) for part in held[best]]
    return tuple(found)


def scannable(text: str) -> tuple[str, list[int]]:
    """Return a normalised text as words are looked for in it, and the place in it of each sign.

    Small letters without accents; blanks, and signs that join parts of a word, are one blank.
    """
    signs: list[str] = []
    places: list[int] = []
    at = 0
    for gap in (*_GAP.finditer(text), None):
        end = len(text) if gap is None else gap.start()
        for place in range(at, end):
            for sign in fold(text[place].lower()):
                signs.append(sign)
                places.append(place)
        if gap is not None:
            signs.append(" ")
            places.append(end)
            at = gap.end()
    return "".join(signs), places


def _goes_on(text: str, at: int) -> bool:
    """Tell whether a word of one script stands on both sides of a place."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return any(kind.match(before) and kind.match(after) for kind in (_LETTER, _KATAKANA))


def is_indexed(word: str) -> bool:
    """Tell whether a word has a term."""
    return bool(analyse(word)) and len(whole_term(word)) <= LONGEST_TERM
