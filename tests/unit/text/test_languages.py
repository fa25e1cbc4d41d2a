"""Which language a text and a question are in, and what their words become in it."""

from __future__ import annotations

import json

import pytest

from benchmarks.languages import TEXTS
from core.model.terms import Clause
from core.sample import documents, questions
from core.text.analysis import analyse, analyse_query, is_spoken, keywords, question_clauses, row_terms, unmarked
from core.text.languages import language_asked, language_of, languages_asked
from core.text.vocabulary import Words, terms_of

SETS = {path.stem: [json.loads(line) for line in path.open(encoding="utf-8")] for path in sorted(TEXTS.glob("*.jsonl"))}
KANJI_ALONE = (
    "東京都港区 | 代表取締役社長 | 営業部長 | 総務課",
    "目的外使用禁止。現在庫数、所在地、完了報告。",
    "民主主義人民共和国の首都",
    "製造業 | 大会社 | 多数 | 中小企業 | 経済政策",
    "出入国管理及び難民認定法",
)


@pytest.mark.parametrize("language", SETS)
def test_long_text_tells_its_language(language: str) -> None:
    code = language.partition("-")[0]
    texts = [each["text"] for each in SETS[language]]
    assert language_of("\n".join(texts)) == code
    asked = [each["question"] for each in SETS[language]]
    assert all(code in languages_asked(each) or language_of(each) == code for each in asked)


@pytest.mark.parametrize("text", KANJI_ALONE)
def test_japanese_without_kana_stays_japanese(text: str) -> None:
    assert language_of(text) == "ja"
    assert not any(map(is_spoken, row_terms(text)))


def test_english_and_japanese_rows_and_questions_have_the_terms_that_they_had() -> None:
    for each in documents():
        if each.path.suffix in (".md", ".txt", ".csv"):
            text = each.path.read_text(encoding="utf-8")
            for line in (text, *text.splitlines()):
                assert row_terms(line) == analyse(line)
    for question in questions():
        spoken = [clause.alternatives for clause in question_clauses(question.question)]
        plain = [term for alternatives in spoken for term in alternatives[-1]]
        assert plain == analyse_query(question.question)
        assert all(all(map(is_spoken, terms)) for alternatives in spoken for terms in alternatives[:-1])


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("de", "Häuser", "Hauses"),
        ("de", "Straßen", "STRASSE"),
        ("fr", "l’ingénieur", "ingénieurs"),
        ("it", "dell'albero", "alberi"),
        ("es", "vacaciones", "vacación"),
        ("tr", "Ankara'nın", "Ankara"),
        ("tr", "IŞIK", "ışık"),
        ("ro", "şcoală", "școala"),
        ("", "инженерами", "инженер"),
        ("", "ёлка", "елка"),
        ("", "μηχανικοί", "μηχανικός"),
        ("", "الكِتاب", "الكتاب"),
        ("zh", "臺灣鐵橋", "台湾铁桥"),
    ],
)
def test_forms_of_a_word_are_one_term(language: str, first: str, second: str) -> None:
    assert set(analyse(first, language)) & set(analyse(second, language))


@pytest.mark.parametrize(("first", "second"), [("자전거를", "자전거는"), ("물은", "물이"), ("อุณหภูมิ", "วัดอุณหภูมิสูง")])
def test_words_without_blanks_share_pairs_of_signs(first: str, second: str) -> None:
    assert set(analyse(first)) & set(analyse(second))


def test_question_asks_for_a_word_in_its_language_or_as_every_row_has_it() -> None:
    assert question_clauses("Wie hoch sind die Häuser?") == (
        Clause((("de~hoch",), ("hoch",))),
        Clause((("de~haus",), ("hauser",))),
    )
    assert question_clauses("How high are the houses?") == (Clause((("high",),)), Clause((("hous",),)))
    assert question_clauses("東京タワーの高さは？")[0] == Clause((("東京",),))
    (clause,) = question_clauses("人口統計")
    assert clause.alternatives[-1] == ("人口", "統計") and all(map(is_spoken, clause.alternatives[0]))


def test_little_words_are_not_asked_for() -> None:
    assert keywords("Wo soll ich mein Fahrrad abstellen?", "de") == ("fahrrad", "abstellen")
    assert keywords("自行车应该停在哪里？", "zh") == ("自行车应该停",)
    assert keywords("열쇠를 누가 내줍니까?", "ko") == ("열쇠를", "내줍니까")


def test_synonyms_stand_beside_the_words_of_a_language() -> None:
    asked = Words([], [["Fahrrad", "Velo"]]).ask("Wo steht mein Fahrrad in den Häusern?")
    assert asked[0] == Clause((("fahrrad",), ("velo",)), "Fahrrad")
    assert {"de~haus", "hausern"} <= set(terms_of(asked))
    assert unmarked("de~haus") == "haus"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wi-Fi password", "en"),
        ("guest Wi-Fi password", "en"),
        ("Hi-Fi setup", "en"),
        ("Quand est-ce que le rendez-vous commence ?", "fr"),
        ("Peut-on annuler ?", "fr"),
        ("Devons-nous payer ?", "fr"),
        ("Wie lautet das Wi-Fi-Passwort?", "de"),
    ],
)
def test_parts_of_a_word_with_a_hyphen_tell_no_language(question: str, language: str) -> None:
    assert language_asked(question) == language


def test_uncertain_question_is_taken_for_english() -> None:
    assert languages_asked("Siemens HX-4410") == ()
    assert language_asked("Siemens HX-4410") == "en"
    assert language_asked("Name a luxury division of Toyota.") == "en"
