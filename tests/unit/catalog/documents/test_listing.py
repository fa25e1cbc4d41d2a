"""A page of the documents holds what the whole list does, and nothing of the others is built for it."""

from __future__ import annotations

import sys

import pytest

import core


@pytest.fixture
def full(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    for name in ("b", "a", "Ünder_way", "50%", "c"):
        kb.add_text(name, f"Text of {name}.", tags=["all", f"tag {name}"])
    kb.work_off()
    kb.delete("b.txt")
    kb.unpublish("a.txt")
    kb.add_text("draft", "Not shown.", draft=True)
    kb.work_off()
    kb.add_text("late", "Waits.")
    return kb


@pytest.mark.long
@pytest.mark.parametrize("search", ["", "ü", "TAG A", "_", "%", "\\", "nothing"])
@pytest.mark.parametrize("deleted", [False, True])
def test_pages_together_are_the_list(full: core.KnowledgeBase, search: str, deleted: bool) -> None:
    whole = sorted(full.documents(search, include_deleted=deleted), key=lambda document: document.doc_key)
    found, after, more = [], "", True
    while more:
        page, total, more = full.documents_page(search, include_deleted=deleted, after=after, limit=2)
        assert total == len(whole) and len(page) <= 2
        found += page
        after = found[-1].doc_key if found else ""
    assert found == whole


@pytest.mark.long
@pytest.mark.parametrize("search", ["", "ü", "TAG A", "%", "nothing"])
@pytest.mark.parametrize("deleted", [False, True])
def test_the_first_documents_begin_the_list(full: core.KnowledgeBase, search: str, deleted: bool) -> None:
    whole = full.documents(search, include_deleted=deleted)
    for limit in (0, 1, 3, 100):
        assert full.documents(search, include_deleted=deleted, limit=limit) == whole[:limit]


def test_a_page_is_narrowed_by_state_type_and_tags(full: core.KnowledgeBase) -> None:
    def keys(**wanted: object) -> list[str]:
        return [document.doc_key for document in full.documents_page(include_deleted=True, **wanted)[0]]  # type: ignore[arg-type]

    for document in full.documents(include_deleted=True):
        assert document.doc_key in keys(state=document.state)
    assert keys(state="deleted") == ["b.txt"] and keys(state="indexing") == ["late.txt"]
    assert keys(tags=["all", "all", "tag c"]) == ["c.txt"] and keys(tags=["all", "none"]) == []
    assert keys(extensions=["pdf"]) == [] and len(keys(extensions=["pdf", "txt"])) == 7


def test_only_the_documents_of_the_page_are_built(full: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    listing = sys.modules["core.catalog.documents.listing"]
    build = listing._document
    monkeypatch.setattr(listing, "_document", lambda row, tags: built.append(row.id) or build(row, tags))
    assert full.documents_page(limit=1)[1:] == (6, True)
    assert len(built) == 1
    assert len(full.documents(limit=2)) == 2
    assert len(built) == 3
