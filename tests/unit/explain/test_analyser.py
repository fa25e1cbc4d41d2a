"""The preview of the analyser says what the index really holds, and where in the text each word stands."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from core.errors import InvalidInput
from core.explain import analyser
from core.explain.analyser import LONGEST_TEXT, analysed
from core.model import AnalysedText, Token, Vocabulary
from core.text.analysis import analyse_query, normalise, row_terms
from core.text.languages import languages_asked
from core.text.vocabulary import PLAIN, Words, terms_of
from tests.builders import knowledge_base

NONE = Vocabulary()


def preview(text: str, words: Words = PLAIN, vocabulary: Vocabulary = NONE) -> AnalysedText:
    return analysed(text, words, vocabulary, ["memory"])


def token(found: AnalysedText, surface: str) -> Token:
    return next(token for token in found.tokens if token.surface == surface)


def test_japanese_words_have_readings_parts_of_speech_and_base_forms() -> None:
    found = preview("新しいサーバーを使いました。")
    assert [(each.surface, each.reading, each.terms, each.stopped) for each in found.tokens] == [
        ("新しい", "アタラシイ", ("新しい",), ""),
        ("サーバー", "サーバー", ("サーバ",), ""),
        ("を", "ヲ", (), "part_of_speech"),
        ("使い", "ツカイ", ("使う",), ""),
        ("まし", "マシ", (), "part_of_speech"),
        ("た", "タ", (), "part_of_speech"),
        ("。", "", (), "punctuation"),
    ]
    assert token(found, "使い").part_of_speech == "動詞・自立"
    assert found.language == "ja"


def test_english_words_have_stems_and_stop_words_are_not_asked() -> None:
    found = preview("Which laptops are replaced?")
    assert token(found, "laptops").terms == ("laptop",)
    assert token(found, "Which").stopped == "stop_word"
    assert [term for term in found.asked if term in found.indexed] == ["laptop", "replac"]
    assert "交換" in found.asked, "as it is in Japanese"
    assert (found.indexed, found.engines) == (("which", "laptop", "are", "replac"), {"memory": found.indexed})


def test_japanese_stop_word_is_told_from_a_particle() -> None:
    found = preview("これはペンです")
    assert (token(found, "これ").stopped, token(found, "は").stopped) == ("stop_word", "part_of_speech")


@pytest.mark.parametrize(
    ("text", "surface", "term"),
    [
        ("ｻｰﾊﾞｰを買う", "ｻｰﾊﾞｰ", "サーバ"),
        ("１，０００円", "１，０００", "1000"),
        ("die Cafe\u0301s", "Cafe\u0301s", "cafe"),
        ("ﬁles", "ﬁles", "file"),
        ("🙂 abc", "abc", "abc"),
    ],
)
def test_place_is_that_in_the_text_as_it_was_given(text: str, surface: str, term: str) -> None:
    found = token(preview(text), surface)
    assert term in found.terms and text[found.start : found.end] == surface


def test_word_of_the_vocabulary_stands_beside_its_parts_with_its_reading() -> None:
    vocabulary = Vocabulary((("校正証明書", "コウセイショウメイショ"),), (("証明書", "certificate"),))
    words = Words(["校正証明書"], vocabulary.synonyms)
    found = preview("校正証明書を保管する", words, vocabulary)
    whole = token(found, "校正証明書")
    assert (whole.terms, whole.reading, whole.part_of_speech) == (
        ("校正証明書",),
        "コウセイショウメイショ",
        "user_word",
    )
    assert [each.synonyms for each in found.tokens if "証明" in each.terms] == [("certificate",)]
    assert {"校正証明書", "校正", "certif"} <= set(found.asked)


@settings(max_examples=60)
@given(
    st.text(
        st.sampled_from("aB1,.-'’ー東京カﾊﾞ゛é²㌔가각ᄀ\u0301 　🙂") | st.characters(codec="utf-8"),
        min_size=1,
        max_size=60,
    )
)
def test_preview_agrees_with_the_index_and_covers_every_sign(text: str) -> None:
    if not text.strip():
        return
    found = preview(text)
    assert found.indexed == tuple(row_terms(text))
    # What is asked is normalised first: "º" of another script is an "o" then.
    assert found.asked == tuple(terms_of(PLAIN.ask(text)))
    assert languages_asked(normalise(text)) or set(analyse_query(text)) <= set(found.asked)
    assert tuple(term for each in found.tokens for term in each.terms) == found.indexed
    assert all(text[each.start : each.end] == each.surface for each in found.tokens)
    covered = {at for each in found.tokens for at in range(each.start, each.end)}
    assert all(at in covered for at, sign in enumerate(text) if sign.isalnum())


def test_no_more_than_a_few_signs_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    normalised = unicodedata.normalize

    def watched(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
        nonlocal longest
        longest = max(longest, len(text))
        return normalised(form, text)

    monkeypatch.setattr(analyser.unicodedata, "normalize", watched)
    places = analyser._places("\u0345" + "\u0301\u0316" * 700)
    assert longest < 100
    assert (places[0][1], places[-1][2]) == (0, 1401)


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "a" * (LONGEST_TEXT + 1)])
def test_nothing_and_too_much_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        preview(text)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("analysing")) as opened:
        yield opened


def test_preview_goes_by_the_vocabulary_that_the_index_was_built_with(kb: core.KnowledgeBase) -> None:
    kb.insight.set_vocabulary([("AB 1234", "")], [])
    assert "ab1234" not in kb.insight.analyse("AB 1234").indexed
    assert "ab1234" in kb.insight.analyse("AB 1234", written=True).indexed
    kb.insight.reindex_words()
    kb.work_off()
    assert kb.insight.analyse("AB 1234").engines == {"memory": ("ab", "1234", "ab1234")}
