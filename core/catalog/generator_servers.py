"""The servers that administrators have set up to write answers, with their keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from core.catalog.asking_schema import generator_servers
from core.catalog.engine import Database
from core.errors import InvalidInput, NotFound
from core.model import GeneratorAccess

_MOST = 100
_NO_NAME = "There is no such server “{name}”."


@dataclass(frozen=True, slots=True)
class KeptServer:
    """A row: how the server is reached, whether it is the default, and who changed it last."""

    access: GeneratorAccess
    is_default: bool
    changed_by: str
    changed_at: datetime


class GeneratorServerTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[KeptServer, ...]:
        """Return the servers by name."""
        with self._database.read() as tx:
            rows = tx.execute(select(generator_servers).order_by(generator_servers.c.name))
            return tuple(map(_kept, rows))

    def put(self, access: GeneratorAccess, actor: str) -> None:
        """Add a server, or change the one of its name. Raises: ``InvalidInput`` for one too many."""
        values: dict[str, Any] = {
            "url": access.url,
            "model": access.model,
            "key": access.key,
            "allows_inside": access.allows_inside,
            "changed_by": actor,
            "changed_at": datetime.now(UTC),
        }
        named = generator_servers.c.name == access.name
        with self._database.write() as tx:
            if tx.execute(update(generator_servers).where(named).values(values)).rowcount:
                return
            if len(tx.execute(select(generator_servers.c.name)).all()) >= _MOST:
                raise InvalidInput(f"There are {_MOST} servers already.", remedy="Remove one that is not used.")
            tx.execute(insert(generator_servers).values(name=access.name, is_default=False, **values))

    def remove(self, name: str) -> None:
        """Forget a server with its key. Raises: ``NotFound``."""
        with self._database.write() as tx:
            if not tx.execute(delete(generator_servers).where(generator_servers.c.name == name)).rowcount:
                raise NotFound(_NO_NAME.format(name=name[:64]))

    def make_default(self, name: str, actor: str) -> None:
        """Have one server be the default, or none where ``name`` is empty. Raises: ``NotFound``."""
        named = generator_servers.c.name == name
        changed = {"changed_by": actor, "changed_at": datetime.now(UTC)}
        with self._database.write() as tx:
            tx.execute(update(generator_servers).where(generator_servers.c.is_default, ~named).values(is_default=False))
            if (
                name
                and not tx.execute(update(generator_servers).where(named).values(is_default=True, **changed)).rowcount
            ):
                raise NotFound(_NO_NAME.format(name=name[:64]))


def _kept(row: Row[Any]) -> KeptServer:
    access = GeneratorAccess(row.name, row.url, row.model, row.key, row.allows_inside)
    return KeptServer(access, row.is_default, row.changed_by, row.changed_at)
