"""Private documents: who sees them, as a condition of every statement that reads documents for somebody.

What somebody does not see is to them as if it had never been: it fails the same statement that finds nothing.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, or_, true

from core import access
from core.catalog.schema import documents

NOBODY = 0
"""The id of no user: whose it is sees only what is not private."""


def viewer() -> int | None:
    """Return the id of the user whose private documents whoever acts sees besides the shared ones; None for all."""
    who = access.current()
    return None if access.sees_all(who) else who.user_id or NOBODY


def seen_by(user_id: int | None) -> ColumnElement[bool]:
    """Select the documents that somebody sees, given as ``viewer`` tells it."""
    if user_id is None:
        return true()
    return or_(documents.c.owner_id.is_(None), documents.c.owner_id == user_id)


def seen() -> ColumnElement[bool]:
    """Select the documents that whoever acts sees."""
    return seen_by(viewer())


def sees(owner_id: int | None) -> bool:
    """Tell of a document that was read with its owner whether whoever acts sees it."""
    return owner_id is None or viewer() in (None, owner_id)
