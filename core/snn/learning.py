"""The course of a training: batch after batch, with checkpoints, until the model learns no more or somebody stops it.

The loss is the mean cross-entropy ``−ln p(next token)`` in nats. AdamW (Loshchilov and Hutter, "Decoupled Weight Decay
Regularization", ICLR 2019) with a linear warm-up and a cosine down to a tenth ("SGDR", ICLR 2017).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from core.errors import EvoRAGError
from core.model.training import TrainingCourse
from core.snn.architecture import Size, untrained
from core.snn.artifacts import config_hash
from core.snn.checkpoints import best_known, load_checkpoint, save_checkpoint
from core.snn.corpus import Corpus, prepared
from core.snn.neurons import Code
from core.snn.surrogate import SpikingLayer

WEIGHT_DECAY = 0.1
MOMENTA = (0.9, 0.95)
LONGEST_GRADIENT = 1.0
WARM_UP = 0.05
LAST_RATE = 0.1
CHECKS = 20
"""How often the loss on held-out text is taken and a checkpoint is written, in equal parts of the course."""
PATIENCE = 4
"""Checks in a row without a lower loss on held-out text after which a training ends."""
MOST_LINES = 1_000


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Where a training is; ``loss`` and ``held_out_loss`` in nats per token, the latter as last taken."""

    step: int
    steps: int
    loss: float
    held_out_loss: float | None
    tokens_per_s: float
    seconds_left: float
    """If it goes on like this to its last step; one that learns nothing more ends before."""


Tell = Callable[[TrainingProgress], None]
Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """A model as it was when held-out text was met best; ``maxima`` by population, empty without spikes.

    ``config`` has what decided it; ``best_step`` is the step that it is from, ``step`` the last that was done.
    """

    model: Any
    maxima: Mapping[str, Tensor]
    config: Mapping[str, Any]
    step: int
    best_step: int
    held_out_loss: float


def train(course: TrainingCourse, work: Path, tell: Tell, stopped: Stopped) -> TrainingOutcome | None:
    """Train on what lies prepared in ``work``, on from its checkpoint where there is one; None when it was stopped.

    The best checkpoint by the loss on held-out text is what comes of it; the course ends once that no longer falls.
    Where it is stopped a checkpoint is left. On one thread the result depends on the course and the texts alone.
    Raises: ``InvalidInput`` for too little text, ``Conflict`` for the checkpoint of another training.
    """
    torch.set_num_threads(course.threads)
    corpus = prepared(work, course.window)
    config = course.config(corpus.sha256)
    run = _Run(course, corpus)
    file, best_file, digest = work / "checkpoint.safetensors", work / "best.safetensors", config_hash(config)
    done = run.load(file, digest) if file.is_file() else 0
    best = best_known(best_file, digest) if done else None
    every = max(1, course.steps // CHECKS)
    told_every = max(1, course.steps // MOST_LINES)
    held_out = run.held_out_loss() if done else None
    began, tokens = time.monotonic(), 0
    step = done - 1
    for step in range(done, course.steps):
        if best is not None and step >= best[0] + PATIENCE * every:
            step -= 1
            break
        if stopped():
            run.save(file, step, digest)
            return None
        loss = run.step(step)
        tokens += course.batch * course.window
        is_check = (step + 1) % every == 0 or step + 1 == course.steps
        if is_check:
            held_out = run.held_out_loss()
            if best is None or held_out < best[1]:
                best = step + 1, held_out
                # Before the checkpoint: a training that is killed between the two finds the same best step again.
                run.save(best_file, step + 1, digest, held_out)
            run.save(file, step + 1, digest)
        if is_check or (step + 1) % told_every == 0:
            took = max(time.monotonic() - began, 1e-9)
            left = took / (step + 1 - done) * (course.steps - step - 1)
            tell(TrainingProgress(step + 1, course.steps, loss, held_out, tokens / took, left))
    if best is None:
        # Of an earlier release's last checkpoint no best one is known.
        best = done, run.held_out_loss()
    elif best[0] <= step:
        run.load(best_file, digest)
    maxima = run.maxima()
    run.close()
    return TrainingOutcome(run.model, maxima, config, step + 1, *best)


def rate(step: int, course: TrainingCourse) -> float:
    """Return the learning rate of a step, counted from 0."""
    warm = max(1, round(course.steps * WARM_UP))
    if step < warm:
        return course.learning_rate * (step + 1) / warm
    way = (step - warm) / max(1, course.steps - warm)
    return course.learning_rate * (LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * way)) / 2)


def next_token_loss(model: Any, windows: Tensor) -> Tensor:
    """Return the mean loss of windows, int64 ``(n, window + 1)``; what is held in a cache plays no part."""
    logits = model(input_ids=windows[:, :-1], use_cache=False).logits
    return cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten())


class _Run:
    def __init__(self, course: TrainingCourse, corpus: Corpus) -> None:
        self._course = course
        self._corpus = corpus
        size = Size(course.layers, course.width, course.window)
        self.model = untrained(size, corpus.vocabulary, corpus.end, course.seed)
        self._spiking: SpikingLayer | None = None
        if course.spiking:
            self._spiking = SpikingLayer(self.model, Code("few-spike", course.code_steps))
        parameters = list(self.model.parameters())
        groups = [
            {"params": [each for each in parameters if each.ndim > 1], "weight_decay": WEIGHT_DECAY},
            {"params": [each for each in parameters if each.ndim < 2], "weight_decay": 0.0},
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=course.learning_rate, betas=MOMENTA)

    def step(self, step: int) -> float:
        for group in self._optimiser.param_groups:
            group["lr"] = rate(step, self._course)
        self.model.train()
        self._optimiser.zero_grad(set_to_none=True)
        loss = next_token_loss(self.model, self._corpus.batch(self._course.seed, step, self._course.batch))
        if not torch.isfinite(loss):
            raise EvoRAGError("The loss is no longer a number.", remedy="Train anew with a smaller learning rate.")
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), LONGEST_GRADIENT)
        self._optimiser.step()
        return float(loss.detach())

    def held_out_loss(self) -> float:
        self.model.eval()
        with torch.no_grad():
            if self._spiking is None:
                return self._mean_loss()
            with self._spiking.resting():
                return self._mean_loss()

    def _mean_loss(self) -> float:
        held, size = self._corpus.held_out, self._course.batch
        parts = [held[start : start + size] for start in range(0, len(held), size)]
        return sum(float(next_token_loss(self.model, part)) * len(part) for part in parts) / len(held)

    def maxima(self) -> dict[str, Tensor]:
        return self._spiking.maxima if self._spiking is not None else {}

    def save(self, file: Path, step: int, digest: str, held_out_loss: float | None = None) -> None:
        save_checkpoint(
            file,
            self.model,
            self._optimiser,
            self.maxima(),
            step=step,
            config_hash=digest,
            held_out_loss=held_out_loss,
        )

    def load(self, file: Path, digest: str) -> int:
        return load_checkpoint(file, self.model, self._optimiser, self.maxima(), config_hash=digest)

    def close(self) -> None:
        if self._spiking is not None:
            self._spiking.remove()
        self.model.eval()
