"""The identity of a catalogue, and what it names, read before it is migrated: it may be of any release, or none."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import inspect, select

from core.catalog.engine import Database
from core.catalog.schema import index_settings, versions

_KEY = "identity"
_AT_ONCE = 1_000


def identity_of(database: Database) -> str:
    """Return the identity of a catalogue, empty where it has none yet."""
    with database.read() as tx:
        if not inspect(tx).has_table(index_settings.name):
            return ""
        return tx.scalar(select(index_settings.c.value).where(index_settings.c.key == _KEY)) or ""


def is_new(database: Database) -> bool:
    """Tell whether no version was ever claimed in a catalogue."""
    with database.read() as tx:
        return not inspect(tx).has_table(versions.name) or tx.scalar(select(versions.c.id).limit(1)) is None


def named_blobs(database: Database) -> Iterator[str]:
    """Yield the names of the originals that a catalogue names, newest first."""
    query = select(versions.c.sha256).where(versions.c.sha256 != "").order_by(versions.c.id.desc())
    with database.read() as tx:
        yield from tx.execution_options(yield_per=_AT_ONCE).scalars(query)


def mark(database: Database, identity: str) -> None:
    """Give a catalogue its identity."""
    with database.write() as tx:
        if tx.scalar(select(index_settings.c.value).where(index_settings.c.key == _KEY)) is None:
            tx.execute(index_settings.insert().values(key=_KEY, value=identity))
