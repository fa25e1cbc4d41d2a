"""The file of a recording: what is written is read again, and what is no recording does nothing."""

from __future__ import annotations

import dataclasses
import io
import pickle
import resource
import shutil
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.errors import UnreadableRecording
from core.snn.packing import pack_signs, unpack_signs
from core.snn.recording import NeuronRecording, PopulationRecord, load, save
from core.snn.records import potentials
from tests.unit.snn import recorded
from tests.unit.snn.recorded import recording

LIMIT = 1 << 24


def traced(n: int = 13, tokens: int = 5, steps: int = 8, seed: int = 1) -> PopulationRecord:
    """A population of any spikes with whatever potentials follow from them."""
    made = np.random.default_rng(seed)
    signs = made.integers(-1, 2, (steps, tokens, n)).astype(np.int8)
    on, off = pack_signs(signs)
    delta, scale = (made.random(size).astype(np.float32) + 0.1 for size in (tokens, n))
    chosen = np.array([0, 4, n - 1], np.int32)
    current = made.normal(size=(tokens, 3)).astype(np.float32)
    potential = potentials(current, signs[:, :, chosen].astype(np.float32), delta, scale[chosen], "few-spike")
    counts = np.abs(signs).sum(axis=0).astype(np.uint8)
    numbers = np.arange(n, dtype=np.int32) * 2
    return PopulationRecord(
        n, "query", 0, on, off, counts, delta, scale, chosen, potential, current, numbers, "few-spike"
    )


def sample() -> NeuronRecording:
    others = {"layers.0.key": dataclasses.replace(traced(16, seed=2), kind="key", current=None, neuron_idx=None)}
    return recording({"layers.0.query": traced(), **others}, roles=("prompt",) * 2 + ("answer",) * 3)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    save(sample(), tmp_path / "kept.pt")
    return tmp_path / "kept.pt"


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.int8, hnp.array_shapes(min_dims=1, max_dims=3, max_side=19), elements=st.integers(-1, 1)))
def test_packed_signs_are_unpacked_exactly(signs: Any) -> None:
    n = signs.shape[-1]
    positive, negative = pack_signs(signs)
    assert positive.shape[-1] == -(-n // 8) and np.array_equal(unpack_signs(positive, negative, n), signs)


def test_first_neuron_is_the_lowest_bit() -> None:
    positive, negative = pack_signs(np.array([1, -1, 0, 0, 0, 0, 0, 0, 1], np.int8))
    assert positive.tolist() == [1, 1] and negative.tolist() == [2, 0]


def test_what_is_saved_is_loaded(kept: Path) -> None:
    before, after = sample(), load(kept, LIMIT)
    assert after.meta.items() >= before.meta.items() and after.tokens.texts == before.tokens.texts
    assert after.tokens.roles == before.tokens.roles and np.array_equal(after.tokens.ids, before.tokens.ids)
    assert (after.steps, after.neurons, list(after.populations)) == (8, 29, ["layers.0.query", "layers.0.key"])
    for name, population in before.populations.items():
        for field in dataclasses.fields(population):
            found, was = getattr(after.populations[name], field.name), getattr(population, field.name)
            assert np.array_equal(found, was) and type(found) is type(was), field.name
            assert not isinstance(found, np.ndarray) or not found.flags.writeable


def test_recording_without_membranes_is_read(tmp_path: Path) -> None:
    save(recording({"layers.0.query": recorded.population(np.ones((8, 5, 3), np.int8))}), tmp_path / "bare.pt")
    assert load(tmp_path / "bare.pt", LIMIT).populations["layers.0.query"].membrane_potential.shape == (8, 5, 0)


def test_file_is_plain_for_torch_and_means_the_same_there(kept: Path) -> None:
    plain = torch.load(kept, weights_only=True)
    assert (plain["format"], plain["version"]) == ("evorag-neurons", 1)
    assert plain["time"] == {"steps_per_token": 8, "tokens": 5}
    for name, population in load(kept, LIMIT).populations.items():
        for field, tensor in plain["layers"][name].items():
            found = getattr(population, field)
            assert found == tensor if field in ("n", "kind", "layer") else np.array_equal(found, tensor.numpy()), field


def test_tools_that_know_two_keys_find_traced_neurons_in_time(kept: Path) -> None:
    plain, query = torch.load(kept, weights_only=True), load(kept, LIMIT).populations["layers.0.query"]
    assert plain["spikes"].shape == plain["membrane_potential"].shape == (5 * 8, 6)
    assert plain["spikes"].dtype == torch.int8 and plain["membrane_potential"].dtype == torch.float32
    # Token 3, step 2, and the second neuron that is traced.
    assert plain["spikes"][3 * 8 + 2, 1] == query.spikes()[2, 3, 4]
    assert plain["membrane_potential"][3 * 8 + 2, 1] == query.membrane_potential[2, 3, 1]


def test_writing_that_fails_leaves_the_file_as_it_was(kept: Path) -> None:
    before = kept.read_bytes()
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        save(NeuronRecording({"model": lambda: None}, sample().tokens, sample().populations), kept)
    assert kept.read_bytes() == before and [path.name for path in kept.parent.iterdir()] == [kept.name]


# ---- files of other tools


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.uint8, torch.bool, torch.float16, torch.bfloat16, torch.float32, torch.float64]
)
@pytest.mark.parametrize("shape", [(6, 10), (3, 2, 10)], ids=["time", "batch"])
def test_file_with_two_tensors_is_one_population(tmp_path: Path, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    spikes = torch.rand(shape, generator=torch.manual_seed(1)) > 0.6
    potential = torch.randn(shape)
    torch.save({"spikes": spikes.to(dtype), "membrane_potential": potential}, tmp_path / "two.pt")
    found = load(tmp_path / "two.pt", LIMIT)
    (population,) = found.populations.values()
    assert np.array_equal(population.spikes()[0], spikes.reshape(6, 10).numpy()) and population.steps == 1
    assert np.array_equal(population.membrane_potential[0], potential.reshape(6, 10).numpy())
    assert len(found.tokens) == 6 and found.tokens.texts[3] == ("4" if len(shape) == 2 else "2.2")
    assert found.meta.get("batch_steps") == (None if len(shape) == 2 else 2)
    assert population.thresholds() is None and population.counts.sum() == spikes.sum()


def test_inhibition_views_and_many_neurons_of_other_tools_are_read(tmp_path: Path) -> None:
    spikes = torch.randint(-1, 2, (200, 9), dtype=torch.int8)
    potential = torch.randn(9, 400).T[::2]
    torch.save({"spikes": spikes.T.contiguous().T, "membrane_potential": potential}, tmp_path / "two.pt")
    (population,) = load(tmp_path / "two.pt", LIMIT).populations.values()
    assert np.array_equal(population.spikes()[0], spikes) and np.array_equal(
        population.membrane_potential[0], potential
    )
    torch.save({"spikes": spikes.T, "membrane_potential": potential.T}, tmp_path / "wide.pt")
    wide = load(tmp_path / "wide.pt", LIMIT)
    (population,) = wide.populations.values()
    assert wide.meta["truncated"] == "The membrane potential of 50 of 200 neurons is shown."
    assert wide.left_out == {
        "currents": False, "thinned": 1, "tokens": 0, "membranes": 150, "absent": 0, "foreign": True,
    }  # fmt: skip
    assert np.array_equal(population.membrane_potential[0], potential.T[:, population.trace_idx])


def drawn(n: int) -> torch.Tensor:
    return (torch.rand((6, n), generator=torch.manual_seed(n)) > 0.6).to(torch.uint8)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool])
def test_spikes_without_potentials_are_read_and_what_is_missing_is_told(tmp_path: Path, dtype: torch.dtype) -> None:
    torch.save({"spikes": drawn(70).to(dtype)}, tmp_path / "one.pt")
    found = load(tmp_path / "one.pt", LIMIT)
    (population,) = found.populations.values()
    assert np.array_equal(population.spikes()[0], drawn(70)) and population.membrane_potential.shape == (1, 6, 0)
    assert found.left_out["absent"] == 70 and found.left_out["foreign"] and not found.left_out["membranes"]
    assert found.meta["truncated"] == "The file holds no membrane potential of 70 of 70 neurons."


@pytest.mark.parametrize(
    "made",
    [
        lambda: {"spikes": {"fc 1": drawn(9), "all": drawn(200)}, "membrane_potential": {"fc 1": torch.ones(6, 9)}},
        lambda: {"fc 1": {"spikes": drawn(9), "membrane_potential": torch.ones(6, 9)}, "all": {"spikes": drawn(200)}},
    ],
    ids=["by tensor", "by population"],
)
def test_populations_of_other_tools_keep_their_names(tmp_path: Path, made: Callable[[], Any]) -> None:
    torch.save({**made(), "dt": 0.5, "note": "of a run"}, tmp_path / "some.pt")
    found = load(tmp_path / "some.pt", LIMIT)
    # A choice of the page is called “all”.
    assert {name: (each.n, each.kind, each.layer) for name, each in found.populations.items()} == {
        "fc 1": (9, "fc 1", -1),
        "all ": (200, "all ", -1),
    }
    assert np.array_equal(found.populations["all "].spikes()[0], drawn(200))
    assert [len(each.trace_idx) for each in found.populations.values()] == [9, 0]
    assert found.left_out["absent"] == 200 and len(found.tokens) == 6


@pytest.mark.parametrize(
    "made",
    [
        {"spikes": {}},
        {"spikes": {"a": torch.zeros(4, 3), "b": torch.zeros(5, 3)}},
        {"spikes": {"a": torch.full((4, 3), 255, dtype=torch.uint8)}},
        {"spikes": {"a\n": torch.zeros(4, 3)}},
        {"spikes": {f"p{each}": torch.zeros(1, 1) for each in range(1_001)}},
        {"a": {"spikes": [1, 0]}},
        {"spikes": torch.zeros(4, 3), "membrane_potential": {"a": torch.zeros(4, 3)}},
    ],
    ids=["none", "lengths", "graded", "name", "many", "lists", "mixed"],
)
def test_populations_that_are_no_spikes_are_refused(tmp_path: Path, made: Any) -> None:
    torch.save(made, tmp_path / "some.pt")
    with pytest.raises(UnreadableRecording, match="The recording was refused: "):
        load(tmp_path / "some.pt", LIMIT)


@pytest.mark.parametrize(
    ("spikes", "potential"),
    [
        (torch.zeros(4), torch.zeros(4)),
        (torch.zeros(4, 3), torch.zeros(3, 4)),
        (torch.full((4, 3), 2.0), torch.zeros(4, 3)),
        (torch.zeros(4, 3), torch.full((4, 3), torch.nan)),
        (torch.zeros(4, 3), torch.full((4, 3), 1e300, dtype=torch.float64)),
        (torch.zeros(4, 3, dtype=torch.int64), torch.zeros(4, 3)),
        (torch.zeros(0, 3), torch.zeros(0, 3)),
        (torch.zeros(300_000, 1), torch.zeros(300_000, 1)),
        (torch.zeros(1, (1 << 20) + 1, dtype=torch.int8), torch.zeros(1, (1 << 20) + 1, dtype=torch.bool)),
        ([[0, 1]], [[0.0, 1.0]]),
    ],
    ids=["flat", "shapes", "graded", "nan", "huge", "int64", "empty", "long", "wide", "lists"],
)
def test_two_keys_that_are_no_spikes_are_refused_in_words(tmp_path: Path, spikes: Any, potential: Any) -> None:
    torch.save({"spikes": spikes, "membrane_potential": potential}, tmp_path / "two.pt")
    with pytest.raises(UnreadableRecording, match="The recording was refused: ") as refused:
        load(tmp_path / "two.pt", LIMIT)
    assert "damaged" not in refused.value.message


# ---- hostile files


class Payload:
    """Touches a file when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.canary,))


def two(value: Any) -> dict[str, Any]:
    return {"spikes": value, "membrane_potential": torch.zeros(4, 3)}


def deep() -> Any:
    value: Any = 1
    for _ in range(200):
        value = [value]
    return value


def cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def shared() -> Any:
    value: list[Any] = [1]
    for _ in range(60):
        value = [value, value]
    return value


PLAIN = torch.zeros(4, 3)
STRANGE: dict[str, Callable[[], Any]] = {
    "payload": lambda: {**two(PLAIN), "x": Payload(Path("canary"))},
    "expanded": lambda: two(torch.zeros(1).expand(1 << 40, 3)),
    "overlapping": lambda: two(torch.zeros(6).as_strided((4, 3), (1, 1))),
    "shared storage": lambda: {"x": list(torch.zeros(1 << 20).expand(20, -1)), **two(PLAIN)},
    "sparse": lambda: two(torch.zeros(4, 3).to_sparse()),
    "quantised": lambda: two(torch.quantize_per_tensor(PLAIN, 0.1, 0, torch.qint8)),
    "complex": lambda: two(torch.zeros(4, 3, dtype=torch.complex64)),
    "meta": lambda: two(torch.zeros(4, 3, device="meta")),
    "parameter": lambda: two(torch.nn.Parameter(PLAIN)),
    "nested": lambda: two(torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])),
    "module": lambda: {**two(PLAIN), "x": torch.nn.Linear(2, 2)},
    "array": lambda: {**two(PLAIN), "x": np.zeros(3)},
    "set": lambda: {**two(PLAIN), "x": {1, 2}},
    "bytes": lambda: {**two(PLAIN), "x": b"abc"},
    "bytearray": lambda: {**two(PLAIN), "x": bytearray(3)},
    "number as key": lambda: {**two(PLAIN), 3: 4},
    "long key": lambda: {**two(PLAIN), "k" * 5_000: 4},
    "deep": lambda: {**two(PLAIN), "x": deep()},
    "cyclic": lambda: {**two(PLAIN), "x": cyclic()},
    "shared lists": lambda: {**two(PLAIN), "x": shared()},
    "one tensor": lambda: PLAIN,
    "weights": lambda: OrderedDict(weight=PLAIN),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("made", STRANGE.values(), ids=STRANGE.keys())
def test_anything_but_plain_tensors_is_refused(
    made: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save(made(), "strange.pt")
    with pytest.raises(UnreadableRecording):
        load(Path("strange.pt"), LIMIT)
    assert not Path("canary").exists()


def test_every_old_form_of_pickle_is_refused_without_running_it(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    legacy = io.BytesIO()
    torch.save({**two(PLAIN), "x": Payload(canary)}, legacy, _use_new_zipfile_serialization=False)
    for data in (legacy.getvalue(), pickle.dumps(Payload(canary)), b"", b"PK", b"\x80\x02}", b"\0" * 5_000):
        (tmp_path / "old.pt").write_bytes(data)
        with pytest.raises(UnreadableRecording):
            load(tmp_path / "old.pt", LIMIT)
    assert not canary.exists()
    with pytest.raises(UnreadableRecording):
        load(tmp_path / "absent.pt", LIMIT)


def rewritten(
    source: Path, target: Path, change: Callable[[str, bytes], bytes], compression: int = zipfile.ZIP_STORED
) -> Path:
    """Write the archive anew with other contents of its members."""
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w", compression) as after:
        for each in before.infolist():
            after.writestr(each.filename, change(each.filename, before.read(each)))
    return target


def program(change: Callable[[bytes], bytes]) -> Callable[[str, bytes], bytes]:
    return lambda name, data: change(data) if name.endswith("data.pkl") else data


def test_written_anew_without_change_it_is_read(kept: Path, tmp_path: Path) -> None:
    assert load(rewritten(kept, tmp_path / "same.pt", lambda _, data: data), LIMIT).neurons == 29


def test_long_tuples_are_not_met_again_however_often_a_program_names_them(kept: Path, tmp_path: Path) -> None:
    for length, said in ((8, "no spikes"), (9, "hold each other"), (12_000, "hold each other")):
        data = b"\x80\x02]((" + b"N" * length + b"tq\x00" + b"h\x00" * length + b"e."
        path = rewritten(kept, tmp_path / "again.pt", program(lambda _, data=data: data))
        with pytest.raises(UnreadableRecording, match=said):
            load(path, LIMIT)


def test_a_tensor_that_is_met_again_counts_anew(tmp_path: Path) -> None:
    tensor = torch.zeros(1 << 18)
    torch.save({**two(PLAIN), "x": [tensor] * 17}, tmp_path / "again.pt")
    with pytest.raises(UnreadableRecording, match="larger than the limit"):
        load(tmp_path / "again.pt", LIMIT)


def test_sizes_that_the_bytes_do_not_have_are_refused(tmp_path: Path) -> None:
    torch.save(two(torch.zeros(4, 3)), tmp_path / "two.pt")
    # 12 values become 2^31 - 1: in the size of the storage, and in all numbers.
    count, huge = b"K\x0c", b"J" + struct.pack("<i", (1 << 31) - 1)
    for name, change in {
        "storage": lambda data: data.replace(count, huge),
        "shape": lambda data: data.replace(b"K\x04K\x03\x86", huge + b"K\x03\x86"),
        "offset": lambda data: data.replace(b"K\x00K\x04", b"K\x01K\x04"),
        "negative": lambda data: data.replace(b"K\x04K\x03\x86", b"J\xff\xff\xff\xffK\x03\x86"),
        "strides": lambda data: data.replace(b"K\x03K\x01\x86", b"K\x00K\x00\x86"),
        "kind": lambda data: data.replace(b"FloatStorage", b"DoubleStorage"),
        "place": lambda data: data.replace(b"X\x03\x00\x00\x00cpu", b"X\x04\x00\x00\x00cuda"),
    }.items():
        changed = rewritten(tmp_path / "two.pt", tmp_path / f"{name}.pt", program(change))
        assert changed.read_bytes() != (tmp_path / "two.pt").read_bytes()
        with pytest.raises(UnreadableRecording):
            load(changed, LIMIT)


def test_cut_off_anywhere_or_with_a_flipped_byte_it_is_refused_or_read(kept: Path, tmp_path: Path) -> None:
    data, made = kept.read_bytes(), np.random.default_rng(3)
    for length in (*range(0, len(data), len(data) // 60), len(data) - 1):
        (tmp_path / "cut.pt").write_bytes(data[:length])
        with pytest.raises(UnreadableRecording):
            load(tmp_path / "cut.pt", LIMIT)
    for place in made.integers(0, len(data), 300).tolist():
        (tmp_path / "flipped.pt").write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with suppress(UnreadableRecording):
            assert load(tmp_path / "flipped.pt", LIMIT).neurons


def test_changed_programs_are_refused_or_read_and_raise_nothing_else(tmp_path: Path) -> None:
    """The check sums of the archive hold, so that the machine itself meets the nonsense."""
    torch.save(two(torch.zeros(4, 3)), tmp_path / "two.pt")
    made = np.random.default_rng(5)
    refused = 0
    for _ in range(400):
        place, byte = int(made.integers(0, 400)), int(made.integers(0, 256))
        path = rewritten(
            tmp_path / "two.pt",
            tmp_path / "other.pt",
            program(lambda data, at=place, byte=byte: data[:at] + bytes([byte]) + data[at + 1 :]),
        )
        try:
            load(path, LIMIT)
        except UnreadableRecording:
            refused += 1
    assert refused > 200


def test_bombs_are_refused_in_little_memory(kept: Path, tmp_path: Path) -> None:
    zeros = {"spikes": torch.zeros(40_000, 1_000, dtype=torch.int8), "membrane_potential": torch.zeros(1, 1)}
    torch.save(zeros, tmp_path / "zeros.pt")
    packed = rewritten(tmp_path / "zeros.pt", tmp_path / "packed.pt", lambda _, data: data, zipfile.ZIP_DEFLATED)
    assert packed.stat().st_size < 1 << 17
    many = tmp_path / "many.pt"
    shutil.copy(kept, many)
    with zipfile.ZipFile(many, "a") as archive:
        for place in range(400):
            archive.writestr(f"kept/{place}-{'x' * 60_000}", b"")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path, limit in ((packed, 1 << 28), (tmp_path / "zeros.pt", LIMIT), (many, 1 << 28), (kept, 1_000)):
        with pytest.raises(UnreadableRecording):
            load(path, limit)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "in KiB"


# ---- recordings whose parts do not fit


def spoilt(tree: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    *way, last = where.split("/")
    for key in way:
        tree = tree[key]
    tree[last] = value(tree.get(last)) if callable(value) else value
    return tree


QUERY = "layers/layers.0.query"
MISFITS: list[tuple[str, Any]] = [
    ("version", 2),
    ("version", torch.ones(2)),
    ("format", torch.ones(2)),
    ("meta/x", 10**400),
    ("meta/code", torch.ones(2)),
    ("tokens/role", [torch.ones(2)] * 5),
    (f"{QUERY}/kind", torch.ones(2)),
    ("format", "other"),
    ("meta", []),
    ("meta/code", "morse"),
    ("meta/model", 7),
    ("meta/x", [1]),
    ("meta/x", float("nan")),
    ("meta/x", 1 << 70),
    ("meta/scope", "x" * 5_000),
    ("meta/left_out_tokens", 0.5),
    ("meta/left_out_membranes", -1),
    ("tokens/ids", lambda ids: ids[:3]),
    ("tokens/ids", lambda ids: ids.float()),
    ("tokens/text", ["a"] * 4),
    ("tokens/text", [1, 2, 3, 4, 5]),
    ("tokens/role", ["prompt", "prompt", "system", "answer", "answer"]),
    ("layers", {}),
    (QUERY, torch.zeros(3)),
    (f"{QUERY}/n", 12),
    (f"{QUERY}/n", 0),
    (f"{QUERY}/n", 17),
    (f"{QUERY}/n", True),
    (f"{QUERY}/n", (1 << 20) + 1),
    ("meta/batch_steps", 2),
    (f"{QUERY}/kind", "<b>"),
    (f"{QUERY}/layer", "0"),
    (f"{QUERY}/layer", -7),
    (f"{QUERY}/layer", 1),
    (f"{QUERY}/kind", "key"),
    (f"{QUERY}/kind", "head_input"),
    (f"{QUERY}/spikes_pos", lambda bits: bits | 1),
    (f"{QUERY}/spikes_pos", lambda bits: bits | 128),
    (f"{QUERY}/spikes_pos", lambda bits: bits[:, :4]),
    (f"{QUERY}/spikes_pos", lambda bits: bits.to(torch.int8)),
    (f"{QUERY}/spikes_neg", lambda bits: bits[:4]),
    (f"{QUERY}/spikes_neg", None),
    (f"{QUERY}/counts", lambda counts: counts.T),
    (f"{QUERY}/counts", [1, 2]),
    (f"{QUERY}/counts", lambda counts: counts ^ 1),
    (f"{QUERY}/delta", lambda delta: delta * float("inf")),
    (f"{QUERY}/delta", lambda delta: -delta),
    ("layers/layers.0.key/delta", lambda delta: delta * 1e37),
    (f"{QUERY}/delta", lambda delta: delta.double()),
    (f"{QUERY}/scale", lambda scale: scale[1:]),
    (f"{QUERY}/trace_idx", torch.tensor([0, 4, 13], dtype=torch.int32)),
    (f"{QUERY}/trace_idx", torch.tensor([4, 0, 12], dtype=torch.int32)),
    (f"{QUERY}/trace_idx", torch.tensor([-1, 0, 12], dtype=torch.int32)),
    (f"{QUERY}/membrane_potential", lambda potential: potential[..., :2]),
    (f"{QUERY}/membrane_potential", lambda potential: potential * float("nan")),
    (f"{QUERY}/current", lambda current: current.T),
    (f"{QUERY}/current", lambda current: current * 2),
    (f"{QUERY}/membrane_potential", lambda potential: potential + 1),
    (f"{QUERY}/neuron_idx", lambda numbers: numbers.flip(0)),
]


@pytest.mark.parametrize(
    ("where", "value"), MISFITS, ids=[f"{place} {where}" for place, (where, _) in enumerate(MISFITS)]
)
def test_parts_that_do_not_fit_each_other_are_refused(kept: Path, where: str, value: Any) -> None:
    tree = torch.load(kept, weights_only=True)
    spoilt(tree, where, value)
    torch.save(tree, kept)
    with pytest.raises(UnreadableRecording):
        load(kept, LIMIT)


def test_a_long_text_that_is_every_token_is_refused(tmp_path: Path) -> None:
    made = recording({"layers.0.query": recorded.population(np.zeros((1, 2_001, 1), np.int8))})
    texts = ("x" * 2_000,) * 2_001
    save(dataclasses.replace(made, tokens=dataclasses.replace(made.tokens, texts=texts)), tmp_path / "long.pt")
    with pytest.raises(UnreadableRecording, match="tokens are not whole"):
        load(tmp_path / "long.pt", LIMIT)


def test_names_of_populations_are_short_texts(kept: Path) -> None:
    tree = torch.load(kept, weights_only=True)
    tree["layers"]["\ud800"] = tree["layers"].pop("layers.0.query")
    torch.save(tree, kept)
    with pytest.raises(UnreadableRecording):
        load(kept, LIMIT)
