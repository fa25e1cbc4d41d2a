"""Statistics of recordings, against counts by hand and against the slow way of unpacked spikes."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from core.errors import InvalidInput
from core.snn.counting import intervals
from core.snn.neurons import Code, membrane, spikes
from core.snn.packing import pack
from core.snn.recording import NeuronRecording
from core.snn.statistics import heat_map, summary
from tests.unit.snn.recorded import encoded, population, recording

SIGNS = np.array(
    [  # 4 steps × 2 tokens × 3 neurons
        [[1, 0, 0], [0, -1, 0]],
        [[0, 0, 0], [0, -1, 0]],
        [[-1, 1, 0], [0, 0, 0]],
        [[1, 0, 0], [1, -1, 0]],
    ],
    np.int8,
)


def random_recording(steps: int = 8, tokens: int = 5, seed: int = 3) -> tuple[NeuronRecording, dict[str, np.ndarray]]:
    random = np.random.default_rng(seed)
    populations, signs = {}, {}
    for layer in range(2):
        for kind, n in (("query", 24), ("key", 11), ("mlp_product", 100)):
            name = f"layers.{layer}.{kind}"
            populations[name], signs[name] = encoded(random.standard_normal((tokens, n)), steps, kind, layer)
    populations["head_input"], signs["head_input"] = encoded(
        random.standard_normal((tokens, 9)), steps, "head_input", -1
    )
    return recording(populations), signs


def test_a_small_recording_is_counted_as_by_hand() -> None:
    told = summary(recording({"layers.0.query": population(SIGNS)}))

    assert (told.steps, told.first, told.end, told.neurons, told.spikes) == (4, 0, 2, 3, 8)
    assert told.rate == pytest.approx(8 / 24, abs=1e-6)
    thirds = pytest.approx([1 / 3, 0, 1 / 3, 1 / 3, 0, 0, 0, 1 / 3], abs=1e-6)
    assert list(told.rate_per_step.excitatory) == thirds
    assert list(told.rate_per_step.inhibitory) == pytest.approx([0, 0, 1 / 3, 0, 1 / 3, 1 / 3, 0, 1 / 3], abs=1e-6)
    assert list(told.rate_per_token.excitatory) == pytest.approx([3 / 12, 1 / 12], abs=1e-6)
    assert list(told.rate_per_token.inhibitory) == pytest.approx([1 / 12, 3 / 12], abs=1e-6)
    # Neuron 0 of token 0 fires in steps 0, 2 and 3; neuron 1 of token 1 in steps 0, 1 and 3.
    assert told.isi_histogram.counts == (2, 2, 0)
    row = told.table[0]
    assert (row.neurons, row.excitatory, row.inhibitory, row.spikes) == (3, 4, 4, 8)
    assert row.per_neuron_and_token == pytest.approx(8 / 6, abs=1e-6)
    assert row.silent == pytest.approx(1 / 3, abs=1e-6)
    assert row.residual is None


def test_packed_counts_equal_those_of_unpacked_spikes() -> None:
    kept, signs = random_recording()
    told = summary(kept)

    every = np.concatenate(list(signs.values()), axis=2)
    steps, tokens, n = every.shape
    by_step = (every > 0).sum(axis=2).T.ravel() / n
    assert list(told.rate_per_step.excitatory) == pytest.approx(list(by_step), abs=1e-6)
    assert sum(told.rate_per_step.inhibitory) == pytest.approx((every < 0).sum() / n, abs=1e-4)
    bins = [Fraction(int(spikes), steps * tokens) * 40 for spikes in np.abs(every).sum(axis=(0, 1))]
    assert told.rate_histogram.counts == tuple(sum(place <= rate < place + 1 for rate in bins) for place in range(40))
    assert told.rate_histogram.edges[11] == 0.275
    apart = np.zeros(steps - 1, int)
    for token in range(tokens):
        for neuron in range(n):
            for interval in np.diff(np.flatnonzero(every[:, token, neuron])):
                apart[interval - 1] += 1
    assert told.isi_histogram.counts == tuple(apart)
    assert told.isi_histogram.within_token and told.isi_histogram.longer == 0


def test_residual_is_what_the_spikes_leave_of_the_activation() -> None:
    record, signs = encoded(np.random.default_rng(1).standard_normal((6, 20)))
    row = summary(recording({"layers.0.query": record})).table[0]

    carried = (signs[:, :, :2] * 2.0 ** np.arange(7, -1, -1)[:, None, None]).sum(axis=0) * record.delta[:, None]
    left = np.abs(record.current - carried) / record.delta[:, None]
    assert row.residual == pytest.approx(left.mean(), abs=1e-4)
    assert 0 < row.residual <= 0.5


def test_residual_of_the_rate_code_is_a_share_of_its_threshold() -> None:
    y = torch.tensor(np.random.default_rng(2).uniform(-16, 16, (5, 3)), dtype=torch.float32)
    code = Code("rate", 16)
    potential = membrane(y, code).numpy()
    record = replace(
        population(spikes(y, code).numpy(), code="rate"),
        trace_idx=np.arange(3, dtype=np.int32),
        membrane_potential=potential,
    )
    row = summary(recording({"q": record}, code="rate")).table[0]

    assert row.residual == pytest.approx(np.abs(potential[-1]).mean() / 16, abs=1e-5)
    assert 0 < row.residual <= 0.5


def test_populations_and_tokens_are_chosen() -> None:
    kept, signs = random_recording()
    told = summary(kept, ["layers.1.key"], slice(2, 4))

    part = signs["layers.1.key"][:, 2:4]
    assert [row.name for row in told.table] == ["layers.1.key"]
    assert (told.first, told.end, told.spikes) == (2, 4, np.abs(part).sum())
    assert len(told.rate_per_step.excitatory) == 16 and len(told.rate_per_token.inhibitory) == 2


def test_an_unknown_population_and_an_empty_choice_are_refused() -> None:
    kept, _ = random_recording()
    with pytest.raises(InvalidInput, match=r"holds no population 'layers\.9\.query'"):
        summary(kept, ["layers.9.query"])
    with pytest.raises(InvalidInput, match="No token is left"):
        summary(kept, (), slice(4, 4))


def test_without_tokens_intervals_go_across_the_whole_file() -> None:
    signs = np.zeros((1, 70, 1), np.int8)
    signs[0, [0, 2, 69], 0] = 1
    told = summary(recording({"spikes": population(signs, "spikes", -1, "")})).isi_histogram

    assert not told.within_token
    assert (told.counts[1], sum(told.counts), told.longer) == (1, 1, 1)


def test_no_interval_is_counted_across_a_batch() -> None:
    signs = np.zeros((1, 12, 1), np.int8)
    signs[0, [0, 2, 3, 5, 9, 10], 0] = 1
    kept = recording({"spikes": population(signs, "spikes", -1, "")})
    batches = replace(kept, meta={**kept.meta, "batch_steps": 4})

    told = summary(batches).isi_histogram
    assert (told.counts, told.longer) == ((2, 1, 0), 0)
    # From within a batch to within another one.
    told = summary(batches, (), slice(2, 10)).isi_histogram
    assert (told.counts, told.longer) == ((1, 0, 0), 0)


def test_no_interval_is_counted_across_a_token() -> None:
    signs = np.zeros((4, 2, 1), np.int8)
    signs[3, 0, 0] = signs[0, 1, 0] = 1
    assert sum(summary(recording({"q": population(signs)})).isi_histogram.counts) == 0


@pytest.mark.parametrize("n", [1, 8, 64, 67])
def test_intervals_of_any_width_equal_differences_of_times(n: int) -> None:
    fired = np.random.default_rng(n).random((90, 3, n)) < 0.03
    counts, longer = intervals(pack(fired))

    apart = [gap for train in fired.transpose(1, 2, 0).reshape(-1, 90) for gap in np.diff(np.flatnonzero(train))]
    assert list(counts) == [apart.count(gap) for gap in range(1, 65)]
    assert longer == sum(gap > 64 for gap in apart)


def test_the_heat_map_holds_each_kind_and_all_together() -> None:
    kept, signs = random_recording()
    told = heat_map(kept)

    assert [each.kind for each in told.maps] == ["all", "query", "key", "mlp_product", "head_input"]
    assert told.maps[0].layers == (0, 1, -1) and told.maps[4].layers == (-1,)
    keys = np.abs(signs["layers.1.key"]).sum(axis=(0, 2)) / (8 * 11)
    assert list(told.maps[2].rates[1]) == pytest.approx(list(keys), abs=1e-6)
    first = np.concatenate([each for name, each in signs.items() if name.startswith("layers.0.")], axis=2)
    assert list(told.maps[0].rates[0]) == pytest.approx(list(np.abs(first).mean(axis=(0, 2))), abs=1e-6)


def test_numbers_are_plain_json() -> None:
    kept, _ = random_recording()
    for told in (summary(kept).to_dict(), heat_map(kept).to_dict()):
        assert json.loads(json.dumps(told, allow_nan=False)) == told
