"""Recordings of spiking neurons."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recordings",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("trace_id", sa.String(length=32)),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["trace_id"], ["questions.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("recordings_owner", "recordings", ["owner_id", "created_at"])
    op.create_index("recordings_trace", "recordings", ["trace_id"])


def downgrade() -> None:
    op.drop_table("recordings")
