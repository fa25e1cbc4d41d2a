"""Trained models on the disk: what their manifest says, what they hold, and that they come and go whole."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from core.errors import Conflict, InvalidInput, NotFound
from core.model import TrainingLabels
from core.snn import calibration
from core.snn.artifacts import Artifacts, config_hash
from tests.trained import trained

FIELDS = {
    "artifact_name",
    "model_version",
    "base_model",
    "task",
    "embedding_dim",
    "quantized",
    "precision",
    "training_config_hash",
    "train_data_tags",
    "license",
    "created_at",
    "node_type",
    "privacy_level",
}


def opened(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True, local_files_only=True)


def read(folder: Path, name: str) -> dict[str, Any]:
    found = json.loads((folder / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_model_that_goes_while_it_is_listed_is_not_listed(tmp_path: Path) -> None:
    class Going(Artifacts):
        def has(self, name: str) -> bool:
            found = super().has(name)
            shutil.rmtree(self.trained / name, ignore_errors=True)
            return found

    for act in (lambda: Going(tmp_path).all(), lambda: [Going(tmp_path).get("small")]):
        (tmp_path / "trained" / "small").mkdir(parents=True)
        (tmp_path / "trained" / "small" / "artifact_manifest.json").write_text("{}")
        with suppress(NotFound):
            assert act() == []


def test_manifest_has_all_fields_and_the_hash_of_the_settings_beside_it(tmp_path: Path) -> None:
    folder = trained(tmp_path, steps=2)
    told = read(folder, "artifact_manifest.json")
    assert set(told) >= FIELDS
    settings = read(folder, "training_config.json")
    normal = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert told["training_config_hash"] == hashlib.sha256(normal.encode("utf-8")).hexdigest()
    assert (settings["steps"], settings["seed"], len(settings["corpus_sha256"])) == (2, 0, 64)
    assert (told["artifact_name"], told["embedding_dim"], told["quantized"]) == ("small", 32, False)
    assert told["train_data_tags"] == ["hours"]


def test_hash_does_not_depend_on_the_order_of_the_settings() -> None:
    assert config_hash({"a": 1, "b": "é"}) == config_hash({"b": "é", "a": 1}) != config_hash({"a": 2, "b": "é"})


@pytest.mark.parametrize(("precision", "dtype"), [("fp16", torch.float16), ("bf16", torch.bfloat16)])
def test_weights_are_stored_in_the_precision_that_the_manifest_names(
    tmp_path: Path, precision: str, dtype: torch.dtype
) -> None:
    folder = trained(tmp_path, steps=2, precision=precision)
    assert {tensor.dtype for tensor in load_file(folder / "model.safetensors").values()} == {dtype}
    assert read(folder, "artifact_manifest.json")["precision"] == precision


def test_quantised_rows_have_at_most_255_levels_around_zero(tmp_path: Path) -> None:
    folder = trained(tmp_path, steps=2, quantize="int8")
    assert read(folder, "artifact_manifest.json")["quantized"] is True
    for layer in opened(folder).modules():
        if isinstance(layer, torch.nn.Linear):
            scale = layer.weight.abs().amax(1, keepdim=True) / 127
            levels = layer.weight / scale
            assert torch.allclose(levels, levels.round(), atol=1e-3)


def test_model_that_learnt_with_spikes_brings_its_calibration(tmp_path: Path) -> None:
    folder = trained(tmp_path, spiking=True)
    before = sorted(path.name for path in folder.iterdir())
    # Without a tokenizer nothing can be measured.
    maxima = calibration.of_folder(folder, tmp_path / "elsewhere", opened(folder), None)
    assert len(maxima) == 8 and all(bool((largest > 0).all()) for largest in maxima.values())
    assert sorted(path.name for path in folder.iterdir()) == before and not (tmp_path / "elsewhere").exists()


def test_folder_holds_neither_pickles_nor_texts_nor_what_was_begun(tmp_path: Path) -> None:
    folder = trained(tmp_path, steps=2)
    assert {path.suffix for path in folder.iterdir()} <= {".json", ".jsonl", ".safetensors", ".jinja"}
    assert not [path for path in folder.glob("*.json*") if b"The office opens" in path.read_bytes()]
    assert [path.name for path in folder.parent.iterdir()] == ["small"]


def test_model_is_chosen_and_deleted_with_the_choice(tmp_path: Path) -> None:
    trained(tmp_path, "first", steps=2)
    trained(tmp_path, "second", steps=2)
    artifacts = Artifacts(tmp_path)
    assert artifacts.chosen() == "" and {each.name for each in artifacts.all()} == {"first", "second"}
    artifacts.choose("first")
    assert artifacts.get("first").is_chosen and not artifacts.get("second").is_chosen
    artifacts.delete("first")
    assert artifacts.chosen() == "" and [each.name for each in artifacts.all()] == ["second"]
    with pytest.raises(NotFound):
        artifacts.choose("first")


def test_second_model_of_a_name_is_refused_and_leaves_the_first(tmp_path: Path) -> None:
    folder = trained(tmp_path, steps=2)
    weights = (folder / "model.safetensors").read_bytes()
    with pytest.raises(Conflict):
        trained(tmp_path, steps=3)
    assert (folder / "model.safetensors").read_bytes() == weights


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    for name in (".begun-x", ".going-y"):
        (tmp_path / "trained" / name).mkdir(parents=True)
        (tmp_path / "trained" / name / "artifact_manifest.json").write_text("{}")
    artifacts = Artifacts(tmp_path)
    assert artifacts.all() == []
    artifacts.sweep()
    assert list((tmp_path / "trained").iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a\\b", "Großes", "a b", ".hidden", "x" * 65, "a..b", "a\n"])
def test_name_that_could_be_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        TrainingLabels(name).check()
    assert not Artifacts(tmp_path).has(name) and Artifacts(tmp_path).folder(name) is None


@pytest.mark.parametrize("wrong", [{"privacy_level": "secret"}, {"node_type": "<b>"}, {"license": ""}], ids=str)
def test_labels_take_short_words_alone(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        TrainingLabels("small", **wrong).check()


def test_damaged_manifest_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "trained" / "odd").mkdir(parents=True)
    (tmp_path / "trained" / "odd" / "artifact_manifest.json").write_text('["no object"')
    found = Artifacts(tmp_path).all()
    assert [(each.name, each.manifest) for each in found] == [("odd", {})]
