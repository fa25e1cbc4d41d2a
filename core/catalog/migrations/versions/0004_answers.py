"""Conversations, kept answers, question sets with their runs, and a vocabulary of the knowledge base's own."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("conversations_owner", "conversations", ["owner_id", "changed_at"])
    op.add_column("questions", sa.Column("conversation_id", sa.String(length=32)))
    op.add_column("questions", sa.Column("turn", sa.Integer()))
    op.add_column("questions", sa.Column("standalone", sa.Text(), nullable=False, server_default=sa.text("''")))
    op.create_index("questions_conversation", "questions", ["conversation_id", "turn"])
    op.create_table(
        "cached_answers",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("trace_id", sa.String(length=32), nullable=False),
        sa.Column("question_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scope_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("names_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("vector", sa.LargeBinary()),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["trace_id"], ["questions.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("cached_answers_question", "cached_answers", ["question_hash", "scope_hash"])
    op.create_index("cached_answers_scope", "cached_answers", ["scope_hash", "language", "names_hash"])
    op.create_table(
        "cached_documents",
        sa.Column("answer_id", ROW_ID, nullable=False),
        sa.Column("doc_id", ROW_ID, nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["cached_answers.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["doc_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("answer_id", "doc_id"),
    )
    op.create_index("cached_documents_doc", "cached_documents", ["doc_id"])
    op.create_table(
        "question_sets",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("gates", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "judged_questions",
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("doc_keys", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("is_answerable", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["set_id"], ["question_sets.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("set_id", "position"),
    )
    op.create_table(
        "evaluation_runs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("measures", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["set_id"], ["question_sets.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("evaluation_runs_set", "evaluation_runs", ["set_id", "started_at"])
    op.create_table(
        "evaluation_outcomes",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["evaluation_runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "position"),
    )
    op.create_table(
        "vocabulary",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "position"),
    )


def downgrade() -> None:
    for name in (
        "vocabulary",
        "evaluation_outcomes",
        "evaluation_runs",
        "judged_questions",
        "question_sets",
        "cached_documents",
        "cached_answers",
    ):
        op.drop_table(name)
    op.drop_index("questions_conversation", "questions")
    for name in ("standalone", "turn", "conversation_id"):
        op.drop_column("questions", name)
    op.drop_table("conversations")
