"""Turns: a question that is kept becomes the next one of its conversation, in the same transaction."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, func, select, true, update

from core import access
from core.catalog.asking_schema import conversations
from core.catalog.documents.isolation import viewer
from core.catalog.schema import questions

TITLE_CHARS = 200


def next_turn(tx: Connection, conversation_id: str, question: str, now: datetime) -> int | None:
    """Count a question as the next of a conversation, which it names if it has no title.

    None where that is gone or somebody else's.
    """
    title = tx.scalar(select(conversations.c.title).where(conversations.c.id == conversation_id, begun_by_oneself()))
    if title is None:
        return None
    values = {"title": title or titled(question), "changed_at": now}
    tx.execute(update(conversations).where(conversations.c.id == conversation_id).values(**values))
    held = select(func.coalesce(func.max(questions.c.turn), 0)).where(questions.c.conversation_id == conversation_id)
    return 1 + int(tx.scalar(held) or 0)


def titled(question: str) -> str:
    """Return a question on one line, cut to the length of a title."""
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1].rstrip()}…"


def begun_by_oneself() -> ColumnElement[bool]:
    """Select the conversations that whoever acts has begun and may go on with, administrators too."""
    return conversations.c.owner_id.is_not_distinct_from(access.current().user_id)


def own_conversation() -> ColumnElement[bool]:
    """Select the conversations of whoever acts; of administrators, all."""
    user_id = viewer()
    return true() if user_id is None else conversations.c.owner_id == user_id
