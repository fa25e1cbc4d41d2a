"""The sentences and table rows that could answer, each with how likely it does.

The weights are a conditional logit over the sentences of the best passages, fitted on half of two question sets
(`python -m benchmarks.answers --fit`). The cosine of each sentence is no feature: it added under half a point to either
set and costs an embedding of every sentence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

from core.model import Chunk, Hit
from core.query.answer.answer_types import offers
from core.query.answer.named_labels import named, names_of, options_in
from core.query.answer.orders import asks_about_orders, is_order
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.quotable_units import CELL_JOINT, Unit, quotable_units
from core.query.answer.ranges import in_range
from core.query.answer.trim_clauses import softmax
from core.text.analysis import analyse
from core.text.contents import is_contents
from core.text.language import detect_language

SENTENCE_WEIGHTS = {
    "coverage": 1.14,
    "around": 5.12,
    "titled": 2.68,
    "rank": 2.42,
    "offered": 1.01,
    "not_offered": -1.33,
    "pairs": 2.07,
    "length": -0.25,
    "unit": 1.35,
    "says_little": -1.68,
}
SET_WEIGHTS = {"heading": -6.0, "named": 3.0, "first_named": 1.0, "default": 2.0, "in_range": 3.0}
"""Set, not fitted: the question sets hold no headings, options and settings.

``named``: the question names what the sentence stands under; ``first_named``: and what that means is asked, which
the first sentence there says; ``default``: a default is asked for, and said; ``in_range``: a row of a range that holds
a number of the question, which no row has itself.
"""
_WEIGHTS = tuple((SENTENCE_WEIGHTS | SET_WEIGHTS).items())
_MOST_UNITS = 80
_NOTICED, _SHORTEST_NOTICE = 3, 15
"""Passages that repeat a notice, at least, and characters that it has."""
_ASKED_ABOUT = 0.3
"""Share of a question's weight that a sentence holds which may answer it, however often it is said."""
_LEAST_OF_A_RANGE = 0.2
"""The same of a row of a range, which lacks the number itself."""
_MEANING = re.compile(
    r"\bwhat (?:do(?:es)?|is|are)\b(?!.*\b(?:default|unit|range|limit|maximum|minimum)\b)|\bmean(?:s|ing)?\b|\bfor\?"
    r"|とは|意味|何を(?:する|し)|どうな[るり]|役割",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[<(]?(?:https?|ftp)://\S+")
_ASKS_ADDRESS = re.compile(
    r"\b(?:where|url|links?|(?:web )?(?:site|page)|address|download)\b|どこ|URL|サイト|ページ|アドレス|リンク|入手",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\bdefault(?:s|ed)?\b|既定|デフォルト|初期値|省略時", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence of a passage; ``start`` and ``end`` count in the passage's text, ``order`` counts its sentences."""

    hit: Hit
    order: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    unit: Unit
    features: dict[str, float]
    gives_orders: bool
    """To whoever answers (``orders``)."""
    chance: float = 0.0

    @property
    def above(self) -> str:
        """The header of a table row, or the label of another sentence."""
        return self.unit.header or self.unit.label


IsNotice = Callable[[Candidate], bool]


def says_default(text: str) -> bool:
    """Tell whether a text is about a default, be it a question for one or what says it."""
    return _DEFAULT.search(text) is not None


class CandidateFinder:
    """Finds the candidates of one question; the context and the extract want those of the same passages."""

    def __init__(self, question: str, hits: Sequence[Hit]) -> None:
        """Weigh the question by the statistics of ``hits``, once that is wanted."""
        self.question = question
        self._hits = hits
        self._known: dict[int, tuple[Hit, list[Candidate]]] = {}
        self._notices: set[Candidate] = set()

    @cached_property
    def profile(self) -> QuestionProfile:
        return read_question(self.question, self._hits)

    def find(self, hits: Sequence[Hit]) -> list[Candidate]:
        """Return what ``find_candidates`` does, looking at each passage once."""
        for hit in hits:
            if id(hit) not in self._known:
                # Held with its hit, whose id is not another one's then.
                self._known[id(hit)] = hit, list(_of_passage(self.profile, hit))
                self._notices.update(filter(self._is_notice, self._known[id(hit)][1]))
        found = [candidate for hit in hits for candidate in self._known[id(hit)][1]]
        return _with_chances(self.profile, [each for each in found if each not in self._notices] or found)

    @cached_property
    def _is_notice(self) -> IsNotice:
        return _notices_among(self.profile, self._hits)


def find_candidates(profile: QuestionProfile, hits: Sequence[Hit]) -> list[Candidate]:
    """Return the candidates of all passages with chances that sum to 1, in the order of the passages.

    A sentence that gives orders to whoever answers is none, unless the question is about such; nor is one beside it
    that has no word of the question, which would be chosen for what stands in the order. Nor is an entry of a table of
    contents.
    """
    found = [candidate for hit in hits for candidate in _of_passage(profile, hit)]
    is_notice = _notices_among(profile, hits)
    return _with_chances(profile, [each for each in found if not is_notice(each)] or found)


def _notices_among(profile: QuestionProfile, hits: Sequence[Hit]) -> IsNotice:
    """Return what tells whether three passages of a version, or more, say a sentence that the question has no part in.

    What each chapter says alike is about the document: a reader that meets it takes it for an answer to anything.
    What stands under a term, in a table or says a default is about that, however often it is said.
    """
    texts: dict[tuple[int, int], dict[int, str]] = {}
    for hit in hits:
        texts.setdefault(_version(hit), {})[hit.placed.id] = hit.placed.chunk.text
    many = {version: tuple(own.values()) for version, own in texts.items() if len(own) >= _NOTICED}

    def is_notice(each: Candidate) -> bool:
        passages = many.get(_version(each.hit), ())
        return (
            _may_be_notice(each)
            and sum(each.text in text for text in passages) >= _NOTICED
            # No word of a question is in a sentence of another language.
            and detect_language(each.text) == profile.language
        )

    return is_notice


def _version(hit: Hit) -> tuple[int, int]:
    return hit.placed.doc_id, hit.placed.version


def _may_be_notice(candidate: Candidate) -> bool:
    is_sentence = len(candidate.text) >= _SHORTEST_NOTICE and not candidate.above and not candidate.unit.is_row
    is_beside_it = candidate.features["coverage"] < _ASKED_ABOUT and not candidate.features["heading"]
    return is_sentence and is_beside_it and not says_default(candidate.text)


def _with_chances(profile: QuestionProfile, found: Sequence[Candidate]) -> list[Candidate]:
    orders = [] if asks_about_orders(profile.text) else [each for each in found if each.gives_orders]
    if orders:
        beside = {each.hit.placed.id for each in orders}
        found = [
            each
            for each in found
            if not each.gives_orders and (each.features["coverage"] or each.hit.placed.id not in beside)
        ]
    if not found:
        return []
    found = _with_ranges(profile, found)
    chances = softmax([sum([weight * each.features[name] for name, weight in _WEIGHTS]) for each in found])
    return [_likely(candidate, chance) for candidate, chance in zip(found, chances, strict=True)]


def _with_ranges(profile: QuestionProfile, found: Sequence[Candidate]) -> Sequence[Candidate]:
    within = in_range(profile.text, [(each.hit.placed.id, each.unit) for each in found])
    return [
        replace(each, features=each.features | {"in_range": 1.0})
        # A table of something else has ranges, too.
        if is_within and each.features["titled"] >= _LEAST_OF_A_RANGE
        else each
        for each, is_within in zip(found, within, strict=True)
    ]


def _likely(candidate: Candidate, chance: float) -> Candidate:
    # A question has hundreds, and ``replace`` takes several times as long.
    return Candidate(
        candidate.hit,
        candidate.order,
        candidate.start,
        candidate.end,
        candidate.text,
        candidate.terms,
        candidate.unit,
        candidate.features,
        candidate.gives_orders,
        chance,
    )


def passage_terms(hit: Hit, language: str) -> frozenset[str]:
    """Return the terms, in a question's language, of a passage with what it stands under, and the names it explains."""
    chunk = hit.placed.chunk
    names = (name for label in chunk.labels for name in names_of(label.text))
    return frozenset(analyse(chunk.indexed_text(hit.placed.title), language)).union(names)


def _subject(unit: Unit, heading: str) -> str:
    """What a unit stands under: the first cell of its row, its label, else its heading."""
    if unit.is_row:
        return unit.text.split(CELL_JOINT)[0]
    return unit.label or unit.section or heading


@dataclass(frozen=True, slots=True)
class _Sentences:
    """The sentences of a passage, and the terms of each and of what they stand under, in a question's language."""

    cut: tuple[Unit, ...]
    said: tuple[str, ...]
    terms: tuple[frozenset[str], ...]
    above: tuple[frozenset[str], ...]
    gives_orders: tuple[bool, ...]


@lru_cache(maxsize=500)
def _sentences(chunk: Chunk, title: str, language: str) -> _Sentences:
    """Return the sentences of a passage: the context, the extract and the next questions want the same ones."""
    title_terms = frozenset(analyse(title, language))
    path_terms = frozenset(analyse(" ".join(chunk.locator.heading_path), language))
    cut = tuple(islice(quotable_units(chunk, title), _MOST_UNITS))
    said = tuple(f"{unit.header}\n{unit.text}" if unit.header else unit.text for unit in cut)
    labels = {
        label: frozenset(analyse(label, language)).union(names_of(label)) for label in {unit.label for unit in cut}
    }
    above = tuple(
        (title_terms | (frozenset(analyse(unit.section, language)) if unit.section else path_terms))
        | labels[unit.label]
        for unit in cut
    )
    terms = tuple(frozenset(analyse(text, language)).union(options_in(text)) for text in said)
    return _Sentences(cut, said, terms, above, tuple(is_order(unit.text) for unit in cut))


def _of_passage(profile: QuestionProfile, hit: Hit) -> Iterator[Candidate]:
    chunk = hit.placed.chunk
    if is_contents(chunk.text):
        return
    sentences = _sentences(chunk, hit.placed.title, profile.language)
    cut, terms = sentences.cut, sentences.terms
    wanted = profile.expectation.unit
    asks_meaning = _MEANING.search(profile.text) is not None
    wants_default = says_default(profile.text)
    wants_address = _ASKS_ADDRESS.search(profile.text) is not None
    heading = chunk.locator.heading_path[-1] if chunk.locator.heading_path else ""
    sure = [named(_subject(unit, heading), profile.text, hit.placed.title) for unit in cut]
    for order, unit in enumerate(cut):
        if not any(sign.isalpha() or sign.isdecimal() for sign in unit.text):
            # The raised number of a footnote, or a line that is drawn.
            continue
        if not wants_address and _ADDRESS.fullmatch(unit.text.strip()):
            continue
        above = sentences.above[order]
        near = [order] if unit.is_row else range(max(0, order - 1), min(len(cut), order + 2))
        beside = [terms[i] for i in near if i == order or not cut[i].is_heading]
        offered = bool(offers(unit.text, profile.expectation, profile.text))
        features = {
            "coverage": profile.coverage(terms[order]),
            "around": profile.coverage(above.union(*beside)),
            "titled": profile.coverage(above | terms[order]),
            "rank": 1 / hit.rank,
            "offered": float(offered),
            "not_offered": float(profile.expectation.shows and not offered),
            "pairs": profile.pair_share(sentences.said[order]),
            "length": math.log(len(unit.text)),
            "unit": float(bool(wanted) and wanted in unit.text),
            "says_little": float(len(terms[order] - profile.weights.keys()) <= 1),
            "heading": float(unit.is_heading),
            "named": sure[order],
            "first_named": sure[order] * (asks_meaning and (order == 0 or cut[order - 1].label != unit.label)),
            "default": float(wants_default and says_default(unit.text)),
            "in_range": 0.0,
        }
        gives_orders = sentences.gives_orders[order]
        yield Candidate(hit, order, unit.start, unit.end, unit.text, terms[order], unit, features, gives_orders)
