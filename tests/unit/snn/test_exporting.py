"""Spikes for other programs: every spike is in the file, at its place."""

from __future__ import annotations

import csv
import io
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput
from core.snn import exporting
from core.snn.exporting import csv_events, export
from core.snn.recording import NeuronRecording
from tests.unit.snn.recorded import encoded, population, recording


def made() -> tuple[NeuronRecording, dict[str, np.ndarray]]:
    random = np.random.default_rng(4)
    query, query_signs = encoded(random.standard_normal((3, 13)), 8, "query", 0)
    head, head_signs = encoded(random.standard_normal((3, 5)), 8, "head_input", -1)
    return recording({"layers.0.query": query, "head_input": head}), {
        "layers.0.query": query_signs,
        "head_input": head_signs,
    }


def rows(table: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.decode())))


def test_the_table_of_events_gives_back_every_spike() -> None:
    kept, signs = made()
    again = {name: np.zeros_like(each) for name, each in signs.items()}
    for row in rows(b"".join(csv_events(kept))):
        again[row["population"]][int(row["step"]), int(row["token"]), int(row["neuron"])] = int(row["sign"])

    assert all((again[name] == signs[name]).all() for name in signs)


def test_the_table_holds_the_chosen_populations_and_tokens() -> None:
    kept, signs = made()
    found = rows(b"".join(csv_events(kept, ["head_input"], slice(1, 2))))

    assert {(row["population"], row["token"]) for row in found} == {("head_input", "1")}
    assert len(found) == np.abs(signs["head_input"][:, 1]).sum()
    with pytest.raises(InvalidInput):
        csv_events(kept, ["head"])


def test_neurons_of_a_thinned_population_keep_their_numbers() -> None:
    signs = np.ones((1, 1, 3), np.int8)
    thinned = replace(population(signs), neuron_idx=np.array([0, 4, 8], np.int32))
    assert [row["neuron"] for row in rows(b"".join(csv_events(recording({"q": thinned}))))] == ["0", "4", "8"]


def test_neurons_that_never_fire_take_no_room() -> None:
    signs = np.zeros((1, 1, 1 << 20), np.int8)
    signs[0, 0, -1] = -1
    kept = recording({"spikes": population(signs, "spikes", -1, "")})
    tracemalloc.start()
    table = b"".join(csv_events(kept))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table == exporting.HEADING + b"spikes,1048575,0,0,-1\n"
    assert most < 16 << 20


def test_a_name_is_one_cell_and_no_formula() -> None:
    name = '=HYPERLINK("a"),b\nc'
    found = rows(b"".join(csv_events(recording({name: population(np.ones((1, 1, 1), np.int8))}))))
    assert [row["population"] for row in found] == [f"'{name}"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    kept, _ = made()
    export(kept, "csv", tmp_path / "events.csv")
    assert (tmp_path / "events.csv").read_bytes() == b"".join(csv_events(kept))
    with pytest.raises(InvalidInput):
        export(kept, "csv", tmp_path / "other.csv", ["unknown"])
    assert [path.name for path in tmp_path.iterdir()] == ["events.csv"]


def test_an_unknown_form_and_a_missing_package_tell_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, _ = made()
    with pytest.raises(InvalidInput) as unknown:
        export(kept, "hdf5", tmp_path / "x")
    assert unknown.value.remedy == "Choose one of csv, neo, nwb."
    monkeypatch.setitem(exporting.PACKAGES, "nwb", "not_installed_anywhere")
    with pytest.raises(InvalidInput, match="needs the package not_installed_anywhere") as missing:
        export(kept, "nwb", tmp_path / "x.nwb")
    assert "pip install" in missing.value.remedy


def test_more_neurons_than_a_form_carries_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("neo", reason="Neo is an optional package")
    wide = recording({"q": population(np.ones((1, 1, 5_001), np.int8))})
    with pytest.raises(InvalidInput, match="5,001 neurons are more than the 5,000"):
        export(wide, "neo", tmp_path / "x.mat")


def test_neo_reads_trains_of_either_sign_without_a_time_unit(tmp_path: Path) -> None:
    neo = pytest.importorskip("neo", reason="Neo is an optional package")
    kept, signs = made()
    export(kept, "neo", tmp_path / "spikes.mat", ["layers.0.query"], slice(1, 3))

    read = neo.io.NeoMatlabIO(filename=str(tmp_path / "spikes.mat")).read_block()
    trains = read.segments[0].spiketrains
    assert len(trains) == 26
    assert read.annotations["steps_per_token"] == 8
    for train in trains:
        told = train.annotations
        expected = np.flatnonzero((signs["layers.0.query"][:, 1:, told["neuron"]] == told["sign"]).T.ravel()) + 8
        assert train.dimensionality.string == "dimensionless"
        assert list(train.magnitude) == list(expected)
    assert list(read.segments[0].epochs[0].labels) == ["token1", "token2"]


def test_nwb_holds_a_unit_for_each_neuron_and_sign(tmp_path: Path) -> None:
    pynwb = pytest.importorskip("pynwb", reason="pynwb is an optional package")
    kept, signs = made()
    export(kept, "nwb", tmp_path / "spikes.nwb", ["head_input"])

    with pynwb.NWBHDF5IO(str(tmp_path / "spikes.nwb"), "r") as file:
        units = file.read().units
        assert len(units) == 10
        for place in range(len(units)):
            neuron, sign = int(units["neuron"][place]), int(units["sign"][place])
            expected = np.flatnonzero((signs["head_input"][:, :, neuron] == sign).T.ravel())
            assert list(units["spike_times"][place]) == list(expected)
