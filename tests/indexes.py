"""What both indexes hold is compared with what the catalogue says that they should hold."""

from __future__ import annotations

from sqlalchemy import select

import core
from core.catalog.schema import chunks, embeddings, shown_now, version_chunks, versions
from core.model import Part


def assert_indexes_follow_the_catalogue(kb: core.KnowledgeBase) -> None:
    """Every chunk stands in the keyword index and, where it has an embedding, in the vector index, each in its part."""
    kb._projector.flush()
    with kb.catalog.database.read() as tx:
        every = set(tx.scalars(select(chunks.c.id)))
        embedded = set(
            tx.scalars(select(chunks.c.id).join(embeddings, embeddings.c.content_hash == chunks.c.content_hash))
        )
        shown = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(shown_now))
        coming = select(version_chunks.c.chunk_id).join(versions, versions.c.id == version_chunks.c.version_id)
        head = set(tx.scalars(shown)) | set(tx.scalars(coming.where(versions.c.is_prepared)))
        waiting = set(tx.scalars(coming.where(versions.c.state == "stored", versions.c.keyword_ready.is_(False))))
    wanted = {chunk: Part.HEAD if chunk in head else Part.HISTORY for chunk in every}
    assert {c: p for c, p in kb._keywords.ids() if c not in waiting} == {
        chunk: part for chunk, part in wanted.items() if chunk not in waiting
    }
    assert {c: p for c, p in kb._vectors.ids() if c not in waiting} == {
        chunk: part for chunk, part in wanted.items() if chunk in embedded and chunk not in waiting
    }


def assert_nothing_is_left_to_do(kb: core.KnowledgeBase) -> None:
    """No job is active, every ready version has all its embeddings, and the indexes hold just the catalogue's rows."""
    assert kb.jobs(active=True) == []
    with kb.catalog.database.read() as tx:
        bare = select(chunks.c.id).where(
            chunks.c.content_hash.not_in(select(embeddings.c.content_hash)),
            chunks.c.id.in_(
                select(version_chunks.c.chunk_id)
                .join(versions, versions.c.id == version_chunks.c.version_id)
                .where(versions.c.state == "ready")
            ),
        )
        assert list(tx.scalars(bare)) == []
        held = select(version_chunks.c.chunk_id)
        assert list(tx.scalars(select(chunks.c.id).where(chunks.c.id.not_in(held)))) == []
        assert list(tx.scalars(select(versions.c.id).where(versions.c.is_prepared))) == []
        ready = select(versions.c.embedded_chunks, versions.c.chunk_count).where(versions.c.state == "ready")
        assert all(row.embedded_chunks == row.chunk_count > 0 for row in tx.execute(ready))
    assert_indexes_follow_the_catalogue(kb)
