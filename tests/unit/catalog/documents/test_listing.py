"""A page of the documents holds what the whole list does, and nothing of the others is built for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, update

import core
from core.catalog import Catalog
from core.catalog.listing_schema import listed, unlisted
from core.catalog.schema import document_tags, documents, versions
from core.model import Document, DocumentQuery, DocumentSort
from tests.unit.catalog.test_schema import OLD_ROWS, take_back_to_the_first


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
    build = listing.document_of
    monkeypatch.setattr(listing, "document_of", lambda row, tags: built.append(row.id) or build(row, tags))
    assert full.documents_page(limit=1)[1:] == (6, True)
    assert len(built) == 1
    assert len(full.documents(limit=2)) == 2
    assert len(built) == 3


# ---- the list as it is kept

KEYS = {
    DocumentSort.NAME: lambda document: document.name,
    DocumentSort.TYPE: lambda document: document.extension,
    DocumentSort.STATE: lambda document: document.state,
    DocumentSort.VERSIONS: lambda document: document.version_count,
    DocumentSort.SIZE: lambda document: document.size_bytes,
    DocumentSort.CHUNKS: lambda document: document.chunk_count,
    DocumentSort.LANGUAGE: lambda document: document.language,
    DocumentSort.UPDATED: lambda document: document.updated_at,
}


def kept(kb: core.KnowledgeBase) -> dict[str, tuple[object, ...]]:
    """What the kept list says of each document, and that nothing waits to be brought into it."""
    with kb.catalog.database.read() as tx:
        assert tx.execute(unlisted.select()).all() == []
        rows = tx.execute(listed.select()).all()
    told = ("name", "state", "extension", "language", "version_count", "size_bytes", "chunk_count", "updated_at")
    return {row.doc_key: tuple(getattr(row, name) for name in told) for row in rows}


def told_by(document: Document) -> tuple[object, ...]:
    return (
        document.name,
        document.state,
        document.extension,
        document.language,
        document.version_count,
        document.size_bytes,
        document.chunk_count,
        document.updated_at,
    )


def test_the_kept_list_says_what_the_documents_say(full: core.KnowledgeBase) -> None:
    def same() -> None:
        assert kept(full) == {each.doc_key: told_by(each) for each in full.documents(include_deleted=True)}

    same()
    full.restore("b.txt")
    same()
    full.add_text("c", "Another text of c.")
    same()
    full.work_off()
    same()
    full.rollback("c.txt", 1)
    full.purge("c.txt", 2)
    same()
    full.purge("50%.txt")
    same()


@pytest.mark.parametrize("sort", list(DocumentSort))
@pytest.mark.parametrize("is_down", [False, True])
def test_every_order_holds_over_all_pages(full: core.KnowledgeBase, sort: DocumentSort, is_down: bool) -> None:
    found: list[Document] = []
    for offset in (0, 2, 4, 6):
        page = full.document_list(
            DocumentQuery(include_deleted=True, sort=sort, descending=is_down, offset=offset, limit=2)
        )
        assert page.total == 7
        found += page.documents
    assert len({document.doc_key for document in found}) == 7
    keys = [KEYS[sort](document) for document in found]
    assert keys == sorted(keys, reverse=is_down)


def test_what_changes_past_the_catalogue_is_in_the_list_after_the_next_transaction(full: core.KnowledgeBase) -> None:
    with full.catalog.database.write() as tx:
        doc_id = full.catalog.documents.id_of("c.txt")
        tx.execute(update(documents).where(documents.c.id == doc_id).values(name="ｶﾒﾗ c.txt"))
        tx.execute(delete(document_tags).where(document_tags.c.doc_id == doc_id))
        tx.execute(insert(document_tags).values(doc_id=doc_id, tag="Ärger"))
    for words in (("カメラ",), ("ärger",), ("A\u0308RGER", "ｃ")):
        assert [each.doc_key for each in full.document_list(DocumentQuery(words)).documents] == ["c.txt"]
    assert full.document_list(DocumentQuery(("tag c",))).total == 0


def test_a_transaction_that_fails_leaves_the_list_as_it_was(full: core.KnowledgeBase) -> None:
    before = kept(full)
    with pytest.raises(ZeroDivisionError), full.catalog.database.write() as tx:
        tx.execute(update(versions).values(size_bytes=1))
        raise ZeroDivisionError
    assert kept(full) == before


def test_documents_of_an_earlier_release_are_listed_when_it_is_brought_up_to_date(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    Catalog(url).close()
    take_back_to_the_first(url, OLD_ROWS)
    catalog = Catalog(url)
    assert {each.name: each.state for each in catalog.documents.listed(DocumentQuery()).documents} == {
        "a.txt": "published",
        "b.txt": "draft",
    }
    catalog.close()
