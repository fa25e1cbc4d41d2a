"""Numbers and dates in Western and Japanese writing, and which of them changed."""

from __future__ import annotations

import pytest

from core.model import Change, Segment
from core.versions.diff.values import changed_values, values_in
from core.versions.diff.words import words_between


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("契約は2026年11月21日に始まる", ["2026年11月21日"]),
        ("令和8年4月1日から令和元年度まで", ["令和8年4月1日", "令和元年度"]),
        ("１２月３１日", ["１２月３１日"]),
        ("on 21 November 2026 or Nov. 3, 2025", ["21 November 2026", "Nov. 3, 2025"]),
        ("2026-11-21, 21/11/2026 and 3.4.2027", ["2026-11-21", "21/11/2026", "3.4.2027"]),
        ("until May 2026 at 17:30", ["May 2026", "17:30"]),
        ("6時、5時45分、午後六時半", ["6時", "5時45分", "午後六時半"]),
        ("6 p.m., 6:30 pm and 5 o'clock", ["6 p.m.", "6:30 pm", "5 o'clock"]),
        ("四月一日から十二月三十一日", ["四月一日", "十二月三十一日"]),
        ("6時間 and 10時代 are none", []),
        ("六時に開き、四月に始まる。一時的に、二時間", ["六時", "四月"]),
        ("Q3 2026, FY2027, FY 27, Q3 alone", ["Q3 2026", "FY2027", "FY 27"]),
        ("it may be 12", []),
    ],
)
def test_dates_are_found(text: str, dates: list[str]) -> None:
    assert [value.text for value in values_in(text) if value.kind == "date"] == dates


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,200円と３０％、１，２００円", ["1,200円", "３０％", "１，２００円"]),
        ("第3条、第十二条の2、§12.4", ["第3条", "第十二条の2", "§12.4"]),
        ("1億2000万円 3千万円 20人 3か月 15日間", ["1億2000万円", "3千万円", "20人", "3か月", "15日間"]),
        ("pay $1,200.50 or 30 % of 3.5 GB", ["$1,200.50", "30 %", "3.5 GB"]),
        ("x86_64 and sha256 are names", []),
        ("the 20th of 5 kg", ["20th", "5 kg"]),
        ("three months, twenty-five days", ["three months", "twenty-five days"]),
        ("one hundred and five people, a dozen, one year", ["one hundred and five people", "a dozen", "one year"]),
        ("one of them, no one, tension, often", []),
        ("三か月以内、二十日間、五千円、二割、三つ", ["三か月", "二十日間", "五千円", "二割", "三つ"]),
        ("十分な説明、三日月、万一、同一人、統一", []),
        ("10-20 people, 3–5 days, 5 to 10 %, 10〜20人", ["10-20 people", "3–5 days", "5 to 10 %", "10〜20人"]),
        ("12 per cent, 3 percentage points, 5パーセント", ["12 per cent", "3 percentage points", "5パーセント"]),
        ("US$ 3.50, 100 €, EUR 200, $5 million, 12,5 kg", ["US$ 3.50", "100 €", "EUR 200", "$5 million", "12,5 kg"]),
        ("2時間30分、2年6か月", ["2時間30分", "2年6か月"]),
        ("the third month, in the first year, the twenty-first day", ["third", "first", "twenty-first"]),
        ("every second Monday, a fifteenth, the twelfth", ["second", "fifteenth", "twelfth"]),
        ("First, wait a second; two-thirds at first", ["two-thirds"]),
        (
            "1/2 cup, 1 3/4 in, ½, 2/3 of 24/7, 10^3 items, 1e-3",
            ["1/2", "1 3/4", "½", "2/3", "24/7", "10^3 items", "1e-3"],
        ),
        ("half of it, a third of it, one half, a third party", ["half", "a third", "one half"]),
        ("3分の2以上、二分の一、30分の会議", ["3分の2", "二分の一", "30分"]),
        ("△5.3%、▲1,200円、マイナス5度、minus 3 °C", ["△5.3%", "▲1,200円", "マイナス5度", "minus 3 °C"]),
        ("1万2千円、数十人、半年、前半年", ["1万2千円", "数十人", "半年"]),
        ("once a week, twice a year, once the door opens", ["once", "twice"]),
        ("1 234 567 units and 12 345 678", ["1 234 567 units", "12", "345", "678"]),
        ("v2.3.1, 10x, €5k, 100 Mbps, x86, 3 x 5 mm", ["v2.3.1", "10x", "€5k", "100 Mbps", "3", "5 mm"]),
        ("our third-party vendor, a third party, Creative Commons Zero", []),
        ("see https://example.org/4.0/page-41?id=7 and www.example.org/3 on 5 pages", ["5 pages"]),
        ("第三、第三回、三番目、3番目、一番よい", ["第三", "第三", "三番目", "3番目"]),
    ],
)
def test_numbers_are_found(text: str, numbers: list[str]) -> None:
    assert [value.text for value in values_in(text) if value.kind == "number"] == numbers


def test_a_value_is_reported_whole_where_a_part_of_it_changed() -> None:
    words = [
        Segment(Change.EQUAL, "納期は2026年"),
        Segment(Change.REMOVED, "11"),
        Segment(Change.ADDED, "12"),
        Segment(Change.EQUAL, "月21日とする"),
    ]

    (found,) = changed_values("納期は2026年11月21日とする", "納期は2026年12月21日とする", words)

    assert (found.kind, found.old, found.new) == ("date", "2026年11月21日", "2026年12月21日")
    assert found.context == "納期は2026年12月21日とする"


def test_another_way_to_write_a_number_is_no_change() -> None:
    assert changed_values("costs 1,200円", "costs １２００円", ()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("within three months of", "within 3 months of"),
        ("a six-month term", "a 6-month term"),
        ("三か月以内", "3ヶ月以内"),
        ("三千二百万円", "32000000円"),
        ("one hundred and five people", "105 people"),
        ("rises by 5 per cent", "rises by 5%"),
        ("in the third month", "in the 3rd month"),
        ("on the twenty-second day", "on the 22nd day"),
        ("第三条", "第3条"),
        ("三番目の欄", "3番目の欄"),
        ("2つの値", "2 つの値"),
        ("one half of it", "½ of it"),
        ("two-thirds of it", "2/3 of it"),
        ("三分の二以上", "3分の2以上"),
        ("△5.3%", "-5.3%"),
        ("マイナス5度", "−5度"),
        ("1万2千円", "12,000円"),
        ("3千万円、1.5億円", "30,000,000円、1億5000万円"),
        ("$1.2 million", "$1,200,000"),
    ],
)
def test_a_number_in_words_is_the_number_in_digits(old: str, new: str) -> None:
    assert changed_values(old, new, words_between(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("within three months of", "within six months of", [("three months", "six months")]),
        ("三か月以内に", "六か月以内に", [("三か月", "六か月")]),
        ("営業は6時から", "営業は5時45分から", [("6時", "5時45分")]),
        ("for 10-20 people", "for 10-30 people", [("10-20 people", "10-30 people")]),
        ("after 14 days", "after 2 weeks", [("14 days", "2 weeks")]),
        ("from the third month on", "from the fourth month on", [("third", "fourth")]),
        ("on the 2nd day", "on the 3rd day", [("2nd", "3rd")]),
        ("第三の条件を満たす", "第四の条件を満たす", [("第三", "第四")]),
        ("三番目の欄に記入", "五番目の欄に記入", [("三番目", "五番目")]),
        ("for 12.5 kg and 3 m", "for 4 m", [("12.5 kg", None), ("3 m", "4 m")]),
        ("for 45 minutes at noon", "for 30-45 minutes at noon", [("45 minutes", "30-45 minutes")]),
        ("以下は45分とする", "以下は30〜45分とする", [("45分", "30〜45分")]),
        ("every three years", "during the first year", [("three years", None), (None, "first")]),
        ("weighs 12.5 kg", "costs 310 EUR", [("12.5 kg", None), (None, "310 EUR")]),
    ],
)
def test_a_number_becomes_one_that_counts_the_same(
    old: str, new: str, pairs: list[tuple[str | None, str | None]]
) -> None:
    assert [(one.old, one.new) for one in changed_values(old, new, words_between(old, new))] == pairs


def test_a_number_whose_unit_went_into_the_next_line_is_the_same() -> None:
    old, new = "a stop of 20 minutes and", "the old stop of 20"

    assert changed_values(old, new, words_between(old, new)) == []


def test_numbers_of_places_that_say_something_else_altogether_are_no_pairs() -> None:
    old = "Limited to 8 years (a 3 year term that is extended for another 3 years where both sides agree to it)."
    new = (
        "Limited to 8 years. No individual who was hired under this authority serves in excess of 5 years, "
        "whatever appointments were made before, unless the agency needs them."
    )

    assert all(one.old is None or one.new is None for one in changed_values(old, new, words_between(old, new)))


def test_a_number_that_came_or_went_has_one_side() -> None:
    words = [Segment(Change.EQUAL, "wait"), Segment(Change.ADDED, " 14 days")]

    assert [(v.old, v.new) for v in changed_values("wait", "wait 14 days", words)] == [(None, "14 days")]


def test_numbers_elsewhere_in_the_line_are_not_reported() -> None:
    words = [Segment(Change.EQUAL, "rule 7: "), Segment(Change.REMOVED, "old"), Segment(Change.ADDED, "new")]

    assert changed_values("rule 7: old", "rule 7: new", words) == []


def test_context_is_cut_between_words() -> None:
    text = " ".join(f"word{letter}" for letter in "abcdefghijklmnop") + " 5 " + "after " * 20

    (found,) = changed_values("", text, ())

    assert found.context.startswith("…word") and found.context.endswith("after…")
    assert " 5 " in found.context


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1,",
        "§",
        "第",
        "1億",
        "一",
        " ",
        "第 一",
        "May ",
        "2026年",
        "1.1",
        "one hundred ",
        "十",
        "1-1-",
        "1〜",
        "twenty-",
        "午後",
        "1,1",
        "6時",
        "$",
        "a ",
    ],
)
def test_hostile_repetitions_are_read_in_linear_time(piece: str) -> None:
    # Quadratic patterns would take minutes here.
    values_in(piece * 100_000)


def test_pages_of_a_table_of_contents_are_no_numbers_that_changed() -> None:
    old, new = "2.1 Care of the lens … 14", "2.1 Care of the lens … 15"
    assert changed_values(old, new, words_between(old, new)) == []
    assert changed_values(old, "", ()) == changed_values("", new, ()) == []
    said = "Care of the lens takes 15 minutes."
    assert [(one.old, one.new) for one in changed_values("Care takes 14 minutes.", said, ())] != []
