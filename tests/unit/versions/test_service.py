"""Comparing through the knowledge base: any two versions that have text, and a plain answer for all others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from core.errors import Conflict, DiffLimit, InvalidInput, NotFound, Purged
from core.versions.cache import RULES
from tests.builders import add, knowledge_base
from tests.unit.versions.diff.test_images import chart, pdf


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        yield opened


@pytest.mark.long
def test_any_two_versions_of_a_document_can_be_compared(kb: core.KnowledgeBase) -> None:
    for fee in (100, 120, 150):
        add(kb, "fees.txt", f"The fee is {fee} yen.\n\nIt is paid in advance.")

    forth, back = kb.compare("fees.txt", 1, 3), kb.compare("fees.txt", 3, 1)

    assert forth is not None and back is not None
    assert [(value.old, value.new) for value in forth.summary.values] == [("100 yen", "150 yen")]
    assert [(value.old, value.new) for value in back.summary.values] == [("150 yen", "100 yen")]
    assert (forth.summary.old.version, forth.summary.new.version) == (1, 3)


def test_a_version_differs_from_itself_in_nothing(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "some text")

    found = kb.compare("a.txt", 1, 1)

    assert found is not None and found.summary.is_equal


def test_versions_of_two_documents_can_be_compared(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "The first text is short.")
    add(kb, "b.txt", "The second text is short.")

    found = kb.diff("a.txt", 1, 1, other="b.txt")

    assert found is not None and found.summary.tally.changed == 1
    assert (found.summary.old.doc_key, found.summary.new.doc_key) == ("a.txt", "b.txt")


def test_drafts_and_deleted_documents_can_be_compared(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "one text")
    kb.add_text("a.txt", "one draft", draft=True)
    kb.work_off()
    kb.delete("a.txt")

    assert kb.compare("a.txt", 1, 2) is not None


def test_what_does_not_exist_is_not_found(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "text")

    for key, old, new, other in (("b.txt", 1, 1, None), ("a.txt", 1, 2, None), ("a.txt", 1, 1, "b.txt")):
        with pytest.raises(NotFound):
            kb.compare(key, old, new, other=other)
    with pytest.raises(NotFound):
        kb.image("a.txt", 1, 1)


def test_a_version_without_text_is_a_conflict(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "text")
    waiting = kb.add_text("a.txt", "not indexed yet")
    with pytest.raises(Conflict):
        kb.compare("a.txt", 1, 2)

    kb.cancel(str(waiting.job_id))

    with pytest.raises(Conflict):
        kb.compare("a.txt", 1, 2)


def test_a_purged_version_says_so_and_its_comparisons_are_gone(tmp_path: Path, kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "A secret that must go.")
    add(kb, "a.txt", "Nothing to hide here.")
    assert kb.compare("a.txt", 1, 2) is not None

    kb.purge("a.txt", 1)

    with pytest.raises(Purged):
        kb.compare("a.txt", 1, 2)
    left = [file for file in (tmp_path / "data" / "comparisons").rglob("*") if file.is_file()]
    assert not left


def test_a_new_version_is_compared_before_anyone_asks(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1) as kb:
        for text in ("The first wording.", "The second wording."):
            upload = kb.add_text("a.txt", text)
            kb.finish(str(upload.job_id), 60)
        folder, deadline = tmp_path / "data" / "comparisons", time.monotonic() + 60
        while not (folder / f"1-2-r{RULES}").is_dir() and time.monotonic() < deadline:
            time.sleep(0.05)

        assert (folder / f"1-2-r{RULES}" / "summary.json").is_file()


@pytest.mark.long
def test_not_waiting_is_answered_at_once_and_later_with_the_comparison(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "one")
    add(kb, "a.txt", "two")

    found, deadline = kb.compare("a.txt", 2, 1, wait=False), time.monotonic() + 60
    assert found is None
    while found is None and time.monotonic() < deadline:
        time.sleep(0.05)
        found = kb.compare("a.txt", 2, 1, wait=False)

    assert found is not None and found.summary.old.version == 2


def test_who_does_not_wait_is_told_once_that_it_failed(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, diff_timeout_s=0.0001) as kb:
        add(kb, "a.txt", "one")
        add(kb, "a.txt", "two")
        assert kb.compare("a.txt", 1, 2, wait=False) is None

        deadline = time.monotonic() + 60
        with pytest.raises(DiffLimit):
            while time.monotonic() < deadline:
                time.sleep(0.05)
                assert kb.compare("a.txt", 1, 2, wait=False) is None

        assert kb.compare("a.txt", 1, 2, wait=False) is None


@pytest.mark.long
def test_however_many_pairs_are_asked_for_two_children_are_at_work(kb: core.KnowledgeBase) -> None:
    for number in range(5):
        add(kb, "a.txt", f"word {number}. " * 5_000)
    pairs = [(old, new) for old in range(1, 6) for new in range(1, 6) if old != new][:8]
    left, most, deadline = set(pairs), 0, time.monotonic() + 120
    while left and time.monotonic() < deadline:
        left = {pair for pair in left if kb.compare("a.txt", *pair, wait=False) is None}
        most = max(most, kb._comparisons._process.at_work)
        time.sleep(0.01)

    assert not left
    assert 1 <= most <= 2


@pytest.mark.long
def test_metadata_and_images_of_files_are_compared(tmp_path: Path, kb: core.KnowledgeBase) -> None:
    for pages in ([[chart(1)]], [[chart(1)], [chart(2)]]):
        kb.add_path(pdf(tmp_path / "report.pdf", pages))
        kb.work_off()

    found = kb.compare("report.pdf", 1, 2)

    assert found is not None
    assert [pair.change.value for pair in found.summary.images] == ["equal", "added"]
    assert {change.name: (change.old, change.new) for change in found.summary.metadata if change.name == "pages"} == {
        "pages": (1, 2)
    }
    assert kb.image("report.pdf", 2, 2).read_bytes().startswith(b"\x89PNG")


def test_exports_come_in_two_forms(kb: core.KnowledgeBase) -> None:
    add(kb, "a.txt", "one line")
    add(kb, "a.txt", "two lines")
    found = kb.compare("a.txt", 1, 2)
    assert found is not None

    assert "".join(kb.export(found, "html")).startswith("<!DOCTYPE html>")
    assert "".join(kb.export(found, "patch")).startswith("--- a.txt.v1.txt\n")
    with pytest.raises(InvalidInput):
        kb.export(found, "docx")
