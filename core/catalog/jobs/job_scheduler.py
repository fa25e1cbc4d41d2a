"""Whose turn it is: what waits gets its turn fairly between users, then by priority, then by age.

``Rotation`` is the rule between users, for queued jobs and for the texts that wait to be embedded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select

from core.catalog.schema import jobs
from core.model import JobKind, JobState

LARGE_BYTES = 8 * 1024 * 1024
"""From this size on a file is worked on apart from small ones; jobs of no single document are, whatever their size."""

_QUEUED = jobs.c.state == JobState.QUEUED
_ALONE = tuple(kind for kind in JobKind if kind is not JobKind.INGEST)
_large = or_(jobs.c.size_bytes > LARGE_BYTES, jobs.c.kind.in_(_ALONE))


class Rotation:
    """Turns between users: whoever has waited longest since the last one has the next; who had none comes first."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}
        self._number = 0

    def next(self, users: Collection[str]) -> str:
        """Return whose turn it is; of those who had none yet, the first."""
        return min(users, key=lambda user: self._turns.get(user, 0))

    def had_turn(self, user: str) -> None:
        self._number += 1
        self._turns[user] = self._number

    def copy(self) -> Rotation:
        """Return a rotation to try turns on."""
        copy = Rotation()
        copy._turns, copy._number = dict(self._turns), self._number
        return copy


@dataclass(frozen=True, slots=True)
class Choice:
    """How much is taken at once: one job of any size, or several small ones up to ``max_bytes`` together.

    ``large`` chooses between large and small ones (None: both).
    """

    limit: int
    max_bytes: int
    large: bool | None = None
    rotation: Rotation = field(default_factory=Rotation)


def is_any(tx: Connection, choice: Choice) -> bool:
    """Tell whether a job of the chosen sizes is queued."""
    query = select(jobs.c.id).where(_QUEUED, *_sizes(choice))
    return tx.scalar(query.limit(1)) is not None


def choose(tx: Connection, choice: Choice) -> list[str]:
    """Return the ids of the jobs whose turn it is."""
    chosen: list[str] = []
    size_bytes = 0
    for row in _in_turns(tx, choice):
        size_bytes += row.size_bytes
        # What is large, or was begun before, goes alone: it may be what ended the last process.
        alone = row.attempts > 0 or row.kind in _ALONE
        if chosen and (alone or size_bytes > choice.max_bytes):
            break
        chosen.append(row.id)
        if alone or len(chosen) == choice.limit:
            break
    return chosen


def _in_turns(tx: Connection, choice: Choice) -> Iterator[Any]:
    """Yield one job of each user in turn."""
    rotation = choice.rotation.copy()
    waiting = {actor: _of(tx, actor, choice) for actor in sorted(_actors(tx))}
    while waiting:
        actor = rotation.next(waiting)
        row = next(waiting[actor], None)
        if row is None:
            del waiting[actor]
        else:
            rotation.had_turn(actor)
            yield row


def _sizes(choice: Choice) -> list[ColumnElement[bool]]:
    if choice.large is None:
        return []
    return [_large if choice.large else ~_large]


def _actors(tx: Connection) -> list[str]:
    return list(tx.scalars(select(jobs.c.actor).where(_QUEUED).distinct()))


def _of(tx: Connection, actor: str, choice: Choice) -> Iterator[Any]:
    conditions = [_QUEUED, jobs.c.actor == actor, *_sizes(choice)]
    columns = (jobs.c.id, jobs.c.actor, jobs.c.kind, jobs.c.size_bytes, jobs.c.attempts)
    query = select(*columns).where(*conditions)
    order = jobs.c.priority.desc(), jobs.c.created_at, jobs.c.id
    yield from tx.execute(query.order_by(*order).limit(choice.limit).with_for_update(skip_locked=True)).all()
