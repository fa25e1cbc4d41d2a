"""The tables of what goes beyond single questions: conversations, saved questions, kept answers, evaluations, words."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from core.catalog.columns import ROW_ID, Instant
from core.catalog.schema import metadata

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("title", Text, nullable=False),
    Column("owner_id", BigInteger),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("conversations_owner", "owner_id", "changed_at"),
)

saved_questions = Table(
    "saved_questions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("text", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("owner_id", BigInteger),
    Column("is_shared", Boolean, nullable=False, default=True),
)
"""Each text stands once to whoever sees it: who saves one looks for it first, and no other transaction writes then."""

cached_answers = Table(
    "cached_answers",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    Column("trace_id", ForeignKey("questions.id", ondelete="CASCADE"), nullable=False),
    Column("question_hash", LargeBinary(32), nullable=False),
    Column("scope_hash", LargeBinary(32), nullable=False),
    Column("language", String(8), nullable=False),
    Column("names_hash", LargeBinary(32), nullable=False),
    Column("vector", LargeBinary),
    Column("sequence", BigInteger, nullable=False),
    Column("asked_at", Instant, nullable=False),
    Index("cached_answers_question", "question_hash", "scope_hash"),
    Index("cached_answers_scope", "scope_hash", "language", "names_hash"),
    sqlite_autoincrement=True,
)
"""``scope_hash``: filters, settings, generator, viewer; ``names_hash``: the figures and names of the question.

``vector`` is the question's, in half precision.
"""

cached_documents = Table(
    "cached_documents",
    metadata,
    Column("answer_id", ForeignKey("cached_answers.id", ondelete="CASCADE"), primary_key=True),
    Column("doc_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Index("cached_documents_doc", "doc_id"),
)

question_sets = Table(
    "question_sets",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("gates", Boolean, nullable=False, default=False),
    Column("owner_id", BigInteger),
    Column("is_shared", Boolean, nullable=False, default=True),
    Column("title", Text),
)
"""``gates``: the set is asked before a draft is published; ``title``: what its owner calls it, if it is not ``name``.

Two may have one title where nobody sees both, which their names, of which each stands once, are not to tell.
"""

judged_questions = Table(
    "judged_questions",
    metadata,
    Column("set_id", ForeignKey("question_sets.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("doc_keys", Text, nullable=False),
    Column("answers", Text, nullable=False),
    Column("is_answerable", Boolean, nullable=False),
)

evaluation_runs = Table(
    "evaluation_runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("set_id", ForeignKey("question_sets.id", ondelete="CASCADE"), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("label", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("measures", Text, nullable=False),
    Column("error", Text, nullable=False),
    Index("evaluation_runs_set", "set_id", "started_at"),
)

evaluation_outcomes = Table(
    "evaluation_outcomes",
    metadata,
    Column("run_id", ForeignKey("evaluation_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("outcome", LargeBinary, nullable=False),
)

vocabulary = Table(
    "vocabulary",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("words", Text, nullable=False),
)
"""``kind``: ``word`` (surface and reading) or ``synonyms`` (a group); its numbers are in ``index_settings``.

What the keyword index was built with has ``indexed_`` before its kind, what it is being built with ``begun_``.
"""

recordings = Table(
    "recordings",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("owner_id", BigInteger),
    Column("created_at", Instant, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("trace_id", ForeignKey("questions.id", ondelete="SET NULL")),
    Column("facts", Text, nullable=False),
    Index("recordings_owner", "owner_id", "created_at"),
    Index("recordings_trace", "trace_id"),
)
"""``facts``: the rest of ``Recording`` as JSON; the spikes are in a file of the data folder that the id names."""

generator_servers = Table(
    "generator_servers",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("url", Text, nullable=False),
    Column("model", String(256), nullable=False),
    Column("key", Text, nullable=False, default=""),
    Column("allows_inside", Boolean, nullable=False, default=False),
    Column("is_default", Boolean, nullable=False, default=False),
    Column("changed_by", String(256), nullable=False, default=""),
    Column("changed_at", Instant, nullable=False),
)
"""Servers that write answers, as administrators have set them up. An archive holds ``key`` only where that is asked."""
