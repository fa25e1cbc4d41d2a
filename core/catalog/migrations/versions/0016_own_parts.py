"""Of an answer from the cache only what is its own is kept of its account; going back keeps all of it again."""

import json
import zlib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_OF = "account_of"
_LITTLE_BYTES = 4_096
"""Accounts that are kept in part are no longer."""


def upgrade() -> None:
    """Change nothing: accounts that are kept whole are read as they are."""


def downgrade() -> None:
    catalog = op.get_bind()
    questions = sa.table("questions", sa.column("id", sa.String), sa.column("trace", sa.LargeBinary))
    little = sa.select(questions.c.id, questions.c.trace).where(sa.func.length(questions.c.trace) <= _LITTLE_BYTES)
    for name, kept in catalog.execute(little).all():
        own = _read(kept)
        if (of := own.pop(_OF, None)) is None:
            continue
        rest = catalog.scalar(sa.select(questions.c.trace).where(questions.c.id == of))
        told = {"purged": True} if rest is None else _read(rest)
        whole = told if told == {"purged": True} else {**told, **own}
        written = json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass")
        catalog.execute(sa.update(questions).where(questions.c.id == name).values(trace=zlib.compress(written)))


def _read(kept: bytes) -> Any:
    return json.loads(zlib.decompress(kept).decode("utf-8", "surrogatepass"))
