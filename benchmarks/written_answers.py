"""How a generator answers beside extraction: what ``python -m benchmarks.answers --generator NAME`` measures.

Every question is asked twice of the same knowledge base: to extract, and with the generator chosen. What is given
where nothing is chosen follows from both, since extraction comes first. Without folders the questions are the sample's.
"""

from __future__ import annotations

import re
import statistics
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Context
from benchmarks.machine import note
from core import EvoRAG, Query, Settings, build
from core.evaluation.fill_folder import fill
from core.evaluation.measure_folder import read_passages, read_questions
from core.evaluation.metrics import contains_answer, percentile
from core.knowledge_base import KnowledgeBase
from core.model import Answer, AnswerType, DoneStep, Trace, WritingStep
from core.query.answer.weigh_answers import why_written
from core.sample import questions as sample_questions
from core.text.languages import language_asked

SAMPLE = "sample"
_MARK = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; without ``answers`` there is none, and only a refusal is right."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A question answered by extraction and with a generator; ``raw`` is what that wrote, before the guard."""

    asked: Asked
    extracted: Answer
    trace: Trace
    raw: str
    usual: Answer

    def is_right(self, answer: Answer) -> bool:
        is_refused = answer.type is AnswerType.INSUFFICIENT
        if not self.asked.answers:
            return is_refused
        return not is_refused and contains_answer(answer.text, self.asked.answers)

    @property
    def cites(self) -> bool:
        """Whether the generator itself cited a passage that it was given."""
        return any(1 <= int(mark[1]) <= len(self.trace.hits) for mark in _MARK.finditer(self.raw))


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    sets: dict[str, Any] = {}
    model = ""
    for folder in options.folders or [None]:
        name = SAMPLE if folder is None else folder.name
        with build(_settings(options, context.workspace / name)) as kb:
            asked = _spread(_filled(kb, folder), options.sample)
            done = [_answered(kb, question, options.generator) for question in asked]
        for one in done if options.each else ():
            note(_line(one))
        model = next((str(one.trace.generation.get("model", "")) for one in done), model)
        sets[name] = {language: report(some) for language, some in _by_language(done)}
    return {"generator": options.generator, "model": model, "sets": sets}


def _settings(options: Namespace, folder: Path) -> Settings:
    given = {"openai_url": options.url, "openai_model": options.model, "llm_model": options.model}
    given["llm_command"] = options.command
    return Settings(data_dir=folder, **{name: value for name, value in given.items() if value})


def _filled(kb: KnowledgeBase, folder: Path | None) -> list[Asked]:
    if folder is None:
        kb.load_sample()
        kb.wait([job.id for job in kb.jobs(active=True)])
        return [Asked(one.question, (one.answer,)) for one in sample_questions()]
    fill(kb, read_passages(folder))
    return [Asked(one.text, tuple(one.answers) if one.answerable else ()) for one in read_questions(folder)]


def _spread(asked: Sequence[Asked], sample: int | None) -> Sequence[Asked]:
    return asked[:: max(1, len(asked) // sample)] if sample else asked


def _answered(kb: KnowledgeBase, asked: Asked, generator: str) -> Written:
    rag = EvoRAG(kb=kb)
    extracted = rag.ask(Query(asked.text, generator="none", fresh=True), keep=False).answer
    raw = ""
    trace = None
    for step in rag.ask_events(Query(asked.text, generator=generator, fresh=True), keep=False):
        if isinstance(step, WritingStep):
            raw += step.text
        elif isinstance(step, DoneStep):
            trace = step.trace
    assert trace is not None
    why = why_written(asked.text, extracted, is_chosen=False, sure=kb.settings.answers.sure_confidence)
    return Written(asked, extracted, trace, raw, trace.answer if why else extracted)


def _by_language(done: Sequence[Written]) -> Iterator[tuple[str, list[Written]]]:
    for language in sorted({language_asked(one.asked.text) for one in done}):
        yield language, [one for one in done if language_asked(one.asked.text) == language]


def report(done: Sequence[Written]) -> dict[str, Any]:
    """Return how often each way of answering is right, and what became of what was written."""
    answers = [one.trace.answer for one in done]
    sentences = [sentence for answer in answers for sentence in answer.sentences]
    spent = [one.trace.generation for one in done if one.raw.strip()]
    times = {name: [float(each[name]) for each in spent if each.get(name)] for name in ("first_piece_ms", "total_ms")}
    return {
        "questions": len(done),
        "right": {
            "extracted": _share([one.is_right(one.extracted) for one in done]),
            "written_unchecked": _share(
                [bool(one.asked.answers) and contains_answer(one.raw, one.asked.answers) for one in done]
            ),
            "generator_chosen": _share([one.is_right(one.trace.answer) for one in done]),
            "extraction_first": _share([one.is_right(one.usual) for one in done]),
        },
        "given": {str(kind): _share([answer.type is kind for answer in answers]) for kind in AnswerType},
        "extraction_first_writes": _share([one.usual is not one.extracted for one in done]),
        "disagree": _share([answer.other is not None for answer in answers]),
        "failed": sum(answer.generator_failure is not None for answer in answers),
        "cites_by_itself": _share([one.cites for one in done if one.raw.strip()]),
        "sentences_supported": _share([sentence.is_supported for sentence in sentences]),
        "pieces": statistics.median([int(each.get("pieces", 0)) for each in spent] or [0]),
        "first_piece_ms": round(statistics.median(times["first_piece_ms"] or [0.0])),
        "whole_ms": round(statistics.median(times["total_ms"] or [0.0])),
        "whole_p95_ms": round(percentile(times["total_ms"], 0.95)),
    }


def _line(one: Written) -> str:
    flat = " ".join
    parts = (one.asked.text, one.trace.answer.type, one.raw, one.trace.answer.text)
    return " | ".join(flat(str(part).split()) for part in parts)


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / max(1, len(flags)), 4)
