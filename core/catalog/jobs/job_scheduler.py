"""Whose turn it is: queued jobs are chosen in turns between users, then by priority, then by age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select

from core.catalog.schema import jobs
from core.model import JobKind, JobState

LARGE_BYTES = 8 * 1024 * 1024
"""From this size on a file is worked on apart from small ones; jobs of no single document are, whatever their size."""

_QUEUED = jobs.c.state == JobState.QUEUED
_ALONE = tuple(kind for kind in JobKind if kind is not JobKind.INGEST)
_large = or_(jobs.c.size_bytes > LARGE_BYTES, jobs.c.kind.in_(_ALONE))


@dataclass(frozen=True, slots=True)
class Choice:
    """How much is taken at once: one job of any size, or several small ones up to ``max_bytes`` together.

    ``large`` chooses between large and small ones (None: both). ``served`` are the users who had a turn, the last
    one last: they have their next turn after the others.
    """

    limit: int
    max_bytes: int
    large: bool | None = None
    served: Sequence[str] = ()


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
    rank = {actor: place for place, actor in enumerate(choice.served, 1)}
    actors = sorted(_actors(tx), key=lambda actor: (rank.get(actor, 0), actor))
    waiting = [_of(tx, actor, choice) for actor in actors]
    while waiting:
        for line in list(waiting):
            row = next(line, None)
            if row is None:
                waiting.remove(line)
            else:
                yield row


def _actors(tx: Connection) -> list[str]:
    return list(tx.scalars(select(jobs.c.actor).where(_QUEUED).distinct()))


def _of(tx: Connection, actor: str, choice: Choice) -> Iterator[Any]:
    conditions: list[ColumnElement[bool]] = [_QUEUED, jobs.c.actor == actor]
    if choice.large is not None:
        conditions.append(_large if choice.large else ~_large)
    columns = (jobs.c.id, jobs.c.actor, jobs.c.kind, jobs.c.size_bytes, jobs.c.attempts)
    query = select(*columns).where(*conditions)
    order = jobs.c.priority.desc(), jobs.c.created_at, jobs.c.id
    yield from tx.execute(query.order_by(*order).limit(choice.limit).with_for_update(skip_locked=True)).all()
