"""The cell of a row whose column the question names."""

from __future__ import annotations

import pytest

from core.query.answer.named_cell import named_cell
from core.query.answer.question_profile import read_question
from core.query.answer.quotable_units import Unit

CARDS = Unit(0, 30, "500 | 49.00 | 58.50 | 214.00", "Quantity | Uncoated | Silk laminate | Letterpress", is_row=True)
CODES = Unit(0, 30, "E6 | Compressor overheated | Clean the filter", "Code | Meaning | What to do", is_row=True)
PLANS = Unit(0, 30, "Pro (billed yearly) | 5 EUR", "Plan | Price", is_row=True)
SHOES = Unit(0, 30, "Shoes | 30 days | one year", "Article | Return period | Warranty period", is_row=True)
AGES = Unit(0, 30, "Small car | 60 EUR | 45 EUR | 30 EUR", "Driver's age | 17–20 | 21–24 | 25–75", is_row=True)
靴 = Unit(0, 30, "靴 | 30日 | 一年", "品名 | 返品期間 | 保証期間", is_row=True)
会議室 = Unit(0, 30, "大会議室A（三階） | 40", "会議室 | 定員", is_row=True)
会員 = Unit(0, 30, "平日会員 | 20,000円 | 4,200円", "種別 | 入会金 | 月会費", is_row=True)


@pytest.mark.parametrize(
    ("question", "row", "cell"),
    [
        ("What do 500 cards with silk finish cost?", CARDS, ("Silk laminate", "58.50")),
        ("What do 500 letterpress cards cost?", CARDS, ("Letterpress", "214.00")),
        ("What is the meaning of E6?", CODES, ("Meaning", "Compressor overheated")),
        ("Which code means that the compressor is overheated?", CODES, ("Code", "E6")),
        ("平日会員の月会費はいくらですか", 会員, ("月会費", "4,200円")),
        ("What do 500 cards cost?", CARDS, None),
        ("How much is the Pro plan?", PLANS, None),
        ("大会議室の定員は何人ですか", 会議室, ("定員", "40")),
        ("How many days is the return period for shoes?", SHOES, ("Return period", "30 days")),
        ("靴の返品期間は何日ですか", 靴, ("返品期間", "30日")),
        ("Are uncoated or silk cards cheaper?", CARDS, None),
        ("What does a 22 year old driver pay for a small car?", AGES, ("21–24", "45 EUR")),
        ("What does a driver pay for a small car for 22 days?", AGES, None),
        ("Why is the sky blue?", Unit(0, 5, "no row", ""), None),
    ],
)
def test_the_cell_of_the_column_that_alone_is_named(question: str, row: Unit, cell: tuple[str, str] | None) -> None:
    assert named_cell(row, read_question(question, [])) == cell
