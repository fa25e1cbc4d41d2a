"""The tables of the catalogue, for SQLite and PostgreSQL alike."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    select,
    text,
)

from core.catalog.columns import ROW_ID, Instant, SharedJson, only

MOVES_TO_HEAD = text("moves AND part = 'head'")
IS_LACKING_VECTORS = text("state = 'ready' AND embedded_chunks < chunk_count")
"""What a version is that can be shown but was not embedded whole; written out, or SQLite would not take the index."""
IS_SHORT_QUESTION, IS_LONG_QUESTION = text("length(question) <= 500"), text("length(question) > 500")
"""Of questions: no index of PostgreSQL holds texts of any length; written out as the index is, or it is not taken."""
metadata = MetaData()

documents = Table(
    "documents",
    metadata,
    Column("id", ROW_ID, primary_key=True),
    Column("doc_key", String(1024), nullable=False, unique=True),
    Column("name", String(1024), nullable=False),
    Column("is_text_entry", Boolean, nullable=False, default=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("shelvings", Integer, nullable=False, default=0),
    Column("owner_id", BigInteger),
    Index("documents_owner", "owner_id"),
)

document_tags = Table(
    "document_tags",
    metadata,
    Column("doc_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(256), primary_key=True),
    Index("document_tags_tag", "tag", "doc_id"),
)

versions = Table(
    "versions",
    metadata,
    Column("id", ROW_ID, primary_key=True),
    Column("doc_id", ForeignKey("documents.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("file_name", String(1024), nullable=False),
    Column("extension", String(16), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("sha1", String(40), nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("claimed_seq", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("note", Text, nullable=False, default=""),
    Column("actor", String(256), nullable=False, default=""),
    Column("title", Text, nullable=False, default=""),
    Column("language", String(8), nullable=False, default=""),
    Column("parsed_sha256", String(64)),
    Column("chunk_count", Integer, nullable=False, default=0),
    Column("chunks_added", Integer, nullable=False, default=0),
    Column("chunks_kept", Integer, nullable=False, default=0),
    Column("metadata", JSON, nullable=False, default=dict),
    Column("error", JSON),
    Column("label", String(200), nullable=False, default=""),
    Column("chunks_removed", Integer, nullable=False, default=0),
    Column("is_draft", Boolean, nullable=False, default=False),
    Column("publish_at", Instant),
    Column("publish_actor", String(256), nullable=False, default=""),
    Column("purged_at", Instant),
    Column("purged_by", String(256), nullable=False, default=""),
    Column("base_id", BigInteger),
    Column("is_text_entry", Boolean, nullable=False, default=False),
    Column("is_prepared", Boolean, nullable=False, default=False),
    Column("publish_early", Boolean, nullable=False, default=False),
    Column("keyword_ready", Boolean, nullable=False, default=False),
    Column("embedded_chunks", Integer, nullable=False, default=0),
    Column("reading", Integer, nullable=False, default=1, server_default="1"),
    Column("reading_of", Integer),
    Column("reader", String(32), nullable=False, default="", server_default=""),
    UniqueConstraint("doc_id", "number", name="versions_doc_number"),
    Index("versions_publish_at", "publish_at"),
    Index("versions_counted", "size_bytes", "state", "number", "reader", "doc_id"),  # no search is by its first
    Index("versions_readings", "id", **only(text("number < 0"))),
    Index("versions_lacking", "id", **only(IS_LACKING_VECTORS)),
)

NUMBER: ColumnElement[Any] = func.coalesce(versions.c.reading_of, versions.c.number).label("number")
"""The number by which people know a version. The row of another reading of it has one of its own, below zero, and this
in ``reading_of``: so there is one row a number, which is what the version is now."""
IS_CURRENT: ColumnElement[bool] = versions.c.number > 0
"""Tells of a row of a version that it is not another reading, waiting or replaced."""

publications = Table(
    "publications",
    metadata,
    Column("seq", ROW_ID, primary_key=True, autoincrement=True),
    Column("doc_id", ForeignKey("documents.id"), nullable=False),
    Column("version_id", ForeignKey("versions.id")),
    Column("action", String(16), nullable=False),
    Column("at", Instant, nullable=False),
    Column("actor", String(256), nullable=False, default=""),
    Column("subject", Integer),
    Column("note", Text, nullable=False, default=""),
    Index("publications_doc_seq", "doc_id", "seq"),
    Index("publications_at", "at"),
    sqlite_autoincrement=True,
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("doc_id", ForeignKey("documents.id"), nullable=False),
    Column("content_hash", LargeBinary(32), nullable=False),
    Column("title", Text, nullable=False),
    Column("heading_path", SharedJson, nullable=False),
    Column("header", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("token_count", Integer, nullable=False),
    UniqueConstraint("doc_id", "content_hash", name="chunks_doc_content"),
    Index("chunks_content", "content_hash"),
)

version_chunks = Table(
    "version_chunks",
    metadata,
    Column("version_id", ForeignKey("versions.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("chunk_id", ForeignKey("chunks.id"), nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("locator", SharedJson, nullable=False),
    Index("version_chunks_chunk", "chunk_id", "version_id"),
)

version_deltas = Table(
    "version_deltas",
    metadata,
    Column("version_id", ForeignKey("versions.id"), primary_key=True),
    Column("chunk_id", BigInteger, primary_key=True, autoincrement=False),
)
"""The chunks that a version and its base (``versions.base_id``) do not share, and perhaps some that they do.

Of a version that was purged, or never became ready: the chunks that left the catalogue with it.
"""

embeddings = Table(
    "embeddings",
    metadata,
    Column("content_hash", LargeBinary(32), primary_key=True),
    Column("model", String(256), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("store", String(16), nullable=False),
    Column("chunk_id", BigInteger, nullable=False),
    Column("part", String(16)),
    Column("moves", Boolean, nullable=False, server_default="1"),
    Index("outbox_store", "store", "id"),
    Index("outbox_moves", "store", **only(MOVES_TO_HEAD)),
    sqlite_autoincrement=True,
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("state", String(16), nullable=False),
    Column("stage", String(16), nullable=False),
    Column("done", BigInteger, nullable=False, default=0),
    Column("total", BigInteger, nullable=False, default=0),
    Column("doc_id", ForeignKey("documents.id")),
    Column("version_id", ForeignKey("versions.id")),
    Column("attempts", Integer, nullable=False, default=0),
    Column("error", JSON),
    Column("stage_seconds", JSON, nullable=False, default=dict),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("name", String(1024), nullable=False, default=""),
    Column("size_bytes", BigInteger, nullable=False, default=0),
    Column("stage_counts", JSON, nullable=False, default=dict),
    Column("resources", JSON, nullable=False, default=dict),
    Column("actor", String(256), nullable=False, default=""),
    Column("owner_id", BigInteger),
    Column("priority", Integer, nullable=False, default=0),
    Column("parent_id", String(32)),
    Column("payload", JSON),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("change", BigInteger, nullable=False, default=0),
    Column("worker", String(32)),
    Column("leased_until", Instant),
    Index("jobs_state", "state", "created_at"),
    Index("jobs_version", "version_id"),
    Index("jobs_parent", "parent_id"),
    Index("jobs_change", "change"),
    Index("jobs_document", "doc_id", "state"),
    Index("jobs_listed", "created_at", "id", "doc_id", "state", "kind"),
)
"""Background work. An archive's job has no document: ``payload`` says what it works on.

``worker`` is the process that works on it and ``leased_until`` when another one may take it, where there are several.
"""

job_events = Table(
    "job_events",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("job_id", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("at", Instant, nullable=False),
    Column("level", String(8), nullable=False),
    Column("stage", String(16), nullable=False),
    Column("code", String(32), nullable=False),
    Column("values", JSON, nullable=False, default=dict),
    Index("job_events_job", "job_id", "id"),
    sqlite_autoincrement=True,
)

transfers = Table(
    "transfers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner_id", BigInteger),
    Column("name", String(1024), nullable=False),
    Column("size_bytes", BigInteger),
    Column("offset_bytes", BigInteger, nullable=False, default=0),
    Column("state", String(16), nullable=False),
    Column("is_partial", Boolean, nullable=False, default=False),
    Column("parts", JSON),
    Column("metadata", Text, nullable=False, default=""),
    Column("sha256", String(64)),
    Column("filing", JSON, nullable=False, default=dict),
    Column("receipt", JSON),
    Column("error", JSON),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("transfers_expires_at", "expires_at"),
    Index("transfers_owner", "owner_id", "state"),
)
"""Files that arrive in parts; their bytes lie in the data folder's ``transfers`` under their id."""

leftovers = Table(
    "leftovers",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("name", String(64), primary_key=True),
)
"""Files that are written before a row names them, or removed after the last row that named them.

A start removes the files that are noted here and that no row names. Any other file is not known to be this
catalogue's, and stays.
"""

users = Table(
    "users",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_seen_at", Instant),
    Column("is_disabled", Boolean, nullable=False, default=False),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", LargeBinary(32), primary_key=True),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("browser", String(48), nullable=False, server_default=""),
    Column("address", String(64), nullable=False, server_default=""),
    Index("sessions_user", "user_id"),
)

second_factors = Table(
    "second_factors",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("secret", String(64), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("confirmed_at", Instant),
    Column("last_step", BigInteger, nullable=False, default=0),
    Column("recovery", JSON, nullable=False, default=list),
)
"""``confirmed_at``: asked for since then; ``last_step``: the last one whose code was taken; ``recovery``: hashes."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("role", String(16), nullable=False),
    Column("prefix", String(16), nullable=False),
    Column("secret_hash", LargeBinary(32), nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("last_used_at", Instant),
    Column("revoked_at", Instant),
    Index("api_keys_user", "user_id"),
)
"""Secrets of 256 random bits need no slow hash: only their SHA-256 is kept."""

questions = Table(
    "questions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("asked_at", Instant, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer_type", String(32), nullable=False),
    Column("answer", Text, nullable=False),
    Column("total_ms", Float, nullable=False),
    Column("trace", LargeBinary, nullable=False),
    Column("as_of", Text, nullable=False, default=""),
    Column("versions", String(16), nullable=False, default="shown"),
    Column("owner_id", BigInteger),
    Column("conversation_id", String(32)),
    Column("turn", Integer),
    Column("standalone", Text, nullable=False, default=""),
    Column("is_tentative", Boolean, nullable=False, default=False),
    Index("questions_asked_at", "asked_at"),
    Index("questions_owner", "owner_id", "asked_at"),
    Index("questions_conversation", "conversation_id", "turn"),
    # What the history is searched in, without the accounts, which are a hundred times as large.
    Index("questions_short", "asked_at", "id", "owner_id", "question", **only(IS_SHORT_QUESTION)),
    Index("questions_long", "asked_at", "id", **only(IS_LONG_QUESTION)),
)

index_settings = Table(
    "index_settings",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

generations = Table(
    "generations",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("embedder", Text, nullable=False),
    Column("model", String(256), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("analyser", String(128), nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("after", BigInteger),
    Column("done", BigInteger, nullable=False, default=0),
    Column("switches", Boolean, nullable=False, default=False),
    Column("error", JSON),
)
"""The pairs of indexes; ``after`` is the last chunk that one was built with, None once it has been with all."""

shown_now = select(publications.c.version_id).where(
    publications.c.seq.in_(select(func.max(publications.c.seq)).group_by(publications.c.doc_id)),
    publications.c.version_id.is_not(None),
)
"""The ids of the versions that are shown now, one a document."""

NOT_A_DRAFT = {"is_draft": False, "publish_at": None, "publish_actor": ""}
"""What a version is from its publication on."""
