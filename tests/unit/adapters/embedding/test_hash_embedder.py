"""The embedder without a model: the contract, and the same vectors in every process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from core.adapters.embedding.hash_embedder import HashEmbedder
from tests.contracts.embedder import EmbedderContract

PROGRAM = """
from core.adapters.embedding.hash_embedder import HashEmbedder
print(HashEmbedder(64).embed_query("stable 安定した text").tobytes().hex())
"""


class TestHashEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> HashEmbedder:
        return HashEmbedder()


def test_vectors_are_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert printed == {HashEmbedder(64).embed_query("stable 安定した text").tobytes().hex()}


def test_japanese_texts_with_common_words_are_near() -> None:
    embedder = HashEmbedder()
    query = embedder.embed_query("有給休暇は何日ですか")
    near, far = embedder.embed_passages(["有給休暇は年に二十日あります。", "ポンプの清掃手順を示す。"])
    assert query @ near > query @ far + 0.2


def test_full_width_and_case_make_no_difference() -> None:
    embedder = HashEmbedder()
    assert np.allclose(embedder.embed_query("ＡＢＣ pump"), embedder.embed_query("abc PUMP"))
