"""Entries of the outbox say whether a row that can be seen may stand elsewhere until they are done."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # What waits already is taken for a move: then both parts are searched until it is done.
    op.add_column("outbox", sa.Column("moves", sa.Boolean(), nullable=False, server_default="1"))
    moves = sa.text("moves AND part = 'head'")
    op.create_index("outbox_moves", "outbox", ["store"], sqlite_where=moves, postgresql_where=moves)


def downgrade() -> None:
    op.drop_index("outbox_moves", "outbox")
    op.drop_column("outbox", "moves")
