"""The list of documents is kept ready: what it is searched and sorted by, brought up to date by triggers' notes."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_INDEXES = {
    "updated": ["updated_at", "doc_id", "state", "owner_id"],
    "name": ["name", "doc_id", "state", "owner_id"],
    "key": ["doc_key", "state", "owner_id"],
    "state": ["state", "owner_id"],
}
_TOLD = {
    "documents": ("id", "name, owner_id, updated_at"),
    "versions": (
        "doc_id",
        "number, state, claimed_seq, title, language, extension, size_bytes, chunk_count, publish_at, reading_of",
    ),
    "publications": ("doc_id", "version_id, action, subject"),
    "document_tags": ("doc_id", "tag"),
}
"""Of each table, the column that tells the document, and those that the list shows something of."""


def upgrade() -> None:
    op.create_table(
        "listed_documents",
        sa.Column("doc_id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("doc_key", sa.String(1024), nullable=False),
        sa.Column("owner_id", sa.BigInteger()),
        sa.Column("name", sa.String(1024), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("extension", sa.String(16), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("version_count", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    )
    for name, columns in _INDEXES.items():
        op.create_index(f"listed_documents_{name}", "listed_documents", columns)
    op.create_table("unlisted_documents", sa.Column("doc_id", _ROW_ID, primary_key=True, autoincrement=False))
    noting = _sqlite if op.get_bind().dialect.name == "sqlite" else _postgresql
    for table, (doc_id, shown) in _TOLD.items():
        noting(table, doc_id, shown)
    op.execute("INSERT INTO unlisted_documents SELECT id FROM documents")


def _sqlite(table: str, doc_id: str, columns: str) -> None:
    for act, row in (("insert", "NEW"), (f"update OF {columns}", "NEW"), ("delete", "OLD")):
        op.execute(
            f"CREATE TRIGGER unlisted_{table}_{act.split()[0]} AFTER {act.upper()} ON {table} BEGIN"
            f" INSERT OR IGNORE INTO unlisted_documents VALUES ({row}.{doc_id}); END"
        )


def _postgresql(table: str, doc_id: str, columns: str) -> None:
    for act, row in (("insert", "NEW"), (f"update OF {columns}", "NEW"), ("delete", "OLD")):
        name = f"unlisted_{table}_{act.split()[0]}"
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" INSERT INTO unlisted_documents VALUES ({row}.{doc_id}) ON CONFLICT DO NOTHING; RETURN NULL; END $$"
        )
        op.execute(f"CREATE TRIGGER {name} AFTER {act} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def downgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for table in _TOLD:
        for act in ("insert", "update", "delete"):
            name = f"unlisted_{table}_{act}"
            op.execute(f"DROP TRIGGER {name}" if is_sqlite else f"DROP FUNCTION {name}() CASCADE")
    op.drop_table("unlisted_documents")
    op.drop_table("listed_documents")
