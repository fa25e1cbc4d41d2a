"""A converted model is driven by spikes alone, at every linear layer, with and without a cache; and it still speaks."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from core.snn.convert import FAMILIES, attach, convert, is_convertible, populations
from core.snn.neurons import Population, membrane, spikes
from core.snn.populations import HEAD, LAYER_KINDS, sizes
from tests.unit.snn.conftest import Real
from tests.unit.snn.small import FEW, PROMPT, maxima, small

UNSEEN = """The ferry to the island leaves twice a day, at seven in the morning and at four in the afternoon, except
when the wind is too strong. Tickets are sold on board. The crossing takes about fifty minutes, and on clear days
passengers can see the old abbey from far away. Most of the people who live there are farmers or fishermen; in summer
they let rooms to visitors. There is one shop, which opens in the morning only, and a school with eleven children.
Last year the council decided to build a small wind turbine near the harbour, so that the island would no longer
depend on diesel."""


@contextmanager
def listening(model: Any, hear: Callable[[str, Population, Tensor, Tensor], Any]) -> Iterator[None]:
    """Tell of everything that goes through a population; what ``hear`` returns takes the place of what came out."""

    def hook(name: str) -> Callable[..., Any]:
        return lambda population, args, output: hear(name, population, args[0], output)

    handles = [population.register_forward_hook(hook(name)) for name, population in populations(model).items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def spiking(real: Real) -> Iterator[Any]:
    detach = attach(real.model, {name: Population(largest, FEW) for name, largest in real.maxima.items()})
    try:
        yield real.model
    finally:
        detach()


def written(model: Any, tokens: int = 6) -> Tensor:
    with torch.inference_mode():
        return model.generate(PROMPT, max_new_tokens=tokens, do_sample=False)


def converted(family: str = "llama", **more: Any) -> Any:
    model = small(family, **more)
    convert(model, maxima(model), FEW)
    return model


def perplexity(real: Real, text: str = UNSEEN) -> float:
    ids = real.tokenizer(text.replace("\n", " "), return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        return math.exp(real.model(input_ids=ids, labels=ids, use_cache=False).loss)


def test_populations_are_named_in_order() -> None:
    found = populations(converted())
    kinds = [f"layers.{layer}.{kind}" for layer in range(2) for kind in LAYER_KINDS]
    assert list(found) == [*kinds, HEAD]
    assert [population.n for population in found.values()] == [*[32, 32, 16, 16, 32, 32, 48] * 2, 32]
    assert not populations(small())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_linear_layer_sees_what_a_population_let_out(family: str) -> None:
    model = converted(family)
    let_out: set[int] = set()
    fed: dict[str, bool] = {}

    def hear(name: str, population: Population, x: Tensor, output: Tensor) -> None:
        kept.append(output)
        let_out.add(output.data_ptr())

    def feed(name: str) -> Callable[..., None]:
        return lambda module, args: fed.__setitem__(name, args[0].data_ptr() in let_out)

    kept: list[Tensor] = []
    linear = {name: module for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    for name, module in linear.items():
        module.register_forward_pre_hook(feed(name))
    with listening(model, hear), torch.inference_mode():
        model(PROMPT)
    assert len(linear) == 2 * 7 + 1
    assert fed == dict.fromkeys(linear, True)


@pytest.mark.parametrize("kind", [*LAYER_KINDS, HEAD])
def test_what_each_population_lets_out_is_used(kind: str) -> None:
    model = converted()
    with torch.inference_mode():
        before = model(PROMPT).logits
        with listening(model, lambda name, population, x, output: output * 0 if name.endswith(kind) else None):
            assert not torch.equal(model(PROMPT).logits, before)


@pytest.mark.parametrize("family", FAMILIES)
def test_cache_keeps_spikes_and_each_token_is_encoded_once(family: str) -> None:
    model = converted(family)
    heard: dict[str, list[Tensor]] = defaultdict(list)
    with listening(model, lambda name, population, x, output: heard[name].append(output.flatten(0, 1))):
        cache = model.generate(PROMPT, max_new_tokens=6, do_sample=False, return_dict_in_generate=True).cache
    assert {name: len(torch.cat(outputs)) for name, outputs in heard.items()} == dict.fromkeys(
        sizes(model.config), PROMPT.shape[1] + 5
    )
    for index, layer in enumerate(cache.layers):
        for kind, kept in (("key", layer.keys), ("value", layer.values)):
            assert torch.equal(kept.transpose(1, 2).flatten(2)[0], torch.cat(heard[f"layers.{index}.{kind}"]))


@pytest.mark.parametrize(("family", "more"), [*((each, {}) for each in FAMILIES), ("mistral", {"sliding_window": 4})])
def test_model_with_and_without_a_cache_says_the_same(family: str, more: dict[str, Any]) -> None:
    model = converted(family, **more)
    with torch.inference_mode():
        cached = model(PROMPT, use_cache=True)
        assert torch.equal(cached.logits, model(PROMPT, use_cache=False).logits)
        step = model(PROMPT[:, -1:], cache=cached.cache).logits
        whole = model(torch.cat([PROMPT, PROMPT[:, -1:]], dim=1), use_cache=False).logits[:, -1:]
    assert torch.allclose(step, whole, atol=1e-3)


def test_query_key_and_value_share_a_threshold_over_all_heads() -> None:
    seen: Counter[tuple[str, int]] = Counter()
    model = converted()
    with listening(model, lambda name, population, x, output: seen.update([(name, x.shape[-1])])):
        written(model, 1)
    assert {n for (name, n) in seen if name.endswith("query")} == {32}
    assert {n for (name, n) in seen if name.endswith(("key", "value"))} == {16}


def test_weights_keep_their_names_and_detaching_undoes_everything() -> None:
    model = small()
    before, names = model(PROMPT).logits, list(model.state_dict())
    detach = attach(model, {name: Population(largest, FEW) for name, largest in maxima(model).items()})
    assert list(model.state_dict()) == names
    assert not torch.equal(model(PROMPT).logits, before)
    detach()
    assert torch.equal(model(PROMPT).logits, before) and not populations(model)


def test_what_cannot_be_converted_is_refused_with_the_reason() -> None:
    import transformers

    assert not is_convertible(small().config)
    assert "gpt2" in is_convertible(transformers.GPT2Config())
    assert "llava" in is_convertible(transformers.LlavaConfig(text_config=small().config))
    model = converted()
    with pytest.raises(ValueError, match="already"):
        convert(model, maxima(model), FEW)
    with pytest.raises(ValueError, match="another model"):
        convert(small(), maxima(small(intermediate_size=40)), FEW)


@pytest.mark.long
def test_real_model_is_as_good_with_spikes_and_nothing_when_they_go_to_other_neurons(smollm2: Real) -> None:
    plain = perplexity(smollm2)
    with spiking(smollm2) as model:
        assert perplexity(smollm2) == pytest.approx(plain, rel=0.03)
        orders = {name: torch.randperm(n) for name, n in sizes(model.config).items()}
        with listening(model, lambda name, population, x, output: output[..., orders[name]]):
            assert perplexity(smollm2) > 100 * plain


@pytest.mark.long
def test_spikes_of_the_real_model_account_for_every_activation(smollm2: Real) -> None:
    ids = smollm2.tokenizer("The office opens at nine. 事務所は九時に開きます。", return_tensors="pt")["input_ids"]
    seen: set[str] = set()

    def account(name: str, population: Population, x: Tensor, output: Tensor) -> None:
        seen.add(name)
        y, unit = population.scaled(x)
        delta = unit[..., None] * population.root_scale
        fired, potential = spikes(y, FEW), membrane(y, FEW)[-1]
        carried = sum(weight * spike for weight, spike in zip(FEW.weights, fired, strict=True)) * delta
        assert torch.equal(carried, output)
        assert fired.abs().max() <= 1 and potential.abs().max() <= 0.5
        assert ((x - carried - delta * potential).abs() <= 1e-5 * x.abs().clamp_min(1)).all()

    with spiking(smollm2) as model, listening(model, account), torch.inference_mode():
        model(ids)
    assert len(seen) == 211
