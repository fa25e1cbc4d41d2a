"""Makes a recording of what was read from a file, where every part of it fits every other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.snn.packing import pack_signs, unpack
from core.snn.populations import KINDS, is_place
from core.snn.reading import refused
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
MOST_NAME_CHARS = 100
COUNTS = ("left_out_tokens", "left_out_membranes", "batch_steps")
FOREIGN_TRACES = 64
"""Neurons of a foreign file whose potential is kept, evenly chosen."""


def recording_of(tree: Any) -> NeuronRecording:
    """Return the recording that a file's dictionary describes. Raises: ``UnreadableRecording``."""
    if isinstance(tree, dict) and _is_one_of(tree.get("format"), (FORMAT,)):
        return _own(tree)
    if isinstance(tree, dict) and "format" not in tree and {"spikes", "membrane_potential"} <= tree.keys():
        return _foreign(tree["spikes"], tree["membrane_potential"])
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
    populations = {_name(name): _population(layers, name, len(tokens), meta["code"]) for name in layers}
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
    meta = dict.fromkeys(texts, "") | {_name(name): value for name, value in given.items()}
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


def _name(text: str) -> str:
    if not text.isprintable() or not 0 < len(text) <= MOST_NAME_CHARS:
        raise refused("a name in it is none, or too long")
    return text


def _foreign(spikes: Any, potential: Any) -> NeuronRecording:
    for array in (spikes, potential):
        if not isinstance(array, np.ndarray) or array.ndim not in (2, 3) or not array.size:
            raise refused("spikes and membrane_potential are not (time, neurons) or (batch, time, neurons)")
        if array.dtype.kind not in "bif" or (array.dtype.kind == "i" and array.dtype.itemsize > 1):
            raise refused("spikes and membrane_potential are neither int8, bool nor float")
    if spikes.shape != potential.shape:
        raise refused("spikes and membrane_potential have different shapes")
    *batch, time, n = spikes.shape
    count = int(np.prod(batch, dtype=int)) * time
    if count > MOST_TOKENS:
        raise refused(f"it has more than {MOST_TOKENS:,} steps")
    if n > MOST_NEURONS:
        raise refused(f"it has more than {MOST_NEURONS:,} neurons")
    if not ((spikes == 0) | (spikes == 1) | (spikes == -1)).all():
        raise refused("spikes holds other values than -1, 0 and 1")
    # Neither holds for what is no number.
    largest = float(np.finfo(np.float32).max)
    if not (float(potential.min()) >= -largest and float(potential.max()) <= largest):
        raise refused("membrane_potential holds values that are no numbers")
    signs = spikes.astype(np.int8).reshape(1, count, n)
    positive, negative = pack_signs(signs)
    step = -(-n // FOREIGN_TRACES)
    traced = np.arange(0, n, step, dtype=np.int32)
    record = PopulationRecord(
        n=n,
        kind=FOREIGN,
        layer=-1,
        spikes_pos=positive,
        spikes_neg=negative,
        counts=np.abs(signs[0]).astype(np.uint8),
        delta=np.ones(count, dtype=np.float32),
        scale=np.ones(n, dtype=np.float32),
        trace_idx=traced,
        membrane_potential=potential.reshape(count, n)[:, ::step].astype(np.float32)[None],
    )
    steps = range(1, time + 1)
    names = [f"{part}.{each}" for part in range(1, batch[0] + 1) for each in steps] if batch else map(str, steps)
    cut = f"The membrane potential of {len(traced):,} of {n:,} neurons is shown." if step > 1 else ""
    said = {"scope": "spikes and membrane_potential of another tool", "truncated": cut}
    batches = {"batch_steps": time} if batch else {}
    meta = _meta(said | batches | {"left_out_membranes": n - len(traced)}) | {"steps": 1}
    return NeuronRecording(
        meta, Tokens(np.arange(count, dtype=np.int32), tuple(names), ("",) * count), {FOREIGN: record}
    )
