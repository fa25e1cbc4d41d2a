"""Chooses what of the passages a reader reads, and gives each sentence what the reader made of it.

The sentences that most likely answer are read with their neighbours, each stretch long enough for the reader's window;
the first passages are read in any case, for a question in another language shares no word with them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import ModelUnavailable
from core.model import Hit, Stretch, StretchReading
from core.ports import Reader
from core.query.answer.candidates import SET_WEIGHTS, Candidate
from core.query.answer.confidence import confidence_features as picked_features
from core.query.answer.question_profile import QuestionProfile
from core.query.answer.trim_clauses import softmax
from core.query.search.rerank import OpenReranker
from core.text.language import detect_language

OpenReader = Callable[[], Reader]

READ_LANGUAGES = ("en", "ja")
"""Of questions that the reader learnt from; others are left to the picker."""
READ_WEIGHTS = {"picked": 0.223, "read_sentence": 0.24, "read_start": 0.798, "read_window": 0.562}
"""A conditional logit over sentences of articles that nothing was trained on (``python -m benchmarks reader``)."""
READ_CONFIDENCE_WEIGHTS = {
    **{"passage": 1.423, "coverage": 0.1, "around": -0.557, "pairs": 0.667},
    **{"answers": 0.204, "relevance": 0.293, "span": 0.051},
}
READ_CONFIDENCE_BIAS = -0.858
READ_THRESHOLD = 0.35
"""Least confidence of an answer that was read: on what the weights were fitted on, prose of both languages, no more
questions that the passages answer are below it than without a reader."""
READ_ACROSS = 0.8
"""Of the reader's judgement of a passage in the other language; set on half ``a`` of ``benchmarks.manuals``."""

MOST_STRETCHES = 8
_FIRST_PASSAGES = 3
"""Passages of which one stretch is read whatever their sentences share with the question."""
_MOST_CHARS = {"en": 440, "ja": 200}
"""About as many characters as a window of the reader has tokens for."""
_BLANK = "\n"
_MOST_LOGIT = 8.0
_UNREAD = -6.0
"""The logarithm of the chance of a sentence that was not read; one that was has no less."""


@dataclass(frozen=True, slots=True)
class PassageReaders:
    """What reads passages together with the question; ``reader`` is None where answers are picked without reading."""

    reranker: OpenReranker
    reader: OpenReader | None


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive candidates of one passage that are read together, and where in the stretch each of them is."""

    candidates: tuple[Candidate, ...]
    stretch: Stretch


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """A window with its reading and its share of the chance among all that were read."""

    window: Window
    reading: StretchReading
    share: float


@dataclass(frozen=True, slots=True)
class Marked:
    """The likeliest answer of all windows: characters ``start`` to ``end`` of a candidate's text, and how likely."""

    candidate: Candidate
    start: int
    end: int
    chance: float


def windows(found: Sequence[Candidate], most: int = MOST_STRETCHES) -> list[Window]:
    """Return at most ``most`` windows over the candidates, the most promising first."""
    passages: dict[int, list[Candidate]] = {}
    for candidate in found:
        passages.setdefault(candidate.hit.placed.id, []).append(candidate)
    best_of_each = [max(own, key=lambda candidate: candidate.chance) for own in passages.values()]
    first = sorted(best_of_each, key=lambda candidate: candidate.hit.rank)[:_FIRST_PASSAGES]
    others = sorted(found, key=lambda candidate: -candidate.chance)
    chosen: list[Window] = []
    covered: set[int] = set()
    for seed in [*sorted(first, key=lambda candidate: -candidate.chance), *others]:
        if len(chosen) == most:
            break
        if id(seed) not in covered:
            window = _window(passages[seed.hit.placed.id], seed)
            covered.update(id(candidate) for candidate in window.candidates)
            chosen.append(window)
    return chosen


class ReadingStage:
    """Reads for one question after the other with a reader that is opened when it is first wanted."""

    def __init__(self, open_reader: OpenReader) -> None:
        self._open = open_reader

    def read(self, question: str, found: Sequence[Candidate], account: dict[str, Any]) -> list[ReadWindow]:
        """Return what was read, nothing where the reader fails; ``account`` gets what was done, or the error."""
        started = time.perf_counter()
        try:
            reader = self._open()
            made = read(reader, question, found)
        except ModelUnavailable as error:
            account["error"] = error.code
            return []
        mark = marked(made)
        account |= {
            "name": reader.name,
            "stretches": len(made),
            "answers": round(max((one.reading.answers for one in made), default=0.0), 3),
            "marked": mark.candidate.text[mark.start : mark.end] if mark else "",
            "ms": round((time.perf_counter() - started) * 1000, 3),
        }
        return made


def read(reader: Reader, question: str, found: Sequence[Candidate], most: int = MOST_STRETCHES) -> list[ReadWindow]:
    """Read the most promising windows. Raises: ``ModelUnavailable``."""
    chosen = windows(found, most)
    readings = reader.read(question, [window.stretch for window in chosen])
    raised = [math.exp(min(30.0, reading.relevance)) for reading in readings]
    total = sum(raised)
    return [
        ReadWindow(window, reading, share / total)
        for window, reading, share in zip(chosen, readings, raised, strict=True)
    ]


def read_features(found: Sequence[Candidate], read_windows: Sequence[ReadWindow]) -> list[dict[str, float]]:
    """Return for each candidate what the reader made of it: logarithms of chances, and of its window's share."""
    seen: dict[int, dict[str, float]] = {}
    for one in read_windows:
        for number, candidate in enumerate(one.window.candidates):
            own = {
                "read_sentence": _log(one.reading.by_sentence[number]),
                "read_start": _log(one.reading.by_start[number]),
                "read_window": _log(one.share),
            }
            before = seen.get(id(candidate))
            if before is None or sum(own.values()) > sum(before.values()):
                seen[id(candidate)] = own
    unread = dict.fromkeys(("read_sentence", "read_start", "read_window"), _UNREAD)
    return [seen.get(id(candidate), unread) for candidate in found]


def weighed(
    found: Sequence[Candidate], read_windows: Sequence[ReadWindow], weights: Mapping[str, float] = READ_WEIGHTS
) -> list[Candidate]:
    """Return the candidates with the chances that picker and reader give them together; they sum to 1."""
    if not found:
        return []
    # What the picker was set to and not fitted counts in full, as it does there.
    rest = 1 - weights.get("picked", 0.0)
    chances = softmax(
        [
            sum(weight * own[name] for name, weight in weights.items())
            + rest * sum(weight * candidate.features[name] for name, weight in SET_WEIGHTS.items())
            for candidate, own in zip(found, sentence_features(found, read_windows), strict=True)
        ]
    )
    return [replace(candidate, chance=chance) for candidate, chance in zip(found, chances, strict=True)]


def sentence_features(found: Sequence[Candidate], read_windows: Sequence[ReadWindow]) -> list[dict[str, float]]:
    """Return what picker and reader know of each candidate, by the names of ``READ_WEIGHTS``."""
    return [
        {"picked": _log(candidate.chance), **own}
        for candidate, own in zip(found, read_features(found, read_windows), strict=True)
    ]


def confidence_features(
    profile: QuestionProfile, best: Candidate, passages: Sequence[Hit], read_windows: Sequence[ReadWindow]
) -> dict[str, float]:
    """Return what tells whether the passages answer at all, by the names of ``READ_CONFIDENCE_WEIGHTS``."""
    readings = [one.reading for one in read_windows]
    return {
        **picked_features(profile, best, passages),
        "answers": max((_logit(reading.answers) for reading in readings), default=-_MOST_LOGIT),
        "relevance": max((reading.relevance for reading in readings), default=-_MOST_LOGIT),
        "span": max((_log(reading.span) for reading in readings), default=_UNREAD),
    }


def read_confidence(
    profile: QuestionProfile, best: Candidate, passages: Sequence[Hit], read_windows: Sequence[ReadWindow]
) -> float:
    """Return how likely the passages answer at all, 0 to 1."""
    features = confidence_features(profile, best, passages, read_windows)
    score = READ_CONFIDENCE_BIAS + sum(READ_CONFIDENCE_WEIGHTS[name] * value for name, value in features.items())
    sure = 1 / (1 + math.exp(-score))
    if detect_language(best.text) == detect_language(profile.text):
        return sure
    # No word is shared: what the reader says of the window that was chosen is all there is.
    own = (
        one.reading.answers
        for one in read_windows
        for each in one.window.candidates
        if each.hit is best.hit and each.order == best.order
    )
    return max(sure, READ_ACROSS * max(own, default=0.0))


def marked(read_windows: Sequence[ReadWindow]) -> Marked | None:
    """Return the likeliest span of all windows, None where it is in no sentence."""
    for one in sorted(read_windows, key=lambda one: -one.share * one.reading.span):
        for candidate, (start, end) in zip(one.window.candidates, one.window.stretch.sentences, strict=True):
            if start <= one.reading.start < end:
                text = candidate.text
                first = min(one.reading.start - start, len(text))
                last = min(one.reading.end - start, len(text))
                while first < last and text[first].isspace():
                    first += 1
                return Marked(candidate, first, last, one.share * one.reading.span)
    return None


def _window(own: Sequence[Candidate], seed: Candidate) -> Window:
    """Return a sentence with one before it, and then what follows and what is before, while there is room."""
    room = _MOST_CHARS[detect_language(seed.text)]
    at = next(number for number, candidate in enumerate(own) if candidate is seed)
    low = high = at
    size = _size(seed)
    for step in (-1, *[1] * len(own), *[-1] * len(own)):
        to = (low if step < 0 else high) + step
        if 0 <= to < len(own) and size + _size(own[to]) <= room:
            low, high = min(low, to), max(high, to)
            size += _size(own[to])
    return Window(tuple(own[low : high + 1]), _stretch(own[low : high + 1]))


def _size(candidate: Candidate) -> int:
    return len(candidate.text) + len(candidate.above) + 1


def _stretch(own: Sequence[Candidate]) -> Stretch:
    """Write sentences one after the other, each under its label or header where that changes."""
    text, above = "", ""
    sentences: list[tuple[int, int]] = []
    for candidate in own:
        if candidate.above != above and candidate.above not in candidate.text:
            text += candidate.above + _BLANK if candidate.above else ""
        above = candidate.above
        sentences.append((len(text), len(text) + len(candidate.text)))
        text += candidate.text + _BLANK
    hit = own[0].hit
    path = hit.placed.chunk.locator.heading_path
    return Stretch(text, tuple(sentences), " ".join([hit.placed.title, *path[-2:]]).strip())


def _logit(chance: float) -> float:
    return max(-_MOST_LOGIT, min(_MOST_LOGIT, math.log(max(chance, 1e-9) / max(1 - chance, 1e-9))))


def _log(chance: float) -> float:
    return max(_UNREAD, math.log(max(chance, 1e-9)))
