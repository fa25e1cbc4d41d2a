"""Generations of the indexes; what is there becomes the first one when it is opened."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "generations",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("model", sa.String(length=256), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("analyser", sa.String(length=128), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("after", sa.BigInteger()),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("switches", sa.Boolean(), nullable=False),
        sa.Column("error", sa.JSON()),
        sa.PrimaryKeyConstraint("number"),
    )


def downgrade() -> None:
    op.drop_table("generations")
