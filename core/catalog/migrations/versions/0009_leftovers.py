"""Files that the catalogue does not name yet, or no longer, so that a start can tell them from those of others."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "leftovers",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name"),
    )


def downgrade() -> None:
    op.drop_table("leftovers")
