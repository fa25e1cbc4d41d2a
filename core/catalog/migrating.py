"""Which migration a schema is of, and the way to another one; Alembic is imported where there is a way to go."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Connection, inspect, text

from core.errors import Conflict

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

# A start is no news to anyone who runs EvoRAG.
logging.getLogger("alembic").setLevel(logging.WARNING)

_FOLDER = Path(__file__).parent / "migrations"
NEWEST = max(path.name for path in (_FOLDER / "versions").glob("[0-9]*_*.py")).partition("_")[0]
"""The newest migration of this release; files of migrations begin with their revisions."""


def known_revision(connection: Connection) -> str | None:
    """Return the migration that a schema is of, None before the first.

    Raises: ``Conflict`` for one that only a newer release knows.
    """
    current: str | None = None
    if inspect(connection).has_table("alembic_version"):
        current = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if current in (None, NEWEST) or current in {each.revision for each in known_migrations().walk_revisions()}:
        return current
    raise Conflict(
        "The catalogue was written by a newer release.",
        code="newer_catalog",
        remedy=f"Start that release; or have it go back by `evorag downgrade {NEWEST} --yes`, then start this one.",
    )


def moved(connection: Connection, how: Literal["upgrade", "downgrade"], revision: str) -> None:
    """Bring a schema to another migration, within the connection's transaction."""
    from alembic import command

    config = migrations()
    config.attributes["connection"] = connection
    go = command.upgrade if how == "upgrade" else command.downgrade
    go(config, revision)


def migrations() -> Config:
    """Return where Alembic finds the migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    return config


@cache
def known_migrations() -> ScriptDirectory:
    """Return the migrations of this release, read from their files once."""
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(migrations())
