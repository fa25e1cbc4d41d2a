"""What the monitor hears is what the neurons did, and hearing it changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.snn.convert import convert, populations
from core.snn.layout import Layout
from core.snn.monitor import DataMonitorHook, RecordingLimit
from core.snn.neurons import Code, membrane
from core.snn.recording import NeuronRecording, Tokens, load, save
from tests.unit.snn.small import FEW, PROMPT, maxima, small

ODD = {"hidden_size": 36, "intermediate_size": 45, "head_dim": 6}
"""Sizes that fill no whole bytes."""
RATE = Code("rate", 12)
ROOM = RecordingLimit(prompt_tokens=4)


def spiking(code: Code = FEW, **more: Any) -> Any:
    model = small(**more)
    convert(model, maxima(model), code)
    return model


def said(model: Any, count: int = 6) -> list[int]:
    with torch.inference_mode():
        return model.generate(PROMPT, max_new_tokens=count, do_sample=False)[0].tolist()


def recorded(model: Any, limit: RecordingLimit = ROOM, count: int = 6) -> NeuronRecording:
    with DataMonitorHook(populations(model), limit) as monitor:
        ids = said(model, count)[monitor.part]
    return monitor.recording(tokens(len(ids)), {})


def tokens(count: int) -> Tokens:
    return Tokens(np.arange(count, dtype=np.int32), ("a",) * count, ("answer",) * count)


class Heard:
    """All that entered and left each population, by a hook of its own."""

    def __init__(self, model: Any) -> None:
        self.passes: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {name: [] for name in populations(model)}
        self.handles = [
            population.register_forward_hook(lambda _, args, out, name=name: self.passes[name].append((args[0], out)))
            for name, population in populations(model).items()
        ]

    def of(self, name: str, place: int, last: int) -> torch.Tensor:
        rows = [each[place].reshape(-1, each[place].shape[-1]) for each in self.passes[name]]
        return torch.cat([rows[0][-last:], *rows[1:]])


@pytest.mark.parametrize("code", [FEW, RATE], ids=lambda code: code.name)
def test_spikes_of_every_population_carry_exactly_what_left_it(code: Code) -> None:
    model = spiking(code, **ODD)
    heard = Heard(model)
    recording = recorded(model)
    weights = np.asarray(code.weights, dtype=np.float32)
    assert list(recording.populations) == list(populations(model)) and recording.steps == code.steps
    for name, population in recording.populations.items():
        carried = (population.spikes() * weights[:, None, None]).sum(axis=0, dtype=np.float32)
        left = heard.of(name, 1, ROOM.prompt_tokens).numpy()
        assert np.array_equal(carried * (population.delta[:, None] * population.scale), left), name
        assert np.array_equal(population.counts, np.abs(population.spikes()).sum(axis=0)), name


@pytest.mark.parametrize("code", [FEW, RATE], ids=lambda code: code.name)
def test_membrane_is_rebuilt_exactly_from_current_and_spikes(code: Code) -> None:
    model = spiking(code, **ODD)
    heard = Heard(model)
    recording = recorded(model)
    for name, population in recording.populations.items():
        x = heard.of(name, 0, ROOM.prompt_tokens)
        y, unit = populations(model)[name].scaled(x)
        delta = unit[:, None] * populations(model)[name].root_scale
        stepped = (membrane(y, code) * delta)[:, :, population.trace_idx].numpy()
        assert population.current is not None and np.array_equal(population.current, x[:, population.trace_idx])
        assert np.array_equal(population.membrane_potential, stepped), name
        assert np.array_equal(population.rebuilt_potential(), stepped), name
        thresholds = np.array(code.thresholds)[:, None, None] * delta[:, population.trace_idx].numpy()
        assert np.allclose(population.thresholds(), thresholds), name


def test_listening_changes_no_logit() -> None:
    model = spiking()
    with torch.inference_mode():
        alone = model(input_ids=PROMPT).logits
        with DataMonitorHook(populations(model), ROOM):
            heard = model(input_ids=PROMPT).logits
    assert torch.equal(alone, heard)


def test_last_tokens_of_the_prompt_and_all_of_the_answer_that_was_read_are_recorded() -> None:
    model = spiking()
    with DataMonitorHook(populations(model), ROOM) as monitor:
        ids = said(model, 6)
    # The last token is written and never read.
    assert monitor.part == slice(6, 15) and len(ids[monitor.part]) == 9
    with DataMonitorHook(populations(model), RecordingLimit(prompt_tokens=0)) as monitor:
        said(model, 3)
    assert monitor.part == slice(10, 12)
    with pytest.raises(ValueError, match="2 tokens"):
        monitor.recording(tokens(5), {})


def test_pass_that_was_broken_off_is_not_recorded_and_hooks_go_with_any_end() -> None:
    model = spiking()
    base, calls = model.base_model, []

    def stop(*_: object) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    handle = base.layers[1].mlp.register_forward_pre_hook(stop)
    with pytest.raises(KeyboardInterrupt), DataMonitorHook(populations(model), ROOM) as monitor:
        said(model)
    handle.remove()
    assert monitor.part == slice(6, 11)
    assert not any(population._forward_hooks for population in populations(model).values())
    said(model)
    assert len(monitor.recording(tokens(5), {}).tokens) == 5


@pytest.mark.parametrize("code", [FEW, RATE], ids=lambda code: code.name)
def test_little_room_drops_currents_then_thins_all_populations_evenly(code: Code, tmp_path: Path) -> None:
    model = spiking(code, **{**ODD, "intermediate_size": 2_000})
    whole = recorded(model, count=40)
    save(whole, tmp_path / "whole.pt")
    full = room_for_all(model, code.steps, 40)
    assert (tmp_path / "whole.pt").stat().st_size <= full and whole.meta["truncated"] == ""
    currents = recorded(model, RecordingLimit(full - 1, 4), 40)
    assert currents.meta["truncated"] == "The currents were left out." and currents.neurons == whole.neurons
    assert whole.left_out == {
        "currents": False,
        "thinned": 1,
        "tokens": 0,
        "membranes": 0,
        "absent": 0,
        "foreign": False,
    }
    assert currents.left_out == {**whole.left_out, "currents": True}
    thin = recorded(model, RecordingLimit(full * 2 // 3, 4), 40)
    assert "currents" in thin.meta["truncated"] and "One in 2 neurons" in thin.meta["truncated"]
    assert thin.meta["scope"].startswith("one in 2 neurons")
    for recording, step in ((currents, 1), (thin, 2)):
        path = tmp_path / f"{step}.pt"
        save(recording, path)
        assert load(path, 1 << 24).neurons == recording.neurons and path.stat().st_size <= full
        for name, population in recording.populations.items():
            of_whole = whole.populations[name]
            assert population.current is None and population.rebuilt_potential() is None
            assert np.array_equal(population.spikes(), of_whole.spikes()[:, :, ::step]), name
            assert np.array_equal(population.counts, of_whole.counts[:, ::step]), name
            assert np.array_equal(population.trace_idx * step, of_whole.trace_idx), name
            assert np.array_equal(population.membrane_potential, of_whole.membrane_potential), name
            numbers = population.neuron_idx
            assert numbers is None if step == 1 else np.array_equal(numbers, np.arange(0, of_whole.n, step)), name


def room_for_all(model: Any, steps: int, count: int) -> int:
    """The least limit within which everything is kept."""
    with DataMonitorHook(populations(model), ROOM) as monitor:
        rows = len(said(model, count)[monitor.part])
    return Layout({name: each.n for name, each in populations(model).items()}, steps, 4).file_bytes(
        rows, with_currents=True
    )


def test_no_room_at_all_keeps_the_first_tokens_and_says_so() -> None:
    recording = recorded(spiking(), RecordingLimit(1, 4), 6)
    assert recording.meta["truncated"].endswith("The last 5 tokens were left out.")
    assert recording.left_out["tokens"] == 5
    assert len(recording.tokens) == 1 and recording.neurons == len(recording.populations)
