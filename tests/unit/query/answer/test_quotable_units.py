"""What of a passage stands over something, and what is said."""

from __future__ import annotations

import pytest

from core.model import BlockKind, Chunk, Label, Locator
from core.query.answer.quotable_units import is_typed, quotable_units


def headings(text: str, *labels: Label) -> list[str]:
    chunk = Chunk(0, text, 0, len(text), BlockKind.PARAGRAPH, Locator(), labels=labels)
    return [unit.text for unit in quotable_units(chunk) if unit.is_heading]


@pytest.mark.parametrize(
    "text",
    [
        "1. Open the lid\n2. Insert paper\n3. Close the lid\nThe lamp turns green.",
        "1. Open the lid\n\n2. Insert paper\n\n3. Close the lid\n\nThe lamp turns green.",
        "1. Open the lid\n2. Insert paper\nwith its face down\n3. Close the lid\nThe lamp turns green.",
        "1. ふたを開ける\n2. 用紙を入れる\n3. ふたを閉める\nランプが緑になります。",
        "TEL: 03-1234-5678\nFAX: 03-1234-5679\nOffices are open on weekdays.",
        "The example is of three values.\n\n=GAUSS(0.19) = 0.08\n\n=GAUSS(0.0375) = 0.01",
        "Depth is told.\n\nImplies gpxver=1.1\n\nMore is written.",
        "A file is kept. Set\n\nCACHEOUTFILE none\n\nto turn it off again.",
        "RAM: 8 GB\nThe rest is as before.",
        "2 years from purchase\nThe guarantee covers all parts.",
    ],
)
def test_a_step_and_a_value_are_no_headings(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("2. Installation\nUnpack the box.", "2. Installation"),
        ("1. Introduction\nThis is about pumps.\n\n2. Installation\nUnpack the box.", "1. Introduction"),
        ("4.2 Limits\nNo more than ten.", "4.2 Limits"),
        ("SYNOPSIS\nThe command takes a file.", "SYNOPSIS"),
        ("第3条 会費\n会費は年に千円とする。", "第3条 会費"),
    ],
)
def test_a_numbered_line_and_one_in_capitals_are_headings(text: str, heading: str) -> None:
    assert heading in headings(text)


def test_a_list_of_names_over_two_lines_is_a_term() -> None:
    text = "-a, --all,\n--everything\nShows all."
    assert headings(text, Label(0, "-a, --all, --everything")) == ["-a, --all,", "--everything"]


def test_a_definition_that_is_a_part_of_another_term_is_said() -> None:
    text = "Port\n80\nPort 8080\nFor tests alone."
    labels = (Label(0, "Port"), Label(text.index("Port 8080"), "Port 8080"))
    assert headings(text, *labels) == ["Port", "Port 8080"]


def test_names_that_stand_a_line_each_are_a_term() -> None:
    text = "Text before.\n\n-b\n\n--breaklonglines\n\nWraps the line."
    assert headings(text, Label(text.index("Wraps"), "-b, --breaklonglines")) == ["-b", "--breaklonglines"]


def test_a_term_with_a_stroke_is_no_row() -> None:
    text = "Removes keys.\n\n-R host | [host]:port\nRemoves the keys of a host."
    label = Label(text.index("Removes the"), "-R host | [host]:port")
    assert headings(text, label) == ["-R host | [host]:port"]


@pytest.mark.parametrize(
    "text",
    [
        "The keys are these.\n\nbutton\t2 default\tBACK\n\nOthers do nothing.",
        "The keys are these.\n\nq  quit  leaves\nb  back  returns\nf  next  goes on\n\nOthers do nothing.",
        "Run this.\n\n$ echo done | at 3:40 monday\n\nIt is run once.",
        "どうしてこの名前なの？\n\n見るという言葉から付けました．\n\nほかの由来はありません．",
    ],
)
def test_columns_a_command_and_a_sentence_with_a_wide_stop_are_no_headings(text: str) -> None:
    assert [each for each in headings(text) if not each.endswith("？")] == []


def test_a_long_question_with_a_number_is_a_heading() -> None:
    question = "O4. Why do deleted messages show up again when the line is lost in the midst of a download?"
    assert len(question) > 80
    assert headings(f"It is quick.\n\n{question}\n\nThe server deletes them at the end.") == [question]
    statement = "O4. The deleted messages show up again when the line is lost in the midst of a long download"
    assert headings(f"It is quick.\n\n{statement}\n\nThe server deletes them at the end.") == []


THRESHOLD = (
    "Minimum duration in seconds after which a thread is considered stuck. Default is 600 seconds. If set to 0, the "
    "detection is disabled. As it is done in the background, the duration should be more than the delay between two "
    "runs of that, which is told elsewhere."
)


def test_a_long_row_that_tells_of_its_first_cell_is_the_entry_of_a_list() -> None:
    header = "Attribute | Type | Description"
    text = f"{header}\nclassName | Class | The class to use.\nthreshold | Number | {THRESHOLD}"
    labels = (Label(len(header) + 1, header),)
    chunk = Chunk(0, text, 0, len(text), BlockKind.TABLE, Locator(), labels=labels)
    units = list(quotable_units(chunk))
    assert [(unit.text, unit.header, unit.label, unit.is_row) for unit in units[:4]] == [
        ("className | Class | The class to use.", header, "", True),
        ("threshold", "", "", False),
        ("Number", "Type", "threshold", True),
        ("Minimum duration in seconds after which a thread is considered stuck.", "", "threshold", False),
    ]
    assert units[4].text == "Default is 600 seconds."
    assert all(text[unit.start : unit.end] == unit.text for unit in units)


def test_a_long_row_is_named_by_the_column_that_does_not_count() -> None:
    header = "No. | Item | Description"
    text = f"{header}\n3 | Threshold | {THRESHOLD}\n4 | Names end here. | {THRESHOLD}"
    chunk = Chunk(0, text, 0, len(text), BlockKind.TABLE, Locator(), labels=(Label(0, header),))
    units = list(quotable_units(chunk))
    assert units[0].is_heading and units[0].text == "Threshold"
    assert units[1].label == "Threshold"
    assert units[-1].is_row and units[-1].text.startswith("4 | Names end here.")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd /var/www/html/pumps", True),
        ("php -q flush.php --force", True),
        ("$ pump", True),
        ("how do I pass the -v option?", False),
        ("the temperature is -5 degrees outside", False),
        ("Options with -v", False),
    ],
)
def test_what_is_typed_is_told_from_prose(line: str, expected: bool) -> None:
    assert is_typed(line) is expected
