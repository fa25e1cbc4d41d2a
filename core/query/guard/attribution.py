"""Aligns the sentences of a written answer to the passages: which one supports a sentence best, and whether it does.

Words settle most sentences: the share of its content words in the passage, and in the two or three sentences of it that
are nearest. Where they do not, the cosine between the sentence and those nearest ones decides. Names and figures that
the passage does not hold are never supported.

Calibrated on 45 questions of each of two sets, made statements by their answers, against the answering sentence and the
most similar one of another passage of the same article: at these similarities half of the former and 0 % and 5 % of the
latter would pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from core.errors import ModelUnavailable
from core.ports import Vector
from core.query.answer.context import ContextSource
from core.query.answer.quotable_units import quotable_units
from core.query.guard.entailment import FOREIGN_WORDS, contradiction_of
from core.query.guard.frames import without_frame
from core.query.guard.numbers import Figure, foreign_figures, held_figures, stated_figures
from core.query.guard.statement import AUXILIARY_NAMES, holds_name, identifiers_in
from core.text.analysis import analyse, content_words, normalise
from core.text.language import detect_language

LEAST_OVERLAP = 0.5
"""Share under which words alone tell that it is not."""
ENOUGH_ALONE = 0.6
"""Share of a sentence's words in one of the passage from which that one has to say all of it."""
SIMILAR = {"en": 0.89, "ja": 0.93}
SIMILAR_ACROSS = 0.87
MOST_EMBEDDED = 1
"""Sentences whose cosine is asked for, with the span that is nearest to it: about 15 ms a text on a quiet core."""
MOST_ACROSS = 4
"""The same where sentences and passages are in two languages, so that nothing else can tell."""
_NEAREST_ACROSS = 6
_MOST_UNITS = 80
_CONTEXT_UNITS = 3
_EMBEDDED_CHARS = 160
_MISSING_COSTS = 0.3
_HINT_COUNTS = 0.05

Embed = Callable[[Sequence[str]], Vector]

_INNER_NAME = re.compile(r"(?<=[^\s.!?:;\"“(\[*] )([A-Z][\w'’&-]+)")
_FIRST_NAME = re.compile(r"^[\W_]*([A-Z][\w&-]+)(?=\s+[A-Z][a-z]|['’]s\b)")
_CODED_NAME = re.compile(r"\b(?:[A-Za-z]*[a-z\d][A-Z]\w*|[A-Z]{2,}\w*)")
_KATAKANA = re.compile("[ァ-ヺ][ァ-ヺー]{2,}")
_LATIN = re.compile("[A-Za-z][A-Za-z0-9&+-]+")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ一-鿿]")


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence of an answer without its citation marks; ``hints`` are the numbers by which it cited."""

    text: str
    hints: frozenset[int] = frozenset()
    begins_line: bool = False


@dataclass(frozen=True, slots=True)
class Support:
    """What stands behind a sentence: the nearest source, and the span of it that says it, in the chunk's text.

    ``overlap`` counts in the whole passage, ``nearest`` in the span. Without a source nothing shares a word with it.
    """

    source: ContextSource | None = None
    start: int = 0
    end: int = 0
    overlap: float = 0.0
    nearest: float = 0.0
    similarity: float | None = None
    foreign_figures: tuple[str, ...] = ()
    foreign_names: tuple[str, ...] = ()
    is_supported: bool = False
    contradiction: str = ""
    """Why the span does not say it (``core.query.guard.entailment``), where words alone would let it pass."""
    is_across: bool = False
    """The passage is in another language than the sentence, so that words tell little."""
    entailed: float | None = None
    """How likely it says all of it (``core.query.guard.verification``), None where nobody verified that."""


@dataclass(frozen=True, slots=True)
class PassageUnit:
    """A sentence or row of a passage, with its terms; ``text`` has the labels that it stands under."""

    start: int
    end: int
    text: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class SupportPassage:
    """A source as sentences are held against it; what it holds is read once."""

    source: ContextSource
    language: str
    plain: str
    terms: frozenset[str]
    figures: frozenset[str]
    units: list[PassageUnit]

    def around(self, start: int, end: int) -> tuple[str, str]:
        """Return what a span says below its labels, and what stands above and before it."""
        inside = [unit.text for unit in self.units if start <= unit.start and unit.end <= end]
        before = [unit.text for unit in self.units if unit.end <= start][-_CONTEXT_UNITS:]
        placed = self.source.hit.placed
        return "\n".join(inside), "\n".join([placed.title, *placed.chunk.locator.heading_path, *before])

    @classmethod
    def read(cls, source: ContextSource) -> SupportPassage:
        placed = source.hit.placed
        chunk = placed.chunk
        text = chunk.indexed_text(placed.title)
        cut = list(islice(quotable_units(chunk, placed.title), _MOST_UNITS))
        read: list[PassageUnit] = []
        for unit in cut:
            read.append(PassageUnit(unit.start, unit.end, unit.said, frozenset(analyse(unit.said))))
        beside = [placed.title, *chunk.locator.heading_path, chunk.header, chunk.text[cut[-1].end if cut else 0 :]]
        terms = frozenset(analyse("\n".join(beside))).union(*(unit.terms for unit in read))
        plain = normalise(text).casefold()
        return cls(source, detect_language(text), plain, terms, held_figures(text), read)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as it is held against every passage."""

    sentence: WrittenSentence
    language: str
    words: frozenset[str]
    figures: tuple[Figure, ...]
    names: tuple[str, ...]


def align(
    sentences: Sequence[WrittenSentence],
    passages: Sequence[SupportPassage],
    embed: Embed | None = None,
    *,
    across_alone: bool = False,
) -> list[Support]:
    """Return the support of each sentence, in their order; ``embed`` is asked at most once.

    With ``across_alone`` it is asked about sentences in another language than their passage and no others.
    """
    read = [read_sentence(sentence) for sentence in sentences]
    found = [_nearest(one, passages) for one in read]
    unsettled = [
        index
        for index, support in enumerate(found)
        if _is_unsettled(support) and (support.is_across or not across_alone)
    ]
    if embed is not None and unsettled:
        for index, support in _by_similarity(unsettled, read, found, passages, embed):
            found[index] = support
    return found


def read_sentence(sentence: WrittenSentence) -> ReadSentence:
    """Return what of a sentence has to be held."""
    text = sentence.text
    return ReadSentence(
        sentence,
        detect_language(text),
        frozenset(content_words(without_frame(text))),
        tuple(stated_figures(text)),
        names_in(text),
    )


def _nearest(read: ReadSentence, passages: Sequence[SupportPassage]) -> Support:
    held = frozenset[str]().union(*(passage.figures for passage in passages))
    best, most = Support(foreign_figures=foreign_figures(read.figures, held)), 0.0
    for passage in passages:
        support = held_against(read, passage)
        missing = len(support.foreign_figures) + len(support.foreign_names) + bool(support.contradiction)
        worth = support.overlap + support.nearest - _MISSING_COSTS * missing
        worth += _HINT_COUNTS * (passage.source.number in read.sentence.hints)
        if (support.overlap or support.is_across) and (best.source is None or worth > most):
            best, most = support, worth
    return best


def held_against(read: ReadSentence, passage: SupportPassage) -> Support:
    """Return what a passage has of a sentence, by words alone."""
    across = read.language != passage.language
    start, end, nearest = _span(read.words, passage.units)
    figures = foreign_figures(read.figures, passage.figures)
    names = tuple(name for name in read.names if not across and not _holds(name, passage))
    if across:
        text = passage.source.hit.placed.chunk.text
        names = tuple(name for name in sorted(identifiers_in(read.sentence.text)) if name not in text)
    overlap = _share(read.words, passage.terms)
    contradiction = ""
    if not across and overlap >= LEAST_OVERLAP:
        span, context = passage.around(start, end)
        contradiction = contradiction_of(read.sentence.text, span, context)
    by_words = not across and overlap >= LEAST_OVERLAP and nearest >= LEAST_OVERLAP
    return Support(
        source=passage.source,
        start=start,
        end=end,
        overlap=overlap,
        nearest=nearest,
        foreign_figures=figures,
        foreign_names=names,
        is_supported=by_words and not contradiction,
        contradiction=contradiction,
        is_across=across,
    )


def _share(words: Set[str], held: Set[str]) -> float:
    return len(words & held) / len(words) if words else 0.0


def _span(words: Set[str], cut: Sequence[PassageUnit]) -> tuple[int, int, float]:
    """Return the shortest stretch of at most three sentences that holds most of the words, and their share in it.

    One sentence that holds enough of them is not widened: what it lacks must not come from the next.
    """
    best = (0, cut[0].end if cut else 0, 0.0)
    if not words:
        return best
    for length in (1, 2, 3):
        if length > 1 and best[2] >= ENOUGH_ALONE:
            break
        for first in range(len(cut) - length + 1):
            inside = cut[first : first + length]
            share = _share(words, frozenset().union(*(unit.terms for unit in inside)))
            if share > best[2] + (0.1 if length > 1 else 0.0):
                best = (inside[0].start, inside[-1].end, share)
    return best


def _is_unsettled(support: Support) -> bool:
    if support.source is None or support.is_supported or support.foreign_figures or support.foreign_names:
        return False
    return support.is_across or (support.overlap >= LEAST_OVERLAP and support.contradiction in ("", FOREIGN_WORDS))


def names_in(sentence: str) -> tuple[str, ...]:
    """Return the names of a sentence.

    A name is a capitalised word inside of an English sentence, or before another one; a word of mixed or only capital
    letters; a word in katakana; and among Japanese, a word in Latin letters.
    """
    plain = normalise(sentence)
    found = _KATAKANA.findall(plain)
    if _JAPANESE.search(plain):
        found += _LATIN.findall(plain)
    else:
        found += [name for pattern in (_FIRST_NAME, _INNER_NAME, _CODED_NAME) for name in pattern.findall(plain)]
    return tuple(dict.fromkeys(found))


def _holds(name: str, passage: SupportPassage) -> bool:
    bare = name.removesuffix("'s").removesuffix("’s")
    if bare in AUXILIARY_NAMES:
        placed = passage.source.hit.placed
        return holds_name(normalise(placed.chunk.indexed_text(placed.title)), bare)
    return content_words(name) <= passage.terms or holds_name(passage.plain, bare.casefold())


def _by_similarity(
    unsettled: Sequence[int],
    read: Sequence[ReadSentence],
    found: Sequence[Support],
    passages: Sequence[SupportPassage],
    embed: Embed,
) -> Iterator[tuple[int, Support]]:
    ordered = sorted(unsettled, key=lambda index: (-found[index].overlap, index))
    chosen = [index for index in ordered if found[index].is_across][:MOST_ACROSS] or ordered[:MOST_EMBEDDED]
    spans = {index: _spans_for(read[index], found[index], passages) for index in chosen}
    texts = [read[index].sentence.text[:_EMBEDDED_CHARS] for index in chosen]
    said = list(dict.fromkeys(span.text for index in chosen for span in spans[index]))
    try:
        vectors = np.asarray(embed([*texts, *said]))
    except ModelUnavailable:
        return
    place = {text: len(texts) + number for number, text in enumerate(said)}
    for number, index in enumerate(chosen):
        near = [(float(vectors[number] @ vectors[place[span.text]]), span) for span in spans[index]]
        similarity, span = max(near, key=lambda one: one[0])
        support = found[index]
        least = SIMILAR_ACROSS if support.is_across else SIMILAR[read[index].language]
        yield (
            index,
            replace(
                support,
                source=span.passage.source,
                start=span.start,
                end=span.end,
                overlap=_share(read[index].words, span.passage.terms),
                similarity=round(similarity, 4),
                is_supported=similarity >= least,
            ),
        )


@dataclass(frozen=True, slots=True)
class _Span:
    passage: SupportPassage
    start: int
    end: int
    text: str


def _spans_for(read: ReadSentence, support: Support, passages: Sequence[SupportPassage]) -> list[_Span]:
    """Return the span of a support; across languages, sentences of the first passages that hold its figures."""
    if not support.is_across:
        passage = next(passage for passage in passages if passage.source is support.source)
        text = passage.source.hit.placed.chunk.text[support.start : support.end]
        return [_Span(passage, support.start, support.end, text[:_EMBEDDED_CHARS])]
    fitting = [passage for passage in passages if not foreign_figures(read.figures, passage.figures)][:2]
    cut = [(passage, unit) for passage in fitting for unit in passage.units]
    cut.sort(key=lambda one: -len(read.words & one[1].terms))
    return [_Span(passage, u.start, u.end, u.text[:_EMBEDDED_CHARS]) for passage, u in cut[:_NEAREST_ACROSS]] or [
        _Span(passages[0], 0, 0, passages[0].plain[:_EMBEDDED_CHARS])
    ]
