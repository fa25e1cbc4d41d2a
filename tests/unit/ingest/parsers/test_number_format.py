"""Number formats: General in every spelling, what is not understood, signs, and agreement with LibreOffice."""

from __future__ import annotations

import csv
import re
import subprocess
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingest.parsers.number_format import BUILTIN, general, shown
from tests import programs
from tests.unit.ingest.documents import read, texts

GENERAL = [
    "General", "GENERAL", "general", "Standard", "STANDARD", "Standaard", "Estándar", "Geral", "GERAL", "Genel",
    "Ogólny", "Standardowy", "Yleinen", "Normál", "Všeobecný", "Vęeobecnę", "Allmänt", "Основной", "ОБЩИЙ",
    "Γενικός τύπος", "G/General", "G/GENERAL", "G/Standard", "G/標準", "G/표준", "G/通用格式", "g/通用格式",
    "ทั่วไป", "عام", "标准", "[$-411]General", "[Red]General", "[DBNum1]General", "@",
]  # fmt: skip
NUMBERS = [12.0, -5.0, 0.0, 0.5, 1234567.891, -0.04, -1234.5, 45383.0]


@pytest.mark.parametrize("code", GENERAL)
def test_general_in_every_spelling_gives_the_plain_number(code: str) -> None:
    assert [shown(number, code) for number in NUMBERS] == [general(number) for number in NUMBERS]


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (12, 'GENERAL" kg"', "12 kg"), (12, 'Standard\\ "units"', "12 units"), (-12, 'General" kg"', "-12 kg"),
        (12, "[>5]General;0.0", "12"), (3, "[>5]General;0.0", "3.0"), (3, "[>5]0.0;STANDARD", "3"),
        (-3, 'G/標準"人";[Red]-G/標準"人"', "-3人"), (12, '@" pcs"', "12 pcs"), (0.5, 'General;-General;"-"', "0.5"),
    ],
)  # fmt: skip
def test_general_among_other_parts_of_a_format(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "TT.MM.JJJJ",
        "0.0kg",
        "0 m",
        "0 s",
        "0 g",
        "#,##0 h",
        "0.0 mm",
        "aargh",
        "Geralx",
        "yyyy General",
        "0e",
        "Foo;Bar",
    ],
)
def test_a_format_that_is_not_understood_shows_the_number(code: str) -> None:
    assert [shown(number, code) for number in NUMBERS] == [general(number) for number in NUMBERS]


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (-5, "[Red]-0.0", "-5.0"), (-5, "-0.0", "-5.0"), (5, "[Red]-0.0", "-5.0"), (-5, "0.0;[Red]-0.0", "-5.0"),
        (-5, '0.0;[Red]"-"0.0', "-5.0"), (-5, "0.0;[Red]\\-0.0", "-5.0"), (-5, "[Red][<0]-0.0;[>=0]0.0", "-5.0"),
        (-5, "[<0]-0.0;0.0", "-5.0"), (-5, "0.0;[Red](0.0)", "(5.0)"), (-5, "0;[Red]0", "5"), (-5, "-General", "-5"),
        (-5, '[<0]"minus "0;0', "minus 5"), (-5, "[>5]0;0.0", "-5.0"), (-1234.5, "-0.0E+0", "-1.2E+3"),
        (-5, '"Δ"0', "-Δ5"), (-200, "[>100]0;[<-100]0.0;0.00", "-200.0"),
    ],
)  # fmt: skip
def test_a_minus_is_written_once(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1.5, "# ?/?", "1 1/2"), (-1234.5, "#,##0 ?/?", "-1,234 1/2"), (0.333333333, "# ?/?", "1/3"),
        (0.891, "# ??/??", "49/55"), (2.75, "?/?", "11/4"), (0.5, "# ??/16", "8/16"), (12, "# ?/?", "12"),
        (0, "# ?/?", "0"), (0, "?/?", "0/1"), (-0.04, "# ?/?", "0"), (0.999, "# ?/?", "1"), (0.5, "0 ?/?", "0 1/2"),
        (0.5, '"ca. "# ?/?" in"', "ca. 1/2 in"), (2.5, "# ?/10", "2 5/10"),
        (float("1e20"), "0.00", "1" + "0" * 20 + ".00"),
    ],
)  # fmt: skip
def test_fractions_and_long_numbers(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (45383, "[$-407]d. mmmm yyyy", "1. April 2024"), (43586, "[$-407]dddd, d. mmm", "Mittwoch, 1. Mai"),
        (45383, "[$-40C]d mmmm yyyy", "1 avril 2024"), (45383, "[$-de-DE]mmmm", "April"),
        (45383, "[$-C0A]dddd", "lunes"),
        (45383, "[$-804]dddd", "星期一"), (0.75, "[$-411]AM/PMh:mm", "午後6:00"), (45383, "[$-1010411]dddd", "月曜日"),
        (45383, '[$-404]e"年"', "113年"), (45383, '[$-411]ggge"年"', "令和6年"), (45383, "[$-409]e", "2024"),
        (45383, "[$-F800]mmmm", "April"), (45383, "[$-2000]mmmm", "April"), (45383, "[$-xx-YY]mmmm", "April"),
        (45383.40625, "yyyy-mm-ddThh:mm:ssZ", "2024-04-01T09:45:00Z"), (0.25, "h:mm a/p", "6:00 a"),
    ],
)  # fmt: skip
def test_dates_are_named_in_the_language_of_the_format(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


def test_formats_that_are_only_numbered_show_the_brackets_and_dollars_that_they_stand_for() -> None:
    said = [shown(-1234.5, BUILTIN[number]) for number in (5, 8, 37, 40, 41, 44)]
    assert said == ["($1,235)", "($1,234.50)", "(1,235)", "(1,234.50)", "(1,235)", "$(1,234.50)"]
    assert (shown(0, BUILTIN[44]), shown(1.5, BUILTIN[12]), shown(0.5, BUILTIN[47])) == ("$-", "1 1/2", "00:00.0")


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234567, "000-0000", "123-4567"), (312345678, "00\\-0000\\-0000", "03-1234-5678"),
        (1234, "0時00分", "12時34分"), (930, "00\\:00", "09:30"), (1234.5678, '0.00"|"00', "1234.56|78"),
        (0.75, "h:mm am/pm", "6:00 PM"), (0.75, "h:mm A/P", "6:00 P"), (0.25, '上午/下午h"時"', "上午6時"),
        (0.75, '午前/午後h"時"', "午後6時"), (1 / 86_400 * 62.346, "mm:ss.00", "01:02.35"), (-0.5, "[h]:mm", "-12:00"),
        (-1, "yyyy-mm-dd", "-1"), (1234567, "##0.0E+0", "1.2E+6"), (12, "##0.0E+0", "12.0E+0"), (0, "0.0E+0", "0.0E+0"),
        (45383, "YYYY/MM/DD", "2024/04/01"), (45383, "yyyy年m月d日", "2024年4月1日"), (1500, "#,##0円", "1,500円"),
        (1500, "#,##0 €", "1,500 €"), (0, "0;-0;;@", ""), (7, '"yes"', "yes"), (0.5, "0 %", "50 %"),
        (1500000, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "1.5M"), (45383, "[$-F800]dddd, mmmm dd, yyyy",
        "Monday, April 01, 2024"), (12, "_-* #,##0_-", "12"), (7, "[>1.2.3]0;0.0", "7.0"),
    ],
)  # fmt: skip
def test_digits_dates_and_exponents(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


def test_a_foreign_workbook_shows_its_numbers(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["name", "count"])
    book.active.append(["tea", 12])
    book.active["B2"].number_format = "GENERAL"
    book.save(tmp_path / "a.xlsx")
    assert texts(read(tmp_path / "a.xlsx")[0])[-1] == "name | count\ntea | 12"


finite = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.floats(min_value=-1e12, max_value=1e12)
pieces = st.sampled_from(
    ["0", "#", "?", ".", ",", "%", "0.0", "#,##0", "E+00", ";", "-", "(", ")", " ", "General", "Standard", "G/標準",
     "@", "[Red]", "[>5]", "[<0]", "[=0]", "[h]", "[mm]", "[$-411]", "[$€-407]", "yyyy", "m", "mmm", "d", "h", "ss",
     "AM/PM", "ggg", "e", "aaa", "/", ":", '"', "\\", "_", "*", "kg", "x", "年", "é", "Ж", "\U0001f600", "[", "]"]
)  # fmt: skip


@given(sizes | finite, st.lists(pieces, max_size=12).map("".join) | st.text(max_size=20))
def test_any_format_of_any_number_gives_a_text(value: float, code: str) -> None:
    assert isinstance(shown(value, code), str)


@given(sizes, st.lists(pieces, max_size=10).map("".join).filter(lambda code: '"' not in code and "\\" not in code))
def test_letters_without_quotes_are_never_shown(value: float, code: str) -> None:
    found = shown(value, re.sub(r"[_*].", "", code))
    assert not set(found) & set("kgxéЖSt") or "mmm" in code or "ddd" in code or "AM/PM" in code


@given(
    sizes,
    st.integers(0, 6),
    st.booleans(),
    st.sampled_from(["", "$", '"about "', "[Red]", "(", "¥"]),
    st.sampled_from(["", "%", ' "kg"', "\\ \\x", "円", "_)"]),
)
def test_the_digits_are_those_of_the_rounded_number(
    value: float, decimals: int, grouped: bool, lead: str, tail: str
) -> None:
    code = lead + ("#,##0" if grouped else "0") + ("." + "0" * decimals if decimals else "") + tail
    found = shown(value, code)
    expected = Decimal(repr(value)) * (100 if tail == "%" else 1)
    rounded = abs(expected).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    assert "".join(re.findall(r"[\d.]", found)) == f"{rounded:f}"
    assert found.count("-") == (value < 0 and rounded != 0)


@given(sizes, st.sampled_from(GENERAL), st.sampled_from(["", "[Red]", "[$-409]", "_("]), st.sampled_from(["", '" kg"']))
def test_general_with_anything_around_it_keeps_the_number(value: float, name: str, lead: str, tail: str) -> None:
    found = shown(value, lead + name + tail)
    assert found.removesuffix(" kg") == general(value)


ALIKE = [
    "General", "GENERAL", 'General" kg"', '"about "General', "0", "0.0", "0.00", "0000", "#,##0", "#,##0.00", "0%",
    "0.0%", "0.00E+00", "##0.0E+0", "0.0,", "0,,", '0.0,"k"', "#,##0_);(#,##0)", "#,##0;[Red]-#,##0", "0.0;[Red]-0.0",
    "0;[Red]0", "+0;-0;0", '0;-0;"none"', '"yes";"no";"none"', "0.0;;", "000-0000", "00\\:00", '"Q"0', "0年", '0"年"',
    "$#,##0.00", "[$€-407] #,##0.00", "#,##0 €", '[<0]"minus "0.0;0.0', "[<0]-0.0;0.0", "#", "(0.0)", "0-", "0.0;0.0-",
    "* 0.00", "# ?/?", "# ??/??", "# ???/???", "# ?/2", "# ?/4", "# ??/16", "?/?", "0 ?/?", "#,##0 ?/?", "# ??/100",
    "0.???",
]  # fmt: skip
ALIKE_DATES = [
    "yyyy/m/d", "yyyy-mm-dd hh:mm:ss", "d. mmm yy", "mmm", "mmmm", "mmmmm", "dddd, mmmm dd, yyyy", "h:mm AM/PM",
    "[h]:mm", "[h]:mm:ss", "[mm]:ss", "mm:ss.0", "ss.00", '[$-411]ggge"年"m"月"d"日"', "[$-411]gge.m.d", "[$-411]aaaa",
    "[$-407]d. mmmm yyyy", "[$-407]dddd", "[$-407]ddd mmm", "[$-40C]dddd d mmmm", "[$-40C]mmm", "[$-410]mmmm",
    "[$-413]dddd mmm", "[$-416]dddd mmm", "[$-C0A]ddd mmmm", "[$-41D]dddd", "[$-406]mmmm", "[$-414]mmm ddd",
    "[$-41F]dddd mmm",
    "[$-804]dddd", "[$-412]dddd", "[$-411]mmm", "[$-411]h:mm AM/PM", "[$-804]h:mm AM/PM", "yyyy-mm-ddThh:mm:ss",
    "h:mm a/p",
]  # fmt: skip
DATES = [61.0, 45383.0, 45383.40625, 43586.75, 32516.5]


@pytest.mark.long
@programs.needs("soffice")
def test_formats_show_what_libreoffice_shows(tmp_path: Path) -> None:
    cases = [(code, NUMBERS) for code in ALIKE] + [(code, DATES) for code in ALIKE_DATES]
    book = openpyxl.Workbook()
    for row, (code, values) in enumerate(cases, 1):
        for column, value in enumerate(values, 1):
            book.active.cell(row, column, value).number_format = code
    book.save(tmp_path / "a.xlsx")
    as_shown = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true"
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", "--headless", profile, "--convert-to", as_shown, "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "a.xlsx")], check=True, capture_output=True, timeout=120)
    with open(tmp_path / "a.csv", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    differing = [
        (code, value, shown(value, code), theirs)
        for (code, values), row in zip(cases, rows, strict=True)
        for value, theirs in zip(values, row, strict=False)
        if "".join(shown(value, code).split()) != "".join(theirs.split())
    ]
    assert differing == []
