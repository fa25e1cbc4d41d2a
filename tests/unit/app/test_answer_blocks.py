"""Answers in blocks: rows become a small table with its cell marked, steps and items become lists, nothing is lost."""

from __future__ import annotations

from dash import html
from hypothesis import given
from hypothesis import strategies as st

from app.components.ask.answer_blocks import answer_body, row_of
from core.model import Answer, AnswerType, Citation, Sentence
from tests.unit.app.drawn import by_class, parts, text


def citation(number: int, words: str) -> Citation:
    return Citation(number, "a.pdf", 1, number, 0, "a.pdf", words, 0, len(words))


def answer(words: str, *cited: str, marked: tuple[tuple[int, int], ...] = ()) -> Answer:
    citations = tuple(citation(number, each) for number, each in enumerate(cited, 1))
    return Answer(words, AnswerType.EXTRACTIVE, citations, marked=marked)


def rows(table: html.Table) -> list[list[str]]:
    return [[text(cell) for cell in row.children] for row in parts(table, html.Tr)]


def test_rows_of_one_table_are_one_small_table_with_its_deciding_cell_marked() -> None:
    words = "Item: Hotel, up to; Japan: 13,500 yen [1] Item: Daily allowance; Japan: 3,200 yen [2]"
    at = words.index("13,500")
    made = answer(words, "Hotel, up to | 13,500 yen", "Daily allowance | 3,200 yen", marked=((at, at + 10),))
    [block] = answer_body(made)
    [table] = parts(block, html.Table)
    assert rows(table) == [
        ["Item", "Japan", "Source"],
        ["Hotel, up to", "13,500 yen", "[1]"],
        ["Daily allowance", "3,200 yen", "[2]"],
    ]
    assert [text(cell) for cell in by_class(table, "is-deciding")] == ["13,500 yen"]


def test_text_beside_a_row_stays_text_and_other_tables_are_tables_of_their_own() -> None:
    words = "Rinse it well. [1] Step: Rinse; Time: 10 minutes [2] 番号: 3; 項目: 出力 [3] That is all."
    blocks = answer_body(answer(words, "Rinse it well.", "Rinse | 10 minutes", "3 | 出力"))
    assert [type(block).__name__ for block in blocks] == ["P", "Div", "Div", "P"]
    assert text(blocks[0]) == "Rinse it well.  [1]" and text(blocks[3]).strip() == "That is all."
    assert rows(next(parts(blocks[2], html.Table))) == [["番号", "項目", "Source"], ["3", "出力", "[3]"]]


def test_a_row_of_which_only_some_cells_were_quoted_is_read() -> None:
    found = row_of("Code: A; Price: 12", 0, 18, citation(1, "A | Unit | 12 | 2026"))
    assert found is not None and found.labels == ("Code", "Price")
    assert row_of("A and 12 more", 0, 13, citation(1, "A | 12")) is None
    assert row_of("Code: A; Price: 12 or so", 0, 24, citation(1, "A | 12")) is None


def test_cells_that_hold_the_joints_themselves_are_whole() -> None:
    words = "Name: unit; rubidium: new; Price: 1; 2"
    found = row_of(words, 0, len(words), citation(1, "unit; rubidium: new | 1; 2"))
    assert found is not None
    assert [words[start:end] for start, end in found.cells] == ["unit; rubidium: new", "1; 2"]


def test_numbered_steps_are_a_list_with_their_numbers() -> None:
    words = "Do it so:\n3. Open the valve.\n4. Wait. [1]"
    intro, steps = answer_body(answer(words, "Do it so: 3. Open the valve. 4. Wait."))
    assert text(intro) == "Do it so:" and isinstance(steps, html.Ol)
    assert [(item.value, text(item).split(" [")[0].strip()) for item in parts(steps, html.Li)] == [
        ("3", "Open the valve."),
        ("4", "Wait."),
    ]


def test_items_and_what_a_colon_announces_are_lists() -> None:
    [items] = answer_body(answer("- red\n- green"))
    assert isinstance(items, html.Ul) and [text(item) for item in parts(items, html.Li)] == ["red", "green"]
    intro, announced = answer_body(answer("次のとおり：\n鍵を抜く\n電源を切る"))
    assert text(intro) == "次のとおり：" and isinstance(announced, html.Ul)
    [lines] = answer_body(answer("One line.\nAnother line."))
    assert isinstance(lines, html.P)


def test_sentences_of_a_written_answer_stay_one_block() -> None:
    made = Answer("- One.\n- Two.", AnswerType.GENERATIVE, sentences=(Sentence(0, 6, True), Sentence(7, 13, True)))
    [block] = answer_body(made)
    assert isinstance(block, html.P)


@given(st.text(alphabet="ab |:;\n-1.[]:：", max_size=60), st.text(alphabet="ab |:;1", max_size=20))
def test_no_letter_of_an_answer_is_lost(words: str, cited: str) -> None:
    shown = text(answer_body(answer(words + " [1]", cited)))
    for letter in "ab":
        assert shown.replace("Table", "").replace("Source", "").count(letter) == words.count(letter)
