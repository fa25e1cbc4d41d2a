"""Answers from the found passages: extraction first, a generator where that is not enough, and the guard over it."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import EvoRAGError, GenerationTimedOut, InvalidInput, ModelUnavailable, NothingWritten
from core.generators import NONE, SPIKING, Generators
from core.model import (
    Analysis,
    Answer,
    AnswerType,
    GeneratorFailure,
    Intent,
    Prompt,
    Query,
    Sampling,
    WritingStep,
)
from core.platform import precedence
from core.ports import Generator as Writer
from core.ports import RecordingGenerator, Vector, Writing
from core.query.answer.candidates import Candidate, CandidateFinder
from core.query.answer.context import build_context, joined_chars, sources_of
from core.query.answer.extract import extract_answer
from core.query.answer.fit_budget import compress
from core.query.answer.prompt import build_prompt, template_text
from core.query.answer.reading import OpenVerifier, ReadingStage, ReadWindow
from core.query.answer.reading_order import ReadResult, in_order_of_reading
from core.query.answer.sentence_vectors import SentenceVectors
from core.query.answer.weigh_answers import decided, why_written
from core.query.guard.guard import Compare, Policy, SupportEvidence, guard
from core.query.record_answer import unrecorded
from core.query.search.search import SearchResult
from core.query.stopwatch import Stopwatch
from core.settings import AnswerSettings

_NOTHING_TO_WRITE = ("small_talk", "no_terms")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with what it was made from; ``generation`` is the account of it."""

    answer: Answer
    context: str
    prompt: str
    generation: Mapping[str, Any]


@dataclass(slots=True)
class _Writing:
    """What a generator has written so far, and how that went."""

    text: str = ""
    account: dict[str, Any] = field(default_factory=dict)
    error: EvoRAGError | None = None


class Answering:
    def __init__(
        self,
        generators: Generators,
        settings: AnswerSettings,
        reading: ReadingStage | None = None,
        verifier: OpenVerifier | None = None,
    ) -> None:
        """Answer, and hold what was written against its passages, without a reader or verifier where there is None."""
        self._generators = generators
        self._settings = settings
        self._reading = reading
        self._verifier = verifier
        self._vectors = SentenceVectors()

    @precedence.asked()
    def read(self, query: Query, analysis: Analysis, found: SearchResult, watch: Stopwatch) -> ReadResult:
        """Return what was found in the order in which a reader puts it, as it is where there is none."""
        if self._reading is None:
            return ReadResult(found)
        with watch.step("read"):
            question = analysis.searched or analysis.normalised
            return in_order_of_reading(question, found, self._reading, query)

    def answer(
        self, query: Query, analysis: Analysis, read: ReadResult, watch: Stopwatch, into: Path | None = None
    ) -> Generator[WritingStep, None, Answered]:
        """Yield what a generator writes, piece by piece and not yet held against the passages; return the answer.

        A generator that the question names writes; that of the settings where extraction is unsure, or where the
        question asks for a form that only writing has. Its neurons are recorded ``into`` a file where one is named.
        Closing it stops the generator. A generator that fails or writes nothing leaves the extracted answer, with the
        error's code as its reason and the error as its ``generator_failure``.

        Raises: ``InvalidInput`` for a generator that is not known.
        """
        settings, found = self._settings, read.found
        name = self._generators.writer_of(query)
        question, language = analysis.normalised, analysis.language
        with watch.step("context"):
            whole = sources_of(found.hits)
            finder = CandidateFinder(question, [*found.hits, *found.candidates])
            sources = compress(question, whole, settings.context_chars, found.candidates, finder)
            context = build_context(sources, settings.context_chars)
            built = build_prompt(question, sources, language, settings.prompt_max_bytes)
        prompt = built.prompt.as_text()
        generation: dict[str, Any] = {
            "generator": name,
            "context_chars": len(context),
            "context_budget_chars": settings.context_chars,
            "compressed_chars": joined_chars(whole) - joined_chars(sources),
            "prompt_chars": len(prompt),
            "prompt_bytes": len(prompt.encode()),
            "truncated": built.is_truncated,
            "template": template_text(language),
            "threshold": settings.answer_threshold,
        }
        times = watch.timings_ms
        # A question that is read in two ways is answered more than once.
        embedded = times.get("embed_sentences", 0.0)
        with watch.step("extract"):
            searched = analysis.searched or question
            known = finder if searched == question else None
            answer = extracted = self._extracted(searched, read, generation, known, watch)
        times["extract"] -= times.get("embed_sentences", 0.0) - embedded
        sure = settings.sure_confidence
        why = why_written(question, extracted, is_chosen=bool(query.generator) or query.record, sure=sure)
        if name != NONE and found.hits and why and not _asks_nothing(analysis, extracted):
            generation["writes_reason"] = why
            with watch.step("generate"):
                writing = yield from self._written(name, built.prompt, into)
            generation.update(writing.account)
            with watch.step("guard"):
                evidence = SupportEvidence(question, language, whole, extracted)
                answer = self._guarded(writing, evidence, found, generation)
                if answer is not extracted and writing.error is None:
                    answer = decided(question, extracted, answer, why=why, sure=sure)
            if writing.error is not None:
                answer = replace(answer, generator_failure=_failure(name, writing.error))
        times["answer"] = sum(times.get(step, 0.0) for step in ("embed_sentences", "extract", "generate", "guard"))
        return Answered(answer, context, prompt, generation)

    def writes(self, query: Query) -> bool:
        """Tell whether a generator writes the answer to a question. Raises: ``InvalidInput`` for one not known."""
        return self._generators.writer_of(query) != NONE

    def check(self, query: Query) -> None:
        """Refuse a question that asks for a generator that is not known, or cannot be recorded.

        Raises: ``InvalidInput``; ``ModelUnavailable`` where one to be recorded cannot be opened.
        """
        name = self._generators.writer_of(query)
        if query.record and not isinstance(self._generators.get(name), RecordingGenerator):
            raise InvalidInput(
                f"What the generator “{name}” writes cannot be recorded.",
                remedy=f"Choose the generator “{SPIKING}”, or ask without recording.",
            )

    def _written(self, name: str, prompt: Prompt, into: Path | None) -> Generator[WritingStep, None, _Writing]:
        """Pass on the pieces that a generator writes until it ends, fails, or has written as much as it may."""
        writing = _Writing()
        started = time.perf_counter()
        first_ms = None
        pieces = size = 0
        try:
            generator = self._generators.get(name)
            assert generator is not None
            writing.account["model"] = generator.model
            with closing(self._begun(generator, prompt, into, writing)) as written:
                for piece in written:
                    if not piece:
                        yield WritingStep(piece)
                        continue
                    if first_ms is None:
                        first_ms = _ms_since(started)
                    room = self._settings.max_answer_bytes - size
                    fitting = piece.encode(errors="replace")[:room].decode(errors="ignore")
                    size += len(fitting.encode())
                    pieces += 1
                    writing.text += fitting
                    yield WritingStep(fitting)
                    if len(fitting) < len(piece):
                        writing.account["stopped"] = "max_answer_bytes"
                        break
            if not writing.text.strip():
                raise NothingWritten(f"The generator “{name}” ended and wrote nothing.")
        except EvoRAGError as error:
            writing.error = error
            writing.account["error"] = error.as_dict()
        writing.account |= {"pieces": pieces, "first_piece_ms": first_ms, "total_ms": _ms_since(started)}
        return writing

    def _begun(self, generator: Writer, prompt: Prompt, into: Path | None, writing: _Writing) -> Writing:
        timeout_s = self._settings.generation_timeout_s
        if into is None:
            return generator.write(prompt, self._sampling(), timeout_s)
        assert isinstance(generator, RecordingGenerator)

        def failed(error: Exception) -> None:
            writing.account["recording"] = {"error": unrecorded(error).as_dict()}

        return generator.write_recorded(prompt, self._sampling(), timeout_s, into, failed)

    def _guarded(
        self, writing: _Writing, evidence: SupportEvidence, found: SearchResult, generation: dict[str, Any]
    ) -> Answer:
        error = writing.error
        if error is not None and not (isinstance(error, GenerationTimedOut) and writing.text.strip()):
            return replace(evidence.extracted, reason=error.code)
        started = time.perf_counter()
        policy = Policy(self._settings.guard_overlap, self._settings.unsupported == "mark")
        by = f"{generation['generator']}: {generation['model']}"
        embed = partial(self._vectors.embed, found.retrieved.embedder)
        read = None if self._reading is None else self._reading.read_stretches
        verify = None if self._verifier is None else self._verifier().verify
        guarded = guard(writing.text, evidence, policy, by, Compare(embed, read, verify))
        generation["guard"] = {**guarded.account, "ms": _ms_since(started)}
        answer = guarded.answer
        return replace(answer, reason=error.code) if error and answer.type is AnswerType.GENERATIVE else answer

    def _sampling(self) -> Sampling:
        settings = self._settings
        return Sampling(
            max_tokens=settings.max_answer_tokens,
            temperature=settings.temperature,
            top_p=settings.top_p,
            repetition_penalty=settings.repetition_penalty,
            seed=settings.generation_seed,
        )

    def _extracted(
        self,
        question: str,
        before: ReadResult,
        generation: dict[str, Any],
        finder: CandidateFinder | None,
        watch: Stopwatch,
    ) -> Answer:
        found = before.found

        def read(question: str, candidates: Sequence[Candidate]) -> list[ReadWindow]:
            assert self._reading is not None
            account = generation.setdefault("reader", {})
            return self._reading.read(question, candidates, account, before.windows)

        answer = partial(
            extract_answer,
            question,
            found.hits,
            candidates=found.candidates,
            threshold=self._settings.answer_threshold,
            read=read if self._reading is not None else None,
            finder=finder,
        )
        vector = found.retrieved.question_vector
        if vector is None:
            return answer()
        embedder = found.retrieved.embedder

        def embed(texts: Sequence[str]) -> Vector:
            with watch.step("embed_sentences"):
                return self._vectors.embed(embedder, texts)

        try:
            return answer(embed, question_vector=vector, model=embedder.id)
        except ModelUnavailable:
            return answer()


def _asks_nothing(analysis: Analysis, extracted: Answer) -> bool:
    return analysis.intent is Intent.SMALL_TALK or extracted.reason in _NOTHING_TO_WRITE


def _failure(generator: str, error: EvoRAGError) -> GeneratorFailure:
    reason, values = (error.reason, error.values) if isinstance(error, ModelUnavailable) else ("", {})
    return GeneratorFailure(generator, error.code, error.message, error.remedy, reason, dict(values))


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
