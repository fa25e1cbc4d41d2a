"""Where the populations of a converted model stand, how they are named, and how many neurons each has.

Within a layer in the order of ``LAYER_KINDS``, as ``layers.3.query``; after the last layer ``head_input``.
"""

from __future__ import annotations

from typing import Any

LAYER_KINDS = (
    "attention_input",
    "query",
    "key",
    "value",
    "attention_output",
    "mlp_input",
    "mlp_product",
)
HEAD = "head_input"
KINDS = (*LAYER_KINDS, HEAD)


def name_of(layer: int, kind: str) -> str:
    """Return the name of a population within a layer."""
    return f"layers.{layer}.{kind}"


def is_place(name: str, layer: int, kind: str) -> bool:
    """Whether a population of this layer and kind has this name."""
    if layer < 0:
        return name == kind and kind not in LAYER_KINDS
    return kind in LAYER_KINDS and name == name_of(layer, kind)


def sizes(config: Any) -> dict[str, int]:
    """Return how many neurons each population of a model with this transformers configuration has, in order."""
    text = config.get_text_config()
    head = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    queries, keys = text.num_attention_heads * head, text.num_key_value_heads * head
    counts = (text.hidden_size, queries, keys, keys, queries, text.hidden_size, text.intermediate_size)
    found = {
        name_of(layer, kind): count
        for layer in range(text.num_hidden_layers)
        for kind, count in zip(LAYER_KINDS, counts, strict=True)
    }
    return {**found, HEAD: text.hidden_size}
