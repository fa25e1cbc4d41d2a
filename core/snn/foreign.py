"""Recordings of other tools: spikes, with or without membrane potentials, of one population or of several.

Three forms are read: ``spikes`` (and ``membrane_potential``) as tensors; both as dictionaries of tensors by population;
and a dictionary of populations, each with ``spikes`` (and ``membrane_potential``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.snn.packing import pack_signs
from core.snn.reading import checked_name, refused
from core.snn.records import FOREIGN, NeuronRecording, PopulationRecord, Tokens

MOST_STEPS = 200_000
MOST_NEURONS = 1 << 20
"""In one population."""
MOST_POPULATIONS = 1_000
TRACES = 64
"""Neurons of a population whose potential is kept, evenly chosen."""
SPIKES, POTENTIAL = "spikes", "membrane_potential"
_RESERVED = "all"
"""What the choice of all populations is called."""


def is_foreign(tree: Any) -> bool:
    """Tell whether a file's dictionary holds spikes as other tools write them."""
    return isinstance(tree, dict) and "format" not in tree and next(_given(tree), None) is not None


def recording_of(tree: Mapping[str, Any]) -> NeuronRecording:
    """Return the recording of another tool's file; a token is a step in time. Raises: ``UnreadableRecording``."""
    shape: tuple[int, ...] = ()
    populations: dict[str, PopulationRecord] = {}
    for name, spikes, potential in _given(tree):
        _check(spikes, potential)
        if shape and spikes.shape[:-1] != shape:
            raise refused("its populations have different numbers of steps")
        if len(populations) == MOST_POPULATIONS:
            raise refused(f"it has more than {MOST_POPULATIONS:,} populations")
        shape = spikes.shape[:-1]
        populations[_name(name)] = _population(_name(name), spikes, potential)
    *batch, time = shape
    steps = range(1, time + 1)
    names = [f"{part}.{each}" for part in range(1, batch[0] + 1) for each in steps] if batch else map(str, steps)
    count = int(np.prod(shape, dtype=int))
    tokens = Tokens(np.arange(count, dtype=np.int32), tuple(names), ("",) * count)
    meta = {**_meta(populations), **({"batch_steps": time} if batch else {}), "steps": 1}
    return NeuronRecording(meta, tokens, populations)


def _given(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, spikes and potential (or None) of each population, as far as they are there."""
    spikes, potential = tree.get(SPIKES), tree.get(POTENTIAL)
    if isinstance(spikes, dict):
        others = potential if isinstance(potential, dict) else {}
        yield from ((name, each, others.get(name)) for name, each in spikes.items())
    elif SPIKES in tree:
        yield FOREIGN, spikes, potential
    else:
        for name, each in tree.items():
            if isinstance(each, dict) and SPIKES in each:
                yield name, each[SPIKES], each.get(POTENTIAL)


def _check(spikes: Any, potential: Any) -> None:
    """Raises: ``UnreadableRecording`` that says what is wrong."""
    for name, array, kinds in ((SPIKES, spikes, "biuf"), (POTENTIAL, potential, "bif")):
        if array is None and name == POTENTIAL:
            continue
        if not isinstance(array, np.ndarray) or array.ndim not in (2, 3) or not array.size:
            raise refused(f"{name} is not (time, neurons) or (batch, time, neurons)")
        if array.dtype.kind not in kinds or (array.dtype.kind in "iu" and array.dtype.itemsize > 1):
            raise refused(f"{name} is neither of bytes, bool nor float")
    if potential is not None and spikes.shape != potential.shape:
        raise refused("spikes and membrane_potential have different shapes")
    if int(np.prod(spikes.shape[:-1], dtype=int)) > MOST_STEPS:
        raise refused(f"it has more than {MOST_STEPS:,} steps")
    if spikes.shape[-1] > MOST_NEURONS:
        raise refused(f"it has more than {MOST_NEURONS:,} neurons")
    is_signed = spikes.dtype.kind in "if"
    if not ((spikes == 0) | (spikes == 1) | ((spikes == -1) if is_signed else False)).all():
        raise refused("spikes holds other values than -1, 0 and 1")
    # Neither holds for what is no number.
    largest = float(np.finfo(np.float32).max)
    if potential is not None and not (float(potential.min()) >= -largest and float(potential.max()) <= largest):
        raise refused("membrane_potential holds values that are no numbers")


def _name(given: str) -> str:
    return f"{checked_name(given)} " if given == _RESERVED else checked_name(given)


def _population(name: str, spikes: npt.NDArray[Any], potential: npt.NDArray[Any] | None) -> PopulationRecord:
    n = spikes.shape[-1]
    signs = spikes.astype(np.int8).reshape(1, -1, n)
    count = signs.shape[1]
    positive, negative = pack_signs(signs)
    step = -(-n // TRACES)
    if potential is None:
        traced, kept = np.empty(0, np.int32), np.empty((1, count, 0), np.float32)
    else:
        traced = np.arange(0, n, step, dtype=np.int32)
        kept = potential.reshape(count, n)[:, ::step].astype(np.float32)[None]
    return PopulationRecord(
        n=n,
        kind=name,
        layer=-1,
        spikes_pos=positive,
        spikes_neg=negative,
        counts=np.abs(signs[0]).astype(np.uint8),
        delta=np.ones(count, dtype=np.float32),
        scale=np.ones(n, dtype=np.float32),
        trace_idx=traced,
        membrane_potential=kept,
    )


def _meta(populations: Mapping[str, PopulationRecord]) -> dict[str, Any]:
    total = sum(each.n for each in populations.values())
    absent = sum(each.n for each in populations.values() if not len(each.trace_idx))
    shown = sum(len(each.trace_idx) for each in populations.values())
    said = []
    if absent:
        said.append(f"The file holds no membrane potential of {absent:,} of {total:,} neurons.")
    if shown < total - absent:
        said.append(f"The membrane potential of {shown:,} of {total - absent:,} neurons is shown.")
    texts = dict.fromkeys(("model", "weights_sha256", "code", "thresholds", "torch", "created_at"), "")
    return {
        **texts,
        "scope": "spikes of another tool" if absent else "spikes and membrane_potential of another tool",
        "truncated": " ".join(said),
        "left_out_membranes": total - absent - shown,
        "absent_membranes": absent,
    }
