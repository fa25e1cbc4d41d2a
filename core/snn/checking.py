"""Makes a recording of what was read from a file, where every part of it fits every other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.snn import foreign
from core.snn.packing import unpack
from core.snn.populations import KINDS, is_place
from core.snn.reading import checked_name, refused
from core.snn.records import FOREIGN, NeuronRecording, PopulationRecord, Tokens

FORMAT = "evorag-neurons"
VERSION = 1
CODES = ("few-spike", "rate")
ARRAYS: Mapping[str, str] = {
    "spikes_pos": "uint8",
    "spikes_neg": "uint8",
    "counts": "uint8",
    "delta": "float32",
    "scale": "float32",
    "trace_idx": "int32",
    "membrane_potential": "float32",
    "current": "float32",
    "neuron_idx": "int32",
}
OPTIONAL = ("current", "neuron_idx")
MOST_STEPS = 255
MOST_NEURONS = 1 << 20
"""In one population."""
BLOCK = 1 << 22
"""Bits that are unpacked at once."""
MOST_TOKENS = 200_000
MOST_TEXT_CHARS = 2_000
MOST_TEXTS_CHARS = 4_000_000
"""Of all tokens together: a file may name one long text many times."""
COUNTS = ("left_out_tokens", "left_out_membranes", "absent_membranes", "batch_steps")


def recording_of(tree: Any) -> NeuronRecording:
    """Return the recording that a file's dictionary describes. Raises: ``UnreadableRecording``."""
    if isinstance(tree, dict) and _is_one_of(tree.get("format"), (FORMAT,)):
        return _own(tree)
    if foreign.is_foreign(tree):
        return foreign.recording_of(tree)
    raise refused("it holds no spikes")


def _own(tree: Mapping[str, Any]) -> NeuronRecording:
    if not _is_one_of(tree.get("version"), (VERSION,)):
        raise refused("another version of EvoRAG wrote it")
    meta, layers = _meta(_dictionary(tree, "meta")), _dictionary(tree, "layers")
    tokens = _tokens(_dictionary(tree, "tokens"))
    if not layers or not len(tokens):
        raise refused("it holds no spikes")
    if meta.get("batch_steps") and len(tokens) % meta["batch_steps"]:
        raise refused("its parts do not fit each other")
    populations = {checked_name(name): _population(layers, name, len(tokens), meta["code"]) for name in layers}
    if len({population.steps for population in populations.values()}) > 1:
        raise refused("its parts do not fit each other")
    return NeuronRecording(meta | {"steps": next(iter(populations.values())).steps}, tokens, populations)


def _meta(given: Mapping[str, Any]) -> dict[str, Any]:
    texts = ("model", "weights_sha256", "code", "thresholds", "torch", "created_at", "scope", "truncated")
    for name, value in given.items():
        is_text = isinstance(value, str) and _text(value) == value
        is_number = isinstance(value, int | float) and abs(value) < 1 << 53
        if not (is_text or is_number or value is None) or (name in texts and not is_text):
            raise refused("what it says about itself is not plain")
    if not all(type(given.get(name, 0)) is int and given.get(name, 0) >= 0 for name in COUNTS):
        raise refused("what it says about itself is not plain")
    meta = dict.fromkeys(texts, "") | {checked_name(name): value for name, value in given.items()}
    if meta["code"] not in ("", *CODES):
        raise refused("its code is not known")
    return meta


def _tokens(given: Mapping[str, Any]) -> Tokens:
    ids, texts, roles = given.get("ids"), given.get("text"), given.get("role")
    if not isinstance(ids, np.ndarray) or ids.dtype != np.int32 or ids.ndim != 1 or len(ids) > MOST_TOKENS:
        raise refused("its tokens are not whole")
    if not isinstance(texts, list) or not isinstance(roles, list) or not len(texts) == len(roles) == len(ids):
        raise refused("its tokens are not whole")
    if not all(_is_one_of(role, ("prompt", "answer", "")) for role in roles):
        raise refused("its tokens are not whole")
    if not all(isinstance(text, str) for text in texts) or sum(map(len, texts)) > MOST_TEXTS_CHARS:
        raise refused("its tokens are not whole")
    return Tokens(_own_array(ids), tuple(map(_text, texts)), tuple(roles))


def _population(layers: Mapping[str, Any], name: str, tokens: int, code: str) -> PopulationRecord:
    given = _dictionary(layers, name)
    n, kind, layer = given.get("n"), given.get("kind"), given.get("layer")
    if (
        not _is_one_of(kind, (*KINDS, FOREIGN))
        or type(n) is not int
        or not 1 <= n <= MOST_NEURONS
        or type(layer) is not int
    ):
        raise refused(f"the population {name} is not whole")
    arrays = {each: _array(given, each, name) for each in ARRAYS}
    record = PopulationRecord(n=n, kind=kind, layer=layer, code=code, **arrays)  # type: ignore[arg-type]
    is_placed = -1 <= layer < MOST_TOKENS and is_place(name, layer, record.kind)
    with np.errstate(all="ignore"):
        if not is_placed or not all(_faults(record, tokens)):
            raise refused(f"the parts of the population {name} do not fit each other")
    return record


def _faults(record: PopulationRecord, tokens: int) -> Iterator[bool]:
    """Yield False for whatever does not fit; later checks rest on those before."""
    n = record.n
    yield record.spikes_pos.ndim == 3
    steps = record.steps
    width = -(-n // 8)
    yield 1 <= steps <= MOST_STEPS
    yield record.trace_idx.ndim == 1
    m = len(record.trace_idx)
    yield record.spikes_pos.shape == record.spikes_neg.shape == (steps, tokens, width)
    yield record.counts.shape == (tokens, n)
    yield record.delta.shape == (tokens,) and record.scale.shape == (n,)
    yield record.membrane_potential.shape == (steps, tokens, m)
    yield record.current is None or record.current.shape == (tokens, m)
    yield not (record.spikes_pos & record.spikes_neg).any()
    if n % 8:
        last = record.spikes_pos[..., -1] | record.spikes_neg[..., -1]
        yield not unpack(last[..., None], 8)[..., n % 8 :].any()
    yield _rises(record.trace_idx, n)
    yield record.neuron_idx is None or (record.neuron_idx.shape == (n,) and _rises(record.neuron_idx, 1 << 31))
    floats = (record.delta, record.scale, record.membrane_potential, record.current)
    yield all(each is None or np.isfinite(each).all() for each in floats)
    yield bool((record.delta > 0).all() and (record.scale > 0).all())
    thresholds, rebuilt = record.thresholds(), record.rebuilt_potential()
    yield thresholds is None or bool(np.isfinite(thresholds).all())
    yield rebuilt is None or np.array_equal(rebuilt, record.membrane_potential)
    rows = max(1, BLOCK // (steps * n))
    for part in (slice(start, start + rows) for start in range(0, tokens, rows)):
        fired = unpack(record.spikes_pos[:, part] | record.spikes_neg[:, part], n)
        yield np.array_equal(np.add.reduce(fired, axis=0, dtype=np.uint8), record.counts[part])


def _rises(indices: npt.NDArray[np.int32], below: int) -> bool:
    if not len(indices):
        return True
    return bool(indices[0] >= 0 and indices[-1] < below and (np.diff(indices) > 0).all())


def _array(given: Mapping[str, Any], name: str, population: str) -> npt.NDArray[Any] | None:
    array = given.get(name)
    if array is None and name in OPTIONAL:
        return None
    if not isinstance(array, np.ndarray) or array.dtype != ARRAYS[name]:
        raise refused(f"the population {population} is not whole")
    return _own_array(array)


def _own_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def _is_one_of(value: Any, known: Collection[str | int]) -> bool:
    # A tensor is equal to nothing: it answers value by value.
    return type(value) in (str, int) and value in known


def _dictionary(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = tree.get(name)
    if not isinstance(found, dict):
        raise refused("it is not whole")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_TEXT_CHARS:
        raise refused("a text in it is none, or too long")
    # Half a surrogate pair could neither be kept nor sent.
    return value.encode("utf-8", "replace").decode("utf-8")
