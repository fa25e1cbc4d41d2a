"""The examples that need no server, run on small files."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from PIL import Image

from app.components.ask.figures import EXCITATORY, INHIBITORY
from core.snn.recording import NeuronRecording, save
from core.snn.statistics import heat_map, summary
from tests.unit.snn.recorded import encoded, population, recording

pytestmark = pytest.mark.every_run

PICTURES = {
    "raster.png",
    "population_rate.png",
    "heat_map.png",
    "membrane.png",
    "rate_histogram.png",
    "isi_histogram.png",
}
SCRIPT = Path(__file__).parent.parent.parent / "examples" / "visualize_rag_neurons.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    pytest.importorskip("matplotlib", reason="matplotlib is in the optional extra “examples”")
    spec = importlib.util.spec_from_file_location("visualize_rag_neurons", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made() -> tuple[NeuronRecording, dict[str, np.ndarray]]:
    """Two layers and the head over four tokens; of one population every second neuron was kept."""
    random = np.random.default_rng(6)
    populations, signs = {}, {}
    for layer in range(2):
        for kind in ("query", "attention_output"):
            name = f"layers.{layer}.{kind}"
            populations[name], signs[name] = encoded(random.standard_normal((4, 21)), 8, kind, layer)
    name = "layers.1.attention_output"
    populations[name] = replace(populations[name], neuron_idx=np.arange(0, 42, 2, dtype=np.int32))
    populations["head_input"], signs["head_input"] = encoded(random.standard_normal((4, 9)), 8, "head_input", -1)
    kept = recording(populations, ("prompt", "answer", "answer", "answer"))
    return replace(kept, tokens=replace(kept.tokens, texts=(" $x_1$", "\n", "\\frac", "a\tb"))), signs


def is_drawn(path: Path) -> bool:
    with Image.open(path) as image:
        return image.format == "PNG" and min(image.size) > 200 and len(image.convert("RGB").getcolors(1 << 24)) > 20


def test_a_recording_is_drawn(example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(made()[0], tmp_path / "rag_neuron_data.pt")
    example.main(["--data", str(tmp_path / "rag_neuron_data.pt"), "--out", str(tmp_path / "out")])

    assert {path.name for path in (tmp_path / "out").iterdir()} == PICTURES
    assert all(is_drawn(path) for path in (tmp_path / "out").iterdir())
    assert len(capsys.readouterr().out.splitlines()) == len(PICTURES)


def test_a_file_of_two_keys_is_drawn(example: ModuleType, tmp_path: Path) -> None:
    spikes = torch.rand(2, 50, 7, generator=torch.Generator().manual_seed(1)) < 0.2
    torch.save({"spikes": spikes, "membrane_potential": torch.randn(2, 50, 7)}, tmp_path / "two.pt")
    example.main(["--data", str(tmp_path / "two.pt"), "--out", str(tmp_path / "out")])

    assert {path.name for path in (tmp_path / "out").iterdir()} == PICTURES
    assert all(is_drawn(path) for path in (tmp_path / "out").iterdir())


def test_populations_of_another_tool_are_drawn_without_potentials_too(example: ModuleType, tmp_path: Path) -> None:
    spikes = torch.rand(50, 7, generator=torch.Generator().manual_seed(1)) < 0.2
    torch.save({"spikes": {"in": spikes.to(torch.uint8), "out": spikes[:, :3]}}, tmp_path / "some.pt")
    example.main(["--data", str(tmp_path / "some.pt"), "--out", str(tmp_path / "out")])

    assert {path.name for path in (tmp_path / "out").iterdir()} == PICTURES - {"membrane.png"}
    torch.save({"in": {"spikes": spikes}, "out": {"spikes": spikes[:, :3]}}, tmp_path / "same.pt")
    read = example.read(tmp_path / "same.pt").populations
    assert (read["in"].spikes(slice(0, 50)) == spikes.numpy()).all() and read["out"].n == 3


def test_as_many_spikes_of_either_sign_look_like_it_in_the_colours_of_the_page(
    example: ModuleType, tmp_path: Path
) -> None:
    assert (example.EXCITATORY, example.INHIBITORY) == (EXCITATORY, INHIBITORY)
    halves = np.random.default_rng(8).choice(np.array([-1, 0, 1], np.int8), (8, 500, 64), p=[0.13, 0.74, 0.13])
    save(recording({"layers.0.query": population(halves)}), tmp_path / "halves.pt")
    drawn = ["--data", str(tmp_path / "halves.pt"), "--out", str(tmp_path / "out"), "--tokens", "0:500"]
    example.main(drawn)
    with Image.open(tmp_path / "out" / "raster.png") as image:
        pixels = np.asarray(image.convert("RGB"), np.int64)
    near = [
        int((np.abs(pixels - np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])).max(axis=2) < 60).sum())
        for colour in (EXCITATORY, INHIBITORY)
    ]
    assert min(near) > 10_000 and 0.8 < near[0] / near[1] < 1.25, near


def test_the_example_reads_what_the_program_counts(example: ModuleType, tmp_path: Path) -> None:
    kept, signs = made()
    save(kept, tmp_path / "made.pt")
    read = example.read(tmp_path / "made.pt")

    for name, each in read.populations.items():
        assert (each.spikes(slice(1, 3)) == signs[name][:, 1:3].transpose(1, 0, 2).reshape(16, -1)).all()
    assert list(read.populations["layers.1.attention_output"].numbers[:3]) == [0, 2, 4]
    found = sum(example.intervals(each.on | each.off, 7) for each in read.populations.values())
    assert tuple(found) == summary(kept).isi_histogram.counts
    rates = example.draw_heat_map(read, "all").axes[0].images[0].get_array()
    assert rates.tolist() == [pytest.approx(row, abs=1e-6) for row in heat_map(kept).maps[0].rates]
    example.plt.close("all")


def test_a_neuron_fires_where_its_potential_has_reached_the_level(example: ModuleType, tmp_path: Path) -> None:
    kept, signs = made()
    save(kept, tmp_path / "made.pt")
    query = example.read(tmp_path / "made.pt").populations["layers.0.query"]

    before = np.concatenate([query.start[None], query.potential[:-1]])
    assert (np.sign(before) * (np.abs(before) >= query.level) == signs["layers.0.query"][:, :, :2]).all()


def test_a_file_that_is_no_recording_is_refused_in_words(example: ModuleType, tmp_path: Path) -> None:
    torch.save({"spikes": Path("x"), "membrane_potential": Path("y")}, tmp_path / "bad.pt")
    with pytest.raises(SystemExit, match="holds more than plain tensors"):
        example.main(["--data", str(tmp_path / "bad.pt"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_the_example_needs_nothing_of_the_program() -> None:
    assert "import core" not in SCRIPT.read_text(encoding="utf-8")
    assert "from core" not in SCRIPT.read_text(encoding="utf-8")
