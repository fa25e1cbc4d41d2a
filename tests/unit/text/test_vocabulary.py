"""A vocabulary adds whole words and synonyms to what texts and questions are analysed as, and takes nothing away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import TermScore
from core.model.terms import Clause
from core.text.analysis import analyse, analyse_query, is_spoken, normalise, question_clauses, row_terms
from core.text.languages import languages_asked
from core.text.vocabulary import PLAIN, Words, counted, scannable, terms_of

NAMES = Words(["きゃりーぱみゅぱみゅ", "AB 1234", "X線", "ラン", "Café Lumière", "C++"])
LEAVE = Words(["年次有給休暇"], [["laptop", "notebook computer", "ノートパソコン"], ["vacation", "年次有給休暇"]])


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("新曲はきゃりーぱみゅぱみゅのものだ", "きゃりーぱみゅぱみゅ"),
        ("part ab-1234 is in stock", "ab1234"),
        ("part AB  1234 is in stock", "ab1234"),
        ("ＡＢ　１２３４を注文した", "ab1234"),
        ("胸部Ｘ線検査", "x線"),
        ("at the CAFE LUMIERE tonight", "cafelumier"),
    ],
)
def test_word_of_the_vocabulary_is_a_term_besides_its_parts(text: str, term: str) -> None:
    assert term not in analyse(text) or term == "ab1234"
    assert NAMES.analyse(text).count(term) == 1
    assert set(analyse(text)) <= set(NAMES.analyse(text))
    assert (term,) in [clause.alternatives[0] for clause in NAMES.ask(text)]


@pytest.mark.parametrize("text", ["プランを立てる", "ランナーの記録", "XAB 12345", "cab 1234"])
def test_word_is_none_within_a_longer_one_of_its_script(text: str) -> None:
    assert NAMES.analyse(text) == analyse(text)


def test_term_that_the_text_has_anyway_is_not_counted_twice() -> None:
    assert NAMES.analyse("AB1234").count("ab1234") == 1
    assert NAMES.analyse("AB-1234 and AB 1234").count("ab1234") == 2


def test_longest_word_is_found_and_none_overlaps_it() -> None:
    words = Words(["東京都", "東京都知事", "知事室"])
    assert [found.word for found in words.find("東京都知事室は東京都にある")] == ["東京都知事", "東京都"]


def test_found_word_tells_its_place_in_the_normalised_text() -> None:
    text = "part ab -- no: AB - 1234? AB-1234!"
    assert [text[found.start : found.end] for found in NAMES.find(text)] == ["AB-1234"]


def test_question_asks_for_synonyms_as_alternatives_of_its_own_word() -> None:
    asked = LEAVE.ask("How long does a laptop last?")
    assert asked[0] == Clause((("laptop",), ("notebook", "comput"), ("ノート", "パソコン")), "laptop")
    assert [clause.alternatives[0] for clause in asked[1:]] == [("long",), ("last",)]


def test_synonym_is_known_by_its_inflected_form_and_by_several_words() -> None:
    assert LEAVE.ask("Laptops")[0].word == "laptop"
    assert LEAVE.ask("the notebook computers here")[0].alternatives[1] == ("laptop",)
    assert "laptop" not in terms_of(LEAVE.ask("a notebook and a computer"))


def test_synonym_that_is_a_whole_word_is_asked_with_it() -> None:
    assert "年次有給休暇" in terms_of(LEAVE.ask("vacation days"))
    assert "vacat" in terms_of(LEAVE.ask("年次有給休暇の日数"))


def test_each_term_stands_in_one_clause() -> None:
    words = Words([], [["usb stick", "thumb drive"], ["drive", "disk"], ["stick", "rod"]])
    asked = words.ask("usb stick drive with a thumb")
    terms = [{term for terms in clause.alternatives for term in terms} for clause in asked]
    assert sum(map(len, terms)) == len(set().union(*terms))


def test_best_alternative_counts_and_says_what_it_stands_for() -> None:
    asked = LEAVE.ask("laptop speed")
    scores = {term: TermScore(term, score) for term, score in [("laptop", 2.0), ("notebook", 1.5), ("comput", 1.0)]}
    assert [(part.term, part.stands_for) for part in counted(asked, scores)] == [
        ("notebook", "laptop"),
        ("comput", "laptop"),
    ]
    assert counted(asked, {"laptop": scores["laptop"]}) == (scores["laptop"],)
    assert counted(asked, {}) == ()


def test_words_that_mean_the_same_are_told() -> None:
    terms = analyse("fast laptops, slow notebook computers")
    assert LEAVE.synonyms_in(terms) == {
        1: ("notebook computer", "ノートパソコン"),
        3: ("laptop", "ノートパソコン"),
    }


@given(st.text(alphabet=st.sampled_from("aB1-_.'’・ー東京カキガ゛é²ﾊﾞ 　\n\0🙂") | st.characters(codec="utf-8")))
def test_without_a_vocabulary_nothing_changes_and_with_one_nothing_is_lost(text: str) -> None:
    assert PLAIN.analyse(text) == row_terms(text)
    assert [term for term in row_terms(text) if not is_spoken(term)] == analyse(text)
    clauses = question_clauses(text)
    for own, clause in zip(clauses, PLAIN.ask(text), strict=True):
        assert clause.alternatives[: len(own.alternatives)] == own.alternatives, "translations stand behind"
    asked = [term for clause in clauses for term in clause.alternatives[-1]]
    assert languages_asked(normalise(text)) or sorted(asked) == sorted(analyse_query(text))
    found = NAMES.analyse(text)
    assert found[: len(row_terms(text))] == row_terms(text)
    assert languages_asked(normalise(text)) or set(analyse_query(text)) <= set(terms_of(LEAVE.ask(text)))
    signs, places = scannable(text)
    assert len(signs) == len(places) == len([place for place in places if 0 <= place < len(text)])
