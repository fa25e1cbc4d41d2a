"""The tables of the list of documents: what it is searched and sorted by, a row each, and whose row is stale."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text

from core.catalog.columns import ROW_ID, Instant
from core.catalog.schema import metadata

listed = Table(
    "listed_documents",
    metadata,
    Column("doc_id", ROW_ID, primary_key=True, autoincrement=False),
    Column("doc_key", String(1024), nullable=False),
    Column("owner_id", BigInteger),
    Column("name", String(1024), nullable=False),
    Column("words", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("extension", String(16), nullable=False),
    Column("language", String(8), nullable=False),
    Column("version_count", Integer, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False),
    # Each holds what a list is narrowed by, so that counting up to a far page reads no row.
    Index("listed_documents_updated", "updated_at", "doc_id", "state", "owner_id"),
    Index("listed_documents_name", "name", "doc_id", "state", "owner_id"),
    Index("listed_documents_key", "doc_key", "state", "owner_id"),
    Index("listed_documents_state", "state", "doc_id", "owner_id"),
    Index("listed_documents_type", "extension", "doc_id", "state", "owner_id"),
    Index("listed_documents_language", "language", "doc_id", "state", "owner_id"),
    Index("listed_documents_versions", "version_count", "doc_id", "state", "owner_id"),
    Index("listed_documents_size", "size_bytes", "doc_id", "state", "owner_id"),
    Index("listed_documents_chunks", "chunk_count", "doc_id", "state", "owner_id"),
)
"""What the other tables tell of each document, so that a list of 100,000 is searched and sorted where it is kept.

``words`` are the name, the title and the tags, a line each, with their letters folded: no database folds those of all
scripts. A row may be removed at any time: ``unlisted`` then gets its document.
"""

unlisted = Table(
    "unlisted_documents",
    metadata,
    Column("doc_id", ROW_ID, primary_key=True, autoincrement=False),
)
"""Documents whose row in ``listed`` is to be written anew. Triggers note them, whoever changes a document."""
