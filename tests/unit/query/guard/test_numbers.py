"""Figures are the same whatever they are written with."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.query.guard.numbers import foreign_figures, held_figures, stated_figures


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("1,000 people", "1000 people"),
        ("１０００人", "1,000人"),
        ("1000人", "千人"),
        ("3776人", "三千七百七十六人"),
        ("二〇二三年", "2023年"),
        ("1億2000万円", "120,000,000円"),
        ("3万5千人", "35000人"),
        ("2 valves", "two valves"),
        ("3.50 m", "3.5 m"),
        ("1.5 million", "1,500,000"),
        ("1.5", "1.5 million"),
        ("7 May", "2024-05-07"),
        ("一人で", "1人で"),
        ("3か月", "三か月"),
        ("3週間", "三週間"),
        ("3時間", "三時間"),
        ("30分", "三十分"),
        ("8文字", "八文字"),
        ("-5 °C", "minus 5 °C"),
        ("−5度", "氷点下五度"),
        ("-5 °C", "5 degrees below zero"),
        ("5 degrees", "氷点下5度"),
        ("9 to 17", "9-17"),
        ("9時から17時", "9時-17時"),
        ("10 to 12", "10 - 12"),
        ("200 rooms", "two hundred rooms"),
        ("25", "twenty-five"),
        ("1,250,000", "one million two hundred and fifty thousand"),
        ("24", "two dozen"),
        ("3000000", "three million"),
    ],
)
def test_one_number_in_two_forms_is_held(said: str, held: str) -> None:
    assert foreign_figures(stated_figures(said), held_figures(held)) == ()


@pytest.mark.parametrize(
    ("said", "held", "foreign"),
    [
        ("3,786 people", "3,776 people", ("3,786",)),
        ("1.5 million", "1.5 thousand", ("1.5 million",)),
        ("三千七百八十六人", "3776人", ("三千七百八十六",)),
        ("In 1987 and 1999", "1987", ("1999",)),
        ("五年後", "3年後", ("五",)),
        ("1月", "一般の人", ("1",)),
        ("5 °C", "-5 °C", ("5",)),
        ("-5 °C", "5 °C", ("-5",)),
        ("−5度", "5度", ("−5",)),
        ("20 rooms and 5 rooms", "twenty-five rooms", ("20", "5")),
        ("100 rooms", "two hundred rooms", ("100",)),
        ("9" * 5000, "9", ("9" * 5000,)),
    ],
)
def test_another_number_is_foreign(said: str, held: str, foreign: tuple[str, ...]) -> None:
    assert foreign_figures(stated_figures(said), held_figures(held)) == foreign


@pytest.mark.parametrize(
    "text",
    [
        *("一番よい", "十分な量", "一時停止する", "一行が着く", "千葉の百貨店", "万一の場合"),
        *("1. First\n2. Second", "one of them"),
    ],
)
def test_words_and_list_numbers_state_no_figure(text: str) -> None:
    assert stated_figures(text) == []


@given(st.text("0123456789,.〇一九十百千万億兆年 １million", max_size=40))
def test_every_text_holds_its_own_figures(text: str) -> None:
    assert foreign_figures(stated_figures(text), held_figures(text)) == ()


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("30 seconds", "after a thirty second delay"),
        ("500", "one hundred, two hundred and five hundred"),
        ("3000", "between two thousand and three thousand"),
        ("5 %", "+/-5 %"),
    ],
)
def test_numbers_of_a_list_and_of_units_stay_apart(said: str, held: str) -> None:
    assert foreign_figures(stated_figures(said), held_figures(held)) == ()
