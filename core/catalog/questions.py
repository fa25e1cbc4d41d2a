"""The history of questions: every trace, compressed, newest first."""

from __future__ import annotations

import json
import zlib
from collections.abc import Set
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from core.catalog.engine import Database
from core.catalog.schema import documents, publications, questions, versions
from core.codec import from_dict, to_dict
from core.errors import NotFound, Purged
from core.model import AnswerType, Trace, TraceSummary, format_as_of

_SURROGATES = "surrogatepass"
_REDACTED = {"purged": True}

Named = tuple[str, int]
"""A version by the key of its document and its number."""


class Questions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, trace: Trace) -> None:
        """Keep a question; what was purged while it was answered is not kept with it."""
        data = to_dict(trace)
        with self._database.write() as tx:
            purged = _purged_since(tx, trace.sequence)
            tx.execute(
                insert(questions).values(
                    id=trace.id,
                    asked_at=trace.asked_at,
                    question=trace.query.text.encode("utf-8", "replace").decode(),
                    answer_type=trace.answer.type,
                    answer="" if _answers_from(data, purged) else trace.answer.text.encode("utf-8", "replace").decode(),
                    total_ms=trace.timings_ms.get("total", 0.0),
                    trace=_packed(_REDACTED if _quotes(data, purged) else data),
                    as_of=format_as_of(trace.query.as_of) or "",
                    versions=trace.query.versions,
                )
            )

    def get(self, trace_id: str) -> Trace:
        """Return what happened while a question was answered. Raises: ``NotFound``, ``Purged``."""
        with self._database.read() as tx:
            packed = tx.scalar(select(questions.c.trace).where(questions.c.id == trace_id))
        if packed is None:
            raise NotFound("This question is not in the history.", remedy="Ask it again.")
        data = _unpacked(packed)
        if data == _REDACTED:
            raise Purged("This question found text that was purged since.", remedy="Ask it again.")
        return from_dict(Trace, data)

    def redact(self, purged: Set[Named]) -> None:
        """Remove the traces that quote one of the versions, and the answers that were given from them."""
        with self._database.read() as tx:
            ids = list(tx.scalars(select(questions.c.id)))
        for question_id in ids:
            with self._database.read() as tx:
                packed = tx.scalar(select(questions.c.trace).where(questions.c.id == question_id))
            data = _unpacked(packed) if packed is not None else _REDACTED
            if not _quotes(data, purged):
                continue
            values: dict[str, Any] = {"trace": _packed(_REDACTED)}
            if _answers_from(data, purged):
                values["answer"] = ""
            with self._database.write() as tx:
                tx.execute(update(questions).where(questions.c.id == question_id).values(**values))

    def recent(self, limit: int) -> list[TraceSummary]:
        columns = [column for column in questions.c if column.name != "trace"]
        query = select(*columns).order_by(questions.c.asked_at.desc()).limit(limit)
        with self._database.read() as tx:
            return [
                TraceSummary(
                    row.id,
                    row.asked_at,
                    row.question,
                    AnswerType(row.answer_type),
                    row.answer,
                    row.total_ms,
                    row.as_of,
                    row.versions,
                )
                for row in tx.execute(query)
            ]

    def count(self) -> int:
        with self._database.read() as tx:
            return int(tx.scalar(select(func.count()).select_from(questions)) or 0)


def _packed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, ensure_ascii=False).encode("utf-8", _SURROGATES), 1)


def _unpacked(packed: bytes) -> Any:
    return json.loads(zlib.decompress(packed).decode("utf-8", _SURROGATES))


def _purged_since(tx: Connection, sequence: int) -> Set[Named]:
    """Return the purged versions where anything was purged after ``sequence``; nothing else can be in a trace."""
    newer = publications.c.seq > sequence, publications.c.action == "purge"
    if tx.scalar(select(publications.c.seq).where(*newer).limit(1)) is None:
        return set()
    query = select(documents.c.doc_key, versions.c.number).join(documents, documents.c.id == versions.c.doc_id)
    return {(row.doc_key, row.number) for row in tx.execute(query.where(versions.c.state == "purged"))}


def _quotes(data: Any, purged: Set[Named]) -> bool:
    """Tell whether a trace holds text of one of the versions."""
    return _answers_from(data, purged) or _places(data.get("candidates", ()), purged)


def _answers_from(data: Any, purged: Set[Named]) -> bool:
    """Tell whether one of the versions was among what the answer was made of."""
    cited = ((citation["doc_key"], citation["version"]) for citation in data.get("answer", {}).get("citations", ()))
    return _places(data.get("hits", ()), purged) or any(name in purged for name in cited)


def _places(hits: Any, purged: Set[Named]) -> bool:
    return any((hit["placed"]["doc_key"], hit["placed"]["version"]) in purged for hit in hits)
