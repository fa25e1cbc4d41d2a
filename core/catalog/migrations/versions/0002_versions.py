"""Labels, drafts, scheduled publishing, purges, what changed between versions, and saved questions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    empty, none, false = sa.text("''"), sa.text("0"), sa.false()
    for column in (
        sa.Column("label", sa.String(length=200), nullable=False, server_default=empty),
        sa.Column("chunks_removed", sa.Integer(), nullable=False, server_default=none),
        sa.Column("is_draft", sa.Boolean(), nullable=False, server_default=false),
        sa.Column("publish_at", sa.BigInteger()),
        sa.Column("publish_actor", sa.String(length=256), nullable=False, server_default=empty),
        sa.Column("purged_at", sa.BigInteger()),
        sa.Column("purged_by", sa.String(length=256), nullable=False, server_default=empty),
        sa.Column("base_id", sa.BigInteger()),
        sa.Column("is_text_entry", sa.Boolean(), nullable=False, server_default=false),
        sa.Column("is_prepared", sa.Boolean(), nullable=False, server_default=false),
    ):
        op.add_column("versions", column)
    op.execute(
        "UPDATE versions SET is_text_entry ="
        " (SELECT documents.is_text_entry FROM documents WHERE documents.id = versions.doc_id)"
    )
    op.add_column("documents", sa.Column("shelvings", sa.Integer(), nullable=False, server_default=none))
    op.create_index("versions_publish_at", "versions", ["publish_at"])
    op.add_column("publications", sa.Column("subject", sa.Integer()))
    op.add_column("publications", sa.Column("note", sa.Text(), nullable=False, server_default=empty))
    op.add_column("questions", sa.Column("as_of", sa.Text(), nullable=False, server_default=empty))
    shown = sa.text("'shown'")
    op.add_column("questions", sa.Column("versions", sa.String(length=16), nullable=False, server_default=shown))
    op.create_table(
        "version_deltas",
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("chunk_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"]),
        sa.PrimaryKeyConstraint("version_id", "chunk_id"),
    )
    op.create_table(
        "saved_questions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("text"),
    )


def downgrade() -> None:
    op.drop_table("saved_questions")
    op.drop_table("version_deltas")
    op.drop_column("questions", "versions")
    op.drop_column("questions", "as_of")
    op.drop_column("publications", "note")
    op.drop_column("publications", "subject")
    op.drop_index("versions_publish_at", "versions")
    op.drop_column("documents", "shelvings")
    for name in (
        "is_prepared",
        "is_text_entry",
        "base_id",
        "purged_by",
        "purged_at",
        "publish_actor",
        "publish_at",
        "is_draft",
        "chunks_removed",
        "label",
    ):
        op.drop_column("versions", name)
