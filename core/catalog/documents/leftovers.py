"""Leftovers: files noted before they are written, or when their last row goes, until a row names them or they are gone.

Only what is noted here may be removed by a start: the catalogue itself says that a process was writing or removing it.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from sqlalchemy import Connection, delete, insert, select

from core.catalog import beside
from core.catalog.engine import Database
from core.catalog.schema import leftovers

_FEW = 500


class FileKind(StrEnum):
    """Where a file lies, and by what it is named."""

    BLOB = "blob"
    """An original, a parsed text or an archive, by its SHA-256."""
    TRANSFER = "transfer"
    """What has arrived of an upload in parts, by the upload's id."""
    RECORDING = "recording"
    """A recording of neurons, by its id."""


class Leftovers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, kind: FileKind, names: Collection[str]) -> None:
        """Note files in a transaction of its own; durable when it returns."""
        if names:
            parts = {beside.leftover(kind, name) for name in names}
            self._database.beside(lambda _: parts, lambda tx: note(tx, kind, names))

    def drop(self, kind: FileKind, names: Collection[str]) -> None:
        """Forget files that are gone, or that a row names."""
        if names:
            with self._database.write() as tx:
                drop(tx, kind, names)

    def noted(self, kind: FileKind) -> set[str]:
        with self._database.read() as tx:
            return set(tx.scalars(select(leftovers.c.name).where(leftovers.c.kind == kind)))

    def is_noted(self, kind: FileKind, name: str) -> bool:
        query = select(leftovers.c.name).where(leftovers.c.kind == kind, leftovers.c.name == name)
        with self._database.read() as tx:
            return tx.scalar(query) is not None


def note(tx: Connection, kind: FileKind, names: Collection[str]) -> None:
    """Note files within the transaction that takes their last name away, or before they are written."""
    for few in _slices(names):
        known = set(tx.scalars(select(leftovers.c.name).where(leftovers.c.kind == kind, leftovers.c.name.in_(few))))
        if new := [{"kind": kind.value, "name": name} for name in few if name not in known]:
            tx.execute(insert(leftovers), new)


def drop(tx: Connection, kind: FileKind, names: Collection[str]) -> None:
    """Forget files within the transaction that names them."""
    for few in _slices(names):
        tx.execute(delete(leftovers).where(leftovers.c.kind == kind, leftovers.c.name.in_(few)))


def _slices(names: Collection[str]) -> list[list[str]]:
    ordered = sorted(set(names))
    return [ordered[at : at + _FEW] for at in range(0, len(ordered), _FEW)]
