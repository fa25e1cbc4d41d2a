"""Runs of question sets: what was asked with, how far it is, its measures, and what every question got."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, update

from core.catalog.asking_schema import evaluation_outcomes, evaluation_runs, question_sets
from core.catalog.engine import Database
from core.catalog.questions.question_sets import SHOWN_NAME, Named
from core.catalog.questions.sharing import visible
from core.catalog.schema import chunks, documents, versions
from core.errors import Conflict, InvalidInput, NotFound
from core.model import EvaluationRun

MOST_RUNS = 1_000
INTERRUPTED = "interrupted: EvoRAG ended while the questions were asked."
_SURROGATES = "surrogatepass"
_LENGTH_BYTES = 4
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class KeptOutcome:
    """What a question got, as plain data; ``trace`` is the account of a failure.

    ``sources`` are the versions that either of them may quote; ``data["answer"]`` is text of them.
    """

    position: int
    data: Mapping[str, Any]
    sources: frozenset[Named] = frozenset()
    trace: Mapping[str, Any] | None = None


class EvaluationTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, run: EvaluationRun) -> None:
        """Keep a run that begins. Raises: ``NotFound`` where its set is gone, ``InvalidInput`` where there are many."""
        with self._database.write() as tx:
            if not tx.scalar(select(exists().where(question_sets.c.id == run.set_id))):
                raise NotFound("There is no such question set.", remedy="Reload the list of question sets.")
            kept = select(func.count()).select_from(evaluation_runs).where(evaluation_runs.c.set_id == run.set_id)
            if (tx.scalar(kept) or 0) >= MOST_RUNS:
                raise InvalidInput(
                    f"At most {MOST_RUNS:,} runs of a set are kept.", remedy="Delete some that are no longer needed."
                )
            tx.execute(
                insert(evaluation_runs).values(
                    id=run.id,
                    set_id=run.set_id,
                    started_at=run.started_at,
                    sequence=run.sequence,
                    label=run.label,
                    settings=json.dumps(dict(run.settings), ensure_ascii=False),
                    state="running",
                    done=0,
                    total=run.total,
                    measures="{}",
                    error="",
                )
            )

    def append(self, run_id: str, outcomes: Sequence[KeptOutcome]) -> bool:
        """Keep what the next questions got; tell whether the run is to go on: it was not cancelled or deleted."""
        mine = evaluation_runs.c.id == run_id, evaluation_runs.c.state == "running"
        with self._database.write() as tx:
            counted = {"done": evaluation_runs.c.done + len(outcomes)}
            if not tx.execute(update(evaluation_runs).where(*mine).values(**counted)).rowcount:
                return False
            # What was purged since a question was asked is not kept with it.
            purged = _purged(tx, {key for outcome in outcomes for key, _ in outcome.sources})
            if outcomes:
                tx.execute(
                    insert(evaluation_outcomes),
                    [
                        {"run_id": run_id, "position": each.position, "outcome": _packed(_redacted(each, purged))}
                        for each in outcomes
                    ],
                )
        return True

    def end(self, run_id: str, state: str, measures: Mapping[str, Any] | None = None, error: str = "") -> bool:
        """Give a run that is going on its last state; tell whether it was going on."""
        values = {"state": state, "error": error} | ({} if measures is None else {"measures": json.dumps(measures)})
        mine = evaluation_runs.c.id == run_id, evaluation_runs.c.state == "running"
        with self._database.write() as tx:
            return bool(tx.execute(update(evaluation_runs).where(*mine).values(**values)).rowcount)

    def going_on(self) -> list[str]:
        """Return the ids of the runs that go on, if only in name."""
        with self._database.read() as tx:
            return list(tx.scalars(select(evaluation_runs.c.id).where(evaluation_runs.c.state == "running")))

    def fail_interrupted(self, ids: Collection[str]) -> None:
        """Mark those of these runs as failed that are going on."""
        going_on = update(evaluation_runs).where(evaluation_runs.c.state == "running", evaluation_runs.c.id.in_(ids))
        with self._database.write() as tx:
            tx.execute(going_on.values(state="failed", error=INTERRUPTED))

    def get(self, run_id: str) -> EvaluationRun:
        """Raises: ``NotFound``, as for what there is not for a run of a set that whoever acts does not see."""
        with self._database.read() as tx:
            row = tx.execute(_NAMED.where(evaluation_runs.c.id == run_id, visible(question_sets))).one_or_none()
        if row is None:
            raise _unknown()
        return _run(row)

    def runs(self, set_id: str | None = None, limit: int = MOST_RUNS) -> list[EvaluationRun]:
        """Return the runs of a set (None: of all that whoever acts sees), newest first."""
        query = (
            _NAMED.where(visible(question_sets)) if set_id is None else _NAMED.where(evaluation_runs.c.set_id == set_id)
        )
        newest = query.order_by(evaluation_runs.c.started_at.desc(), evaluation_runs.c.id).limit(limit)
        with self._database.read() as tx:
            return [_run(row) for row in tx.execute(newest)]

    def delete(self, run_id: str) -> None:
        """Delete a run that is over. Raises: ``NotFound``, ``Conflict``."""
        with self._database.write() as tx:
            state = tx.scalar(select(evaluation_runs.c.state).where(evaluation_runs.c.id == run_id))
            if state is None:
                raise _unknown()
            if state == "running":
                raise Conflict("The run is going on.", remedy="Cancel it first.")
            tx.execute(delete(evaluation_runs).where(evaluation_runs.c.id == run_id))

    def outcomes(self, run_id: str) -> list[KeptOutcome]:
        """Return what the questions got, in their order and without traces."""
        query = (
            select(evaluation_outcomes.c.position, evaluation_outcomes.c.outcome)
            .where(evaluation_outcomes.c.run_id == run_id)
            .order_by(evaluation_outcomes.c.position)
        )
        with self._database.read() as tx:
            return [_outcome(position, packed) for position, packed in tx.execute(query)]

    def trace(self, run_id: str, position: int) -> Any:
        """Return the account of a failure as plain data, None where none is kept, or the run is not to be seen."""
        place = evaluation_outcomes.c.run_id == run_id, evaluation_outcomes.c.position == position
        with self._database.read() as tx:
            is_seen = tx.scalar(_NAMED.where(evaluation_runs.c.id == run_id, visible(question_sets)).limit(1))
            packed = tx.scalar(select(evaluation_outcomes.c.outcome).where(*place)) if is_seen is not None else None
        trace = b"" if packed is None else _parts(packed)[1]
        return _unpacked(trace) if trace else None

    def redact(self, purged: Set[Named]) -> None:
        """Remove the answers and traces that quote one of the versions."""
        with self._database.read() as tx:
            run_ids = list(tx.scalars(select(evaluation_runs.c.id)))
        columns = evaluation_outcomes.c
        change = update(evaluation_outcomes).where(
            columns.run_id == bindparam("of"), columns.position == bindparam("at")
        )
        for run_id in run_ids:
            quoting = (kept for kept in self.outcomes(run_id) if not purged.isdisjoint(kept.sources))
            while part := list(islice(quoting, _AT_ONCE)):
                rows = [
                    {"of": run_id, "at": kept.position, "redacted": _packed(_redacted(kept, purged))} for kept in part
                ]
                with self._database.write() as tx:
                    tx.execute(change.values(outcome=bindparam("redacted")), rows)

    def documents_of(self, chunk_ids: Iterable[int]) -> dict[int, str]:
        """Return the keys of the documents that chunks belong to."""
        query = select(chunks.c.id, documents.c.doc_key).join(documents, documents.c.id == chunks.c.doc_id)
        with self._database.read() as tx:
            return {row.id: row.doc_key for row in tx.execute(query.where(chunks.c.id.in_(list(chunk_ids))))}


def _purged(tx: Connection, doc_keys: Set[str]) -> set[Named]:
    query = select(documents.c.doc_key, versions.c.number).join(documents, documents.c.id == versions.c.doc_id)
    rows = tx.execute(query.where(versions.c.state == "purged", documents.c.doc_key.in_(doc_keys)))
    return {(row.doc_key, row.number) for row in rows}


def _redacted(outcome: KeptOutcome, purged: Set[Named]) -> KeptOutcome:
    if purged.isdisjoint(outcome.sources):
        return outcome
    return KeptOutcome(outcome.position, {**outcome.data, "answer": "", "has_trace": False}, outcome.sources)


def _packed(outcome: KeptOutcome) -> bytes:
    """The length of the outcome, the outcome, and the trace behind it: lists of outcomes do not unpack traces."""
    head = _compressed({"data": outcome.data, "sources": sorted(outcome.sources)})
    trace = b"" if outcome.trace is None else _compressed(outcome.trace)
    return len(head).to_bytes(_LENGTH_BYTES, "big") + head + trace


def _parts(packed: bytes) -> tuple[bytes, bytes]:
    end = _LENGTH_BYTES + int.from_bytes(packed[:_LENGTH_BYTES], "big")
    return packed[_LENGTH_BYTES:end], packed[end:]


def _outcome(position: int, packed: bytes) -> KeptOutcome:
    kept = _unpacked(_parts(packed)[0])
    return KeptOutcome(position, kept["data"], frozenset((key, number) for key, number in kept["sources"]))


def _compressed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, ensure_ascii=False).encode("utf-8", _SURROGATES), 1)


def _unpacked(packed: bytes) -> Any:
    return json.loads(zlib.decompress(packed).decode("utf-8", _SURROGATES))


_NAMED = select(evaluation_runs, SHOWN_NAME.label("set_name")).join(
    question_sets, question_sets.c.id == evaluation_runs.c.set_id
)


def _run(row: Any) -> EvaluationRun:
    return EvaluationRun(
        id=row.id,
        set_id=row.set_id,
        set_name=row.set_name,
        started_at=row.started_at,
        sequence=row.sequence,
        settings=json.loads(row.settings),
        label=row.label,
        state=row.state,
        done=row.done,
        total=row.total,
        measures=json.loads(row.measures),
        error=row.error,
    )


def _unknown() -> NotFound:
    return NotFound("There is no such run of a question set.", remedy="Reload the list of runs.")
