"""Generators that say what they were given to say, for the logic around generators."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import core
from core.model import GeneratorHealth, GeneratorState, Prompt, Sampling
from core.ports import Writing
from core.snn.recording import NeuronRecording, save
from tests.unit.snn.recorded import encoded, recording


@dataclass(frozen=True)
class BrokenOff:
    """An answer of which ``text`` was written when ``error`` ended it."""

    text: str
    error: Exception


class QueuedGenerator:
    """Writes the answers of a queue, each in at most ``pieces`` pieces, and remembers what it was asked.

    An exception in the queue is raised instead of an answer. ``closed_early`` tells whether somebody closed a writing
    before its end.
    """

    name = "queued"
    model = "queue"

    def __init__(self, *answers: str | Exception | BrokenOff, pieces: int = 8) -> None:
        self.answers = deque(answers)
        self.pieces = pieces
        self.prompts: list[Prompt] = []
        self.samplings: list[Sampling] = []
        self.timeouts_s: list[float] = []
        self.closed_early = False

    def health(self) -> GeneratorHealth:
        return GeneratorHealth(self.name, self.model, GeneratorState.READY)

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        self.prompts.append(prompt)
        self.samplings.append(sampling)
        self.timeouts_s.append(timeout_s)
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else answer.text
        size = max(1, -(-len(text) // self.pieces))
        try:
            yield from (text[start : start + size] for start in range(0, len(text), size))
        except GeneratorExit:
            self.closed_early = True
            raise
        if isinstance(answer, BrokenOff):
            raise answer.error

    def close(self) -> None:
        """Nothing is held."""


class SilentGenerator(QueuedGenerator):
    """Writes nothing for as long as somebody waits for it, and says every ``beat_s`` that it goes on."""

    def __init__(self, beat_s: float = 0.02) -> None:
        super().__init__()
        self.closed = threading.Event()
        self._beat_s = beat_s

    def write(self, prompt: Prompt, sampling: Sampling, timeout_s: float) -> Writing:
        self.prompts.append(prompt)
        try:
            while not self.closed.wait(self._beat_s):
                yield ""
        finally:
            self.closed.set()


def use(kb: core.KnowledgeBase, generator: QueuedGenerator) -> None:
    """Let questions of the knowledge base choose the generator as ``queued``."""
    kb.generators._opened.pop(generator.name, None)
    kb.generators._openers[generator.name] = lambda: generator


class RecordedGenerator(QueuedGenerator):
    """Writes as ``QueuedGenerator`` does, and leaves a small true recording of it.

    ``loss`` is why no file can be written. ``during`` is called between writing and recording.
    """

    name = "snn"
    model = "tiny · few-spike K=8"

    def __init__(self, *answers: str | Exception | BrokenOff, loss: Exception | None = None) -> None:
        super().__init__(*answers)
        self.loss = loss
        self.recorded = 0
        self.during: Callable[[], object] = lambda: None

    def write_recorded(
        self,
        prompt: Prompt,
        sampling: Sampling,
        timeout_s: float,
        into: Path,
        failed: Callable[[Exception], object] = lambda _: None,
    ) -> Writing:
        has_written = False
        try:
            for piece in self.write(prompt, sampling, timeout_s):
                has_written = True
                yield piece
            self.during()
        finally:
            if has_written and self.loss is not None:
                failed(self.loss)
            elif has_written:
                self.recorded += 1
                save(tiny_recording(), into)


def tiny_recording(seed: int = 0) -> NeuronRecording:
    """Return two layers of twelve neurons over five tokens, two of the prompt and three of the answer."""
    values = np.random.default_rng(seed)
    populations = {
        f"layers.{layer}.{kind}": encoded(values.normal(size=(5, 12)), 8, kind, layer)[0]
        for layer in range(2)
        for kind in ("query", "value")
    }
    return recording(populations, ["prompt"] * 2 + ["answer"] * 3)
