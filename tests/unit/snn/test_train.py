"""Small models that are trained in earnest: they learn, go on after a kill as if nothing was, and pass gradients."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from core.errors import Conflict, InvalidInput
from core.model.training import TrainingCourse, TrainingLabels
from core.snn import learning
from core.snn.architecture import Size, untrained
from core.snn.artifacts import Artifacts
from core.snn.corpus import prepare
from core.snn.jobs import JOB, PROGRESS, TEXTS, TrainingSource, begin_job, last_told, read_job, read_texts
from core.snn.learning import TrainingOutcome, TrainingProgress, next_token_loss, rate, train
from core.snn.neurons import Code
from core.snn.surrogate import SpikingLayer
from core.snn.train import carry_out
from tests.trained import COURSE, TEXT


def learnt(
    work: Path, course: TrainingCourse = COURSE, stop_after: int = 10**9
) -> tuple[TrainingOutcome | None, list[TrainingProgress]]:
    """Train on ``TEXT`` in a folder, and stop behind so many steps."""
    work.mkdir(exist_ok=True)
    if not (work / "corpus.safetensors").exists():
        prepare([TEXT], course.vocabulary, work)
    told: list[TrainingProgress] = []
    return train(course, work, told.append, lambda: bool(told) and told[-1].step >= stop_after), told


def weights(outcome: TrainingOutcome | None) -> dict[str, torch.Tensor]:
    assert outcome is not None
    return dict(outcome.model.state_dict())


@pytest.mark.parametrize("spiking", [False, True], ids=["analogue", "spiking"])
def test_loss_falls_on_text_and_on_what_was_held_out(tmp_path: Path, spiking: bool) -> None:
    _, told = learnt(tmp_path, replace(COURSE, spiking=spiking))
    assert [each.step for each in told] == list(range(1, 31))
    assert told[0].loss > 5.5 and told[-1].loss < 2.0
    assert told[-1].held_out_loss is not None and told[-1].held_out_loss < 2.0


@pytest.mark.parametrize("spiking", [False, True], ids=["analogue", "spiking"])
def test_stopped_and_resumed_ends_with_the_same_weights(tmp_path: Path, spiking: bool) -> None:
    course = replace(COURSE, steps=12, spiking=spiking)
    whole, losses = learnt(tmp_path / "whole", course)
    stopped, first = learnt(tmp_path / "parts", course, stop_after=7)
    assert stopped is None
    resumed, second = learnt(tmp_path / "parts", course)
    assert [each.loss for each in [*first, *second]] == [each.loss for each in losses]
    assert resumed is not None and whole is not None
    for name, tensor in weights(whole).items():
        assert torch.equal(weights(resumed)[name], tensor), name
    assert set(resumed.maxima) == set(whole.maxima) and bool(whole.maxima) == spiking
    assert all(torch.equal(resumed.maxima[name], whole.maxima[name]) for name in whole.maxima)


@pytest.mark.parametrize("stop_after", [10**9, 5, 9, 11], ids=str)
def test_training_ends_when_held_out_text_is_met_no_better_and_keeps_the_best_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    # A check each step. What is measured is given: falling to step 7, then rising as when texts are learnt by heart.
    losses = [5.0, 4.5, 4.4, 4.6, 4.3, 4.35, 4.2, *(4.3 + step / 100 for step in range(30))]
    at: list[int] = [0]
    step_of = learning._Run.step

    def counted(self: Any, step: int) -> float:
        at[0] = step
        return step_of(self, step)

    monkeypatch.setattr(learning._Run, "step", counted)
    monkeypatch.setattr(learning._Run, "held_out_loss", lambda _self: losses[at[0]])
    outcome, told = learnt(tmp_path, replace(COURSE, steps=20, spiking=True), stop_after)
    if outcome is None:
        outcome, more = learnt(tmp_path, replace(COURSE, steps=20, spiking=True))
        told += more
    assert outcome is not None
    assert (outcome.best_step, outcome.step, outcome.held_out_loss) == (7, 7 + learning.PATIENCE, 4.2)
    assert [each.step for each in told] == list(range(1, 12))
    best = load_file(tmp_path / "best.safetensors")
    for name, parameter in outcome.model.named_parameters():
        assert torch.equal(parameter, best[f"weight/{name}"]), name
    last = load_file(tmp_path / "checkpoint.safetensors")
    assert any(not torch.equal(best[name], last[name]) for name in best if name.startswith("weight/"))
    assert all(torch.equal(best[f"largest/{name}"], largest) for name, largest in outcome.maxima.items())


def test_checkpoint_is_refused_by_a_training_with_other_settings(tmp_path: Path) -> None:
    learnt(tmp_path, stop_after=2)
    with pytest.raises(Conflict, match="other settings"):
        learnt(tmp_path, replace(COURSE, seed=1))


def test_damaged_checkpoint_is_told_in_words(tmp_path: Path) -> None:
    learnt(tmp_path, stop_after=2)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"\x80\x04not tensors")
    with pytest.raises(Conflict, match="cannot be read"):
        learnt(tmp_path)


def test_checkpoint_holds_plain_tensors_for_every_weight_and_no_pickle(tmp_path: Path) -> None:
    learnt(tmp_path, replace(COURSE, spiking=True), stop_after=2)
    kept = load_file(tmp_path / "checkpoint.safetensors")
    named = {name.split("/", 1)[1] for name in kept if name.startswith("weight/")}
    for state in ("exp_avg", "exp_avg_sq"):
        assert {name.split("/", 1)[1] for name in kept if name.startswith(f"{state}/")} == named
    assert len([name for name in kept if name.startswith("largest/")]) == 8
    assert not [path.name for path in tmp_path.iterdir() if path.suffix in (".pt", ".pkl", ".bin", ".begun")]


def spiking_model() -> tuple[Any, SpikingLayer]:
    model = untrained(Size(layers=2, width=32, window=16), vocabulary=300, end=0, seed=3)
    return model, SpikingLayer(model, Code("few-spike", 8))


def test_gradients_pass_through_the_spikes_to_every_parameter() -> None:
    model, _ = spiking_model()
    next_token_loss(model, torch.arange(4 * 17).reshape(4, 17)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and bool(parameter.grad.abs().sum() > 0), name


def test_spiking_model_counts_with_what_spikes_carry_and_is_the_analogue_one_without_them() -> None:
    windows = torch.arange(4 * 17).reshape(4, 17)
    model, spiking = spiking_model()
    with torch.no_grad():
        with_spikes = next_token_loss(model, windows)
        spiking.remove()
        without = next_token_loss(model, windows)
    plain = untrained(Size(layers=2, width=32, window=16), vocabulary=300, end=0, seed=3)
    with torch.no_grad():
        assert torch.equal(without, next_token_loss(plain, windows))
    assert with_spikes != without and abs(float(with_spikes - without)) < 0.01


def test_held_out_text_teaches_the_neurons_nothing() -> None:
    model, spiking = spiking_model()
    with torch.no_grad():
        next_token_loss(model, torch.arange(17).reshape(1, 17))
        before = {name: largest.clone() for name, largest in spiking.maxima.items()}
        with spiking.resting():
            next_token_loss(model, torch.arange(100, 117).reshape(1, 17))
    assert all(torch.equal(before[name], largest) for name, largest in spiking.maxima.items())
    assert all(bool((largest > 0).any()) for largest in before.values())


def test_rate_warms_up_and_falls_to_a_tenth() -> None:
    course = TrainingCourse(steps=1_000, learning_rate=1.0)
    rates = [rate(step, course) for step in range(1_000)]
    assert rates[0] == pytest.approx(1 / 50) and max(rates) == rates[50] == 1.0
    assert rates[50:] == sorted(rates[50:], reverse=True) and rates[-1] == pytest.approx(0.1, abs=1e-4)


def test_too_little_text_is_told_with_how_much_is_needed(tmp_path: Path) -> None:
    prepare(["A few words."], 300, tmp_path)
    with pytest.raises(InvalidInput, match="at least 65"):
        train(COURSE, tmp_path, lambda _: None, lambda: False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"width": 33},
        {"width": 1024, "batch": 256, "window": 1024},
        {"layers": 99},
        {"learning_rate": 0.0},
        {"precision": "fp8"},
        {"quantize": "int4"},
    ],
    ids=str,
)
def test_course_out_of_its_bounds_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        replace(COURSE, **wrong).check()


def test_job_is_read_as_it_was_begun_and_only_once(tmp_path: Path) -> None:
    job = begin_job(tmp_path, TrainingLabels("small"), COURSE, [TrainingSource("text")], ["b", "a", "a"])
    assert read_job(job.work / JOB) == job and job.tags == ("a", "b")
    with pytest.raises(Conflict):
        begin_job(tmp_path, TrainingLabels("small"), COURSE, [TrainingSource("text")])


def test_texts_that_are_no_text_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(InvalidInput, match=r"picture\.txt"):
        read_texts([tmp_path / "picture.txt"])


def test_text_is_not_kept_once_it_is_cut_into_tokens_and_nothing_once_the_model_is_there(tmp_path: Path) -> None:
    job = begin_job(tmp_path, TrainingLabels("small"), replace(COURSE, steps=3), [TrainingSource(TEXT)])

    class AfterOneStep(threading.Event):
        def is_set(self) -> bool:
            return (job.work / PROGRESS).exists()

    assert carry_out(job, stopped=AfterOneStep()) == "cancelled"
    assert not (job.work / TEXTS).exists() and last_told(job.work / PROGRESS)["state"] == "cancelled"
    assert carry_out(job, stopped=threading.Event()) == "done"
    assert not job.work.exists() and Artifacts(tmp_path).has("small")


@pytest.mark.long
def test_training_that_is_killed_is_resumed_to_the_same_weights_and_a_log_without_gaps(tmp_path: Path) -> None:
    course = replace(COURSE, steps=40)
    job = begin_job(tmp_path, TrainingLabels("small"), course, [TrainingSource(TEXT)])

    class Killed(BaseException):
        pass

    class KilledWithACheckpoint(threading.Event):
        def is_set(self) -> bool:
            if last_told(job.work / PROGRESS).get("step") == 7:
                raise Killed
            return False

    with pytest.raises(Killed):
        carry_out(job, stopped=KilledWithACheckpoint())
    assert "state" not in last_told(job.work / PROGRESS)
    assert carry_out(job, stopped=threading.Event()) == "done"
    whole, _ = learnt(tmp_path / "whole", course)
    kept = load_file(tmp_path / "trained" / "small" / "model.safetensors")
    assert kept and all(torch.equal(tensor, weights(whole)[name]) for name, tensor in kept.items())
    log = (tmp_path / "trained" / "small" / "training_log.jsonl").read_text().splitlines()
    steps = [json.loads(line).get("step") for line in log]
    assert steps.count(1) == 1 and set(steps) == set(range(1, 41)) and steps[-1] == 40


def test_texts_that_are_too_much_are_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.snn.jobs.MOST_TEXT_BYTES", 100)
    sources = [TrainingSource("x" * size, document=(str(size), 1)) for size in (60, 50, 40)]
    job = begin_job(tmp_path, TrainingLabels("small"), COURSE, sources)
    assert (job.documents, job.left_out) == ((("60", 1), ("40", 1)), 1)
    assert read_job(job.work / JOB) == job


def test_nothing_is_left_where_gathering_fails(tmp_path: Path) -> None:
    def sources() -> Iterator[TrainingSource]:
        yield TrainingSource(TEXT)
        raise OSError

    with pytest.raises(OSError):
        begin_job(tmp_path, TrainingLabels("small"), COURSE, sources())
    with pytest.raises(InvalidInput, match="no text"):
        begin_job(tmp_path, TrainingLabels("small"), COURSE, [])
    assert list((tmp_path / "training").iterdir()) == []


def test_long_text_is_encoded_in_pieces_and_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.snn.corpus.PIECE_CHARS", 7)
    prepare(["The office opens. 事務所は開きます。\n"], 300, tmp_path)
    tokens = load_file(tmp_path / "corpus.safetensors")["tokens"]
    tokenizer = import_module("transformers").AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.decode(tokens[:-1]) == "The office opens. 事務所は開きます。\n"
