"""Who sees question sets and saved questions: their owner, and everybody where they are shared or nobody's."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, func, or_, select, true, update

from core import access
from core.catalog.documents.isolation import viewer
from core.catalog.schema import users
from core.errors import Conflict, Forbidden, InvalidInput


def visible(table: Table) -> ColumnElement[bool]:
    """Select the rows that whoever acts sees; of administrators, all."""
    return true() if viewer() is None else beside(table)


def beside(table: Table) -> ColumnElement[bool]:
    """Select what whoever acts has and what everybody sees, among which their own have names of their own."""
    owned = table.c.owner_id
    return or_(table.c.is_shared, owned.is_(None), owned == access.current().user_id)


def owner_of(table: Table) -> ColumnElement[str]:
    """Return the name of a row's owner, empty where it has none, or one who was removed."""
    named = select(users.c.name).where(users.c.id == table.c.owner_id)
    return func.coalesce(named.correlate(table).scalar_subquery(), "")


def owned(is_shared: bool) -> dict[str, Any]:
    """Return the columns of a new row of whoever acts. Raises: ``InvalidInput`` where a private one had no owner."""
    user_id = access.current().user_id
    if user_id is None and not is_shared:
        raise InvalidInput("Nobody is signed in, so that it would be nobody's.", remedy="Sign in, or share it.")
    return {"owner_id": user_id, "is_shared": is_shared}


def share(tx: Connection, table: Table, row: Row[Any], is_shared: bool) -> None:
    """Show a row to everybody or to its owner alone. Raises: ``Conflict`` without an owner, ``Forbidden``."""
    who = access.current()
    if row.owner_id is None:
        if not is_shared:
            raise Conflict("It has no owner, so that everybody sees it.", remedy="Make another one of your own.")
        return
    if row.owner_id != who.user_id and not access.sees_all(who):
        raise Forbidden("Its owner and administrators alone decide who sees it.")
    tx.execute(update(table).where(table.c.id == row.id).values(is_shared=is_shared))
