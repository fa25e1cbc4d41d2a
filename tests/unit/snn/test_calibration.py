"""Channel maxima are what the texts reach, are measured once for the weights, and are measured anew when in doubt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from core.snn import calibration
from core.snn.calibration import calibrate, of_folder, weights_digest
from core.snn.convert import attach, populations
from core.snn.populations import sizes
from tests.unit.snn.small import PROMPT, small


class Letters:
    """A tokenizer of one token a letter; ``read`` counts the texts."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self, text: str, return_tensors: str) -> dict[str, Tensor]:
        self.read += 1
        return {"input_ids": torch.tensor([[ord(letter) % 64 for letter in text[:32]]])}


class Largest(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        self.seen = x.abs().flatten(0, -2).amax(0)
        return x


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small().save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere"


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return list(one) == list(other) and all(torch.equal(one[name], other[name]) for name in one)


def measured(folder: Path, elsewhere: Path, model: Any = None) -> int:
    """Ask for the maxima and say how many texts had to be read."""
    letters = Letters()
    of_folder(folder, elsewhere, model or small(), letters)
    return letters.read


def test_maxima_are_the_largest_sizes_that_the_texts_reach() -> None:
    model, letters = small(), Letters()
    seen = {name: Largest() for name in sizes(model.config)}
    found = calibrate(model, letters, ["the first text", "another text"])
    each = []
    for text in ("the first text", "another text"):
        detach = attach(model, seen)
        with torch.inference_mode():
            model(**letters(text, "pt"))
        detach()
        each.append({name: module.seen for name, module in seen.items()})
    assert {name: tuple(maximum.shape) for name, maximum in found.items()} == {
        name: (n,) for name, n in sizes(model.config).items()
    }
    for name, maximum in found.items():
        largest = torch.maximum(each[0][name], each[1][name])
        assert torch.equal(maximum, largest.clamp_min(float(largest.max()) * calibration.LEAST_SHARE))


def test_model_is_as_it_was_after_it_was_measured() -> None:
    model = small()
    before = model(PROMPT).logits
    calibrate(model, Letters(), ["a text"])
    assert torch.equal(model(PROMPT).logits, before) and not populations(model)


def test_silent_channel_has_a_maximum_above_zero() -> None:
    model = small()
    model.model.norm.weight.data[:5] = 0
    assert (calibrate(model, Letters(), ["a text"])["head_input"] > 0).all()


def test_maxima_are_measured_once_and_kept_beside_the_model(folder: Path, elsewhere: Path) -> None:
    first = of_folder(folder, elsewhere, small(), Letters())
    again = Letters()
    assert same(of_folder(folder, elsewhere, small(), again), first) and not again.read
    assert (folder / "spiking-calibration.safetensors").is_file() and not elsewhere.exists()
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_maxima_are_kept_elsewhere_where_the_folder_cannot_be_written_to(
    folder: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = calibration.save_file

    def refuse(maxima: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
        if path.parent == folder:
            raise PermissionError(path)
        write(maxima, path, metadata=metadata)

    monkeypatch.setattr(calibration, "save_file", refuse)
    assert measured(folder, elsewhere) > 0
    assert [path.suffix for path in elsewhere.iterdir()] == [".safetensors"]
    assert measured(folder, elsewhere) == 0


def test_maxima_are_used_where_nothing_can_be_kept(folder: Path, elsewhere: Path) -> None:
    elsewhere.write_text("a file, not a folder")
    (folder / "spiking-calibration.safetensors").mkdir()
    assert measured(folder, elsewhere) > 0


def test_other_weights_are_measured_anew(folder: Path, elsewhere: Path) -> None:
    assert measured(folder, elsewhere) > 0
    before, other = weights_digest(folder), small()
    other.model.norm.weight.data *= 2
    other.save_pretrained(folder)
    assert weights_digest(folder) != before
    assert measured(folder, elsewhere, other) > 0
    assert measured(folder, elsewhere, other) == 0


@pytest.mark.parametrize("damage", [b"", b"\xff" * 64, None], ids=["empty", "no safetensors", "cut"])
def test_damaged_file_is_measured_anew(folder: Path, elsewhere: Path, damage: bytes | None) -> None:
    assert measured(folder, elsewhere) > 0
    kept = folder / "spiking-calibration.safetensors"
    kept.write_bytes(kept.read_bytes()[:-9] if damage is None else damage)
    assert measured(folder, elsewhere) > 0
    assert measured(folder, elsewhere) == 0


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_maxima_that_no_channel_has_are_measured_anew(folder: Path, elsewhere: Path, value: float) -> None:
    maxima = of_folder(folder, elsewhere, small(), Letters())
    maxima["head_input"][3] = value
    calibration._write(folder / "spiking-calibration.safetensors", maxima, calibration._ties(folder))
    assert measured(folder, elsewhere) > 0
