"""Saved questions: what people want to see answered alike, or better, by every version."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from core import access
from core.catalog.asking_schema import saved_questions
from core.catalog.engine import Database
from core.catalog.questions.sharing import beside, owned, owner_of, share, visible
from core.errors import InvalidInput, NotFound, QueryTooLong
from core.model import SavedQuestion
from core.text.language import is_storable

LONGEST_QUESTION = 4_000
MOST_QUESTIONS = 1_000


class SavedQuestions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[SavedQuestion]:
        """Return the saved questions that whoever acts sees, oldest first."""
        query = _NAMED.where(visible(saved_questions))
        with self._database.read() as tx:
            rows = tx.execute(query.order_by(saved_questions.c.created_at, saved_questions.c.id))
            return [_question(row) for row in rows]

    def save(self, text: str, *, shared: bool = True) -> SavedQuestion:
        """Keep a question of whoever acts; one that they see already stays as it is.

        Raises: ``InvalidInput`` and its kinds.
        """
        text, whose = _checked(text), owned(shared)
        with self._database.write() as tx:
            known = tx.execute(
                _NAMED.where(saved_questions.c.text == text, beside(saved_questions)).limit(1)
            ).one_or_none()
            if known is not None:
                return _question(known)
            held = select(func.count()).select_from(saved_questions).where(beside(saved_questions))
            if tx.execute(held).scalar_one() >= MOST_QUESTIONS:
                raise InvalidInput(
                    f"At most {MOST_QUESTIONS:,} questions are saved.", remedy="Forget one that is no longer needed."
                )
            now, name = datetime.now(UTC), access.current().name
            question = SavedQuestion(secrets.token_hex(16), text, now, name, shared)
            tx.execute(insert(saved_questions).values(id=question.id, text=text, created_at=now, **whose))
        return question

    def share(self, question_id: str, shared: bool) -> SavedQuestion:
        """Show a question to everybody, or to its owner alone. Raises: ``NotFound``, ``Conflict``, ``Forbidden``."""
        with self._database.write() as tx:
            share(tx, saved_questions, _found(tx, question_id), shared)
            return _question(_found(tx, question_id))

    def forget(self, question_id: str) -> None:
        """Forget a question. Raises: ``NotFound``."""
        with self._database.write() as tx:
            tx.execute(delete(saved_questions).where(saved_questions.c.id == _found(tx, question_id).id))


_NAMED = select(saved_questions, owner_of(saved_questions).label("owner"))


def _found(tx: Connection, question_id: str) -> Row[Any]:
    mine = saved_questions.c.id == question_id, visible(saved_questions)
    row = tx.execute(_NAMED.where(*mine)).one_or_none() if is_storable(question_id) else None
    if row is None:
        raise NotFound("This question is not among the saved ones.", remedy="Reload the list.")
    return row


def _question(row: Row[Any]) -> SavedQuestion:
    return SavedQuestion(row.id, row.text, row.created_at, row.owner, row.is_shared)


def _checked(text: str) -> str:
    plain = text.replace("\0", " ").strip() if isinstance(text, str) else ""
    if not plain or not is_storable(plain):
        raise InvalidInput("There is no question to save.", remedy="Write a question, then save it.")
    if len(plain) > LONGEST_QUESTION:
        raise QueryTooLong(f"A saved question has at most {LONGEST_QUESTION:,} characters.")
    return plain
