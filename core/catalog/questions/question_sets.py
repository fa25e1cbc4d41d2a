"""Question sets: judged questions under a name; a set never changes once it is kept."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, exists, func, insert, select, update

from core.catalog.asking_schema import judged_questions, question_sets
from core.catalog.engine import Database
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
        """Return the sets by name."""
        with self._database.read() as tx:
            return [_set(row) for row in tx.execute(_COUNTED.order_by(question_sets.c.name))]

    def get(self, set_id: str) -> QuestionSet:
        """Raises: ``NotFound``."""
        if not is_storable(set_id):
            raise _unknown()
        with self._database.read() as tx:
            row = tx.execute(_COUNTED.where(question_sets.c.id == set_id)).one_or_none()
        if row is None:
            raise _unknown()
        return _set(row)

    def keep(self, name: str, questions: Sequence[NewQuestion]) -> QuestionSet:
        """Keep a set, all of it or nothing. Raises: ``Conflict`` for a name that is taken, ``InvalidInput``."""
        kept = QuestionSet(secrets.token_hex(16), name, datetime.now(UTC), len(questions))
        with self._database.write() as tx:
            if tx.scalar(select(exists().where(question_sets.c.name == name))):
                raise Conflict(f"There is a question set “{name}”.", remedy="Choose another name, or delete that set.")
            if (tx.scalar(select(func.count()).select_from(question_sets)) or 0) >= MOST_SETS:
                raise InvalidInput(
                    f"At most {MOST_SETS} question sets are kept.", remedy="Delete one that is no longer needed."
                )
            tx.execute(insert(question_sets).values(id=kept.id, name=name, created_at=kept.created_at, gates=False))
            tx.execute(insert(judged_questions), [_row(kept.id, at, new) for at, new in enumerate(questions, 1)])
        return kept

    def questions(self, set_id: str, limit: int = 1_000_000, after: int = 0) -> list[JudgedQuestion]:
        """Return the questions of a set in their order, from behind a position on. Raises: ``NotFound``."""
        query = (
            select(judged_questions)
            .where(judged_questions.c.set_id == set_id, judged_questions.c.position > after)
            .order_by(judged_questions.c.position)
            .limit(limit)
        )
        with self._database.read() as tx:
            if not tx.scalar(select(exists().where(question_sets.c.id == set_id))):
                raise _unknown()
            return [_question(row) for row in tx.execute(query)]

    def set_gate(self, set_id: str, gates: bool) -> None:
        """Raises: ``NotFound``."""
        with self._database.write() as tx:
            if not tx.execute(update(question_sets).where(question_sets.c.id == set_id).values(gates=gates)).rowcount:
                raise _unknown()

    def delete(self, set_id: str) -> None:
        """Delete a set with all its runs. Raises: ``NotFound``."""
        with self._database.write() as tx:
            if not tx.execute(delete(question_sets).where(question_sets.c.id == set_id)).rowcount:
                raise _unknown()

    def redact(self, purged: Set[Named]) -> None:
        """Remove the accepted answers that quote one of the versions."""
        with self._database.write() as tx:
            rows = tx.execute(select(judged_questions).where(judged_questions.c.answers.like('%"quoted"%'))).all()
            for row in rows:
                if purged.isdisjoint((key, number) for key, number in json.loads(row.answers)["quoted"]):
                    continue
                place = judged_questions.c.set_id == row.set_id, judged_questions.c.position == row.position
                tx.execute(update(judged_questions).where(*place).values(answers=json.dumps({"texts": []})))


def _row(set_id: str, position: int, new: NewQuestion) -> dict[str, Any]:
    question = new.question
    answers: dict[str, Any] = {"texts": question.answers}
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
    return JudgedQuestion(
        row.name,
        row.text,
        tuple(json.loads(row.doc_keys)),
        tuple(json.loads(row.answers)["texts"]),
        row.is_answerable,
    )


_COUNTED = select(
    question_sets,
    select(func.count())
    .select_from(judged_questions)
    .where(judged_questions.c.set_id == question_sets.c.id)
    .scalar_subquery()
    .label("size"),
)


def _set(row: Any) -> QuestionSet:
    return QuestionSet(row.id, row.name, row.created_at, row.size, row.gates)


def _unknown() -> NotFound:
    return NotFound("There is no such question set.", remedy="Reload the list of question sets.")
