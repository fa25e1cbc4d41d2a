"""The reader can be trained anew: windows of a question set, a run that goes on where it ended, and its weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.adapters.reading.reader_weights import read_reader
from tests.smallest import ROOT


def run(module: str, *options: object) -> None:
    order = [sys.executable, "-m", f"benchmarks.reader_training.{module}", *map(str, options)]
    done = subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-2_000:]


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


@pytest.mark.long
def test_a_reader_is_trained_and_packed(tmp_path: Path) -> None:
    question_set(tmp_path / "sets" / "en-pumps")
    run("data", tmp_path / "sets", tmp_path / "windows")
    for steps in (1, 40):
        run(
            "train", tmp_path / "windows", tmp_path / "run", "--steps", steps, "--cool-from", steps - 1, "--validate", 2
        )
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text("utf-8").splitlines()]
    assert log[-1]["step"] > log[0]["step"] > 0
    run("pack", tmp_path / "run" / "checkpoint.pt", tmp_path / "reader.npz")
    tensors, notes = read_reader(tmp_path / "reader.npz")
    assert tensors and notes["layers"] == 6
