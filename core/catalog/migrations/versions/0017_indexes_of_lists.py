"""Lists of jobs, questions and documents are read, searched, sorted and counted from indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_INDEXES = {
    "jobs_listed": ("jobs", ["created_at", "id", "doc_id", "state", "kind"]),
    "jobs_document": ("jobs", ["doc_id", "state"]),
    "versions_counted": ("versions", ["size_bytes", "state", "number", "reader", "doc_id"]),
    "listed_documents_type": ("listed_documents", ["extension", "doc_id", "state", "owner_id"]),
    "listed_documents_language": ("listed_documents", ["language", "doc_id", "state", "owner_id"]),
    "listed_documents_versions": ("listed_documents", ["version_count", "doc_id", "state", "owner_id"]),
    "listed_documents_size": ("listed_documents", ["size_bytes", "doc_id", "state", "owner_id"]),
    "listed_documents_chunks": ("listed_documents", ["chunk_count", "doc_id", "state", "owner_id"]),
}
_PARTIAL = {
    "questions_short": ("questions", ["asked_at", "id", "owner_id", "question"], "length(question) <= 500"),
    "questions_long": ("questions", ["asked_at", "id"], "length(question) > 500"),
    "versions_readings": ("versions", ["id"], "number < 0"),
}


def upgrade() -> None:
    for name, (table, columns) in _INDEXES.items():
        op.create_index(name, table, columns)
    for name, (table, columns, told) in _PARTIAL.items():
        op.create_index(name, table, columns, sqlite_where=sa.text(told), postgresql_where=sa.text(told))
    op.drop_index("listed_documents_state", "listed_documents")
    op.create_index("listed_documents_state", "listed_documents", ["state", "doc_id", "owner_id"])


def downgrade() -> None:
    op.drop_index("listed_documents_state", "listed_documents")
    op.create_index("listed_documents_state", "listed_documents", ["state", "owner_id"])
    for name, (table, *_) in _PARTIAL.items():
        op.drop_index(name, table)
    for name, (table, _) in _INDEXES.items():
        op.drop_index(name, table)
