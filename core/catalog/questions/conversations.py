"""Conversations: questions that follow each other, each the own of whoever began it; administrators see all."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, func, insert, or_, select, update

from core import access
from core.catalog.asking_schema import conversations
from core.catalog.engine import Database
from core.catalog.questions.conversation_turns import begun_by_oneself, own_conversation, titled
from core.catalog.questions.history import hidden_rows, holds_words, is_redacted, kept_trace, own, summary_of
from core.catalog.schema import questions
from core.errors import Conflict, NotFound
from core.model import Conversation, Turn
from core.text.language import is_storable

MOST_TURNS = 1_000

Several = list[Conversation]
Turns = list[Turn]


class ConversationTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, limit: int, before: str = "", search: str = "") -> Several:
        """Return conversations, those that were gone on with last first, from the one after ``before`` on.

        Each word of ``search`` stands in the title, or all of them in one of the questions. Raises: ``NotFound`` where
        there is no conversation ``before`` any more.
        """
        query = _rows().order_by(conversations.c.changed_at.desc(), conversations.c.id.desc()).limit(limit)
        if search.split():
            told = select(questions.c.conversation_id).where(*holds_words(questions.c.question, search))
            named = and_(*holds_words(conversations.c.title, search))
            query = query.where(
                or_(named, conversations.c.id.in_(told.where(questions.c.conversation_id.is_not(None))))
            )
        with self._database.read() as tx:
            if before:
                last = _found(tx, before, "Begin again without “before”.")
                earlier = conversations.c.changed_at < last.changed_at
                beside = and_(conversations.c.changed_at == last.changed_at, conversations.c.id < last.id)
                query = query.where(or_(earlier, beside))
            return [_conversation(row) for row in tx.execute(query)]

    def get(self, conversation_id: str) -> Conversation:
        """Raises: ``NotFound``."""
        with self._database.read() as tx:
            return _conversation(_found(tx, conversation_id))

    def check_own(self, conversation_id: str) -> None:
        """Refuse a conversation that whoever acts cannot go on with. Raises: ``NotFound``; ``Conflict``."""
        with self._database.read() as tx:
            _found(tx, conversation_id)
            own_one = select(conversations.c.id).where(conversations.c.id == conversation_id, begun_by_oneself())
            if tx.scalar(own_one) is None:
                raise Conflict("Only whoever began a conversation goes on with it.", remedy="Begin a new one.")

    def create(self, title: str) -> Conversation:
        """Begin a conversation of whoever acts; one without a title is named after its first question."""
        now = datetime.now(UTC)
        begun = Conversation(secrets.token_hex(16), title, now, now)
        values = {"id": begun.id, "title": title, "created_at": now, "changed_at": now}
        with self._database.write() as tx:
            tx.execute(insert(conversations).values(**values, owner_id=access.current().user_id))
        return begun

    def begin(self, trace_id: str) -> Conversation:
        """Begin a conversation with a kept question of whoever acts, or return the one that it belongs to.

        Raises: ``NotFound``.
        """
        now = datetime.now(UTC)
        owner_id = access.current().user_id
        asked = select(questions.c.question, questions.c.conversation_id).where(
            questions.c.id == trace_id, questions.c.owner_id.is_not_distinct_from(owner_id)
        )
        with self._database.write() as tx:
            question = tx.execute(asked).one_or_none() if is_storable(trace_id) else None
            if question is None:
                raise NotFound("This question is not in your history.", remedy="Ask it again.")
            begun = question.conversation_id
            if begun is None:
                begun = secrets.token_hex(16)
                values = {"id": begun, "title": titled(question.question), "created_at": now, "changed_at": now}
                tx.execute(insert(conversations).values(**values, owner_id=owner_id))
                first = {"conversation_id": begun, "turn": 1}
                tx.execute(update(questions).where(questions.c.id == trace_id).values(**first))
            return _conversation(_found(tx, begun))

    def rename(self, conversation_id: str, title: str) -> Conversation:
        """Raises: ``NotFound``."""
        with self._database.write() as tx:
            _found(tx, conversation_id)
            tx.execute(update(conversations).where(conversations.c.id == conversation_id).values(title=title))
            return _conversation(_found(tx, conversation_id))

    def delete(self, conversation_id: str) -> None:
        """Forget a conversation; its questions stay in the history without it. Raises: ``NotFound``."""
        with self._database.write() as tx:
            _found(tx, conversation_id)
            alone = {"conversation_id": None, "turn": None}
            tx.execute(update(questions).where(questions.c.conversation_id == conversation_id).values(**alone))
            tx.execute(delete(conversations).where(conversations.c.id == conversation_id))

    def turns(self, conversation_id: str, last: int = MOST_TURNS) -> Turns:
        """Return the last questions of a conversation that whoever acts sees, oldest first. Raises: ``NotFound``."""
        columns = [column for column in questions.c if column.name != "trace"]
        query = (
            select(*columns, kept_trace.label("kept"))
            .where(questions.c.conversation_id == conversation_id, own())
            .order_by(questions.c.turn.desc())
            .limit(last)
        )
        with self._database.read() as tx:
            _found(tx, conversation_id)
            rows = tx.execute(query).all()
            hidden = hidden_rows(tx, [row.id for row in rows])
        return [
            Turn(
                row.turn,
                summary_of(row, is_hidden=row.id in hidden),
                "" if row.id in hidden else row.standalone,
                is_redacted(row.kept),
            )
            for row in reversed(rows)
        ]


def _rows() -> Select[Any]:
    turns = select(func.count()).where(questions.c.conversation_id == conversations.c.id, own()).scalar_subquery()
    return select(conversations, turns.label("turns")).where(own_conversation())


def _found(tx: Connection, conversation_id: str, remedy: str = "Begin a new one.") -> Row[Any]:
    query = _rows().where(conversations.c.id == conversation_id)
    row = tx.execute(query).one_or_none() if is_storable(conversation_id) else None
    if row is None:
        raise NotFound("There is no such conversation.", remedy=remedy)
    return row


def _conversation(row: Row[Any]) -> Conversation:
    return Conversation(row.id, row.title, row.created_at, row.changed_at, row.turns)
