"""Chooses what of the passages a reader reads, and gives each sentence what the reader made of it.

The sentences that most likely answer are read with their neighbours, each stretch long enough for the reader's window;
the first passages are read in any case, for a question in another language shares no word with them.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from core.errors import ModelUnavailable
from core.model import Stretch, StretchReading
from core.ports import Reader, Verifier
from core.query.answer.candidates import SET_WEIGHTS, Candidate
from core.query.answer.named_cell import named_cell
from core.query.answer.question_profile import QuestionProfile
from core.query.answer.trim_clauses import softmax
from core.query.search.features import passage_language
from core.query.search.rerank import OpenReranker
from core.text.language import detect_language
from core.text.languages import language_asked
from core.text.sentences import on_one_line

OpenReader = Callable[[], Reader]
OpenVerifier = Callable[[], Verifier]

READ_LANGUAGES = ("en", "ja")
"""Of questions that the reader learnt from; others are left to the picker."""
READ_WEIGHTS = {"picked": 0.275, "read_sentence": 0.037, "read_start": 0.563, "read_window": 0.335}
"""A conditional logit over sentences of documents that nothing was trained on (``benchmarks.reader_training.fit``)."""

MOST_STRETCHES = 8
MOST_TO_ORDER, MOST_FURTHER = 16, 12
"""Windows that are read to order passages by, and those of further passages in another language."""
_CHANCE_WEIGHT = 0.1
"""Of the logarithm of what a picker makes of a window, beside its passage's score. Sixteen windows chosen by both find
the right passage as often as twenty-four by the passages' ranks, on two sets of questions over manuals."""
_MORE = 4
"""Windows that are read for an answer beside those by which its passages were ordered."""
_MOST_OF_A_PASSAGE = 3
_SHARE_ACROSS = 0.3
"""Of the chance that a passage in another language than the question has to hold the answer, beside those in its own,
where no word is shared: what a picker makes of its sentences against theirs says nothing then."""
_LEAST_COVERAGE = 0.1
"""Of a question's weight that some sentence of a passage holds which a picker can judge."""
_LEAST_CHANCE = 1e-6
_FIRST_PASSAGES = 3
"""Passages of which one stretch is read whatever their sentences share with the question."""
_MOST_CHARS = {"en": 440, "ja": 200}
"""About as many characters as a window of the reader has tokens for."""
_LEAST_MARKED = 0.1
"""How likely a span has to be to be marked in an answer."""
_KNOWN_BY = 20
"""Characters of a sentence by which its place in an answer is found."""
_BLANK = "\n"
UNREAD = -6.0
"""The logarithm of the chance of a sentence that was not read; one that was has no less."""


@dataclass(frozen=True, slots=True)
class PassageReaders:
    """What reads passages together with the question, and with what is claimed of them.

    ``reader`` and ``verifier`` are None where answers are picked without reading.
    """

    reranker: OpenReranker
    reader: OpenReader | None
    verifier: OpenVerifier | None


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

    @property
    def chance(self) -> float:
        """How likely its span is the answer, among the spans of all windows."""
        return self.share * self.reading.span


@dataclass(frozen=True, slots=True)
class Marked:
    """The likeliest answer of all windows: characters ``start`` to ``end`` of a candidate's text, and how likely.

    They are none where ``text`` is of the label above it.
    """

    candidate: Candidate
    start: int
    end: int
    chance: float
    text: str


def windows(found: Sequence[Candidate], most: int = MOST_STRETCHES, known: Sequence[Window] = ()) -> list[Window]:
    """Return at most ``most`` windows over candidates that ``known`` ones do not cover, the most promising first."""
    passages: dict[int, list[Candidate]] = {}
    for candidate in found:
        passages.setdefault(candidate.hit.placed.id, []).append(candidate)
    best_of_each = [max(own, key=lambda candidate: candidate.chance) for own in passages.values()]
    first = sorted(best_of_each, key=lambda candidate: candidate.hit.rank)[:_FIRST_PASSAGES]
    others = sorted(found, key=lambda candidate: -candidate.chance)
    chosen: list[Window] = []
    covered = {id(candidate) for each in known for candidate in each.candidates}
    for seed in [*sorted(first, key=lambda candidate: -candidate.chance), *others]:
        if len(chosen) == most:
            break
        if id(seed) not in covered:
            made = window(passages[seed.hit.placed.id], seed)
            covered.update(id(candidate) for candidate in made.candidates)
            chosen.append(made)
    return chosen


def windows_in_order(found: Sequence[Candidate], most: int, language: str = "") -> list[Window]:
    """Return at most ``most`` windows: of good passages, and with promising sentences.

    They are up to three of a passage. One in another language than that of the question that has none of its words, not
    even in translation, is read as far as there is room: its sentences are held against each other alone, and which of
    them answers cannot be told beforehand.
    """
    passages: dict[int, list[Candidate]] = {}
    for candidate in sorted(found, key=lambda candidate: candidate.hit.rank):
        passages.setdefault(candidate.hit.placed.id, []).append(candidate)
    promising: list[tuple[float, Window]] = []
    for own in passages.values():
        is_foreign = bool(language) and passage_language(own[0].hit.placed.chunk.text) != language
        is_strange = is_foreign and max(candidate.features["coverage"] for candidate in own) < _LEAST_COVERAGE
        share = _SHARE_ACROSS / (sum(candidate.chance for candidate in own) or 1.0) if is_strange else 1.0
        cut = windows(own, len(own) if is_strange else _MOST_OF_A_PASSAGE)
        promising += [(_promise(each, share), each) for each in cut]
    return [each for _, each in sorted(promising, key=itemgetter(0), reverse=True)[:most]]


def _promise(made: Window, share: float) -> float:
    hit = made.candidates[0].hit
    chance = share * sum(candidate.chance for candidate in made.candidates)
    return (hit.rerank.score if hit.rerank else 1 / hit.rank) + _CHANCE_WEIGHT * math.log(max(chance, _LEAST_CHANCE))


class ReadingStage:
    """Reads for one question after the other with a reader that is opened when it is first wanted."""

    def __init__(self, open_reader: OpenReader) -> None:
        self._open = open_reader

    def read(
        self, question: str, found: Sequence[Candidate], account: dict[str, Any], known: Sequence[ReadWindow] = ()
    ) -> list[ReadWindow]:
        """Return what was read, nothing where the reader fails; ``account`` gets what was done, or the error.

        What is ``known`` of the same passages is not read again.
        """
        started = time.perf_counter()
        try:
            reader = self._open()
            made = read(reader, question, found, known=known)
        except ModelUnavailable as error:
            account["error"] = error.code
            return []
        mark = marked(made)
        account |= {
            "name": reader.name,
            "stretches": len(made),
            "answers": round(max((one.reading.answers for one in made), default=0.0), 3),
            "marked": mark.text if mark else "",
            "ms": round((time.perf_counter() - started) * 1000, 3),
        }
        return made

    def read_stretches(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        """Read stretches as they are given. Raises: ``ModelUnavailable``."""
        return self._open().read(question, stretches)

    def read_in_order(
        self, question: str, found: Sequence[Candidate], further: Sequence[Candidate] = ()
    ) -> list[ReadWindow]:
        """Return what was read of many passages, nothing where the reader fails."""
        try:
            return read_in_order(self._open(), question, found, further=further)
        except ModelUnavailable:
            return []


def read(
    reader: Reader,
    question: str,
    found: Sequence[Candidate],
    most: int = MOST_STRETCHES,
    known: Sequence[ReadWindow] = (),
) -> list[ReadWindow]:
    """Read the most promising windows, fewer beside those that are ``known``. Raises: ``ModelUnavailable``."""
    here = {(candidate.hit.placed.id, candidate.order): candidate for candidate in found}
    before = []
    for one in known:
        keys = [(each.hit.placed.id, each.order) for each in one.window.candidates]
        if here.keys() >= set(keys):
            before.append(replace(one, window=Window(tuple(here[key] for key in keys), one.window.stretch)))
    more = windows(found, _MORE if before else most, [one.window for one in before])
    return _shared([*before, *_read(reader, question, more)])


def read_in_order(
    reader: Reader,
    question: str,
    found: Sequence[Candidate],
    most: int = MOST_TO_ORDER,
    further: Sequence[Candidate] = (),
) -> list[ReadWindow]:
    """Read windows of many passages, to order these by. Raises: ``ModelUnavailable``."""
    language = language_asked(question)
    chosen = [*windows_in_order(found, most, language), *windows_in_order(further, MOST_FURTHER, language)]
    return _read(reader, question, chosen)


def _read(reader: Reader, question: str, chosen: Sequence[Window]) -> list[ReadWindow]:
    readings = reader.read(question, [window.stretch for window in chosen])
    return _shared([ReadWindow(window, reading, 0.0) for window, reading in zip(chosen, readings, strict=True)])


def _shared(made: Sequence[ReadWindow]) -> list[ReadWindow]:
    """Return the windows with their shares of the chance among all."""
    raised = [math.exp(min(30.0, one.reading.relevance)) for one in made]
    total = sum(raised)
    return [replace(one, share=share / total) for one, share in zip(made, raised, strict=True)]


def read_features(found: Sequence[Candidate], read_windows: Sequence[ReadWindow]) -> list[dict[str, float]]:
    """Return for each candidate what the reader made of it: logarithms of chances, and of its window's share."""
    seen: dict[int, dict[str, float]] = {}
    for one in read_windows:
        for number, candidate in enumerate(one.window.candidates):
            own = {
                "read_sentence": log_chance(one.reading.by_sentence[number]),
                "read_start": log_chance(one.reading.by_start[number]),
                "read_window": log_chance(one.share),
            }
            before = seen.get(id(candidate))
            if before is None or sum(own.values()) > sum(before.values()):
                seen[id(candidate)] = own
    unread = dict.fromkeys(("read_sentence", "read_start", "read_window"), UNREAD)
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
        {"picked": log_chance(candidate.chance), **own}
        for candidate, own in zip(found, read_features(found, read_windows), strict=True)
    ]


def is_same(one: Candidate, other: Candidate) -> bool:
    return one.hit.placed.id == other.hit.placed.id and one.order == other.order


def number_in(candidate: Candidate, window: Window) -> int | None:
    return next((n for n, each in enumerate(window.candidates) if is_same(each, candidate)), None)


def marked(read_windows: Sequence[ReadWindow]) -> Marked | None:
    """Return the likeliest span of all windows, None where nothing was read."""
    if not read_windows:
        return None
    one = max(read_windows, key=lambda one: one.chance)
    start, end = one.reading.start, one.reading.end
    places = zip(one.window.candidates, one.window.stretch.sentences, strict=True)
    candidate, first = next(
        ((each, first) for each, (first, last) in places if start < last),
        (one.window.candidates[-1], one.window.stretch.sentences[-1][0]),
    )
    text = one.window.stretch.text[start:end].strip()
    room = len(candidate.text)
    inside = tuple(max(0, min(room, at - first)) for at in (start, end))
    return Marked(candidate, inside[0], inside[1], one.chance, text)


def deciding(
    said: str, profile: QuestionProfile, best: Candidate, read_windows: Sequence[ReadWindow]
) -> tuple[int, int] | None:
    """Return where in what is said with the best sentence its likeliest span stands, None where it is not said."""
    line = said.replace("\n", " ")
    own = [(one, number) for one in read_windows if (number := number_in(best, one.window)) is not None]
    for one, number in sorted(own, key=lambda each: -each[0].chance):
        if one.reading.span < _LEAST_MARKED:
            continue
        start, end = one.reading.within[number]
        cell = named_cell(best.unit, profile) if best.unit.is_row else None
        words = on_one_line(one.window.stretch.text[start:end])
        for before, marked_words in ((f"{cell[0]}: ", cell[1]) if cell else ("", ""), ("", words)):
            # What was put before the sentence may hold the same words, and the sentence itself: "2.5 inch … 5 volts".
            first = max(0, line.find(on_one_line(best.text)[:_KNOWN_BY]))
            near = first + start - one.window.stretch.sentences[number][0]
            places = [match.start() for match in re.finditer(re.escape(before + marked_words), line[first:])]
            if marked_words and places:
                at = first + min(places, key=lambda place: abs(first + place - near))
                return at + len(before), at + len(before + marked_words)
    return None


def window(own: Sequence[Candidate], seed: Candidate) -> Window:
    """Return a sentence of a passage with what is around it, while there is room.

    First what its entry begins with, which says what it is about, and the one before it; then what follows, and what
    is before.
    """
    room = _MOST_CHARS[detect_language(seed.text)]
    at = next(number for number, candidate in enumerate(own) if candidate is seed)
    chosen, size = {at}, _size(seed)
    for numbers in ([_begin_of_entry(own, at)], [at - 1], range(at + 1, len(own)), range(at - 2, -1, -1)):
        for number in numbers:
            if number < 0 or number in chosen:
                continue
            if size + _size(own[number]) > room:
                break
            chosen.add(number)
            size += _size(own[number])
    candidates = tuple(own[number] for number in sorted(chosen))
    return Window(candidates, _stretch(candidates))


def _begin_of_entry(own: Sequence[Candidate], at: int) -> int:
    """Return the number of the first sentence under the label of this one, its own where it has none."""
    begin = at
    while own[at].unit.label and begin and own[begin - 1].unit.label == own[at].unit.label:
        begin -= 1
    return begin


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
    hit, section = own[0].hit, own[0].unit.section
    path = hit.placed.chunk.locator.heading_path
    # A chunk may hold several short sections, of which the path names the first.
    headings = (*path[-2:-1], section) if section and section not in path[-1:] else path[-2:]
    return Stretch(text, tuple(sentences), " ".join([hit.placed.title, *headings]).strip())


def log_chance(chance: float) -> float:
    """Return the logarithm of a chance, as low as that of what was not read where it is less."""
    return max(UNREAD, math.log(max(chance, 1e-9)))
