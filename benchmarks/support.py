"""Whether what is shown as supported by its source is.

Each folder is a question set (form: ``core/evaluation/question_folder.py``). Every question is answered by the
generator, and each sentence shown as supported is judged anew, by rules of this file alone: its figures and names have
to stand in the passage that it cites, and half of its content words. Without ``--generator`` answers are made of the
extracted ones, each with a second sentence that is false: another figure, another name, or a sentence of a passage
that was not found. The passages are those of the questions and ``--passages`` more. The reference ``extracted`` is the
same questions with extracted answers.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from core import EvoRAG, Query, Settings, build
from core.evaluation.fill_folder import fill
from core.evaluation.measure_folder import Question, QuestionSetPassage, read_passages, read_questions
from core.evaluation.metrics import contains_answer, percentile, without_marks
from core.model import AnswerType, GeneratorHealth, GeneratorState, Prompt, Sampling, Sentence, Trace
from core.text.analysis import content_words
from core.text.sentences import split_sentences

KINDS = ("figure", "name", "elsewhere")
LEAST_OVERLAP = 0.5
_FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}|[ァ-ヺー]{3,}")


class Falsifier:
    """Writes what it was last given, as a generator would."""

    name, model = "falsifier", "falsifier"

    def __init__(self) -> None:
        self.text = ""

    def health(self) -> GeneratorHealth:
        return GeneratorHealth(self.name, self.model, GeneratorState.READY)

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Iterator[str]:
        yield self.text

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class Tally:
    """What was seen over the questions of one set."""

    guard_ms: list[float] = field(default_factory=list)
    generate_ms: list[float] = field(default_factory=list)
    types: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    false_answers: int = 0
    contains_gold: int = 0
    sentences: int = 0
    false_sentences: int = 0
    by_vectors: int = 0
    true_kept: list[bool] = field(default_factory=list)
    false_shown: dict[str, list[bool]] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def add(self, question: Question, trace: Trace) -> None:
        answer, account = trace.answer, trace.generation.get("guard", {})
        if "ms" in account:
            self.guard_ms.append(account["ms"])
            self.generate_ms.append(trace.generation["total_ms"])
            self.by_vectors += account["compared_by_vectors"] > 0
        self.types[answer.type] = self.types.get(answer.type, 0) + 1
        for name, count in account.items():
            if name.startswith("dropped_"):
                self.reasons[name] = self.reasons.get(name, 0) + count
        self.contains_gold += contains_answer(without_marks(answer.text), question.answers)
        shown = [one for one in answer.sentences if one.is_supported]
        wrong = [one for one in shown if not is_supported(one, trace)]
        self.sentences += len(shown)
        self.false_sentences += len(wrong)
        self.false_answers += bool(wrong)
        self.examples += [answer.text[one.start : one.end] for one in wrong]

    def report(self, asked: int) -> dict[str, Any]:
        report: dict[str, Any] = {
            "questions": asked,
            "types": self.types,
            "answers_with_an_unsupported_sentence_shown_as_supported": round(self.false_answers / max(1, asked), 4),
            "sentences_shown_as_supported": self.sentences,
            "of_them_not_supported": self.false_sentences,
            "contains_gold": round(self.contains_gold / max(1, asked), 4),
            "dropped": self.reasons,
            "answers_compared_by_vectors": self.by_vectors,
            "examples": self.examples[:10],
        }
        if self.guard_ms:
            for name, spent in (("guard_ms", self.guard_ms), ("generate_ms", self.generate_ms)):
                report[name] = {"p50": round(percentile(spent, 0.5), 1), "p95": round(percentile(spent, 0.95), 1)}
        if self.true_kept:
            report["true_sentences_kept"] = _share(self.true_kept)
            report["false_sentences_shown_as_supported"] = {k: _share(v) for k, v in self.false_shown.items()}
        return report


def is_supported(sentence: Sentence, trace: Trace) -> bool:
    """Judge a sentence by the passage that it cites."""
    cited = next(one for one in trace.answer.citations if one.number == sentence.number)
    placed = next(hit.placed for hit in trace.hits if hit.placed.id == cited.chunk_id)
    passage = _plain(placed.chunk.indexed_text(placed.title))
    text = _plain(trace.answer.text[sentence.start : sentence.end])
    words = content_words(text)
    figures = {figure.replace(",", "") for figure in _FIGURE.findall(passage)}
    return (
        all(figure.replace(",", "") in figures for figure in _FIGURE.findall(text))
        and all(name.casefold() in passage.casefold() for name in _NAME.findall(text))
        and len(words & content_words(passage)) >= LEAST_OVERLAP * len(words)
    )


def falsify(sentence: str, kind: str, other: str) -> str:
    """Return a sentence that is false in its figure or name; one of ``other`` where it has none."""
    pattern = _FIGURE if kind == "figure" else _NAME
    found = pattern.search(sentence) if kind != "elsewhere" else None
    if found is None:
        return other
    if kind == "figure":
        wrong = found.group()[:-1] + str((int(found.group()[-1]) + 3) % 10)
    else:
        names = [name for name in _NAME.findall(other) if name not in sentence]
        wrong = names[0] if names else "Quexington"
    return sentence[: found.start()] + wrong + sentence[found.end() :]


def measure(folder: Path, generator: str, count: int, more: int) -> dict[str, Any]:
    questions = [question for question in read_questions(folder) if question.answerable and question.answers]
    questions = questions[:: max(1, len(questions) // count)][:count]
    passages = read_passages(folder)
    wanted = {name for question in questions for name in question.passage_ids}
    rest = [passage for passage in passages if passage.id not in wanted]
    kept = [passage for passage in passages if passage.id in wanted] + rest[:: max(1, len(rest) // max(1, more))][:more]
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="evorag-support-") as data, build(Settings(data_dir=Path(data))) as kb:
        fill(kb, kept)
        rag = EvoRAG(kb=kb)
        falsifier = Falsifier()
        kb.generators._openers[falsifier.name] = lambda: falsifier
        for number, question in enumerate(questions):
            if generator:
                tally.add(question, rag.ask(Query(question.text, generator=generator, fresh=True), keep=False))
            else:
                _ask_falsified(rag, falsifier, question, KINDS[number % len(KINDS)], rest, tally)
    return tally.report(len(questions))


def _ask_falsified(
    rag: EvoRAG, falsifier: Falsifier, question: Question, kind: str, others: Sequence[QuestionSetPassage], tally: Tally
) -> None:
    extracted = rag.ask(Query(question.text, generator="none", fresh=True), keep=False).answer
    if extracted.type is AnswerType.INSUFFICIENT:
        return
    true = extracted.citations[0].text
    other = others[len(true) % len(others)].text if others else "Nobody ever saw a quince in that town."
    start, end = split_sentences(other)[0]
    false = falsify(true, kind, other[start:end])
    falsifier.text = f"{true}\n{false}"
    trace = rag.ask(Query(question.text, generator=falsifier.name, fresh=True), keep=False)
    tally.add(question, trace)
    shown = [trace.answer.text[one.start : one.end] for one in trace.answer.sentences if one.is_supported]
    tally.true_kept.append(any(true.strip().startswith(text) for text in shown))
    tally.false_shown.setdefault(kind, []).append(any(false.strip().startswith(text) for text in shown))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / max(1, len(flags)), 4)


def figures(context: Context) -> dict[str, Any]:
    return _of_folders(context, context.options.generator)


def of_extracted(context: Context) -> dict[str, Any]:
    """Answer with the extracted answers instead."""
    return _of_folders(context, "none")


def _of_folders(context: Context, generator: str) -> dict[str, Any]:
    given = context.options
    return {folder.name: measure(folder, generator, given.questions, given.passages) for folder in given.folders}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--generator", default="", help="name of a generator; without one, falsified answers")
    parser.add_argument("--questions", type=int, default=200, help="how many questions of each set to take")
    parser.add_argument("--passages", type=int, default=100, help="passages besides those of the questions")


BENCHMARK = Benchmark(
    "support",
    figures,
    add_options,
    smallest={"questions": 2, "passages": 3},
    small={"questions": 20},
    scale="questions",
    takes_folders=True,
    references={"extracted": of_extracted},
    units={
        ".*/answers_with_an_unsupported_sentence_.*": ("share", "lower"),
        ".*/sentences_shown_as_supported": ("sentences", "neither"),
        ".*/of_them_not_supported": ("sentences", "lower"),
        ".*/false_sentences_shown_as_supported/.*": ("share", "lower"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
