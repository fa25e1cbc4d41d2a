"""Sentences end where a reader would end them, and no character is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import on_one_line, split_sentences
from tests.proportion import grows_in_proportion


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["The ferry left.", "Was it late?", "Yes!", "Very late."],
        ["Dr. Ito paid $3.50 to J. K. Rowe.", "He left."],
        ["She moved to the U.S. in 1999.", "It rained."],
        ["The U.S. Army came.", "They stayed."],
        ["It holds e.g. salt, i.e. sodium chloride, etc. and water.", "That is all."],
        ["See No. 5 and Fig. 3.", "No.", "That is it."],
        ["“Why?” she asked.", "“Because.”", "He smiled."],
        ["Release 20.04 runs.", "Version 1.2.3 does not."],
        ["It contains vitamin C.", "The rest is water."],
        ["Wait at least 5 min.", "2 lamps light up."],
        ["He works for Inc. magazine.", "Yahoo! is a name."],
        ["Call ext. 1234 for help.", "Tel. 03-1234-5678 or tel. +81 3 is open."],
        ["The load is max. 30 kg per shelf.", "That is the max.", "Use ver. 2.1 or later."],
        ["See para. 4 and sec. 5."],
        ["Hold the button for 10 sec.", "Release it."],
        ["Set the switch to B.", "Press Start."],
        ["Select plan A.", "Click Next."],
        ["It was written by J. Smith.", "He gave it to J. Smith."],
    ],
)
def test_english_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["雨が降った。", "風も吹いた！", "本当か？", "本当だ"],
        ["「もう行く。」と彼は言った。", "次の日も来た。"],
        ["彼は「はい。」", "彼女は「いいえ。」"],
        ["これは例（注意。後述）である。", "以上。"],
        ["値は３．５である．", "次に進む．"],
        ["何ですか?", "はい!", "そうです。"],
        ["価格は3.5万円だ。", "安い！？", "（続く）"],
    ],
)
def test_japanese_sentences(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


def test_list_items_and_table_rows_are_sentences() -> None:
    text = "Tools\n- hammer\n- saw\n1) nails\nName | Price\nSalt | 3\n項目一\n項目二"
    assert sentences(text) == text.split("\n")


def test_number_of_a_list_item_is_no_sentence() -> None:
    assert sentences("1. Open the valve.\n2. Wait. Then close it.") == [
        "1. Open the valve.",
        "2. Wait.",
        "Then close it.",
    ]


def test_wrapped_lines_are_joined() -> None:
    english = "The quick survey of the northern harbour was\nfinished before noon. All boats were counted."
    assert sentences(english) == [
        "The quick survey of the northern harbour was\nfinished before noon.",
        "All boats were counted.",
    ]
    width = "北側の屋根から集められた雨水は三つの地下タンクに入れ"
    japanese = f"{width}\nられて庭の水やりや清掃に使われるが飲み水として使うこ\nとはない。次の文。"
    assert sentences(japanese) == [japanese[:-4], "次の文。"]


@pytest.mark.parametrize(
    "wrapped",
    [
        "If the first interval is set to fifteen, and\n    CountMax is left at the default, clients are disconnected.",
        "This option can be confusing compared to --ignore-one and\n    --ignore-two in that it does the opposite.",
        "The service is activated as often as it elapsed meanwhile, if WakeSystem=\n"
        "    (see below) is enabled and the system sleeps at the time of the event then.",
    ],
)
def test_a_line_that_cannot_end_there_was_wrapped(wrapped: str) -> None:
    assert sentences(f"It begins like this.  {wrapped}\n") == ["It begins like this.", wrapped]


def test_items_and_code_behind_a_sign_are_lines_of_their_own() -> None:
    assert len(sentences("The tank has two valves and a lid, a pump and\n- a motor\n- a lamp")) == 3
    code = "value = compute_something_long(argument_one, argument_two)\n}\nother = compute(argument_one, argument_two)"
    assert sentences(code)[0].endswith("argument_two)")


def test_lines_of_japanese_with_latin_words_are_wrapped_by_their_columns() -> None:
    wrapped = (
        "クッキーを利用するためには config.h で USE_COOKIE マクロが定義されている必要がありま\n"
        "す。なお、もしクッキーをサポートしたくない場合は --disable-cookie オプションを付け\n"
        "て実行して下さい。"
    )
    [first, second] = sentences(wrapped)
    assert on_one_line(first).endswith("必要があります。")
    assert on_one_line(second).endswith("オプションを付けて実行して下さい。")
    assert on_one_line("two\nwords") == "two words"


def test_a_blank_line_ends_a_sentence() -> None:
    assert sentences("a heading without a stop\n\nand a text") == ["a heading without a stop", "and a text"]


@pytest.mark.parametrize(
    "sentence",
    [
        "メニューから「検索条件を編集...」を選択します。",
        "画面左下の[?]を3秒押します。",
        "「続けますか?」と表示されたら、はいを押します。",
    ],
)
def test_a_closed_quotation_with_a_particle_behind_it_ends_no_sentence(sentence: str) -> None:
    assert split_sentences(sentence) == [(0, len(sentence))]


@given(st.text(alphabet=st.sampled_from("aB c1.!?。！？「」（）()'\"\n\t|-、あ漢，…\u3000\ud800🙂")))
def test_spans_are_in_order_and_leave_only_white_space_out(text: str) -> None:
    done = 0
    for start, end in split_sentences(text):
        assert done <= start < end
        assert text[done:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        done = end
    assert text[done:].strip() == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    ["x", ".", "\n", "「", "「」", "。」", "a. ", "a\nb", "(. ", "a.\n", "\"'", "1. ", " ", "e.g. ", "あ", "a |\n"],
)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    assert grows_in_proportion(lambda length: split_sentences((unit * length)[:length]), 20_000, 160_000)


def test_lines_of_a_list_that_all_end_with_a_bracket_are_not_one_sentence() -> None:
    lines = [
        "Smith, John: A history of pumps in northern Europe (2019)",
        "Jones, Mary: The making of valves and of their seals (2020)",
        "Brown, Anne: Everything that is known about filters (2021)",
    ]
    text = "\n".join(lines)
    assert sentences(text) == lines
