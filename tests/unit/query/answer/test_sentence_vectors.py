"""Sentences that were embedded lately have the vectors that the embedder gave, and are not embedded again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.adapters.embedding.hash_embedder import HashEmbedder
from core.ports import Progress, Vector
from core.query.answer.sentence_vectors import SentenceVectors


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        self.embedded += texts
        return super().embed_passages(texts, progress)


def test_each_is_embedded_once_and_has_its_own_vector() -> None:
    embedder, vectors = Counting(), SentenceVectors()
    vectors.embed(embedder, ["a museum", "a sea"])
    found = vectors.embed(embedder, ["a sea", "a hill", "a museum", "a sea"])
    assert embedder.embedded == ["a museum", "a sea", "a hill"]
    assert np.array_equal(found, HashEmbedder().embed_passages(["a sea", "a hill", "a museum", "a sea"]))


def test_those_of_long_ago_are_forgotten_even_while_they_are_asked_for() -> None:
    embedder, vectors = Counting(), SentenceVectors(most=2)
    assert vectors.embed(embedder, ["one", "two", "three"]).shape == (3, embedder.dimension)
    vectors.embed(embedder, ["three", "one"])
    assert embedder.embedded == ["one", "two", "three", "one"]


def test_nothing_has_no_vectors() -> None:
    embedder = Counting()
    assert SentenceVectors().embed(embedder, []).shape == (0, embedder.dimension)
