"""A saved question is told apart by the code that saves it: an index of PostgreSQL takes no text so long."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


# SQLite knows the constraint of the second migration by no name.
NAMES = {"uq": "%(table_name)s_%(column_0_name)s_key"}


def upgrade() -> None:
    with op.batch_alter_table("saved_questions", naming_convention=NAMES) as table:
        table.drop_constraint("saved_questions_text_key", type_="unique")


def downgrade() -> None:
    with op.batch_alter_table("saved_questions") as table:
        table.create_unique_constraint("saved_questions_text_key", ["text"])
