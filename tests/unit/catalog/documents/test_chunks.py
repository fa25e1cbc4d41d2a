"""Chunks are written for a version that is being indexed, and for no other."""

from __future__ import annotations

import pytest
from sqlalchemy import select

import core
from core.catalog.schema import version_deltas, versions
from core.errors import Cancelled
from tests.builders import add


def test_what_was_purged_meanwhile_is_not_finished(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    kb.add_text("a", "second")
    doc_id, version_id = kb.catalog.documents.id_of("a.txt"), kb.version("a.txt", 2).id
    kb.purge("a.txt", 2)
    for act in (lambda: kb.catalog.chunks.finish(version_id, doc_id), lambda: kb.catalog.chunks.begin(version_id)):
        with pytest.raises(Cancelled):
            act()
    with kb.catalog.database.read() as tx:
        assert tx.scalar(select(versions.c.base_id).where(versions.c.id == version_id)) is None
        assert tx.execute(select(version_deltas).where(version_deltas.c.version_id == version_id)).all() == []


def test_only_what_failed_or_was_cancelled_is_forgotten(kb: core.KnowledgeBase) -> None:
    kb.add_text("a", "text", draft=True)
    kb.work_off()
    version_id = kb.version("a.txt", 1).id
    kb.catalog.chunks.forget(version_id)
    assert len(kb.catalog.chunks.ids_of(version_id)) == kb.version("a.txt", 1).chunk_count == 1
