"""Versions compared on the command line, and what one would change in the answers."""

import json
import subprocess

import pytest

from tests import programs

OLD = (
    "# Handbook\n\n## Leave\n\nEach colleague has 14 days of leave in the first year.\n\n"
    + "".join(f"Rule {n} stays as it is.\n\n" for n in range(30))
    + "## Money\n\n| Item | Price |\n| --- | --- |\n| Lunch | 800 |\n| Dinner | 1200 |\n"
)
NEW = (
    OLD.replace("14 days", "12 days")
    .replace("| Lunch | 800 |", "| Lunch | 850 |")
    .replace("Rule 20 stays as it is.\n\n", "")
    + "\nIn force from 2026-11-21.\n"
)


@pytest.fixture
def compared(evorag, tmp_path):
    """A document in two versions."""
    path = tmp_path / "handbook.md"
    for text in (OLD, NEW):
        path.write_text(text, "utf-8")
        assert evorag("add", path)[0] == 0
    return evorag


def test_diff_begins_with_numbers_and_marks_words_by_signs(compared):
    status, out, _ = compared("diff", "Handbook.md", 1, 2)
    assert status == 0
    assert "\x1b" not in out
    values, rows = out.split("\n@ ", 1)
    assert "14 days\t12 days\t" in values
    assert "lines: ~2 changed, +1 added, -1 removed" in values
    assert "has [-14-]{+12+} days" in rows
    assert "[-800-]{+850+}" in rows
    assert any(line.split()[1:3] == ["-", "Rule"] for line in rows.splitlines() if "Rule 20" in line)
    assert "unchanged lines" in rows
    assert "Rule 10 " not in rows


def test_diff_of_everything_folds_nothing(compared):
    _, out, _ = compared("diff", "handbook.md", 1, 2, "--all")
    assert "Rule 10 " in out
    assert "unchanged lines" not in out


def test_diff_as_json_holds_the_summary_and_the_changed_rows(compared):
    _, out, _ = compared("diff", "handbook.md", 1, 2, "--json")
    found = json.loads(out)
    assert found["summary"]["tally"]["changed"] == 2
    assert {row["change"] for row in found["rows"]} == {"changed", "added", "removed"}
    everything = json.loads(compared("diff", "handbook.md", 1, 2, "--json", "--all")[1])
    assert len(everything["rows"]) == everything["summary"]["rows"]
    assert [row["row"] for row in everything["rows"]] == list(range(everything["summary"]["rows"]))


@programs.needs("patch")
def test_patch_turns_the_old_text_into_the_new_one(compared, tmp_path):
    (tmp_path / "old.txt").write_text(compared("show", "handbook.md", "--text", "--version", 1)[1], "utf-8")
    _, patch, _ = compared("diff", "handbook.md", 1, 2, "--patch")
    command = ["patch", "--silent", str(tmp_path / "old.txt")]
    subprocess.run(command, input=patch, text=True, check=True, timeout=30)
    new = compared("show", "handbook.md", "--text", "--version", 2)[1]
    assert (tmp_path / "old.txt").read_text("utf-8").rstrip() == new.rstrip()


def test_html_is_a_page_of_its_own(compared):
    _, out, _ = compared("diff", "handbook.md", 1, 2, "--html")
    assert out.startswith("<!DOCTYPE html>")
    assert "<script" not in out


def test_diff_of_equal_versions_says_so(compared):
    _, out, _ = compared("diff", "handbook.md", 2, 2)
    assert "The texts are the same." in out


def test_two_documents_are_compared(compared, tmp_path):
    (tmp_path / "other.md").write_text(OLD, "utf-8")
    compared("add", tmp_path / "other.md")
    assert "The texts are the same." in compared("diff", "handbook.md", 1, 1, "--other", "other.md")[1]


def test_text_of_a_diff_cannot_steer_the_terminal(evorag, tmp_path):
    for word in ("granted", "refused"):
        (tmp_path / "note.txt").write_text(f"Leave is {word}.\x1b[2J\x1b]0;owned\x07 See \x9b31m below.", "utf-8")
        evorag("add", tmp_path / "note.txt")
    out = evorag("diff", "note.txt", 1, 2)[1]
    assert "[-granted-]" in out
    assert not set(out) & {"\x1b", "\x07", "\x9b"}


def test_terminal_gets_colours_unless_it_wants_none(compared, in_terminal):
    status, shown_there = in_terminal("diff", "handbook.md", 1, 2)
    assert status == 0
    assert "\x1b[32m{+12+}" in shown_there
    _, plain = in_terminal("diff", "handbook.md", 1, 2, NO_COLOR="1")
    assert "{+12+}" in plain
    assert "\x1b[32m" not in plain


@pytest.mark.parametrize(
    ("arguments", "status"), [((1, 9), 1), ((1, 2, "--json", "--html"), 2), ((1, 2, "--other", "absent.md"), 1)]
)
def test_diff_that_cannot_be_made_is_explained(compared, arguments, status):
    ended, out, err = compared("diff", "handbook.md", *arguments)
    assert (ended, out) == (status, "")
    assert err


def test_saved_questions_are_listed_and_forgotten(compared):
    status, out, _ = compared("questions", "--save", "How many days of leave in the first year?")
    assert status == 0
    question_id = out.split("\t")[0]
    assert compared("questions", "--save", "How many days of leave in the first year?")[1] == out
    assert compared("questions", "--forget", question_id)[1] == ""
    assert compared("questions", "--forget", question_id)[0] == 1


def test_impact_tells_which_answers_a_draft_would_change(evorag, tmp_path):
    path = tmp_path / "handbook.md"
    path.write_text(OLD, "utf-8")
    evorag("add", path)
    path.write_text(NEW, "utf-8")
    evorag("add", path, "--draft")
    assert evorag("impact", "handbook.md", 2)[0] == 1
    evorag("questions", "--save", "How many days of leave in the first year?")
    evorag("questions", "--save", "How much is dinner?")
    status, out, err = evorag("impact", "handbook.md", 2)
    assert status == 0
    [leave] = [line for line in out.splitlines() if "days of leave" in line]
    assert leave.startswith("changes\t")
    assert "14 days" in leave.split("\t")[2]
    assert "12 days" in leave.split("\t")[3]
    assert "answers would change" in err
    assert len(json.loads(evorag("impact", "handbook.md", 2, "--json")[1])) == 2
    assert "14 days" in evorag("ask", "How many days of leave in the first year?")[1]
