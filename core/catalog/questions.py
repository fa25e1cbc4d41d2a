"""The history of questions: every trace, compressed, newest first."""

from __future__ import annotations

import json
import zlib

from sqlalchemy import func, insert, select

from core.catalog.engine import Database
from core.catalog.schema import questions
from core.codec import from_dict, to_dict
from core.errors import NotFound
from core.model import AnswerType, Trace, TraceSummary

_SURROGATES = "surrogatepass"


class Questions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, trace: Trace) -> None:
        packed = zlib.compress(json.dumps(to_dict(trace), ensure_ascii=False).encode("utf-8", _SURROGATES), 1)
        with self._database.write() as tx:
            tx.execute(
                insert(questions).values(
                    id=trace.id,
                    asked_at=trace.asked_at,
                    question=trace.query.text.encode("utf-8", "replace").decode(),
                    answer_type=trace.answer.type,
                    answer=trace.answer.text.encode("utf-8", "replace").decode(),
                    total_ms=trace.timings_ms.get("total", 0.0),
                    trace=packed,
                )
            )

    def get(self, trace_id: str) -> Trace:
        with self._database.read() as tx:
            packed = tx.scalar(select(questions.c.trace).where(questions.c.id == trace_id))
        if packed is None:
            raise NotFound("This question is not in the history.", remedy="Ask it again.")
        return from_dict(Trace, json.loads(zlib.decompress(packed).decode("utf-8", _SURROGATES)))

    def recent(self, limit: int) -> list[TraceSummary]:
        columns = [column for column in questions.c if column.name != "trace"]
        query = select(*columns).order_by(questions.c.asked_at.desc()).limit(limit)
        with self._database.read() as tx:
            return [
                TraceSummary(row.id, row.asked_at, row.question, AnswerType(row.answer_type), row.answer, row.total_ms)
                for row in tx.execute(query)
            ]

    def count(self) -> int:
        with self._database.read() as tx:
            return int(tx.scalar(select(func.count()).select_from(questions)) or 0)
