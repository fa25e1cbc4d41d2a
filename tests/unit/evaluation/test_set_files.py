"""Question sets as files: forgiving about headers, separators and encodings, strict about everything else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput, TooLarge
from core.evaluation import set_files
from core.evaluation.set_files import checked_name, read_questions, written
from core.model import JudgedQuestion

LONGEST = 4_000
CSV = "question,doc,answers,answerable\nWhen is lunch?,Canteen.txt,noon | 12:00,\nWho painted it?,,,no\n"
READ = [
    JudgedQuestion("1", "When is lunch?", ("canteen.txt",), ("noon", "12:00")),
    JudgedQuestion("2", "Who painted it?", answerable=False),
]


def read(text: str | bytes, form: str = "csv") -> list[JudgedQuestion]:
    return read_questions(text.encode() if isinstance(text, str) else text, form, LONGEST)


@pytest.mark.parametrize(
    "data",
    [
        CSV.encode(),
        CSV.encode("utf-8-sig"),
        CSV.replace("\n", "\r\n").encode(),
        CSV.replace(",", ";").encode(),
        ("sep=;\r\n" + CSV.replace(",", ";")).encode(),
        CSV.replace(",", "\t").encode("utf-16"),
        CSV.replace("question,doc,answers,answerable", "\n Question ,Documents,Accepted,ANSWERABLE").encode(),
        CSV.replace("question,doc,answers,answerable", "問い,文書,正解,回答可能").encode(),
        CSV.replace("question,doc,answers,answerable", "質問,資料,回答,answerable").encode("cp932"),
    ],
    ids=["plain", "mark", "crlf", "semicolons", "excel", "utf-16", "names", "japanese", "cp932"],
)
def test_csv_is_read_as_spreadsheets_write_it(data: bytes) -> None:
    assert read(data) == READ


def test_other_columns_and_empty_lines_are_left_alone() -> None:
    assert read("remark,question\n\nmine,When is lunch?\n , \n")[0].text == "When is lunch?"


def test_cell_may_hold_separators_quotes_and_lines() -> None:
    [question] = read('question,answers\n"Which ""signs"",\nexactly?",a\\|b|c\n')
    assert question.text == 'Which "signs",\nexactly?'
    assert question.answers == ("a|b", "c")


def test_jsonl_of_the_folder_command_is_read() -> None:
    lines = (
        '{"id": "q1", "question": "When?", "passage_id": "P1", "answers": ["noon"]}\n'
        '{"id": 7, "question": "Where?", "passage_ids": ["p2.md", "p3"], "answer": "a|b", "answerable": true}\n\n'
        '{"question": "Who?", "passage_ids": [], "answerable": false, "remark": {"deep": []}}'
    )
    assert read(lines, "jsonl") == [
        JudgedQuestion("q1", "When?", ("p1.txt",), ("noon",)),
        JudgedQuestion("7", "Where?", ("p2.md", "p3.txt"), ("a|b",)),
        JudgedQuestion("3", "Who?", answerable=False),
    ]


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("a,b\n1,2\n", "csv", "Line 1: no column"),
        ("question,q\n1,2\n", "csv", "Line 1: two columns"),
        ("question,answers\nWhen?,noon\n,noon\n", "csv", "Line 3: there is no question"),
        ("question\nWhen?,noon\n", "csv", "Line 2: it has 2 cells"),
        ('question\nWhen?\n"never closed\n', "csv", "Line 3: "),
        ('question\n"When?" exactly\n', "csv", "Line 2: "),
        ("question,answerable\n\nWhen?,perhaps\n", "csv", "Line 3: answerable"),
        ("id,question\na,When?\na,Where?\n", "csv", "Line 3: the id “a” is that of line 2"),
        ("question\n" + "x" * (LONGEST + 1), "csv", "Line 2: the question has more than 4,000"),
        ("question,doc\nWhen?," + "|".join("d" * 101) + "\n", "csv", "Line 2: the doc has more than 100"),
        ('{"question": "When\\u0000?"}', "jsonl", "Line 1: the question holds signs"),
        ("", "csv", "The file holds no question"),
        ("question\n", "csv", "The file holds no question"),
        ('{"question": "When?"}\n{"question": ', "jsonl", "Line 2: not JSON"),
        ('{"question": ' + "[" * 100_000, "jsonl", "Line 1: not JSON"),
        ('["When?"]', "jsonl", "Line 1: it is no object"),
        ('{"question": 3}', "jsonl", "Line 1: the question is no text"),
        ('{"id": true, "question": "When?"}', "jsonl", "Line 1: the id is no text"),
        ('{"question": "\\ud800"}', "jsonl", "Line 1: the question holds signs"),
        ('{"question": "When?", "answers": {"a": 1}}', "jsonl", "Line 1: the answers is neither"),
        ('{"question": "When?", "answers": [1]}', "jsonl", "Line 1: the answers is no text"),
        ('{"question": "When?", "text": "Where?"}', "jsonl", "Line 1: two fields hold the question"),
        ('{"question": "When?", "answerable": NaN}', "jsonl", "Line 1: answerable is"),
        ("question\nWhen?\n", "xlsx", "A question set is csv or jsonl"),
    ],
)
def test_wrong_file_is_refused_with_the_line(text: str, form: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text, form)
    assert refused.value.message.startswith(said)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no text"):
        read(bytes(range(256)) * 40)


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge, match="Line 10002"):
        read("question\n" + "When?\n" * 10_001)
    monkeypatch.setattr(set_files, "MOST_BYTES", 20)
    with pytest.raises(TooLarge):
        read(CSV)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\x1bb", "\ud800"])
def test_set_needs_a_name(name: str) -> None:
    with pytest.raises(InvalidInput):
        checked_name(name)


def test_exported_cell_is_no_formula() -> None:
    question = JudgedQuestion("@1", "=1+1;\t=2", ("+x.txt",), ("-2", "'quoted'"))
    exported = written([question], "csv")
    assert exported.startswith("\ufeffid,")
    assert "'=1+1;'\t'=2" in exported and "'+x.txt" in exported and "'-2" in exported and "'@1" in exported
    assert read(exported) == [question]


SIGNS = st.sampled_from("=;'\"|\\\n\t,-")
LETTERS = st.one_of(st.characters(codec="utf-8", exclude_characters="\0"), SIGNS)
WORDS = st.text(LETTERS, min_size=1, max_size=12).map(str.strip)
QUESTIONS = st.builds(
    JudgedQuestion,
    id=st.just("1"),
    text=WORDS.filter(bool),
    answers=st.lists(WORDS.filter(bool), max_size=3, unique=True).map(tuple),
    answerable=st.booleans(),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(question=QUESTIONS, form=st.sampled_from(["csv", "jsonl"]))
def test_what_is_exported_is_what_is_imported(question: JudgedQuestion, form: str) -> None:
    assert read(written([question], form), form) == [question]
