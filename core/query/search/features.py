"""Light features of fused candidates: what can be told of a passage without reading it with a model.

Terms are looked up literally in the passage: analysing thirty passages would cost more than all the rest of a search.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.model import Hit
from core.query.answer.named_labels import named
from core.query.answer.question_profile import TRANSLATED, QuestionProfile
from core.text.analysis import fold, is_spoken, unmarked
from core.text.contents import is_contents
from core.text.language import detect_language

WINDOW_CHARS = {"ja": 80, "en": 200}
_MOST_CHARS = 8_000
_REMEMBERED = 8_000
"""Passages that are found again and again."""
_MOST_TERMS = 40
_MOST_PAIRS = 120
_ENDING = re.compile(r"(?<=[一-鿿々])[ぁ-ん]+$")
_CODE = re.compile(r"(?=[a-z0-9]*\d)[a-z0-9]+(?:[-_./:#]?[a-z0-9]+)+")
_LATIN = re.compile(r"[a-z][a-z0-9_.-]+")
_WORD_END = re.compile(r"(?:[a-z]?(?:e?s|e?d|ing|ers?))?(?![a-z])")
_WORD_END_AFTER_Y = re.compile(r"(?:ys?|ying|i|is|ie[sdr]?|iers)(?![a-z])")
_FIGURE_END = re.compile(r"(?![0-9])")
_SHORT = 3
"""Letters of a term that begins so many words that it counts at the end of its own only: ``os``, ``hr``."""
_QUOTED = re.compile(r"[「『\"“]([^「」『』\"“”]{2,60})[」』\"”]")


@dataclass(frozen=True, slots=True)
class Shared:
    """What the forms of a word share: how they begin and, where that is short, how they may go on.

    A word in Latin letters begins where no letter or digit of such stands before it, so that ``port`` is not in
    ``import``.
    """

    text: str
    end: re.Pattern[str] | None = None
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked for in passages; ``terms`` are an index term, what its forms in a text share, and its weight."""

    terms: tuple[tuple[str, Shared, float], ...]
    pairs: tuple[str, ...]
    exact: tuple[str, ...]
    window_chars: int
    question: str
    folds: bool = False
    """The terms have no accents, which the words in passages may have."""
    language: str = ""
    across: tuple[tuple[tuple[Shared, ...], ...], ...] = ()
    """For each term the words that it may be in passages of the other language, and what their forms share."""


def looked_for(profile: QuestionProfile) -> Looked:
    """Return what to look for. Weights sum to 1."""
    heaviest = sorted(profile.weights.items(), key=lambda item: -item[1])[:_MOST_TERMS]
    total = sum(weight for _, weight in heaviest) or 1.0
    said = plain(profile.text)
    exact = dict.fromkeys([*_CODE.findall(said), *(match.strip() for match in _QUOTED.findall(said))])
    return Looked(
        terms=tuple((term, _shared(term), weight / total) for term, weight in heaviest),
        pairs=tuple(sorted(profile.pairs))[:_MOST_PAIRS],
        exact=tuple(text for text in exact if text),
        window_chars=WINDOW_CHARS.get(profile.language, 200),
        question=profile.text,
        folds=any(map(is_spoken, profile.weights)),
        language=profile.language,
        across=tuple(
            tuple(tuple(map(_shared, sorted(words))) for words in profile.across.get(term, ())) for term, _ in heaviest
        )
        if profile.across
        else (),
    )


@lru_cache(maxsize=_REMEMBERED)
def plain(text: str) -> str:
    """Return the text in the one form in which passages are looked through; good passages are found again and again."""
    text = text[:_MOST_CHARS]
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split())


def text_features(looked: Looked, hit: Hit) -> dict[str, float]:
    """Return the features of one passage that its text tells, each 0 to 1.

    ``coverage``: the weight of the question's terms that it or its headings hold; ``window``: of those that stand
    together; ``pairs``: the share of the question's letter pairs; ``exact``: of its codes and quoted phrases;
    ``named``: how surely the question names what some of it stands under, such as an option; ``contents``: 1 for a
    table of contents, else 0.
    """
    chunk = hit.placed.chunk
    above = plain(" ".join((hit.placed.title, *chunk.locator.heading_path, chunk.header)))
    body = plain(chunk.text)
    if looked.folds:
        above, body = fold(above), fold(body)
    known = {score.term for score in hit.keyword.terms} if hit.keyword else frozenset()
    is_across = bool(looked.across) and passage_language(chunk.text) != looked.language
    places: list[tuple[int, int]] = []
    coverage = 0.0
    for number, (term, form, weight) in enumerate(looked.terms):
        words = looked.across[number] if is_across else ()
        if found := _places(body, form):
            places += [(at, number) for at in found]
            coverage += weight
        elif term in known or _places(above, form):
            coverage += weight
        elif translated := _places_of_any(body, words):
            places += [(at, number) for at in translated]
            coverage += TRANSLATED * weight
        elif _places_of_any(above, words):
            coverage += TRANSLATED * weight
    # Neither holds a line break, so that nothing is found across the two.
    whole = f"{body}\n{above}"
    held = len([pair for pair in looked.pairs if pair in whole])
    exact = len([text for text in looked.exact if text in whole])
    return {
        "coverage": coverage,
        "window": _best_window(looked, places),
        "pairs": held / len(looked.pairs) if looked.pairs else 0.0,
        "exact": exact / len(looked.exact) if looked.exact else 0.0,
        "named": max([named(label.text, looked.question) for label in chunk.labels], default=0.0),
        "contents": float(is_contents(chunk.text)),
    }


def nearness_across(
    looked: Looked, hits: Sequence[Hit], near: Sequence[float], covered: Sequence[float]
) -> list[float]:
    """Return for passages in the other language than the question how near they are among each other, else 0.

    ``near`` are cosines, 0 to 1 over all hits. ``covered`` are the shares of the question's terms: where a passage in
    its own language holds most of them, others count for less. One that holds none of the names in Latin letters of a
    Japanese question is hardly near.
    """
    language = detect_language(looked.question)
    foreign = [passage_language(hit.placed.chunk.text) != language for hit in hits]
    own = max((share for share, is_foreign in zip(covered, foreign, strict=True) if not is_foreign), default=0.0)
    among = iter(scaled([value for value, is_foreign in zip(near, foreign, strict=True) if is_foreign]))
    names = _LATIN.findall(plain(looked.question)) if language == "ja" else []
    return [
        next(among) * value * _held_names(names, hit) * (1 - own) if is_foreign else 0.0
        for hit, is_foreign, value in zip(hits, foreign, near, strict=True)
    ]


@lru_cache(maxsize=_REMEMBERED)
def passage_language(text: str) -> str:
    """Return the language of a passage, which several stations of a question want to know."""
    return detect_language(text[:_MOST_CHARS])


def _held_names(names: Sequence[str], hit: Hit) -> float:
    if not names:
        return 1.0
    chunk = hit.placed.chunk
    text = plain("\n".join((hit.placed.title, hit.placed.name, *chunk.locator.heading_path, chunk.text)))
    return 0.3 + 0.7 * sum(name in text for name in names) / len(names)


def scaled(values: Sequence[float]) -> list[float]:
    """Return the values moved and stretched to 0 … 1; all 1 where they are the same."""
    least, most = min(values, default=0.0), max(values, default=0.0)
    return [(value - least) / (most - least) if most > least else 1.0 for value in values]


def _shared(term: str) -> Shared:
    """Return what the forms of an index term in a text share."""
    if is_spoken(term):
        # Other languages write words together, and have other endings.
        return Shared(unmarked(term))
    if term.isascii() and term.endswith("i") and len(term) > _SHORT:
        return Shared(term[:-1], _WORD_END_AFTER_Y if len(term) - 1 <= _SHORT else None, begins=True)
    if not term.isascii():
        return Shared(_ENDING.sub("", term))
    if term[-1:].isdigit():
        return Shared(term, _FIGURE_END, begins=True)
    return Shared(term, _WORD_END if len(term) <= _SHORT else None, begins=True)


def _places_of_any(text: str, words: Sequence[Sequence[Shared]]) -> list[int]:
    """Return where any of some words stands, a compound where its first part does and the others somewhere."""
    found: list[int] = []
    for parts in words:
        places = [_places(text, part) for part in parts]
        if all(places):
            found += places[0]
    return found


def _places(text: str, shared: Shared) -> list[int]:
    looked = shared.text
    at = text.find(looked)
    found: list[int] = []
    while at >= 0 and len(found) < 50:
        end = at + len(looked)
        before = text[at - 1] if shared.begins and at > 0 else " "
        # A unit may be set to its figure: 16GB.
        inside = before.isascii() and (before.isalpha() or (before.isdigit() and looked[:1].isdigit()))
        if not inside and (shared.end is None or shared.end.match(text, end)):
            found.append(at)
        at = text.find(looked, end)
    return found


def _best_window(looked: Looked, places: list[tuple[int, int]]) -> float:
    """Return the greatest weight of different terms within one window."""
    places.sort()
    best = weight = 0.0
    first = 0
    inside = [0] * len(looked.terms)
    for at, number in places:
        if not inside[number]:
            weight += looked.terms[number][2]
        inside[number] += 1
        while at - places[first][0] > looked.window_chars:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                weight -= looked.terms[gone][2]
            first += 1
        best = max(best, weight)
    return best
