"""A session says from which browser and address it was begun; those of before say neither."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("browser", sa.String(length=48), nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("address", sa.String(length=64), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("sessions", "address")
    op.drop_column("sessions", "browser")
