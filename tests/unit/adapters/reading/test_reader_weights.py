"""The file of a reader's weights gives back what was written, matrices within half a step of their scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.adapters.reading.reader_weights import SHIPPED, quantised, read_reader, write_reader

_BUDGET = 25_000_000


def some(seed: int = 3) -> dict[str, np.ndarray]:
    drawn = np.random.default_rng(seed)
    return {
        "l6.q.w": drawn.normal(0, 0.1, (8, 12)).astype(np.float32),
        "l6.q.b": drawn.normal(0, 1, 8).astype(np.float32),
        "heads.token_w": drawn.normal(0, 1, (3, 8)).astype(np.float32),
    }


def test_weights_come_back(tmp_path: Path) -> None:
    written = some()
    write_reader(tmp_path / "r.npz", written, {"steps": 7})
    read, notes = read_reader(tmp_path / "r.npz")
    assert read.keys() == written.keys()
    assert notes["steps"] == 7
    step = np.abs(written["l6.q.w"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(read["l6.q.w"] - written["l6.q.w"]) <= step / 2 + 1e-7).all()
    for name in ("l6.q.b", "heads.token_w"):
        assert (read[name] == written[name]).all()


def test_what_was_read_is_written_the_same_again(tmp_path: Path) -> None:
    write_reader(tmp_path / "1.npz", some(), {})
    once, _ = read_reader(tmp_path / "1.npz")
    write_reader(tmp_path / "2.npz", once, {})
    twice, _ = read_reader(tmp_path / "2.npz")
    assert all((once[name] == twice[name]).all() for name in once)


def test_a_row_of_zeros_stays_zero() -> None:
    numbers, scales = quantised(np.array([[0, 0], [1, -2]], np.float32))
    assert numbers.tolist() == [[0, 0], [64, -127]]
    assert np.isfinite(scales).all()


def test_another_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="not the weights"):
        read_reader(tmp_path / "other.npz")
    write_reader(tmp_path / "new.npz", some(), {"format": 99})
    with pytest.raises(ValueError, match="another format"):
        read_reader(tmp_path / "new.npz")


def test_the_shipped_weights_are_all_layers_within_their_budget() -> None:
    tensors, notes = read_reader(SHIPPED)
    assert SHIPPED.stat().st_size <= _BUDGET
    assert {name.split(".")[0] for name in tensors} == {"heads", *(f"l{number}" for number in range(12))}
    assert int(notes["steps"]) > 0
    assert all(np.isfinite(values).all() for values in tensors.values())
