"""What terms of a question are in the other language, by the list of words, and what a question asks for by them."""

from __future__ import annotations

import time
from importlib.resources import files

import pytest

from core.model.terms import Clause
from core.text import translations as module
from core.text.analysis import analyse
from core.text.translations import translations
from core.text.vocabulary import PLAIN, Words, terms_of

LINES = files("core.text").joinpath("translations.tsv").read_text("utf-8").splitlines()
_SECONDS_TO_LOAD = 20


def meant(question: str, language: str, term: str) -> list[set[str]]:
    return [set(each) for each in translations(question, language).get(term, ())]


def test_a_word_is_known_in_both_directions() -> None:
    assert {"print"} in meant("印刷", "ja", "印刷")
    assert {"印刷"} in meant("print", "en", "print")


@pytest.mark.parametrize("question", ["印刷しました", "印刷できますか", "印刷"])
def test_a_japanese_word_is_known_by_its_inflected_forms(question: str) -> None:
    assert {"print"} in meant(question, "ja", "印刷")


@pytest.mark.parametrize("question", ["deletes", "deleted", "deleting"])
def test_an_english_word_is_known_by_its_inflected_forms(question: str) -> None:
    assert {"削除"} in meant(question, "en", "delet")


@pytest.mark.parametrize(
    ("question", "language", "terms", "expected"),
    [
        ("設定ファイルはどこですか", "ja", ("設定", "ファイル"), {"configur", "file"}),
        ("How do I log out?", "en", ("log", "out"), {"ログアウト"}),
        ("set the time zone", "en", ("time", "zone"), {"タイム", "ゾーン"}),
    ],
)
def test_each_term_of_a_compound_may_be_what_the_compound_is(
    question: str, language: str, terms: tuple[str, ...], expected: set[str]
) -> None:
    for term in terms:
        assert expected in meant(question, language, term)


def test_a_compound_comes_before_what_its_parts_are_alone() -> None:
    found = meant("設定ファイル", "ja", "設定")
    assert found.index({"configur", "file"}) < found.index({"configur"})


def test_parts_of_a_compound_that_stand_apart_are_none() -> None:
    assert {"タイム", "ゾーン"} not in meant("the zone in which time passes", "en", "time")


@pytest.mark.parametrize("language", ["de", "zh", "ko", ""])
def test_other_languages_have_no_translations(language: str) -> None:
    assert translations("print the configuration 印刷", language) == {}


def test_the_first_translations_of_the_list_come_first() -> None:
    told = dict(line.split("\t") for line in LINES)
    first = told["設定"].split("; ")[0]
    assert meant("設定", "ja", "設定")[0] == set(analyse(first))
    found = meant("transfer", "en", "transfer")
    places = [told[word].split("; ").index("transfer") for each in found for word in each if len(each) == 1]
    assert places == sorted(places)


def test_a_long_question_is_looked_up_as_far_as_it_may_be_long() -> None:
    assert "print" not in translations("a " * 300 + "print", "en")


def test_each_line_of_the_list_is_a_japanese_word_and_its_english_ones() -> None:
    for line in LINES:
        japanese, english = line.split("\t")
        words = english.split("; ")
        assert japanese == japanese.strip() and analyse(japanese), line
        assert english.isascii() and all(word and word == word.strip() for word in words), line
        assert len(set(words)) == len(words), line


def test_the_list_is_sorted_and_has_each_word_once() -> None:
    assert sorted(LINES) == LINES
    assert len({line.partition("\t")[0] for line in LINES}) == len(LINES)


def test_the_list_is_soon_read() -> None:
    analyse("辞書を読む")
    module._list.cache_clear()
    started = time.perf_counter()
    translations("the list is read", "en")
    assert time.perf_counter() - started < _SECONDS_TO_LOAD


@pytest.mark.parametrize("question", ["設定ファイルの設定を変更する方法", "transfer the order and change the transfer"])
def test_a_question_asks_for_each_term_in_one_clause(question: str) -> None:
    asked = PLAIN.ask(question)
    terms = [{term for terms in clause.alternatives for term in terms} for clause in asked]
    assert sum(map(len, terms)) == len(set().union(*terms))


def test_a_question_asks_for_its_own_word_first_and_for_at_most_four_translations() -> None:
    asked = PLAIN.ask("transfer the printers")
    assert [clause.alternatives[0] for clause in asked] == [("transfer",), ("printer",)]
    assert [clause.word for clause in asked] == ["transfer", "printer"]
    assert len(asked[0].alternatives) == 5
    assert ("プリンタ",) in asked[1].alternatives


def test_a_word_of_the_question_is_no_translation_of_another_one() -> None:
    asked = PLAIN.ask("印刷とprint")
    assert [clause.alternatives[0] for clause in asked] == [("印刷",), ("print",)]
    assert ("print",) not in asked[0].alternatives


def test_synonyms_of_the_vocabulary_stand_instead_of_translations() -> None:
    words = Words([], [["printer", "teletype"]])
    asked = words.ask("printer settings")
    assert asked[0] == Clause((("printer",), ("teletyp",)), "printer")
    assert "設定" in terms_of(asked)


def test_a_question_in_another_language_asks_for_no_translations() -> None:
    assert all(term.isascii() for term in terms_of(PLAIN.ask("Wo ist der Drucker für die Buchhaltung?")))
