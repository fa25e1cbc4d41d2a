"""Versions that are shown by their words alone are found without reading the others."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    lacking = sa.text("state = 'ready' AND embedded_chunks < chunk_count")
    op.create_index("versions_lacking", "versions", ["id"], sqlite_where=lacking, postgresql_where=lacking)


def downgrade() -> None:
    op.drop_index("versions_lacking", "versions")
