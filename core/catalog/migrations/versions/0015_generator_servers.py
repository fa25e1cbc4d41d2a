"""Servers that write answers are set up by administrators, and kept here."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "generator_servers",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("model", sa.String(256), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("allows_inside", sa.Boolean(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("changed_by", sa.String(256), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("generator_servers")
