"""The questions about manuals are judged as a person would, and are whole."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.manuals_documents import SETS, Manual, collect, manuals
from benchmarks.manuals_judge import Question, holds_evidence, plain, questions, verdict

OPTION = Question(
    "x1", "en", "option", "a", "Which option limits deletions?", "rsync.txt", evidence=("not to delete more than NUM",),
    must=(("--max-delete",), ("files", "directories")), must_not=("unlimited",),
)  # fmt: skip
NOTHING = Question("x2", "ja", "none", "a", "値段はいくらですか")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("--MAX-DELETE=NUM: not more than NUM\n   files", "right"),
        ("Use --max-delete.", "partial"),
        ("--max-delete: files; it is unlimited", "wrong"),
        ("Use --delete-after.", "wrong"),
        ("The option limits how many files are deleted.", "partial"),
        ("Deletions are limited by an option.", "wrong"),
    ],
)
def test_answer_is_judged_by_the_facts_that_it_must_hold(answer: str, expected: str) -> None:
    assert verdict(OPTION, answer, is_refused=False) == expected


def test_refusal_is_right_only_where_there_is_no_answer() -> None:
    assert verdict(OPTION, "", is_refused=True) == "refused"
    assert verdict(NOTHING, "", is_refused=True) == "right"
    assert verdict(NOTHING, "100 円です。", is_refused=False) == "wrong"


def test_patterns_see_japanese_lines_joined_and_one_width() -> None:
    assert plain("外部コマンドの実\n    行結果　Ｗ３Ｍ “x” ‐ y") == '外部コマンドの実行結果 w3m "x" - y'
    assert re.search(r"\btab\b", plain("TABで次のリンク"), re.ASCII)


def test_evidence_is_found_however_its_cells_are_set() -> None:
    assert holds_evidence(OPTION, "rsync.txt", "… not to de-\nlete | more than NUM …")
    assert not holds_evidence(OPTION, "other.txt", "not to delete more than NUM")


LEAST = ((300, 100, 60), (300, 90, 60), (250, 35, 45))


@pytest.mark.parametrize(("folder", "least"), zip(SETS, LEAST, strict=True), ids=[folder.name for folder in SETS])
def test_questions_are_whole_and_their_halves_share_no_manual(folder: Path, least: tuple[int, int, int]) -> None:
    known = {manual.name: manual for manual in manuals(folder)}
    asked = questions(folder)
    assert len({one.id for one in asked}) == len({one.question for one in asked}) == len(asked) >= least[0]
    for one in asked:
        patterns = [pattern for group in one.must for pattern in group] + list(one.must_not)
        assert all(re.compile(pattern, re.ASCII) for pattern in patterns)
        assert all(pattern == pattern.casefold() for pattern in patterns if "\\" not in pattern), one.id
        if one.is_answerable:
            assert one.evidence and one.must and known[one.document].half == one.half, one.id
    share = Counter("none" if not one.is_answerable else "across" if one.across else "own" for one in asked)
    assert share["across"] >= least[1] and share["none"] >= least[2]


def test_a_document_of_a_repository_is_looked_for_in_its_checkout_and_never_downloaded(tmp_path: Path) -> None:
    page = Manual("a-b.md", "github:who/what@0123", "docs/b.md", "en", "a")
    (tmp_path / "who+what" / "docs").mkdir(parents=True)
    (tmp_path / "who+what" / "docs" / "b.md").write_text("# B\n", "utf-8")
    assert [path.read_text("utf-8") for path in collect([page], tmp_path, tmp_path / "made")] == ["# B\n"]
    with pytest.raises(SystemExit, match="None of the manuals is there"):
        collect([page], tmp_path / "elsewhere", tmp_path / "made again")
