"""Saved questions: what people want to see answered alike, or better, by every version."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from sqlalchemy import delete, func, insert, select

from core.catalog.engine import Database
from core.catalog.schema import saved_questions
from core.errors import InvalidInput, NotFound, QueryTooLong
from core.model import SavedQuestion
from core.text.language import is_storable

LONGEST_QUESTION = 4_000
MOST_QUESTIONS = 1_000


class SavedQuestions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[SavedQuestion]:
        """Return the saved questions, oldest first."""
        query = select(saved_questions).order_by(saved_questions.c.created_at, saved_questions.c.id)
        with self._database.read() as tx:
            return [SavedQuestion(row.id, row.text, row.created_at) for row in tx.execute(query)]

    def save(self, text: str) -> SavedQuestion:
        """Keep a question; one that is kept already stays as it is. Raises: ``InvalidInput`` and its kinds."""
        text = _checked(text)
        with self._database.write() as tx:
            known = tx.execute(select(saved_questions).where(saved_questions.c.text == text)).one_or_none()
            if known is not None:
                return SavedQuestion(known.id, known.text, known.created_at)
            if tx.execute(select(func.count()).select_from(saved_questions)).scalar_one() >= MOST_QUESTIONS:
                raise InvalidInput(
                    f"At most {MOST_QUESTIONS:,} questions are saved.", remedy="Forget one that is no longer needed."
                )
            question = SavedQuestion(secrets.token_hex(16), text, datetime.now(UTC))
            tx.execute(
                insert(saved_questions).values(id=question.id, text=question.text, created_at=question.created_at)
            )
        return question

    def forget(self, question_id: str) -> None:
        """Forget a question. Raises: ``NotFound``."""
        with self._database.write() as tx:
            if not tx.execute(delete(saved_questions).where(saved_questions.c.id == question_id)).rowcount:
                raise NotFound("This question is not among the saved ones.", remedy="Reload the list.")


def _checked(text: str) -> str:
    plain = text.replace("\0", " ").strip() if isinstance(text, str) else ""
    if not plain or not is_storable(plain):
        raise InvalidInput("There is no question to save.", remedy="Write a question, then save it.")
    if len(plain) > LONGEST_QUESTION:
        raise QueryTooLong(f"A saved question has at most {LONGEST_QUESTION:,} characters.")
    return plain
