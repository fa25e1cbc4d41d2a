"""Accounts of questions that were answered from the cache: what is their own is kept, and whose account has the rest.

Such an account is that of the question whose answer was given again, but for a few fields. So its row is small, and an
answer from the cache does not wait for another copy of all passages to be written. Whoever reads it gets it whole.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from core.catalog.questions.packing import LITTLE_BYTES, packed, unpacked
from core.catalog.schema import questions
from core.model import Trace

REDACTED = {"purged": True}
"""Stands for an account that quoted what was purged."""

_OF = "account_of"
_OWN = ("id", "asked_at", "query", "analysis", "timings_ms", "cache")
"""The fields in which an answer from the cache differs from what it was taken from (``answered_again``)."""

_TRACE = select(questions.c.trace).where(questions.c.id == bindparam("of"))
_IS_THERE = select(questions.c.id).where(questions.c.id == bindparam("of"))
_REPLACE = update(questions).where(questions.c.id == bindparam("of")).values(trace=bindparam("whole"))


def own_part(trace: Trace) -> bytes | None:
    """Return what is kept of the account of an answer from the cache; None where all of it has to be."""
    if trace.cache is None:
        return None
    part = packed({_OF: trace.cache.trace_id, **{name: getattr(trace, name) for name in _OWN}})
    return part if len(part) <= LITTLE_BYTES else None


def has_rest(tx: Connection, trace: Trace) -> bool:
    """Tell whether the question is there whose account has the rest of one that was answered from the cache."""
    return trace.cache is not None and tx.scalar(_IS_THERE, {"of": trace.cache.trace_id}) is not None


def account(tx: Connection, kept: bytes) -> Any:
    """Return the account that is kept of a question, whole; ``REDACTED`` where the rest of it is redacted."""
    data = unpacked(kept)
    if (of := data.pop(_OF, None)) is None:
        return data
    rest = tx.scalar(_TRACE, {"of": of})
    told = REDACTED if rest is None else unpacked(rest)
    return told if told == REDACTED else {**told, **data}


def make_whole(tx: Connection, going: Collection[str]) -> None:
    """Keep all of the accounts whose rest is in those of questions that go."""
    if not going:
        return
    little = select(questions.c.id, questions.c.trace).where(func.length(questions.c.trace) <= LITTLE_BYTES)
    for question_id, kept in tx.execute(little).all():
        if question_id not in going and unpacked(kept).get(_OF) in going:
            tx.execute(_REPLACE, {"of": question_id, "whole": packed(account(tx, kept))})
