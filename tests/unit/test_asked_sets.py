"""The written questions that the reader learns from are over manuals that no benchmark judges with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.manuals_documents import SETS as JUDGED
from benchmarks.manuals_documents import manuals
from benchmarks.reader_training.asked import SET, asked

SETS = (SET, *(SET.with_name(f"asked_set_{number}") for number in (2, 3, 4)))
SHARED = ("github:kyama0/gitlab-handbook-ja", "github:misskey-dev/misskey-hub-next")
"""Repositories of many documents, of which a set is judged with some and another one learnt from."""


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_every_question_names_a_manual_of_its_set_and_where_it_is_answered(folder: Path) -> None:
    names = Counter(manual.name for manual in manuals(folder))
    assert set(names.values()) == {1}
    for one in asked(folder):
        assert one.document in names and one.language in ("en", "ja") and one.part in ("learnt", "kept")
        assert all(one.around) and all(one.answer) if one.is_answerable else not any((*one.around, *one.answer))


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_a_manual_is_learnt_from_or_kept_apart_as_a_whole(folder: Path) -> None:
    parts: dict[str, set[str]] = {}
    for one in asked(folder):
        parts.setdefault(one.document, set()).add(one.part)
    assert all(len(part) == 1 for part in parts.values())


def test_no_manual_is_in_two_sets_or_judged_with() -> None:
    files = Counter(
        (manual.package.partition("@")[0], manual.path) for folder in (*SETS, *JUDGED) for manual in manuals(folder)
    )
    assert set(files.values()) == {1}
    judged = {manual.package for folder in JUDGED for manual in manuals(folder)}
    both = judged & {manual.package for folder in SETS for manual in manuals(folder)}
    assert all(package.partition("@")[0] in SHARED for package in both)


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_no_question_is_asked_twice_of_a_manual(folder: Path) -> None:
    assert max(Counter((one.question, one.document) for one in asked(folder)).values()) == 1
