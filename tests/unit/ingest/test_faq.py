"""Questions with their answers in any format: the answer stands under its question, and is what answers it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import docx
import openpyxl
import pytest

from core.ingest.chunk import chunk_text_auto
from core.model import Hit, LegRank, PlacedChunk
from core.query.answer.extract import extract_answer
from core.query.answer.quotable_units import quotable_units
from tests.unit.ingest.documents import read

Pairs = Sequence[tuple[str, str]]
ENGLISH: Pairs = [
    ("Can I bring my dog?", "Yes, on a lead in the garden. Not in the halls."),
    ("What time does the museum close?", "At 18:00 from April to October, else at 16:30."),
    ("How much is a family ticket?", "24 euros for two adults and up to four children."),
]
JAPANESE: Pairs = [
    ("犬を連れて行けますか？", "庭園ではリードをつければ可能です。館内には入れません。"),
    ("閉館時間は何時ですか？", "4月から10月は18時、それ以外は16時30分です。"),
    ("家族券はいくらですか？", "大人2名と子ども4名までで24ユーロです。"),
]


def each(form: str) -> Callable[[Pairs], str]:
    return lambda pairs: "".join(form.format(n=n, q=q, a=a) for n, (q, a) in enumerate(pairs, 1))


def page(form: str) -> Callable[[Pairs], str]:
    return lambda pairs: f"<h1>FAQ</h1>{each(form)(pairs)}"


def sheet(head: Sequence[str]) -> Callable[[Pairs], str]:
    def made(pairs: Pairs) -> str:
        file = io.StringIO()
        csv.writer(file).writerows([head, *((n, q, a) for n, (q, a) in enumerate(pairs, 1))])
        return file.getvalue()

    return made


FORMS: dict[str, Callable[[Pairs], str]] = {
    "headings.html": page("<h3>{q}</h3><p>{a}</p>"),
    "details.html": page("<details><summary>{q}</summary>{a}</details>"),
    "bold.html": page("<p><strong>{q}</strong><br>{a}</p>"),
    "button.html": page('<div><button aria-expanded="false">{q}</button><div><p>{a}</p></div></div>'),
    "button-in-heading.html": page("<h3><button>{q}</button></h3><div><p>{a}</p></div>"),
    "table.html": lambda pairs: (
        f"<table><tr><th>Question</th><th>Answer</th></tr>{each('<tr><td>{q}</td><td>{a}</td></tr>')(pairs)}</table>"
    ),
    "headless.html": lambda pairs: f"<table>{each('<tr><td>{q}</td><td>{a}</td></tr>')(pairs)}</table>",
    "definitions.html": lambda pairs: f"<dl>{each('<dt>{q}</dt><dd>{a}</dd>')(pairs)}</dl>",
    "headings.md": each("## {q}\n\n{a}\n\n"),
    "marked.md": each("Q: {q}\nA: {a}\n\n"),
    "marked-ja.md": each("問：{q}\n答：{a}\n\n"),
    "marked-apart.md": each("**Q{n}. {q}**\n\nA. {a}\n\n"),
    "marked-items.md": each("- Q: {q}\n- A: {a}\n"),
    "bold.md": each("**{q}**\n{a}\n\n"),
    "items.md": each("- **{q}**\n  {a}\n"),
    "numbered.md": each("{n}. {q}\n\n   {a}\n\n"),
    "marked.txt": each("Q: {q}\nA: {a}\n"),
    "brackets.txt": each("【質問{n}】{q}\n【回答{n}】{a}\n\n"),
    "plain.txt": each("{q}\n{a}\n\n"),
    "apart.txt": each("{q}\n\n{a}\n\n"),
    "rows.csv": sheet(("id", "Question", "Answer")),
    "rows-ja.csv": sheet(("番号", "質問", "回答")),
    "rows.json": lambda pairs: json.dumps([{"question": q, "answer": a} for q, a in pairs]),
    "nested.json": lambda pairs: json.dumps({"faq": [{"q": q, "a": a, "tags": ["x", "y"]} for q, a in pairs]}),
    "long.json": lambda pairs: json.dumps([{"question": q, "answer": f"{a} {'It is so. ' * 60}"} for q, a in pairs]),
    "names.json": lambda pairs: json.dumps(dict(pairs)),
    "records.jsonl": each('{{"question": "{q}", "answer": "{a}", "tags": ["x", "y"]}}\n'),
    "entries.xml": lambda pairs: (
        f"<faq>{each('<entry><question>{q}</question><answer>{a}</answer></entry>')(pairs)}</faq>"
    ),
}


def write(path: Path, pairs: Pairs) -> Path:
    if path.suffix == ".docx":
        document = docx.Document()
        for question, answer in pairs:
            if path.stem == "headings":
                document.add_heading(question, 2)
            else:
                document.add_paragraph().add_run(question).bold = True
            document.add_paragraph(answer)
        document.save(str(path))
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [("id", "question", "answer"), *((n, q, a) for n, (q, a) in enumerate(pairs, 1))]:
            book.active.append(row)
        book.save(path)
    else:
        path.write_text(FORMS[path.name](pairs), encoding="utf-8")
    return path


@pytest.mark.parametrize("pairs", [ENGLISH, JAPANESE], ids=["en", "ja"])
@pytest.mark.parametrize("name", [*FORMS, "headings.docx", "bold.docx", "rows.xlsx"])
def test_answer_stands_under_its_question_and_answers_it(tmp_path: Path, name: str, pairs: Pairs) -> None:
    chunks = list(chunk_text_auto(read(write(tmp_path / name, pairs))[0]))
    units = [unit for chunk in chunks for unit in quotable_units(chunk)]
    assert all(unit.text == chunk.text[unit.start : unit.end] for chunk in chunks for unit in quotable_units(chunk))
    hits = [
        Hit(rank, PlacedChunk(rank, 1, "faq", "faq", "FAQ", 1, chunk), 1.0, LegRank(rank, 0.6, 0.01))
        for rank, chunk in enumerate(chunks, 1)
    ]
    for question, answer in pairs:
        [unit] = [unit for unit in units if answer.startswith(unit.text) and len(unit.text) > 8]
        assert question in (unit.label or unit.section)
        assert unit.text in extract_answer(question, hits, threshold=0.0).text


def test_row_of_an_faq_keeps_its_other_cells_beside_the_question(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("No,Question,Answer,Team\n1,Who mends the pump?,The smith.,Workshop\n", encoding="utf-8")
    [chunk] = chunk_text_auto(read(path)[0])
    assert [(unit.text, unit.header, unit.label, unit.is_heading) for unit in quotable_units(chunk)] == [
        ("Who mends the pump?", "", "", True),
        ("The smith.", "", "Who mends the pump?", False),
        ("Workshop", "Team", "Who mends the pump?", False),
    ]


def test_other_rows_and_lines_that_only_end_with_a_question_mark_stay_as_they_are(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("Survey,Answer\nWas it good?,yes\nWas it bad?,no\n", encoding="utf-8")
    [chunk] = chunk_text_auto(read(table)[0])
    assert [unit.text for unit in quotable_units(chunk) if unit.is_row] == ["Was it good? | yes", "Was it bad? | no"]
    wrapped = tmp_path / "a.txt"
    wrapped.write_text(
        "They had walked all day and wondered who in the world might live there?\n"
        "Nobody had told them, and the night was near when they came to the gate.\n",
        encoding="utf-8",
    )
    assert [label for chunk in chunk_text_auto(read(wrapped)[0]) for label in chunk.labels] == []


def test_button_that_asks_nothing_of_the_text_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<h1>A</h1><p>Text.</p><button>Was this helpful?</button><h2>B <button>Copy</button></h2><p>More.</p>", "utf-8"
    )
    assert [block.text for block in read(path)[0]] == ["A", "Text.", "B", "More."]
