"""Rows of a range that holds a number of the question, where no row has the number itself."""

from __future__ import annotations

import pytest

from core.model import BlockKind
from core.query.answer.candidates import Candidate, CandidateFinder
from core.query.answer.quotable_units import Unit
from core.query.answer.ranges import in_range
from tests.unit.query.answer.test_extract import hits_for

GROUPS = "Insurance group | Yearly premium\n1–8 | 310 EUR\n9–16 | 420 EUR\n17–25 | 560 EUR\n26–40 | 790 EUR"
取消料 = (
    "取消日 | 取消料\n60日前以前 | 無料\n59日前から30日前まで | 旅行代金の10%\n29日前から8日前まで | 旅行代金の30%"
    "\n7日前以降 | 旅行代金の50%"
)


def candidates(question: str, *tables: str) -> list[Candidate]:
    hits = hits_for(question, *tables, kind=BlockKind.TABLE)
    return CandidateFinder(question, hits).find(hits)


def best_row(question: str, *tables: str) -> str:
    return max(candidates(question, *tables), key=lambda each: each.chance).text


def rows(header: str, *texts: str) -> list[tuple[int, Unit]]:
    return [(1, Unit(0, len(text), text, header, is_row=True)) for text in texts]


@pytest.mark.parametrize(
    ("question", "table", "said"),
    [
        ("How much is the premium for insurance group 20?", GROUPS, "560 EUR"),
        ("What is the yearly premium of a car in insurance group 37?", GROUPS, "790 EUR"),
        ("出発の45日前に取消した場合の取消料はいくらですか", 取消料, "10%"),
        ("出発の１０日前の取消料は？", 取消料, "30%"),
    ],
)
def test_the_row_of_the_range_answers(question: str, table: str, said: str) -> None:
    assert said in best_row(question, table)


def test_the_row_that_has_the_number_answers_before_one_of_a_range() -> None:
    question = "How much is the premium for insurance group 20?"
    assert "450 EUR" in best_row(question, f"{GROUPS}\n20 | 450 EUR")
    assert "450 EUR" in best_row(question, GROUPS, "Insurance group | Yearly premium\n19 | 440 EUR\n20 | 450 EUR")


def test_a_table_of_something_else_gains_nothing() -> None:
    question = "How long is the warranty of the compressor in room 20?"
    found = candidates(question, GROUPS)
    assert not any(each.features["in_range"] for each in found)


@pytest.mark.parametrize(
    ("question", "within"),
    [
        ("Which fee does a 22 year old pay?", [False, True]),
        ("Which fee does a 22-year-old pay?", [False, True]),
        ("Which fee do drivers of 21 pay?", [False, True]),
        ("What do I pay for 22 days?", [False, False]),
        ("What do I pay on 22 May?", [False, False]),
        ("What is a fee of $22 for?", [False, False]),
        ("What do I pay at 22:15?", [False, False]),
        ("Who repairs damage of about 22 thousand dollars?", [False, False]),
        ("What do I pay for a jetty of 22 m?", [False, False]),
        ("What does model X22 cost?", [False, False]),
        ("Which fee does a driver pay?", [False, False]),
        ("Which fee does an 80 year old pay?", [False, False]),
        ("What is 40 for?", [False, False]),
    ],
)
def test_a_number_counts_what_the_range_does(question: str, within: list[bool]) -> None:
    assert in_range(question, rows("Age | Fee", "17–20 | 60 EUR", "21–24 | 40 EUR")) == within


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        ("Mon 9:00–17:00 | open", "Sat 10:00–14:00 | open", "What is open at 12?"),
        ("2010–15 | Smith", "2016–19 | Jones", "Who led team 17?"),
        ("03-5551 | Tokyo", "06-6661 | Osaka", "Where is branch 100?"),
        ("1–30 | low", "Form 4 | high", "What is level 12?"),
        ("1–30 days | low", "31–60 days | high", "What is level 12?"),
    ],
)
def test_what_only_looks_like_a_range(first: str, second: str, question: str) -> None:
    assert not any(in_range(question, rows("", first, second)))


def test_a_unit_in_the_header_or_the_cell_is_that_of_the_number() -> None:
    assert in_range("What does a parcel of 3 kg cost?", rows("Weight (kg) | Price", "0–2 | 5", "2.5–5 | 7")) == [
        False,
        True,
    ]
    assert in_range("What does a parcel of 3kg cost?", rows("Weight | Price", "0 to 2 kg | 5", "2.5 to 5 kg | 7")) == [
        False,
        True,
    ]


def test_a_single_range_with_its_unit_is_one_between_open_ends() -> None:
    table = rows("Service | Leave", "Under 5 years | 27", "5 to 10 years | 29", "Over 10 years | 33")
    assert in_range("How much leave do I get after 7 years?", table) == [False, True, False]


@pytest.mark.parametrize(
    ("question", "within"),
    [
        ("What is the premium of a car in group 20?", [True, False, False, False]),
        ("What is the factor for a 20 year old driver?", [False, False, True, False]),
        ("20歳の場合の料率は？", [False, False, True, False]),
    ],
)
def test_of_two_tables_the_one_that_says_what_its_ranges_are_of(question: str, within: list[bool]) -> None:
    groups = rows("Insurance group | Premium", "17–25 | 560 EUR", "26–40 | 790 EUR")
    ages = [(2, unit) for _, unit in rows("Age of the driver | Factor", "17–24 | 1.9", "25–70 | 1.1")]
    assert in_range(question, [*groups, *ages]) == within
