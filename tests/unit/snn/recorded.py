"""Recordings of made-up activations, encoded here step by step, without the program's neurons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.snn.packing import pack_signs
from core.snn.recording import NeuronRecording, PopulationRecord, Tokens

Signs = npt.NDArray[np.int8]


def recording(
    populations: dict[str, PopulationRecord], roles: Sequence[str] = (), weights: str = "made", code: str = "few-spike"
) -> NeuronRecording:
    """Return populations of equal length as one recording; ``roles`` of none given: all ``answer``."""
    first = next(iter(populations.values()))
    roles = tuple(roles) or ("answer",) * first.tokens
    texts = tuple(f"token{place}" for place in range(first.tokens))
    meta = {"model": f"model {weights}", "weights_sha256": weights, "code": code, "steps": first.steps}
    return NeuronRecording(meta, Tokens(np.arange(first.tokens, dtype=np.int32), texts, roles), populations)


def population(signs: Signs, kind: str = "query", layer: int = 0, code: str = "few-spike") -> PopulationRecord:
    """Return spikes ``(K, S, n)`` as a population without membrane potentials."""
    steps, tokens, n = signs.shape
    on, off = pack_signs(signs)
    return PopulationRecord(
        n=n,
        kind=kind,
        layer=layer,
        spikes_pos=on,
        spikes_neg=off,
        counts=np.abs(signs).sum(axis=0).astype(np.uint8),
        delta=np.ones(tokens, np.float32),
        scale=np.ones(n, np.float32),
        trace_idx=np.empty(0, np.int32),
        membrane_potential=np.empty((steps, tokens, 0), np.float32),
        code=code,
    )


def encoded(
    values: npt.NDArray[np.float64], steps: int = 8, kind: str = "query", layer: int = 0
) -> tuple[PopulationRecord, Signs]:
    """Return activations ``(S, n)`` in the few-spike code, the first two neurons traced, and their spikes."""
    tokens, n = values.shape
    single = values.astype(np.float32)
    delta = np.abs(single).max(axis=1) / np.float32(4 / 3 * 2 ** (steps - 1))
    left = single / delta[:, None]
    signs = np.zeros((steps, tokens, n), np.int8)
    potentials = np.zeros((steps, tokens, n), np.float32)
    for step in range(steps):
        threshold = np.float32(2 ** (steps - 1 - step))
        over = np.abs(left) > 0.5 if threshold == 1 else np.abs(left) >= 2 / 3 * threshold
        signs[step] = np.sign(left) * over
        left = left - threshold * signs[step]
        potentials[step] = left * delta[:, None]
    made = population(signs, kind, layer)
    return (
        PopulationRecord(
            n=n,
            kind=kind,
            layer=layer,
            spikes_pos=made.spikes_pos,
            spikes_neg=made.spikes_neg,
            counts=made.counts,
            delta=delta,
            scale=np.ones(n, np.float32),
            trace_idx=np.arange(2, dtype=np.int32),
            membrane_potential=potentials[:, :, :2],
            current=single[:, :2],
            code="few-spike",
        ),
        signs,
    )
