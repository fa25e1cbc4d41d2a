"""Terms: what a text is found by."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.analysis import LONGEST_TERM, analyse, analyse_query, content_words, keywords, question_clauses
from tests.proportion import grows_in_proportion


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The universities agreed.", "university"),
        ("Ferries were running", "ferry runs"),
        ("Order PPR-9087", "PPR-9087"),
        ("Order PPR-9087", "ppr9087"),
        ("Order PPR-9087", "9087"),
        ("Release 20.04", "20.04"),
        ("a multi-agent planner", "multiagent"),
        ("a multi-agent planner", "agents"),
        ("send an e-mail", "email"),
        ("photo by @nasa", "nasa"),
        ("photo by NASA", "@nasa"),
        ("please don't", "don't"),
        ("please don’t", "don't"),
        ("the harbour's lights", "harbour"),
        ("written in C++", "c++"),
        ("written in C#", "C#"),
        ("the U.S. coast", "US coast"),
        ("1,234,567 units", "1234567"),
        ("Beyoncé sang", "beyonce"),
        ("ＡＢＣ１２３", "abc123"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("サーバーを起動", "サーバ"),
        ("関西国際空港", "空港"),
        ("関西国際空港", "国際"),
        ("食べなかった", "食べる"),
        ("走った", "走らない"),
        ("㍿丸山", "株式会社"),
        ("see foo_bar.txt", "foo_bar"),
        ("см. гавань", "гавань"),
    ],
)
def test_question_shares_a_term_with_the_text(text: str, question: str) -> None:
    assert set(analyse_query(question)) & set(analyse(text))


@pytest.mark.parametrize(
    ("text", "question"), [("in 2004", "20.04"), ("C++", "c#"), ("大阪", "東京"), ("ハート", "ハー")]
)
def test_whole_code_is_not_another_code(text: str, question: str) -> None:
    assert analyse_query(question)[0] not in analyse(text)


def test_stop_words_are_no_terms_of_a_question() -> None:
    assert analyse_query("What is the capital of the island?") == ["capit", "island"]
    assert analyse_query("これは何ですか") == []
    assert analyse_query("島の首都はどこですか") == ["島", "首都"]


def test_capitals_make_a_stop_word_a_name() -> None:
    assert analyse_query("Who leads IT?") == ["lead", "it"]
    assert analyse_query("WHAT IS THE CAPITAL?") == ["capit"]


def test_a_question_asks_for_each_term_once() -> None:
    assert analyse_query("harbour harbours 港 港") == ["harbour", "港"]


def test_text_keeps_repetitions_and_order() -> None:
    assert analyse("Salt, pepper, salt") == ["salt", "pepper", "salt"]


def test_keywords_are_words_as_a_person_writes_them() -> None:
    found = keywords("How do universities store PPR-9087 in 関西国際空港の倉庫で？")
    assert found == ("universities", "store", "PPR-9087", "関西国際空港", "倉庫")


def test_content_words_of_an_inflected_sentence_are_those_of_the_plain_one() -> None:
    assert content_words("雨が降らなかった。") == content_words("雨が降る。") | content_words("なかった")
    assert content_words("The boats were leaving.") == content_words("a boat leaves")


@given(st.text())
def test_no_term_is_empty_or_holds_white_space_or_is_endless(text: str) -> None:
    for term in analyse(text):
        assert term
        assert not any(sign.isspace() for sign in term)
        assert len(term) <= 2 * LONGEST_TERM
        term.encode()


@given(st.text())
def test_terms_of_a_question_are_terms_of_the_same_text(text: str) -> None:
    assert set(analyse_query(text)) <= set(analyse(text))


@given(st.text(alphabet="abcＡＢｱｶﾞ東京都1２３-. "))
def test_width_of_the_signs_does_not_matter(text: str) -> None:
    import unicodedata

    assert analyse(text) == analyse(unicodedata.normalize("NFKC", text))


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", ["x", "あ", "漢字", "e\u0301", "\u0301", "\u0591\u0301", "a-", "1,", "\ufdfa", "a'", "\ud800", "🙂", "a.b "]
)
def test_a_long_text_of_one_sign_costs_time_in_proportion(unit: str) -> None:
    assert grows_in_proportion(lambda length: analyse((unit * length)[:length]), 20_000, 160_000)


def test_threads_get_the_same_terms() -> None:
    texts = [f"{n}番目の関西国際空港の倉庫 universities running code-{n}" for n in range(50)]
    alone = [analyse(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(analyse, texts * 4)) == alone * 4


def test_import_loads_no_dictionary() -> None:
    import subprocess
    import sys

    check = "import core.text.analysis, sys; sys.exit('lindera' in sys.modules or 'Stemmer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_a_word_of_nothing_but_endings_is_analysed() -> None:
    assert analyse("pump" + "'s" * 5000) == analyse("pump's")
    analyse("'s" * 5000)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("I'd like to know what she'll do", ["like", "know"]),
        ("It doesn’t work and we can't print", ["work", "print"]),
        ("They won't, I'll wait", ["wait"]),
        ("The shell is ill at 7 o'clock", ["shell", "ill", "7", "oclock"]),
        ("CA and WO", ["ca", "wo"]),
        ("What don't I do?", ["dont"]),
        ("What's it?", []),
    ],
)
def test_contractions_of_little_words_are_not_asked_for(question: str, terms: list[str]) -> None:
    assert analyse_query(question) == terms


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        ("25MB file", [(("25", "mb"), ("25mb",)), (("file",),)]),
        ("25 MB file", [(("25mb",), ("25", "mb")), (("file",),)]),
        ("3.5kg", [(("3",),), (("3.5", "5", "kg"), ("3.5kg", "5kg"))]),
        ("v2.1", [(("1",),), (("2.1", "2"), ("v2.1", "v2"))]),
        ("25 files", [(("25",),), (("file",),)]),
        ("A4 E17", [(("a4",),), (("e17",),)]),
        ("第3条の内容", [(("第",),), (("三",), ("3",)), (("条",),), (("内容",),)]),
        ("25MB or 25 seats", [(("mb",), ("25mb",)), (("25",),), (("seat",),)]),
        ("第三条の内容", [(("第",),), (("条",),), (("内容",),), (("3",), ("三",))]),
        ("第12条の内容", [(("第",),), (("十", "二"), ("12",)), (("条",),), (("内容",),)]),
    ],
)
def test_figures_are_asked_for_as_they_are_written_otherwise(
    question: str, clauses: list[tuple[tuple[str, ...], ...]]
) -> None:
    assert [clause.alternatives for clause in question_clauses(question)] == clauses
