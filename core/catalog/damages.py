"""Blobs that were found damaged or gone, until they are whole again, and how far the reading of all blobs has come.

Both are about this folder or bucket alone: neither is in a backup.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from core.catalog.engine import Database
from core.catalog.schema import index_settings
from core.model import FileFault, StoreHealth

DAMAGED, SCRUB = "damaged_blobs", "scrub"
_MOST = 1_000
"""Faults that are noted; a store with more of them is a case for its backup."""


@dataclass(frozen=True, slots=True)
class ScrubState:
    """How far all blobs have been read, in the order of their names."""

    behind: str = ""
    """The last blob that was read; empty before a round."""
    begun_at: str = ""
    ended_at: str = ""
    """When the last whole round ended, in ISO 8601; empty where none has."""


class Damages:
    def __init__(self, database: Database) -> None:
        self._database = database

    def noted(self) -> dict[str, FileFault]:
        """Return what is wrong with which blob, as far as anybody has read them."""
        with self._database.read() as tx:
            return _noted(tx)

    def note(self, sha256: str, fault: FileFault | None) -> None:
        """Note what was found of a blob: a fault, or None where it is whole, or named no longer."""
        if self.noted().get(sha256) == fault:
            return
        with self._database.write() as tx:
            known = _noted(tx)
            known.pop(sha256, None)
            if fault is not None and len(known) < _MOST:
                known[sha256] = fault
            _keep(tx, DAMAGED, {name: each.value for name, each in sorted(known.items())})

    def health(self, engine: str) -> StoreHealth:
        """Return how the originals and parsed texts are that ``engine`` keeps, as far as anybody has read them."""
        count = len(self.noted())
        told = f"Damaged or missing files: {count}. A check names them." if count else ""
        return StoreHealth("originals", engine, "damaged" if count else "ok", None, told)

    def scrubbed(self) -> ScrubState:
        with self._database.read() as tx:
            return ScrubState(**_kept(tx, SCRUB))

    def scrubbed_to(self, behind: str, begun_at: str) -> None:
        """Note how far a round has come."""
        with self._database.write() as tx:
            _keep(tx, SCRUB, {**_kept(tx, SCRUB), "behind": behind, "begun_at": begun_at})

    def scrub_ended(self) -> None:
        with self._database.write() as tx:
            _keep(tx, SCRUB, {"ended_at": datetime.now(UTC).isoformat(timespec="seconds")})


def _noted(tx: Connection) -> dict[str, FileFault]:
    return {name: FileFault(fault) for name, fault in _kept(tx, DAMAGED).items()}


def _kept(tx: Connection, key: str) -> dict[str, Any]:
    found = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == key))
    return dict(json.loads(found)) if found else {}


def _keep(tx: Connection, key: str, value: dict[str, Any]) -> None:
    tx.execute(delete(index_settings).where(index_settings.c.key == key))
    if value:
        tx.execute(insert(index_settings).values(key=key, value=json.dumps(value)))
