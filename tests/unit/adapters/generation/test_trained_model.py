"""A model that was trained here writes, with and without spikes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from core.adapters.generation.huggingface_generator import HuggingFaceGenerator, Placement
from core.adapters.generation.spiking_generator import SpikingGenerator, SpikingOptions
from core.adapters.generation.trained_model import TrainedModel
from core.errors import ModelUnavailable
from core.model import Prompt, Sampling
from core.snn.artifacts import Artifacts
from core.snn.recording import load
from tests.trained import trained

LONG = Prompt("Answer from the documents.", "<document>Nothing else.</document>\n" * 80 + "\nThe office", "en")
GREEDY = Sampling(max_tokens=12)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    trained(folder, "plain", steps=60)
    trained(folder, "spikes", steps=60, spiking=True)
    return folder


@pytest.mark.long
def test_trained_model_goes_on_with_the_end_of_a_long_prompt(models: Path) -> None:
    source = TrainedModel(Artifacts(models), "plain")
    with closing(HuggingFaceGenerator(source, Placement(), max_bytes=65_536, name="standard")) as generator:
        assert "".join(generator.write(LONG, GREEDY, 60.0)).startswith(" opens at nine in the morning")
        assert generator.model.startswith("plain ")


def test_model_trained_with_spikes_writes_with_them_and_is_recorded(models: Path, tmp_path: Path) -> None:
    source = TrainedModel(Artifacts(models), "spikes")
    spiking = SpikingOptions(tmp_path / "calibrations")
    with closing(SpikingGenerator(source, Placement(), spiking, max_bytes=65_536)) as generator:
        written = "".join(generator.write_recorded(LONG, GREEDY, 60.0, tmp_path / "x.pt"))
    assert written.startswith(" opens at nine in the morning")
    assert not (tmp_path / "calibrations").exists()
    assert len(load(tmp_path / "x.pt", 2**28).populations) == 8


def test_nothing_chosen_says_what_to_do(models: Path, tmp_path: Path) -> None:
    for folder, told in ((models, "chosen"), (tmp_path, "trained here")):
        with pytest.raises(ModelUnavailable, match=told) as raised:
            TrainedModel(Artifacts(folder), "").look()
        assert raised.value.remedy
