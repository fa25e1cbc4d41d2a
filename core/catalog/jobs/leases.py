"""Leases: which process works on a job, and until when it is believed to, by the clock of the catalogue's server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, literal, or_, text

from core.catalog.columns import Instant
from core.catalog.schema import jobs
from core.model import JobState


@dataclass(frozen=True, slots=True)
class Lease:
    """The name of a process, and for how many seconds it is believed to live after it has last said so."""

    worker: str
    seconds: float

    def values(self, tx: Connection) -> dict[str, Any]:
        """Return what a job holds that this process has taken, or says that it still works on."""
        until = clock(tx) + timedelta(seconds=self.seconds)
        return {"worker": self.worker, "leased_until": literal(until, Instant())}


class Heartbeat:
    """When a process says that it lives, and when it may take others that say nothing for gone.

    While the catalogue did not answer nobody could say so: after that all have the time of a lease to do it. Moments
    are seconds of one monotonic clock.
    """

    def __init__(self, lease: Lease, *, fair_from: float) -> None:
        self._seconds = lease.seconds
        self._renewed: float | None = None
        self._has_failed = False
        self._fair_from = fair_from

    def is_due(self, now: float) -> bool:
        return self._has_failed or self._renewed is None or now - self._renewed >= self._seconds / 3

    def renewed(self, now: float) -> None:
        is_late = self._renewed is not None and now - self._renewed >= self._seconds * 2 / 3
        if self._has_failed or is_late:
            self._fair_from = now + self._seconds
        self._renewed, self._has_failed = now, False

    def failed(self) -> None:
        self._has_failed = True

    def is_fair(self, now: float) -> bool:
        """Tell whether everybody who lives has had the time to say so."""
        return not self._has_failed and now >= self._fair_from


def clock(tx: Connection) -> datetime:
    """Return the time of the one machine that all processes ask; their own clocks may differ."""
    if tx.dialect.name == "sqlite":
        return datetime.now(UTC)
    found: datetime = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
    return found.astimezone(UTC)


def lost(tx: Connection) -> ColumnElement[bool]:
    """Select the jobs whose workers have said nothing for too long."""
    is_over = or_(jobs.c.leased_until.is_(None), jobs.c.leased_until < literal(clock(tx), Instant()))
    return (jobs.c.state == JobState.RUNNING) & is_over


def too_long(tx: Connection, seconds: float) -> ColumnElement[bool]:
    """Select the jobs whose leases of so many seconds end later than any lease that was given by now can."""
    latest = clock(tx) + timedelta(seconds=2 * seconds)
    return (jobs.c.state == JobState.RUNNING) & (jobs.c.leased_until > literal(latest, Instant()))
