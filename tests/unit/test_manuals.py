"""The questions about manuals are judged as a person would, and are whole."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.manuals_documents import SETS, manuals
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


@pytest.mark.parametrize(("folder", "across"), zip(SETS, (100, 90), strict=True), ids=[folder.name for folder in SETS])
def test_questions_are_whole_and_their_halves_share_no_manual(folder: Path, across: int) -> None:
    known = {manual.name: manual for manual in manuals(folder)}
    asked = questions(folder)
    assert len({one.id for one in asked}) == len({one.question for one in asked}) == len(asked) >= 300
    for one in asked:
        patterns = [pattern for group in one.must for pattern in group] + list(one.must_not)
        assert all(re.compile(pattern, re.ASCII) for pattern in patterns)
        assert all(pattern == pattern.casefold() for pattern in patterns if "\\" not in pattern), one.id
        if one.is_answerable:
            assert one.evidence and one.must and known[one.document].half == one.half, one.id
    share = Counter("none" if not one.is_answerable else "across" if one.across else "own" for one in asked)
    assert share["across"] >= across and share["none"] >= 60
