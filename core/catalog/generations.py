"""The generations of the indexes: which one serves, how far another is built, and the switch in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, exists, func, insert, select, update

from core.catalog.asking_schema import cached_answers
from core.catalog.documents.embeddings import indexed_text
from core.catalog.engine import Database
from core.catalog.outbox import stores_beside
from core.catalog.schema import chunks, embeddings, generations, index_settings, outbox
from core.errors import Conflict, NotFound, WrongIndex
from core.model import Generation, GenerationState
from core.ports import Vector

_FEW = 500
_LEAST_ID = -(1 << 63)
_LAST = "last_generation"
_BUILT_BY = {"embedder": "model", "dimension": "dimension"}


@dataclass(frozen=True, slots=True)
class Made:
    """What makes a generation; ``embedder`` is named as the setting names it, ``model`` is its id."""

    embedder: str
    model: str
    dimension: int
    analyser: str


class GenerationTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, made: Made) -> Generation:
        """Return the generation that serves; what is there without one becomes the first.

        Raises: ``WrongIndex`` where that was built by something else.
        """
        with self._database.write() as tx:
            if tx.scalar(select(generations.c.number).limit(1)) is None:
                for key, name in _BUILT_BY.items():
                    built, value = _setting(tx, key), str(getattr(made, name))
                    if built not in (None, value):
                        raise WrongIndex(f"The index was built with the {key} “{built}”, but “{value}” is configured.")
                _insert(tx, 1, made, GenerationState.SERVING)
                _note(tx, made, 1)
        return self.serving()

    def built_by(self) -> str | None:
        """Return the id of the model whose vectors serve; None in a new catalogue."""
        with self._database.read() as tx:
            return _setting(tx, "embedder")

    def all(self) -> list[Generation]:
        """Return every generation, by number, with how much its stores have not written yet."""
        with self._database.read() as tx:
            rows = tx.execute(select(generations).order_by(generations.c.number)).all()
            total = tx.scalar(select(func.count()).select_from(chunks)) or 0
            return [_generation(row, total, _waiting(tx, row.number) if len(rows) > 1 else 0) for row in rows]

    def known(self) -> list[Generation]:
        """Return every generation, by number, without counting what it has."""
        with self._database.read() as tx:
            return [_generation(row) for row in tx.execute(select(generations).order_by(generations.c.number))]

    def get(self, number: int) -> Generation:
        """Raises: ``NotFound``."""
        with self._database.read() as tx:
            row, total = _row(tx, number), tx.scalar(select(func.count()).select_from(chunks)) or 0
            return _generation(row, total, _waiting(tx, number))

    def serving(self) -> Generation:
        """Return the generation that serves, without counting what it has."""
        return next(each for each in self.known() if each.state is GenerationState.SERVING)

    def states(self) -> dict[int, GenerationState]:
        """Return the state of each generation that is not being removed."""
        stands = generations.c.state != GenerationState.REMOVING
        with self._database.read() as tx:
            rows = tx.execute(select(generations.c.number, generations.c.state).where(stands)).all()
        return {row.number: GenerationState(row.state) for row in rows}

    def rename(self, number: int, embedder: str) -> None:
        """Note by what name the same model is configured now."""
        with self._database.write() as tx:
            tx.execute(update(generations).where(generations.c.number == number).values(embedder=embedder))

    # ---- building

    def add(self, made: Made, *, switches: bool) -> int:
        """Begin a generation; its number was never another one's."""
        with self._database.write() as tx:
            newest = tx.scalar(select(func.max(generations.c.number))) or 0
            number = max(newest, int(_setting(tx, _LAST) or 0)) + 1
            _set(tx, _LAST, number)
            _insert(tx, number, made, GenerationState.BUILDING, after=_LEAST_ID, switches=switches)
        return number

    def after(self, number: int) -> int | None:
        """Return the last chunk that a generation was built with; None where it was with all."""
        with self._database.read() as tx:
            found: int | None = tx.scalar(select(generations.c.after).where(generations.c.number == number))
        return found

    def advance(self, number: int, after: int, more: int) -> None:
        """Note that a generation has what was asked of it up to a chunk, and how many chunks that are more."""
        with self._database.write() as tx:
            own = update(generations).where(generations.c.number == number)
            tx.execute(own.values(after=after, done=generations.c.done + more, error=None))

    def complete(self, number: int) -> None:
        """Note that a generation has everything, and can serve."""
        with self._database.write() as tx:
            own = update(generations).where(generations.c.number == number)
            own = own.where(generations.c.state == GenerationState.BUILDING)
            tx.execute(own.values(after=None, state=GenerationState.READY, error=None))

    def note(self, number: int, error: Mapping[str, Any] | None) -> None:
        """Note what keeps a generation from going on, or that nothing does."""
        with self._database.write() as tx:
            tx.execute(update(generations).where(generations.c.number == number).values(error=error))

    def lacking(self, chunk_ids: Collection[int], model: str) -> dict[bytes, str]:
        """Return the indexed texts, by their hash, of those of the chunks that a model has not embedded."""
        embedded = exists().where(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model)
        wanted = sorted(chunk_ids)
        found: dict[bytes, str] = {}
        with self._database.read() as tx:
            for at in range(0, len(wanted), _FEW):
                query = select(chunks).where(chunks.c.id.in_(wanted[at : at + _FEW]), ~embedded)
                found.update((row.content_hash, indexed_text(row)) for row in tx.execute(query))
        return found

    def keep(self, model: str, hashes: Sequence[bytes], vectors: Vector) -> None:
        """Keep ``(n, dimension)`` vectors of contents that are still there; no row is asked for."""
        halves = dict(zip(hashes, vectors.astype(np.float16), strict=True))
        with self._database.write() as tx:
            there = set(tx.scalars(select(chunks.c.content_hash).where(chunks.c.content_hash.in_(hashes))))
            known = select(embeddings.c.content_hash).where(
                embeddings.c.model == model, embeddings.c.content_hash.in_(hashes)
            )
            new = there - set(tx.scalars(known))
            rows = [{"content_hash": digest, "model": model, "vector": halves[digest].tobytes()} for digest in new]
            if rows:
                tx.execute(insert(embeddings), rows)

    # ---- switching

    def switch(self, number: int) -> None:
        """Let a generation serve; the one that did is kept up from now on. Kept answers are forgotten.

        Whoever calls holds both parts ``outbox:…``. Raises: ``NotFound``; ``Conflict`` where it lacks something.
        """
        with self._database.write() as tx:
            row = _row(tx, number)
            if row.state == GenerationState.SERVING:
                return
            if row.state == GenerationState.REMOVING:
                raise Conflict(f"Generation {number} is being removed.", remedy="Switch to another generation.")
            if row.state == GenerationState.BUILDING:
                raise Conflict(f"Generation {number} is not built yet.", remedy="Wait until it is ready, then switch.")
            if waiting := _waiting(tx, number):
                raise Conflict(f"Generation {number} lacks {waiting} rows.", remedy="Wait a moment, then switch.")
            serves = generations.c.state == GenerationState.SERVING
            tx.execute(update(generations).where(serves).values(state=GenerationState.READY))
            own = update(generations).where(generations.c.number == number)
            tx.execute(own.values(state=GenerationState.SERVING, switches=False, error=None))
            _note(tx, Made(row.embedder, row.model, row.dimension, row.analyser), number)
            tx.execute(delete(cached_answers))

    def leave(self, number: int) -> None:
        """Note that a generation is being removed, and forget what waits for it.

        Raises: ``NotFound``; ``Conflict`` for the one that serves.
        """
        with self._database.write() as tx:
            row = _row(tx, number)
            if row.state == GenerationState.SERVING:
                raise Conflict(f"Generation {number} serves.", remedy="Switch to another generation first.")
            own = update(generations).where(generations.c.number == number)
            tx.execute(own.values(state=GenerationState.REMOVING, switches=False))
            tx.execute(delete(outbox).where(outbox.c.store.in_(stores_beside(number))))

    def remove(self, number: int) -> None:
        """Forget a generation whose stores are gone, with the vectors that no other one uses. Raises: ``NotFound``."""
        with self._database.write() as tx:
            model = _row(tx, number).model
            tx.execute(delete(generations).where(generations.c.number == number))
        self.remove_loose_embeddings(model)

    def remove_all_loose_embeddings(self) -> None:
        """Remove the vectors of every model that no generation uses, as who was at work when it went leaves them."""
        used = exists().where(generations.c.model == embeddings.c.model)
        with self._database.read() as tx:
            models = list(tx.scalars(select(embeddings.c.model).where(~used).distinct()))
        for model in models:
            self.remove_loose_embeddings(model)

    def remove_loose_embeddings(self, model: str) -> None:
        """Remove the vectors of a model that no generation uses; nobody waits long to write meanwhile."""
        used = exists().where(generations.c.model == embeddings.c.model)
        query = select(embeddings.c.content_hash).where(embeddings.c.model == model, ~used).limit(_FEW)
        while True:
            with self._database.write() as tx:
                few = list(tx.scalars(query))
                if not few:
                    return
                own = embeddings.c.model == model, embeddings.c.content_hash.in_(few)
                tx.execute(delete(embeddings).where(*own))


def _row(tx: Connection, number: int) -> Row[Any]:
    row = tx.execute(select(generations).where(generations.c.number == number)).one_or_none()
    if row is None:
        raise NotFound(f"There is no generation {number}.", remedy="List them: evorag generations list.")
    return row


def _waiting(tx: Connection, number: int) -> int:
    query = select(func.count()).select_from(outbox).where(outbox.c.store.in_(stores_beside(number)))
    return int(tx.scalar(query) or 0)


def _generation(row: Row[Any], total: int = 0, waiting: int = 0) -> Generation:
    state = GenerationState(row.state)
    return Generation(
        number=row.number,
        embedder=row.embedder,
        model=row.model,
        dimension=row.dimension,
        analyser=row.analyser,
        state=state,
        created_at=row.created_at,
        done=min(int(row.done), total) if state is GenerationState.BUILDING else total,
        total=total,
        waiting=waiting,
        switches=row.switches,
        error=row.error,
    )


def _insert(
    tx: Connection, number: int, made: Made, state: GenerationState, *, after: int | None = None, switches: bool = False
) -> None:
    values = {name: getattr(made, name) for name in made.__slots__}
    moment = datetime.now(UTC)
    tx.execute(
        insert(generations).values(
            number=number, state=state, created_at=moment, after=after, done=0, switches=switches, **values
        )
    )


def _note(tx: Connection, made: Made, number: int) -> None:
    """Say what the indexes that serve are made by."""
    for key, name in _BUILT_BY.items():
        _set(tx, key, getattr(made, name))
    _set(tx, "generation", number)


def _setting(tx: Connection, key: str) -> str | None:
    value: str | None = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == key))
    return value


def _set(tx: Connection, key: str, value: object) -> None:
    tx.execute(delete(index_settings).where(index_settings.c.key == key))
    tx.execute(insert(index_settings).values(key=key, value=str(value)))
