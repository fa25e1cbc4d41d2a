"""What a stretch of text stands under: term, option, item, question or header row, in chunk, index and answer."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from core.ingest.chunk import chunk_text_auto
from core.model import Chunk, Hit, LegRank, PlacedChunk
from core.query.answer.extract import extract_answer
from core.query.answer.quotable_units import quotable_units
from tests.unit.ingest.documents import read

SENTENCE = "It takes effect when the server is started again and holds for every request after that. "

MANUAL = """NAME
       pumpd - keeps a pump running

OPTIONS
       -D, --dry-run
              Shows what would be pumped.

              Nothing is written to the log either.

   Output control
       -q     Says nothing at all.

FILES
       A pump that has no file of its own is kept running with what the defaults of
       the system say, which is what most people want.
"""


def chunks_of(path: Path, text: str, tokens: int = 400) -> list[Chunk]:
    path.write_text(text, encoding="utf-8")
    return list(chunk_text_auto(read(path)[0], target_chunk_tokens=tokens))


def stands_under(chunks: list[Chunk], words: str) -> str:
    [chunk] = [chunk for chunk in chunks if words in chunk.text]
    return chunk.label_at(chunk.text.index(words))


def test_option_of_a_manual_page_labels_all_paragraphs_that_are_indented_under_it(tmp_path: Path) -> None:
    chunks = chunks_of(tmp_path / "pumpd.txt", MANUAL)
    assert stands_under(chunks, "Shows what") == "OPTIONS › -D, --dry-run"
    assert stands_under(chunks, "Nothing is written") == "OPTIONS › -D, --dry-run"
    assert stands_under(chunks, "-q ") == "OPTIONS › Output control › -q"
    assert stands_under(chunks, "the system say") == "FILES"


def test_option_of_a_japanese_manual_page_labels_what_explains_it(tmp_path: Path) -> None:
    text = (
        "オプション\n       -a, --all\n              隠しファイルも表示する。\n\n"
        "       --force-overwrite\n              上書きを強制する。\n"
    )
    chunks = chunks_of(tmp_path / "ls.txt", text)
    assert stands_under(chunks, "隠しファイル") == "オプション › -a, --all"
    assert stands_under(chunks, "上書き") == "オプション › --force-overwrite"


HANGING = """PUMPD(8)                 Pumps                 PUMPD(8)

OPTIONS
       -f     Force a start.  The lock is
              ignored then.

       -q     Says nothing at all.

       nowait Start at once.

       Please note that all of these
       may be given together.

       •      Bullets are no terms, whatever
              stands beside them.

       --one, --two,
       --three
              These do the same.

       ```
           pumpd --one
       ```
"""


def test_what_stands_beside_a_term_on_its_line_is_labelled_with_it(tmp_path: Path) -> None:
    chunks = chunks_of(tmp_path / "pumpd.txt", HANGING)
    assert stands_under(chunks, "Force a start") == "-f"
    assert stands_under(chunks, "ignored then") == "-f"
    assert stands_under(chunks, "Says nothing") == "-q"
    assert stands_under(chunks, "Start at once") == "nowait"
    assert stands_under(chunks, "Please note") == ""
    assert stands_under(chunks, "may be given") == ""
    assert stands_under(chunks, "Bullets are") == ""
    assert stands_under(chunks, "These do the same") == "--one, --two, --three"
    assert stands_under(chunks, "    pumpd --one") == ""


def test_wrapped_and_indented_prose_labels_nothing(tmp_path: Path) -> None:
    prose = (
        "  The plant stands between two rivers and is reached by a\n"
        "narrow road that is closed in winter.\n\n"
        "  Visitors are welcome.\n\n"
        "* An item whose text goes on and on until the line is full\n"
        "  and then goes on below\n\n"
        "　昔々あるところに、おじいさんがいた。\n\n「おや」\n\n　と言った。\n"
    )
    chunks = chunks_of(tmp_path / "prose.txt", prose)
    assert [label for chunk in chunks for label in chunk.labels] == []


def test_a_lone_bracket_is_no_term_but_an_operator_is(tmp_path: Path) -> None:
    text = (
        "The settings of the pump are these.\n\n{\n    speed of the pump in rounds\n}\n\n"
        "&&\n    Both have to be so.\n\n(\n    height above the sea\n);\n"
    )
    chunks = chunks_of(tmp_path / "settings.txt", text)
    assert stands_under(chunks, "speed of the pump") == ""
    assert stands_under(chunks, "height above") == ""
    assert stands_under(chunks, "Both have") == "&&"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.html",
            "<h1>pumpd</h1><dl><dt><code>-D</code></dt><dt>--dry-run</dt><dd><p>Shows it.</p><p>Writes nothing.</p>"
            "<dl><dt>level</dt><dd>A figure.</dd></dl><p>Then ends.</p></dd></dl><p>After it all.</p>",
        ),
        ("a.md", "# pumpd\n\n-D, --dry-run\n: Shows it.\n\n    Writes nothing.\n\nAfter it all.\n"),
    ],
)
def test_terms_label_their_definitions(tmp_path: Path, name: str, text: str) -> None:
    chunks = chunks_of(tmp_path / name, text)
    for words in ("Shows it", "Writes nothing"):
        assert stands_under(chunks, words) == "-D, --dry-run"
    if name.endswith("html"):
        assert stands_under(chunks, "A figure") == "-D, --dry-run › level"
        assert stands_under(chunks, "Then ends") == "-D, --dry-run"
    assert stands_under(chunks, "After it all") == ""


def test_heading_ends_what_a_term_labels(tmp_path: Path) -> None:
    page = "<h1>A</h1><dl><dt>-D</dt><dd><p>Shows it.</p><h2>Next</h2><p>Other text.</p></dd></dl>"
    assert stands_under(chunks_of(tmp_path / "a.html", page), "Other text") == ""


def test_item_labels_the_items_and_paragraphs_below_it(tmp_path: Path) -> None:
    text = "1. Stop the pump\n\n   Press the red button.\n\n   - Wait for the light.\n\n2. Open the valve\n"
    chunks = chunks_of(tmp_path / "a.md", text)
    assert stands_under(chunks, "Press the red") == "Stop the pump"
    assert stands_under(chunks, "Wait for") == "Stop the pump"
    assert stands_under(chunks, "2. Open") == ""


@pytest.mark.parametrize(
    ("question", "answer", "far"),
    [
        ("Q1: Can I bring my dog?", "A: Yes, on a lead.", "Ask at the desk."),
        ("犬を連れて行けますか？", "はい、リードがあれば可能です。", "受付でお尋ねください。"),
    ],
)
def test_question_of_an_faq_labels_its_answer(tmp_path: Path, question: str, answer: str, far: str) -> None:
    chunks = chunks_of(tmp_path / "faq.txt", f"{question}\n\n{answer}\n\n{far}\n")
    assert stands_under(chunks, answer) == stands_under(chunks, far) == question
    assert stands_under(chunks, question) == ""


def test_chunk_that_begins_below_a_term_is_indexed_with_it(tmp_path: Path) -> None:
    page = f"<h1>pumpd</h1><dl><dt>KeepPumping</dt><dd><p>{'</p><p>'.join([SENTENCE] * 40)}</p></dd></dl>"
    chunks = chunks_of(tmp_path / "a.html", page, tokens=120)
    assert len(chunks) > 3 and chunks[0].header == ""
    for chunk in chunks[1:]:
        assert chunk.header == "KeepPumping" and "KeepPumping" in chunk.indexed_text("Title")


def test_indented_text_of_a_pdf_page_stands_under_the_short_line_above(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for at, (left, text) in enumerate([
        (72, "The pump takes these options, and others that the next chapter names, in any order."),
        (72, "--level=N"),
        (100, "How loud the pump may be. Any figure from 0 to 9 will do; a larger one is read as 9."),
        (72, "--quiet"),
        (100, "Says nothing."),
        (72, "These options were chosen with care, and none of them will ever be taken away again."),
    ]):  # fmt: skip
        page.insert_text((left, 80 + 30 * at), text, fontsize=10)
    document.save(tmp_path / "a.pdf")
    chunks = list(chunk_text_auto(read(tmp_path / "a.pdf")[0]))
    assert stands_under(chunks, "How loud") == "--level=N"
    assert stands_under(chunks, "Says nothing") == "--quiet"
    assert stands_under(chunks, "These options were") == ""


def asked(question: str, chunk: Chunk) -> str:
    placed = PlacedChunk(1, 1, "pumpd", "pumpd.html", "Reference", 1, chunk)
    return extract_answer(question, [Hit(1, placed, 1.0, LegRank(1, 0.6, 0.01))], threshold=0.0).text


def test_rows_without_a_header_row_are_label_and_value(tmp_path: Path) -> None:
    rows = {"Description:": "How long a connection is kept", "Default:": "KeepAlive 5", "Context:": "server config"}
    page = "<h1>KeepAlive</h1><table>%s</table>"
    [chunk] = chunks_of(
        tmp_path / "a.html", page % "".join(f"<tr><th>{head}</th><td>{cell}</td></tr>" for head, cell in rows.items())
    )
    units = [unit for unit in quotable_units(chunk) if unit.is_row]
    assert [unit.text for unit in units] == [" | ".join(row) for row in rows.items()]
    assert not any(unit.header for unit in units)
    assert asked("What is the default of KeepAlive?", chunk).startswith("Default: KeepAlive 5 [1]")


def test_rows_with_a_header_row_keep_it_and_it_is_no_unit(tmp_path: Path) -> None:
    [chunk] = chunks_of(tmp_path / "a.csv", "pump,level\nred,7\nblue,9\n")
    assert [(unit.header, unit.text) for unit in quotable_units(chunk)] == [
        ("pump | level", "red | 7"),
        ("pump | level", "blue | 9"),
    ]


def test_answer_from_below_a_term_names_it(tmp_path: Path) -> None:
    page = (
        "<h1>pumpd</h1><p>The pump takes these options.</p><dl><dt>-S</dt><dd>Shows the settings of every pump, then "
        "ends.</dd><dt>-t</dt><dd>Checks the file of the pump for errors.</dd></dl>"
    )
    [chunk] = chunks_of(tmp_path / "a.html", page)
    assert "-S: Shows the settings" in asked("Which option shows the settings of every pump?", chunk)
