"""A version can be read anew: other readings of it are rows beside it."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("versions", sa.Column("reading", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("versions", sa.Column("reading_of", sa.Integer()))
    # Nobody knows any more what read the versions that are there: it was something earlier.
    op.add_column("versions", sa.Column("reader", sa.String(32), nullable=False, server_default=""))


def downgrade() -> None:
    op.execute(
        "UPDATE publications SET version_id = (SELECT own.id FROM versions own JOIN versions other"
        " ON own.doc_id = other.doc_id AND own.number = other.reading_of WHERE other.id = publications.version_id)"
        " WHERE version_id IN (SELECT id FROM versions WHERE number < 0)"
    )
    for table in ("version_chunks", "version_deltas", "jobs"):
        op.execute(f"DELETE FROM {table} WHERE version_id IN (SELECT id FROM versions WHERE number < 0)")
    op.execute("UPDATE versions SET base_id = NULL WHERE base_id IN (SELECT id FROM versions WHERE number < 0)")
    op.execute("DELETE FROM versions WHERE number < 0")
    for column in ("reading", "reading_of", "reader"):
        op.drop_column("versions", column)
