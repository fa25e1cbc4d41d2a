"""Comparison of two recordings."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from core.errors import InvalidInput
from core.snn.comparing import compare
from core.snn.recording import NeuronRecording
from tests.unit.snn.recorded import encoded, population, recording


def made(seed: int, tokens: int = 4, prompt: int = 1, weights: str = "made", n: int = 30) -> NeuronRecording:
    random = np.random.default_rng(seed)
    populations = {
        f"layers.{layer}.query": encoded(random.standard_normal((tokens, n)), 8, "query", layer)[0]
        for layer in range(2)
    }
    return recording(populations, ("prompt",) * prompt + ("answer",) * (tokens - prompt), weights)


def test_a_recording_equals_itself() -> None:
    told = compare(made(1), made(1))

    assert told.cosine == pytest.approx(1.0)
    assert told.rate_a == told.rate_b
    assert all(each.rate_a == each.rate_b for each in told.neurons)
    assert (told.note, told.note_code) == ("", "")


def test_answers_of_different_length_are_compared_over_their_answers() -> None:
    a, b = made(1, tokens=4, prompt=1), made(2, tokens=9, prompt=3)
    told = compare(a, b)

    assert (told.role, told.tokens_a, told.tokens_b) == ("answer", 3, 6)
    rates_a = a.populations["layers.1.query"].counts[1:].mean(axis=0) / 8
    rates_b = b.populations["layers.1.query"].counts[3:].mean(axis=0) / 8
    row = told.populations[1]
    assert (row.name, row.kind, row.layer, row.neurons) == ("layers.1.query", "query", 1, 30)
    assert (row.rate_a, row.rate_b) == (
        pytest.approx(rates_a.mean(), abs=1e-6),
        pytest.approx(rates_b.mean(), abs=1e-6),
    )
    cosine = rates_a @ rates_b / (np.linalg.norm(rates_a) * np.linalg.norm(rates_b))
    assert row.cosine == pytest.approx(cosine, abs=1e-6)


def test_neurons_that_differ_most_stand_first() -> None:
    quiet = np.zeros((4, 2, 20), np.int8)
    loud, louder = quiet.copy(), quiet.copy()
    loud[:2, :, 7] = 1
    louder[:, :, 13] = -1
    silent = recording({"layers.0.query": population(quiet), "layers.1.query": population(quiet, layer=1)})
    other = recording({"layers.0.query": population(loud), "layers.1.query": population(louder, layer=1)})
    told = compare(silent, other, neurons=2)

    assert [(each.population, each.neuron, each.rate_a, each.rate_b) for each in told.neurons] == [
        ("layers.1.query", 13, 0.0, 1.0),
        ("layers.0.query", 7, 0.0, 0.5),
    ]
    assert told.cosine is None


def test_other_models_are_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="different models: model one and model two"):
        compare(made(1, weights="one"), made(1, weights="two"))
    with pytest.raises(InvalidInput, match="their populations differ"):
        compare(made(1), recording({"head_input": population(np.zeros((8, 2, 3), np.int8))}))
    with pytest.raises(InvalidInput, match=r"layers\.0\.query has 30 and 31 neurons"):
        compare(made(1), made(1, n=31))


def test_of_thinned_recordings_only_shared_neurons_are_compared() -> None:
    whole = made(1)
    name = "layers.0.query"
    record = whole.populations[name]
    every_second = replace(
        population(record.spikes()[:, :, ::2]), neuron_idx=np.arange(0, 30, 2, dtype=np.int32), code="few-spike"
    )
    thinned = replace(whole, populations={**whole.populations, name: every_second})
    told = compare(whole, thinned)

    assert told.populations[0].neurons == 15
    assert told.populations[0].cosine == pytest.approx(1.0)
    assert told.note == "Only 45 neurons that both recordings hold are compared."
    assert told.note_code == "neurons"
    assert compare(whole, replace(thinned, meta={**thinned.meta, "code": "rate"})).note_code == "codes_and_neurons"


def test_another_code_of_the_same_weights_is_compared_with_a_note() -> None:
    rate = recording({"q": population(np.ones((16, 2, 3), np.int8), code="rate")}, code="rate")
    few = recording({"q": population(np.ones((8, 2, 3), np.int8))})
    told = compare(few, rate)

    assert told.note.startswith("The codes differ (few-spike, 8 steps a token; rate, 16 steps a token)")
    assert told.note_code == "codes"
    assert told.rate_a == told.rate_b == 1.0


def test_recordings_without_roles_are_compared_over_all_tokens() -> None:
    random = np.random.default_rng(5)
    a, b = (
        recording({"spikes": population(random.integers(-1, 2, (1, tokens, 6)).astype(np.int8))}, ("",) * tokens)
        for tokens in (7, 11)
    )
    told = compare(a, b)

    assert (told.role, told.tokens_a, told.tokens_b) == ("", 7, 11)
    assert json.loads(json.dumps(told.to_dict(), allow_nan=False)) == told.to_dict()
