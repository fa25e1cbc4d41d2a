"""Turns a trained language model into a spiking one in place: every linear layer is driven by spikes alone.

The result is a layer-synchronous converted network: softmax, norms, SiLU, the residual stream and the thresholds stay
analogue, and the membranes begin anew with each token. On a processor it saves neither energy nor time. The weights
stay as they are, under their names, and ``generate`` works as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from core.snn import attention as spiking
from core.snn.neurons import Code, Population
from core.snn.populations import HEAD, LAYER_KINDS, name_of, sizes

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")


def is_convertible(config: Any) -> str:
    """Return why a model of this transformers configuration cannot be converted, or nothing."""
    family = config.model_type
    if family in FAMILIES:
        return ""
    return f"its type is {family}, and only models of the types {', '.join(FAMILIES)} can be made to spike"


def convert(model: Any, maxima: Mapping[str, Tensor], code: Code) -> None:
    """Put a population before every linear layer of a loaded transformers model, in place.

    Shapes: ``maxima`` as of ``calibration.calibrate``: for each population ``[n]``, above zero.
    Raises: ``ValueError`` for a model that cannot be converted or already is, and for maxima of another model.
    """
    expected = sizes(model.config)
    if {name: (n,) for name, n in expected.items()} != {name: tuple(c.shape) for name, c in maxima.items()}:
        raise ValueError("these channel maxima belong to another model")
    attach(model, {name: Population(maxima[name], code).to(model.device) for name in expected})


def populations(model: Any) -> dict[str, Population]:
    """Return the populations of a converted model by name, in order; nothing for one that is not converted."""
    base = model.base_model
    if not hasattr(base, "populations"):
        return {}
    found = {
        name_of(index, kind): layer.populations[kind] for index, layer in enumerate(base.layers) for kind in LAYER_KINDS
    }
    return {**found, HEAD: base.populations[HEAD]}


def attach(model: Any, modules: Mapping[str, nn.Module]) -> Callable[[], None]:
    """Send what enters each linear layer through the module of its name; return what takes the modules out again.

    Raises: ``ValueError`` for a model that has modules already, or cannot have any.
    """
    base = model.base_model
    reason = is_convertible(model.config) or ("it already spikes" if hasattr(base, "populations") else "")
    if reason:
        raise ValueError(f"the model cannot be converted: {reason}")
    before = model.config._attn_implementation
    base.populations = nn.ModuleDict({HEAD: modules[HEAD]})
    handles = [base.norm.register_forward_hook(_after(modules[HEAD]))]
    for index, layer in enumerate(base.layers):
        own = nn.ModuleDict({kind: modules[name_of(index, kind)] for kind in LAYER_KINDS})
        layer.populations = layer.self_attn.populations = own
        handles += [
            layer.input_layernorm.register_forward_hook(_after(own["attention_input"])),
            layer.self_attn.register_forward_pre_hook(_encode_cached, with_kwargs=True),
            layer.self_attn.o_proj.register_forward_pre_hook(_before(own["attention_output"])),
            layer.post_attention_layernorm.register_forward_hook(_after(own["mlp_input"])),
            layer.mlp.down_proj.register_forward_pre_hook(_before(own["mlp_product"])),
        ]
    model.set_attn_implementation(spiking.NAME)

    def detach() -> None:
        for handle in handles:
            handle.remove()
        for owner in (base, *base.layers, *(layer.self_attn for layer in base.layers)):
            del owner.populations
        model.set_attn_implementation(before)

    return detach


def _after(population: nn.Module) -> Callable[..., Any]:
    return lambda module, args, output: population(output)


def _before(population: nn.Module) -> Callable[..., Any]:
    return lambda module, args: (population(args[0]),)


def _encode_cached(module: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return args, {**kwargs, "cache": spiking.SpikingCache(kwargs.get("cache"), module.populations)}
