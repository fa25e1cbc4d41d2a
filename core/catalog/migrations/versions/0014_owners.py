"""Private question sets and saved questions, which earlier releases show to all; second factors, which they ignore."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    for table in ("question_sets", "saved_questions"):
        op.add_column(table, sa.Column("owner_id", sa.BigInteger()))
        op.add_column(table, sa.Column("is_shared", sa.Boolean(), nullable=False, server_default=sa.true()))
    # Names stay unique as they were: SQLite would drop the table, and with it the questions, to have them otherwise.
    op.add_column("question_sets", sa.Column("title", sa.Text()))
    op.create_table(
        "second_factors",
        sa.Column("user_id", _ROW_ID, nullable=False, autoincrement=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.BigInteger()),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("recovery", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id"),
    )


def downgrade() -> None:
    op.drop_table("second_factors")
    op.drop_column("question_sets", "title")
    for table in ("question_sets", "saved_questions"):
        op.drop_column(table, "is_shared")
        op.drop_column(table, "owner_id")
