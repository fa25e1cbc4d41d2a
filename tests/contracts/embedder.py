"""What every embedder does, whatever the model; subclass it and give an ``embedder`` fixture."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from core.ports import Embedder

TEXTS = (
    "The annual report lists twelve offices.",
    "cat",
    "Employees receive twenty days of paid leave in each calendar year, and may carry five of them over.",
    "有給休暇は年に二十日あります。",
    "A pump of the type PPR-9087 needs new seals after 4,000 hours of operation.",
)
ODD_TEXTS = ("", " ", "\n\t", "\0", "a\0b", "\ud800", "ﷺ" * 40, "👩‍👩‍👧" * 9, "x" * 500, "a\u0301" * 90)


class EmbedderContract:
    """Tests of the port."""

    tolerance = 1e-4
    long_text = " ".join(f"Sentence number {n} tells how the budget of department {n * 7} changed." for n in range(40))

    def test_passages_are_unit_vectors_of_the_stated_dimension(self, embedder: Embedder) -> None:
        vectors = embedder.embed_passages(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)

    def test_query_is_one_unit_vector(self, embedder: Embedder) -> None:
        vector = embedder.embed_query("How many days of leave are there?")
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)

    def test_order_is_kept_and_a_vector_does_not_depend_on_its_batch(self, embedder: Embedder) -> None:
        together = embedder.embed_passages(TEXTS)
        reversed_ = embedder.embed_passages(TEXTS[::-1])[::-1]
        alone = np.stack([embedder.embed_passages([text])[0] for text in TEXTS])
        assert np.abs(together - alone).max() < self.tolerance
        assert np.abs(together - reversed_).max() < self.tolerance
        assert np.abs(together[0] - together[1]).max() > 0.01

    def test_a_loaded_embedder_is_ready_also_where_it_was_loaded_before(self, embedder: Embedder) -> None:
        embedder.load()
        embedder.load()
        assert embedder.ready() is True

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed_passages([]).shape == (0, embedder.dimension)

    def test_tail_of_a_long_text_counts(self, embedder: Embedder) -> None:
        tail = " The cafeteria serves grilled salmon with lemon on Fridays. " * 12
        head, other = embedder.embed_passages([self.long_text, self.long_text + tail])
        assert np.abs(head - other).max() > 1e-3
        query = embedder.embed_query("grilled salmon with lemon in the cafeteria")
        assert query @ other > query @ head

    def test_progress_rises_to_the_number_of_texts(self, embedder: Embedder) -> None:
        seen: list[tuple[int, int]] = []
        texts = [f"{text} {n}" for n in range(9) for text in TEXTS]
        embedder.embed_passages(texts, lambda done, total: seen.append((done, total)))
        assert [done for done, _ in seen] == sorted({done for done, _ in seen})
        assert len(seen) > 1
        assert seen[-1] == (len(texts), len(texts))
        assert {total for _, total in seen} == {len(texts)}

    def test_odd_texts_get_finite_unit_vectors(self, embedder: Embedder) -> None:
        vectors = embedder.embed_passages(ODD_TEXTS)
        assert np.isfinite(vectors).all()
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-3)

    def test_text_behind_a_nul_counts(self, embedder: Embedder) -> None:
        cut, whole = embedder.embed_passages(["budget", "budget\0 and holidays of the department"])
        assert np.abs(cut - whole).max() > 0.01

    def test_threads_embed_beside_each_other(self, embedder: Embedder) -> None:
        expected = embedder.embed_passages(TEXTS)
        question = embedder.embed_query(TEXTS[0])
        wrong: list[str] = []

        def passages() -> None:
            if np.abs(embedder.embed_passages(TEXTS) - expected).max() > self.tolerance:
                wrong.append("passages")

        def questions() -> None:
            for _ in range(3):
                if np.abs(embedder.embed_query(TEXTS[0]) - question).max() > self.tolerance:
                    wrong.append("question")

        threads = [threading.Thread(target=work) for work in (passages, questions, passages, questions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_texts_on_one_subject_are_nearer_than_others(self, embedder: Embedder) -> None:
        query = embedder.embed_query("How many days of paid leave do employees receive?")
        scores = embedder.embed_passages(TEXTS) @ query
        assert int(np.argmax(scores)) == 2
