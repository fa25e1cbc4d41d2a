"""The spikes are those of an integrate-and-fire neuron, and the closed form is what they carry, to the last bit."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from core.snn.neurons import Code, Population, membrane, spikes

CODES = st.one_of(
    st.builds(Code, st.just("few-spike"), st.integers(1, 16)), st.builds(Code, st.just("rate"), st.integers(1, 255))
)
FEW, RATE = Code("few-spike", 8), Code("rate", 32)


@st.composite
def coded(draw: st.DrawFn) -> tuple[Code, Tensor]:
    """A code and values that it carries, halves and thresholds among them."""
    code = draw(CODES)
    halves = st.integers(-int(2 * code.limit), int(2 * code.limit)).map(lambda twice: twice / 2)
    edges = st.sampled_from([sign * 2 / 3 * each for each in code.thresholds for sign in (-1, 1)]).filter(
        lambda y: abs(y) <= code.limit
    )
    between = st.floats(-code.limit, code.limit)
    values = draw(st.lists(st.one_of(halves, edges, between), min_size=1, max_size=40))
    return code, torch.tensor(values, dtype=torch.float32)


def activations(tokens: int = 20, n: int = 192) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(tokens, n, generator=generator) * torch.rand(n, generator=generator) * 3


def population(code: Code, x: Tensor) -> Population:
    return Population(x.abs().amax(0), code)


def along(values: tuple[float, ...], like: Tensor) -> Tensor:
    return torch.tensor(values, dtype=like.dtype).view(-1, *[1] * (like.ndim - 1))


@pytest.mark.parametrize(
    ("code", "y", "fired"),
    [
        (FEW, 90.0, [1, 0, -1, 0, -1, 0, 1, 0]),
        (FEW, 80.0, [0, 1, 0, 1, 0, 0, 0, 0]),
        (FEW, -0.75, [0, 0, 0, 0, 0, 0, 0, -1]),
        (Code("rate", 4), 2.0, [0, 1, 1, 0]),
        (Code("rate", 4), -4.0, [-1, -1, -1, -1]),
    ],
)
def test_neuron_fires_as_by_hand(code: Code, y: float, fired: list[int]) -> None:
    assert spikes(torch.tensor([y]), code)[:, 0].tolist() == fired


@settings(deadline=None)
@given(coded())
def test_spikes_sum_to_the_rounded_value_ties_included(case: tuple[Code, Tensor]) -> None:
    code, y = case
    fired = spikes(y, code)
    assert fired.dtype == torch.int8 and fired.abs().max() <= 1
    assert torch.equal((fired * along(code.weights, fired.float())).sum(0), y.round())


@pytest.mark.long
@settings(deadline=None)
@given(coded())
def test_membrane_is_what_flowed_in_less_what_the_spikes_took(case: tuple[Code, Tensor]) -> None:
    code, y = case
    fired, potential = spikes(y, code), membrane(y, code).double()
    inflow = y.double() if code.name == "rate" else torch.zeros_like(y, dtype=torch.float64)
    before = torch.zeros_like(inflow) if code.name == "rate" else y.double()
    for step, threshold in enumerate(code.thresholds):
        before = before + inflow - threshold * fired[step]
        assert torch.allclose(before, potential[step], atol=1e-4 * code.limit)


@settings(deadline=None)
@given(coded())
def test_membrane_ends_within_half_a_step(case: tuple[Code, Tensor]) -> None:
    code, y = case
    assert membrane(y, code)[-1].abs().max() <= code.thresholds[-1] / 2


@pytest.mark.parametrize("code", [FEW, RATE])
def test_value_is_spikes_and_rest(code: Code) -> None:
    x = activations()
    neurons = population(code, x)
    y, unit = neurons.scaled(x)
    delta = unit[:, None] * neurons.root_scale
    carried = (spikes(y, code) * along(code.weights, y[None])).sum(0) * delta
    times = code.steps if code.name == "rate" else 1
    rest = membrane(y, code)[-1] / times * delta
    assert (x - carried - rest).abs().max() <= 1e-5
    assert ((x - carried).abs() <= delta * 0.500001).all()


@pytest.mark.parametrize("code", [FEW, RATE])
def test_population_lets_out_exactly_what_its_spikes_carry(code: Code) -> None:
    x = activations()
    neurons = population(code, x)
    y, unit = neurons.scaled(x)
    assert torch.equal(
        neurons(x), (spikes(y, code) * along(code.weights, y[None])).sum(0) * (unit[:, None] * neurons.root_scale)
    )


def test_token_is_coded_alike_alone_and_among_others() -> None:
    x = activations()
    neurons = population(FEW, x)
    assert torch.equal(neurons(x), torch.stack([neurons(token) for token in x]))
    assert torch.equal(neurons.scaled(x)[0], torch.stack([neurons.scaled(token)[0] for token in x]))


@pytest.mark.parametrize(("code", "limit"), [(FEW, 4 / 3 * 128), (RATE, 32.0)])
def test_step_grows_with_the_token_and_with_the_root_of_the_channel(code: Code, limit: float) -> None:
    x = activations()
    neurons = population(code, x)
    y, unit = neurons.scaled(x)
    assert torch.allclose(y.abs().amax(-1), torch.tensor(limit))
    assert torch.allclose(x / y, unit[:, None] * x.abs().amax(0).sqrt())


@pytest.mark.parametrize("code", [FEW, RATE])
def test_spike_products_of_the_steps_add_up_to_the_product_of_the_value(code: Code) -> None:
    x = activations()
    neurons = population(code, x)
    weight = torch.randn(48, x.shape[1], generator=torch.Generator().manual_seed(1)).double()
    y, unit = neurons.scaled(x)
    delta = (unit[:, None] * neurons.root_scale).double()
    steps = [w * (fired * delta) @ weight.T for w, fired in zip(code.weights, spikes(y, code), strict=True)]
    assert torch.allclose(sum(steps), neurons(x).double() @ weight.T, atol=1e-5)


@pytest.mark.parametrize(
    "codes",
    [[Code("few-spike", steps) for steps in range(4, 11)], [Code("rate", steps) for steps in (8, 16, 32, 64, 128)]],
    ids=["one step more", "twice the steps"],
)
def test_error_halves(codes: list[Code]) -> None:
    x = activations(100)
    errors = [float((population(code, x)(x) - x).abs().mean()) for code in codes]
    assert all(0.46 < after / before < 0.54 for before, after in pairwise(errors))


def test_silent_token_stays_silent() -> None:
    neurons = Population(torch.ones(5), FEW)
    assert torch.equal(neurons(torch.zeros(2, 5)), torch.zeros(2, 5))
    assert not spikes(neurons.scaled(torch.zeros(2, 5))[0], FEW).any()


def test_quiet_channel_is_not_drowned_by_a_loud_one() -> None:
    x = torch.tensor([[100.0, 0.25]])
    assert population(FEW, x)(x)[0, 1] > 0.2
    assert Population(torch.ones(2), FEW)(x)[0, 1] == 0


@pytest.mark.parametrize(("name", "steps"), [("few-spike", 0), ("few-spike", 17), ("rate", 256), ("poisson", 8)])
def test_code_that_there_is_not_is_refused(name: str, steps: int) -> None:
    with pytest.raises(ValueError, match=r"code"):
        Code(name, steps)
