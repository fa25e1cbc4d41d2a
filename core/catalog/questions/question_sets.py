"""Question sets: judged questions under a name.

A set never changes once it is kept, but for the one that answers marked as wrong are put into: it grows, and what is
marked by mistake is taken out. A position is given once, so that what runs have kept of it stays with its question.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, func, insert, select, update

from core.access import current
from core.catalog.asking_schema import evaluation_outcomes, evaluation_runs, judged_questions, question_sets
from core.catalog.engine import Database
from core.catalog.questions.sharing import beside, owned, owner_of, share, visible
from core.errors import Conflict, InvalidInput, NotFound
from core.model import JudgedQuestion, QuestionSet
from core.text.language import is_storable

MOST_SETS = 200

Named = tuple[str, int]
"""A version by the key of its document and its number."""


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question to keep; ``quoted`` are the versions that its accepted answers were taken from."""

    question: JudgedQuestion
    quoted: tuple[Named, ...] = ()


class QuestionSets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[QuestionSet]:
        """Return the sets that whoever acts sees by name."""
        query = _COUNTED.where(visible(question_sets))
        with self._database.read() as tx:
            return [_set(row) for row in tx.execute(query.order_by(SHOWN_NAME, question_sets.c.id))]

    def get(self, set_id: str) -> QuestionSet:
        """Raises: ``NotFound``, as for what there is not for what whoever acts does not see."""
        with self._database.read() as tx:
            return _set(_found(tx, set_id))

    def keep(self, name: str, questions: Sequence[NewQuestion], *, shared: bool = True) -> QuestionSet:
        """Keep a set of whoever acts, all of it or nothing.

        Raises: ``Conflict`` for the name of a set that they see, ``InvalidInput``.
        """
        whose = owned(shared)
        kept = QuestionSet(
            secrets.token_hex(16), name, datetime.now(UTC), len(questions), False, current().name, shared
        )
        with self._database.write() as tx:
            _refuse_twice(tx, name)
            held = select(func.count()).select_from(question_sets).where(beside(question_sets))
            if (tx.scalar(held) or 0) >= MOST_SETS:
                raise InvalidInput(
                    f"At most {MOST_SETS} question sets are kept.", remedy="Delete one that is no longer needed."
                )
            named = _named(tx, kept.id, name)
            tx.execute(
                insert(question_sets).values(id=kept.id, created_at=kept.created_at, gates=False, **named, **whose)
            )
            tx.execute(insert(judged_questions), [_row(kept.id, at, new) for at, new in enumerate(questions, 1)])
        return kept

    def share(self, set_id: str, shared: bool) -> QuestionSet:
        """Show a set to everybody, or to its owner alone.

        Raises: ``NotFound``, ``Conflict`` for a name that everybody sees already, ``Forbidden``.
        """
        with self._database.write() as tx:
            row = _found(tx, set_id)
            if shared and not row.is_shared:
                _refuse_twice(tx, row.shown_name, row.id)
            share(tx, question_sets, row, shared)
            return _set(_found(tx, set_id))

    def questions(self, set_id: str, limit: int = 1_000_000, after: int = 0) -> list[JudgedQuestion]:
        """Return the questions of a set in their order, without the first ``after``. Raises: ``NotFound``."""
        return list(self._numbered(set_id, limit, after).values())

    def numbered(self, set_id: str) -> dict[int, JudgedQuestion]:
        """Return the questions of a set by their positions. Raises: ``NotFound``."""
        return self._numbered(set_id)

    def _numbered(self, set_id: str, limit: int | None = None, after: int = 0) -> dict[int, JudgedQuestion]:
        mine = select(judged_questions).where(judged_questions.c.set_id == set_id)
        with self._database.read() as tx:
            _found(tx, set_id)
            rows = tx.execute(mine.order_by(judged_questions.c.position).limit(limit).offset(after))
            return {row.position: _question(row) for row in rows}

    def put(self, set_id: str, set_name: str, new: NewQuestion, most: int) -> None:
        """Put a question into the set ``set_id``, in place of one of its id; the set is made where it is not there.

        Raises: ``InvalidInput`` where the set has ``most`` questions.
        """
        with self._database.write() as tx:
            if not tx.scalar(select(exists().where(question_sets.c.id == set_id))):
                # Nobody's, so that all see it: whoever marks an answer is told so.
                named = {"id": set_id, "name": _free(tx, set_name), "created_at": datetime.now(UTC), "gates": False}
                tx.execute(insert(question_sets).values(**named))
            mine = judged_questions.c.set_id == set_id
            there = mine & (judged_questions.c.name == new.question.id)
            position = tx.scalar(select(judged_questions.c.position).where(there))
            if position is not None:
                tx.execute(update(judged_questions).where(there).values(**_row(set_id, position, new)))
                return
            count, last = tx.execute(select(func.count(), func.max(judged_questions.c.position)).where(mine)).one()
            if count >= most:
                raise InvalidInput(f"At most {most:,} answers are marked.", remedy="Take some out of their set.")
            asked = select(func.max(evaluation_outcomes.c.position)).join(
                evaluation_runs, evaluation_runs.c.id == evaluation_outcomes.c.run_id
            )
            used = tx.scalar(asked.where(evaluation_runs.c.set_id == set_id))
            tx.execute(insert(judged_questions).values(**_row(set_id, max(last or 0, used or 0) + 1, new)))

    def find(self, set_id: str, question_id: str) -> JudgedQuestion | None:
        """Return a question of a set by its id, None where there is none."""
        mine = judged_questions.c.set_id == set_id, judged_questions.c.name == question_id
        with self._database.read() as tx:
            row = tx.execute(select(judged_questions).where(*mine)).one_or_none()
        return None if row is None else _question(row)

    def take(self, set_id: str, question_id: str) -> bool:
        """Take a question out of a set, and the set with its last one; tell whether it was there."""
        mine = judged_questions.c.set_id == set_id
        with self._database.write() as tx:
            there = tx.execute(delete(judged_questions).where(mine, judged_questions.c.name == question_id)).rowcount
            if there and not tx.scalar(select(exists().where(mine))):
                tx.execute(delete(question_sets).where(question_sets.c.id == set_id))
        return bool(there)

    def set_gate(self, set_id: str, gates: bool) -> None:
        """Raises: ``NotFound``."""
        with self._database.write() as tx:
            _found(tx, set_id)
            tx.execute(update(question_sets).where(question_sets.c.id == set_id).values(gates=gates))

    def delete(self, set_id: str) -> None:
        """Delete a set with all its runs. Raises: ``NotFound``."""
        with self._database.write() as tx:
            _found(tx, set_id)
            tx.execute(delete(question_sets).where(question_sets.c.id == set_id))

    def redact(self, purged: Set[Named]) -> None:
        """Remove the accepted answers that quote one of the versions."""
        with self._database.write() as tx:
            rows = tx.execute(select(judged_questions).where(judged_questions.c.answers.like('%"quoted"%'))).all()
            for row in rows:
                if purged.isdisjoint((key, number) for key, number in json.loads(row.answers)["quoted"]):
                    continue
                place = judged_questions.c.set_id == row.set_id, judged_questions.c.position == row.position
                kept = {"texts": []} | ({"note": note} if (note := json.loads(row.answers).get("note")) else {})
                tx.execute(update(judged_questions).where(*place).values(answers=json.dumps(kept, ensure_ascii=False)))


def _row(set_id: str, position: int, new: NewQuestion) -> dict[str, Any]:
    question = new.question
    answers: dict[str, Any] = {"texts": question.answers}
    answers |= {name: text for name in ("passage", "note") if (text := getattr(question, name))}
    return {
        "set_id": set_id,
        "position": position,
        "name": question.id,
        "text": question.text,
        "doc_keys": json.dumps(question.doc_keys, ensure_ascii=False),
        "answers": json.dumps(answers | ({"quoted": new.quoted} if new.quoted else {}), ensure_ascii=False),
        "is_answerable": question.answerable,
    }


def _question(row: Any) -> JudgedQuestion:
    answers = json.loads(row.answers)
    return JudgedQuestion(
        row.name,
        row.text,
        tuple(json.loads(row.doc_keys)),
        tuple(answers["texts"]),
        row.is_answerable,
        answers.get("passage", ""),
        answers.get("note", ""),
    )


SHOWN_NAME = func.coalesce(question_sets.c.title, question_sets.c.name)
_COUNTED = select(
    question_sets,
    SHOWN_NAME.label("shown_name"),
    owner_of(question_sets).label("owner"),
    select(func.count())
    .select_from(judged_questions)
    .where(judged_questions.c.set_id == question_sets.c.id)
    .scalar_subquery()
    .label("size"),
)


def _found(tx: Connection, set_id: str) -> Row[Any]:
    mine = question_sets.c.id == set_id, visible(question_sets)
    row = tx.execute(_COUNTED.where(*mine)).one_or_none() if is_storable(set_id) else None
    if row is None:
        raise NotFound("There is no such question set.", remedy="Reload the list of question sets.")
    return row


def _set(row: Row[Any]) -> QuestionSet:
    return QuestionSet(row.id, row.shown_name, row.created_at, row.size, row.gates, row.owner, row.is_shared)


def _refuse_twice(tx: Connection, name: str, but: str = "") -> None:
    """Raises: ``Conflict`` where whoever acts sees another set of this name."""
    # The other way round mypy takes it for a bool.
    twice = exists().where(SHOWN_NAME == name, question_sets.c.id != but, beside(question_sets))  # noqa: SIM300
    if tx.scalar(select(twice)):
        raise Conflict(f"There is a question set “{name}”.", remedy="Choose another name, or delete that set.")


def _named(tx: Connection, set_id: str, name: str) -> dict[str, str | None]:
    """Return the columns of a set's name: one beside its title where a set has it that its owner does not see."""
    if tx.scalar(select(exists().where(question_sets.c.name == name))):
        return {"name": f"{name} · {set_id}", "title": name}
    return {"name": name, "title": None}


def _free(tx: Connection, name: str) -> str:
    """Return the name, with a number behind it where another set has it."""
    taken = set(tx.scalars(select(question_sets.c.name)))
    names = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)
