"""Users, sessions and keys; uploads in parts; jobs with logs, priorities, parents and resource use."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    empty, none, false, nothing = sa.text("''"), sa.text("0"), sa.false(), sa.text("'{}'")
    op.create_table(
        "users",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger()),
        sa.Column("is_disabled", sa.Boolean(), nullable=False),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("user_id", ROW_ID, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("sessions_user", "sessions", ["user_id"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", ROW_ID, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash"),
    )
    op.create_index("api_keys_user", "api_keys", ["user_id"])
    op.create_table(
        "transfers",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("owner_id", sa.BigInteger()),
        sa.Column("name", sa.String(length=1024), nullable=False),
        sa.Column("size_bytes", sa.BigInteger()),
        sa.Column("offset_bytes", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("is_partial", sa.Boolean(), nullable=False),
        sa.Column("parts", sa.JSON()),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64)),
        sa.Column("filing", sa.JSON(), nullable=False),
        sa.Column("receipt", sa.JSON()),
        sa.Column("error", sa.JSON()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("transfers_expires_at", "transfers", ["expires_at"])
    op.create_index("transfers_owner", "transfers", ["owner_id", "state"])
    op.add_column("documents", sa.Column("owner_id", sa.BigInteger()))
    op.create_index("documents_owner", "documents", ["owner_id"])
    op.add_column("questions", sa.Column("owner_id", sa.BigInteger()))
    op.create_index("questions_owner", "questions", ["owner_id", "asked_at"])
    op.add_column("versions", sa.Column("publish_early", sa.Boolean(), nullable=False, server_default=false))
    op.add_column("versions", sa.Column("keyword_ready", sa.Boolean(), nullable=False, server_default=false))
    op.add_column("versions", sa.Column("embedded_chunks", sa.Integer(), nullable=False, server_default=none))
    op.execute("UPDATE versions SET keyword_ready = (1 = 1), embedded_chunks = chunk_count WHERE state = 'ready'")
    # Nothing refers to jobs, so the table may be written anew where a column cannot be loosened in place.
    with op.batch_alter_table("jobs") as jobs:
        jobs.alter_column("doc_id", existing_type=sa.BigInteger(), nullable=True)
        jobs.alter_column("version_id", existing_type=sa.BigInteger(), nullable=True)
        for column in (
            sa.Column("name", sa.String(length=1024), nullable=False, server_default=empty),
            sa.Column("size_bytes", sa.BigInteger(), nullable=False, server_default=none),
            sa.Column("stage_counts", sa.JSON(), nullable=False, server_default=nothing),
            sa.Column("resources", sa.JSON(), nullable=False, server_default=nothing),
            sa.Column("actor", sa.String(length=256), nullable=False, server_default=empty),
            sa.Column("owner_id", sa.BigInteger()),
            sa.Column("priority", sa.Integer(), nullable=False, server_default=none),
            sa.Column("parent_id", sa.String(length=32)),
            sa.Column("payload", sa.JSON()),
            sa.Column("started_at", sa.BigInteger()),
            sa.Column("finished_at", sa.BigInteger()),
            sa.Column("change", sa.BigInteger(), nullable=False, server_default=none),
        ):
            jobs.add_column(column)
        jobs.create_index("jobs_parent", ["parent_id"])
        jobs.create_index("jobs_change", ["change"])
    op.execute(
        "UPDATE jobs SET name = (SELECT documents.name FROM documents WHERE documents.id = jobs.doc_id),"
        " size_bytes = (SELECT versions.size_bytes FROM versions WHERE versions.id = jobs.version_id),"
        " actor = (SELECT versions.actor FROM versions WHERE versions.id = jobs.version_id)"
    )
    op.execute("UPDATE jobs SET finished_at = updated_at WHERE state IN ('done', 'failed', 'cancelled')")
    op.create_table(
        "job_events",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("level", sa.String(length=8), nullable=False),
        sa.Column("stage", sa.String(length=16), nullable=False),
        sa.Column("code", sa.String(length=32), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("job_events_job", "job_events", ["job_id", "id"])


def downgrade() -> None:
    op.drop_table("job_events")
    op.execute("DELETE FROM jobs WHERE doc_id IS NULL OR version_id IS NULL")
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_index("jobs_change")
        jobs.drop_index("jobs_parent")
        for name in (
            "change",
            "finished_at",
            "started_at",
            "payload",
            "parent_id",
            "priority",
            "owner_id",
            "actor",
            "resources",
            "stage_counts",
            "size_bytes",
            "name",
        ):
            jobs.drop_column(name)
        jobs.alter_column("version_id", existing_type=sa.BigInteger(), nullable=False)
        jobs.alter_column("doc_id", existing_type=sa.BigInteger(), nullable=False)
    for name in ("embedded_chunks", "keyword_ready", "publish_early"):
        op.drop_column("versions", name)
    op.drop_index("questions_owner", "questions")
    op.drop_column("questions", "owner_id")
    op.drop_index("documents_owner", "documents")
    op.drop_column("documents", "owner_id")
    for name in ("transfers", "api_keys", "sessions", "users"):
        op.drop_table(name)
