"""Who works on a job, and until when they are believed to."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("worker", sa.String(length=32)))
    op.add_column("jobs", sa.Column("leased_until", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("jobs", "leased_until")
    op.drop_column("jobs", "worker")
