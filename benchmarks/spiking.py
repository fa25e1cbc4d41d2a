"""What spikes cost and keep: perplexity, rates, speed and answers of a model.

Parts: ``perplexity`` of the model as it was trained and with each code, on a text that calibration has not seen;
``foreign``, the same with eight steps on each text of a folder (``--texts``);
``rates`` of each kind of population; ``speed`` as trained, with spikes and recorded, taking turns, so that whatever
else the machine does slows them alike; ``questions``, answered greedily with and without a recording.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
import transformers
from torch import Tensor

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import note
from benchmarks.spiking_text import PARAGRAPHS, QUESTIONS, UNSEEN_TEXT
from core.snn import recording
from core.snn.calibration import of_folder
from core.snn.convert import attach, populations
from core.snn.monitor import DataMonitorHook, RecordingLimit
from core.snn.neurons import Code, Population, spikes
from core.snn.populations import KINDS

PARTS = ("perplexity", "foreign", "rates", "speed", "questions")
FEW = Code("few-spike", 8)
CODES = (*(Code("few-spike", steps) for steps in (5, 6, 7, 8)), *(Code("rate", steps) for steps in (4, 16, 32, 64)))
ROOM = RecordingLimit()


class OneThreshold(Population):
    """What the thresholds of channel and token are compared with: one for a whole tensor, at its largest value."""

    def __init__(self, channel_maxima: Tensor, code: Code) -> None:
        super().__init__(torch.ones_like(channel_maxima), code)
        self._unit = channel_maxima.max() / code.limit

    def _scaled(self, x: Tensor) -> tuple[Tensor, Tensor]:
        limit = self.code.limit
        return (x / self._unit).clamp(-limit, limit), self._unit.expand(*x.shape[:-1], 1)


@dataclass(frozen=True)
class Subject:
    """The model as it was trained, and how large its channels become."""

    model: Any
    tokenizer: Any
    maxima: Mapping[str, Tensor]

    @contextmanager
    def spiking(self, make: Callable[[Tensor], Population]) -> Iterator[None]:
        """Let the model spike within a context."""
        detach = attach(self.model, {name: make(largest) for name, largest in self.maxima.items()})
        try:
            yield
        finally:
            detach()

    def ids(self, text: str) -> Tensor:
        return self.tokenizer(text, return_tensors="pt")["input_ids"]


def few_spike(largest: Tensor) -> Population:
    return Population(largest, FEW)


def coded(code: Code) -> Callable[[Tensor], Population]:
    return lambda largest: Population(largest, code)


def perplexity(subject: Subject, ids: Tensor) -> float:
    """The perplexity of some tokens, as the model is at the moment."""
    with torch.inference_mode():
        return math.exp(subject.model(input_ids=ids, labels=ids, use_cache=False).loss)


def perplexities(subject: Subject, tokens: int) -> dict[str, Any]:
    """The perplexity of the first tokens of the text, for each code."""
    ids = subject.ids(UNSEEN_TEXT)[:, :tokens]
    plain = perplexity(subject, ids)
    found: dict[str, Any] = {"tokens": ids.shape[1], "without spikes": plain}
    kinds: dict[str, Callable[[Tensor], Population]] = {f"{code.name} {code.steps}": coded(code) for code in CODES}
    kinds["few-spike 8, one threshold a token"] = lambda largest: Population(torch.ones_like(largest), FEW)
    kinds["few-spike 8, one threshold a tensor"] = lambda largest: OneThreshold(largest, FEW)
    for name, make in kinds.items():
        with subject.spiking(make):
            found[name] = perplexity(subject, ids)
        note(f"{name}: {found[name]:.2f} ({100 * (found[name] / plain - 1):+.1f} %)")
    return found


def foreign_perplexities(subject: Subject, folder: Path | None, tokens: int) -> dict[str, Any]:
    """The perplexity of each text of a folder, without spikes and with eight steps."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.txt")) if folder else ():
        ids = subject.ids(path.read_text(encoding="utf-8", errors="replace"))[:, :tokens]
        plain = perplexity(subject, ids)
        with subject.spiking(few_spike):
            spiking = perplexity(subject, ids)
        found[path.stem] = {
            "tokens": ids.shape[1],
            "without spikes": plain,
            "few-spike 8": spiking,
            "of plain": spiking / plain,
        }
        note(f"{path.stem}: {plain:.2f}, {spiking:.2f} ({100 * (spiking / plain - 1):+.2f} %)")
    return found


def rates(subject: Subject, tokens: int) -> dict[str, Any]:
    """Spikes a neuron and step of each kind of population, and the share of silent neurons of a token."""
    ids = subject.ids(UNSEEN_TEXT)[:, :tokens]
    counts: dict[str, list[tuple[int, int, int]]] = defaultdict(list)

    def listen(kind: str) -> Callable[..., None]:
        def hear(population: Population, args: tuple[Tensor, ...], output: Tensor) -> None:
            fired = spikes(population.scaled(args[0])[0], population.code).bool()
            counts[kind].append((int(fired.sum()), int((~fired.any(0)).sum()), args[0].numel()))

        return hear

    with subject.spiking(few_spike):
        for name, population in populations(subject.model).items():
            population.register_forward_hook(listen(name.rpartition(".")[2]))
        with torch.inference_mode():
            subject.model(input_ids=ids, use_cache=False)
    counts["all"] = [each for kind in KINDS for each in counts[kind]]
    found = {}
    for kind, rows in counts.items():
        fired, silent, values = (sum(column) for column in zip(*rows, strict=True))
        found[kind] = {"spikes a step": fired / values / FEW.steps, "silent": silent / values}
    return found


def decode(model: Any, prompt: Tensor, count: int) -> Iterator[tuple[float, float]]:
    """Write greedily; yield the wall and processor seconds of each token after the first."""
    cache = transformers.DynamicCache(config=model.config)
    with torch.inference_mode():
        logits = model(prompt, cache=cache, use_cache=True, logits_to_keep=1).logits
        for _ in range(count):
            wall, own = time.perf_counter(), time.thread_time()
            logits = model(logits[:, -1:].argmax(-1), cache=cache, use_cache=True).logits
            yield time.perf_counter() - wall, time.thread_time() - own


def speed(subject: Subject, rounds: int, count: int) -> dict[str, Any]:
    """Tokens a second as trained, with spikes, and recorded; the size of the recording."""
    prompt = subject.ids(UNSEEN_TEXT)[:, :64]
    taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(rounds):
        note(f"round {number + 1} of {rounds}")
        taken["without spikes"] += decode(subject.model, prompt, count)
        with subject.spiking(few_spike):
            taken["with spikes"] += decode(subject.model, prompt, count)
            with DataMonitorHook(populations(subject.model), ROOM) as monitor:
                taken["recorded"] += decode(subject.model, prompt, count)
    median = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in taken.items()}
    plain = median["without spikes"]
    return {
        **{
            name: {"tokens/s": 1 / wall, "of plain, wall": plain[0] / wall, "of plain, processor": plain[1] / own}
            for name, (wall, own) in median.items()
        },
        "file": size_of(monitor),
    }


def size_of(monitor: DataMonitorHook) -> dict[str, Any]:
    """Save what was recorded and measure the file."""
    part = monitor.part
    count = part.stop - part.start
    names = tuple(str(number) for number in range(count))
    tokens = recording.Tokens(np.arange(count, dtype=np.int32), names, ("answer",) * count)
    with tempfile.TemporaryDirectory(prefix="evorag-spiking-") as place:
        path = Path(place) / "recording.pt"
        recording.save(monitor.recording(tokens, {}), path)
        size = path.stat().st_size
    return {"tokens": count, "bytes": size, "bytes a token": size / count}


def questions(subject: Subject, chosen: Sequence[tuple[int, str, str]], longest: int) -> dict[str, Any]:
    """Answer greedily as trained, with spikes, and recorded; compare the tokens, and look for the answers."""
    answers: dict[str, list[list[int]]] = defaultdict(list)

    def write(question: tuple[int, str, str]) -> list[int]:
        paragraph, asked, _ = question
        said = f"<document>{PARAGRAPHS[paragraph]}</document>\nAnswer briefly from the document. {asked}"
        given = subject.tokenizer.apply_chat_template(
            [{"role": "user", "content": said}], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with torch.inference_mode():
            whole = subject.model.generate(**given, max_new_tokens=longest, do_sample=False)
        return whole[0, given["input_ids"].shape[1] :].tolist()

    for number, question in enumerate(chosen):
        note(f"question {number + 1} of {len(chosen)}")
        answers["plain"].append(write(question))
        with subject.spiking(few_spike):
            answers["spiking"].append(write(question))
            with DataMonitorHook(populations(subject.model), ROOM):
                answers["recorded"].append(write(question))

    def right(name: str) -> int:
        texts = [subject.tokenizer.decode(ids) for ids in answers[name]]
        return sum(answer.casefold() in text.casefold() for text, (_, _, answer) in zip(texts, chosen, strict=True))

    def alike(one: str, other: str) -> int:
        return sum(a == b for a, b in zip(answers[one], answers[other], strict=True))

    return {
        "asked": len(chosen),
        "same tokens recorded and not": alike("spiking", "recorded"),
        "same tokens with spikes and without": alike("plain", "spiking"),
        "right without spikes": right("plain"),
        "right with spikes": right("spiking"),
    }


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model, local_files_only=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, local_files_only=True, use_safetensors=True
    ).eval()
    subject = Subject(model, tokenizer, of_folder(options.model, context.workspace, model, tokenizer))
    quick, first = options.quick, options.first
    run: dict[str, Callable[[], dict[str, Any]]] = {
        "perplexity": lambda: perplexities(subject, min(options.tokens, 256) if quick else options.tokens),
        "foreign": lambda: foreign_perplexities(subject, options.texts, 64 if quick else options.tokens),
        "rates": lambda: rates(subject, 64 if quick else 256),
        "speed": lambda: speed(subject, 2 if quick else 6, 16),
        "questions": lambda: questions(subject, QUESTIONS[first:][: 4 if quick else options.questions], 16),
    }
    return {part: run[part]() for part in options.parts}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, required=True, help="folder of a Llama- or Qwen-type model")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--texts", type=Path, help="folder of .txt files for the part foreign")
    parser.add_argument("--tokens", type=int, default=1024, help="how much of the text the perplexities are of")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="how many questions are answered")
    parser.add_argument("--first", type=int, default=0, help="which question is the first, to ask them in pieces")
    parser.add_argument("--quick", action="store_true", help="a smaller text, fewer rounds and 4 questions")


BENCHMARK = Benchmark(
    "spiking",
    figures,
    add_options,
    smallest={"quick": True, "tokens": 16},
    small={"quick": True},
    scale="tokens",
    units={
        ".*/tokens": ("tokens", "neither"),
        "perplexity/.*": ("perplexity", "lower"),
        "foreign/.*/of plain": ("ratio", "lower"),
        "foreign/.*": ("perplexity", "lower"),
        "rates/.*/spikes a step": ("spikes", "neither"),
        "rates/.*/silent": ("share", "neither"),
        "speed/.*/of plain, .*": ("ratio", "higher"),
        "questions/(same|right) .*": ("questions", "higher"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
