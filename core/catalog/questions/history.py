"""The history of questions: every trace, compressed, newest first."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    and_,
    bindparam,
    case,
    func,
    insert,
    null,
    or_,
    select,
    true,
    union_all,
    update,
)

from core import access
from core.catalog.documents.isolation import seen, viewer
from core.catalog.engine import Database
from core.catalog.questions.cached_answers import CacheKey, add_entry
from core.catalog.questions.conversation_turns import next_turn
from core.catalog.questions.lately_read import LatelyRead
from core.catalog.questions.own_parts import REDACTED, account, has_rest, own_part
from core.catalog.questions.packing import CHECKSUM, Packer, checksum, packed, unpacked
from core.catalog.schema import (
    IS_LONG_QUESTION,
    IS_SHORT_QUESTION,
    documents,
    publications,
    questions,
    users,
    versions,
)
from core.errors import NotFound, Purged
from core.model import AnswerType, Role, Trace, TraceSummary, format_as_of
from core.model.codec import from_dict, to_dict, to_json
from core.text.language import is_storable

_MOST_KEPT = 256
"""Accounts that are remembered since they were kept; their passages are those that searches remember."""
_MOST_READ = 32
"""Accounts that are remembered since they were read, with passages of their own: some hundred kilobytes each."""
_REDACTED_BYTES = 64
"""Longer accounts are whole."""

kept_trace = case((func.length(questions.c.trace) <= _REDACTED_BYTES, questions.c.trace), else_=null())
"""The account of a question where it may be a redacted one, for ``is_redacted``."""

# Written out once: to make a statement costs as much as to run it.
_KEEP = insert(questions)
_CHECKSUM = select(CHECKSUM, questions.c.owner_id).where(questions.c.id == bindparam("of"))
_NEWER_PURGE = (
    select(publications.c.seq)
    .where(publications.c.seq > bindparam("sequence"), publications.c.action == "purge")
    .limit(1)
)

_NEWEST = questions.c.asked_at.desc(), questions.c.id.desc()
_PURGED_BY = (publications.name, versions.name, documents.name)

Named = tuple[str, int]
"""A version by the key of its document and its number."""


class Questions:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept, self._read = LatelyRead(_MOST_KEPT), LatelyRead(_MOST_READ)
        self._packer = Packer(database)

    def keep(
        self, trace: Trace, key: CacheKey | None = None, most_answers: int = 0, heard_at: int | None = None
    ) -> bool:
        """Keep a question of whoever acts, as the next turn of its conversation, where there is one.

        What was purged while it was answered is not kept with it, nor what its conversation told of that: it was read
        at the sequence number ``heard_at``, or when the question was searched. Tells whether the account is kept. With
        a ``key`` its answer is given to those who ask the same, beside at most ``most_answers`` others.
        """
        # Before the transaction, which others wait for.
        part = own_part(trace)
        kept = packed(trace) if part is None else part
        with self._database.write() as tx:
            purged = self._purged_since(tx, trace.sequence if heard_at is None else min(trace.sequence, heard_at))
            if part is not None and (purged or not has_rest(tx, trace)):
                kept = packed(trace)
            asked_in = trace.query.conversation_id
            data = to_dict(trace) if purged else {}
            is_quoting = _quotes(data, purged)
            if purged and trace.analysis.standalone:
                is_quoting = is_quoting or _has_told(tx, asked_in, purged)
            turn = next_turn(tx, asked_in, _storable(trace.query.text), trace.asked_at) if asked_in else None
            row = {
                "id": trace.id,
                "asked_at": trace.asked_at,
                "question": _storable(trace.query.text),
                "answer_type": trace.answer.type,
                "answer": "" if _answers_from(data, purged) else _storable(trace.answer.text),
                "total_ms": trace.timings_ms.get("total", 0.0),
                "trace": packed(REDACTED) if is_quoting else kept,
                "as_of": format_as_of(trace.query.as_of) or "",
                "versions": trace.query.versions,
                "owner_id": access.current().user_id,
                "conversation_id": asked_in if turn is not None else None,
                "turn": turn,
                # It may name a document that was purged since.
                "standalone": "" if purged else _storable(trace.analysis.standalone),
                "is_tentative": trace.answer.is_tentative,
            }
            tx.execute(_KEEP, row)
            if key is not None and not is_quoting:
                doc_ids = {hit.placed.doc_id for hit in trace.hits}
                add_entry(tx, key, trace.id, doc_ids, trace.asked_at, most_answers)
        self._packer.add(trace.id, kept)
        if key is not None and not is_quoting:
            # What it holds of no type of ours is as it would be read.
            self._kept.add(replace(trace, generation=orjson.loads(to_json(trace.generation))), checksum(kept))
        return not is_quoting

    def close(self) -> None:
        """Make small what was kept last."""
        self._packer.close()

    def _purged_since(self, tx: Connection, sequence: int) -> Set[Named]:
        return self._database.remembered.value("purged", _PURGED_BY, sequence, lambda: purged_since(tx, sequence))

    def get(self, trace_id: str, known: bytes | None = None) -> Trace:
        """Return what happened while a question was answered; ``known`` is the checksum of what is kept of it now.

        Raises: ``NotFound``, ``Purged``.
        """
        if known is not None and viewer() is None:
            remembered = self._lately(trace_id)
            if remembered is not None and remembered[0] == known:
                return remembered[1]
        with self._database.read() as tx:
            if (trace := self._remembered(tx, trace_id)) is not None:
                return trace
            found = is_storable(trace_id)
            kept = tx.scalar(select(questions.c.trace).where(questions.c.id == trace_id, own())) if found else None
            data = None if kept is None else account(tx, kept)
            is_hidden = data is not None and _is_hidden(tx, _found(data))
        if kept is None or data is None or is_hidden:
            raise NotFound("This question is not in the history.", remedy="Ask it again.")
        if data == REDACTED:
            raise Purged("This question found text that was purged since.", remedy="Ask it again.")
        trace = from_dict(Trace, _of_today(data))
        if trace.cache is None:
            self._read.add(trace, checksum(kept))
        return trace

    def _lately(self, trace_id: str) -> tuple[bytes, Trace] | None:
        return self._kept.get(trace_id) or self._read.get(trace_id)

    def _remembered(self, tx: Connection, trace_id: str) -> Trace | None:
        """Return an account that is remembered, where it is kept as it was and whoever acts may see it."""
        remembered = self._lately(trace_id)
        if remembered is None:
            return None
        known, trace = remembered
        row = tx.execute(_CHECKSUM, {"of": trace_id}).one_or_none()
        who = viewer()
        if row is None or row[0] != known or (who is not None and row[1] != who):
            return None
        return None if _is_hidden(tx, {hit.placed.doc_id for hit in trace.candidates + trace.hits}) else trace

    def redact(self, purged: Set[Named]) -> None:
        """Remove the traces that quote one of the versions, and the answers that were given from them.

        What later turns of their conversations are understood as goes too: it may name what an earlier one cited.
        """
        self._kept.clear()
        self._read.clear()
        quoting: dict[str, bool] = {}
        named: dict[str, tuple[int, Set[str]]] = {}
        with self._database.read() as tx:
            ids = list(tx.scalars(select(questions.c.id)))
        for question_id in ids:
            with self._database.read() as tx:
                row = tx.execute(select(questions).where(questions.c.id == question_id)).one_or_none()
                data = REDACTED if row is None else account(tx, row.trace)
            # The rest of an account was redacted before, when this was interrupted.
            is_left = row is not None and data == REDACTED != unpacked(row.trace)
            if row is None or not (is_left or _quotes(data, purged)):
                continue
            quoting[question_id] = is_left or _answers_from(data, purged)
            if row.conversation_id is not None:
                first, titles = named.get(row.conversation_id, (row.turn, frozenset[str]()))
                named[row.conversation_id] = min(first, row.turn), titles | _titles(data, purged)
        self._forget_inherited(named, quoting)
        for question_id, is_answered_from in quoting.items():
            values: dict[str, Any] = {"trace": packed(REDACTED), "standalone": ""}
            if is_answered_from:
                values["answer"] = ""
            with self._database.write() as tx:
                tx.execute(update(questions).where(questions.c.id == question_id).values(**values))
        # Until then further questions may have followed; what is not found again after an interruption goes first.
        self._forget_inherited(named, quoting)

    def _forget_inherited(self, named: Mapping[str, tuple[int, Set[str]]], quoting: Container[str]) -> None:
        """Remove what the later turns of conversations are understood as, with traces where that names a title."""
        for conversation_id, (turn, titles) in named.items():
            later = (
                questions.c.conversation_id == conversation_id,
                questions.c.turn > turn,
                questions.c.standalone != "",
            )
            names = [" ".join(title.split()).casefold() for title in titles]
            with self._database.write() as tx:
                for row in tx.execute(select(questions).where(*later)).all():
                    told = " ".join((row.standalone, *_other_reading(account(tx, row.trace))))
                    said = " ".join(told.split()).casefold()
                    values: dict[str, Any] = {"standalone": ""}
                    if row.id not in quoting and any(name in said for name in names):
                        values["trace"] = packed(REDACTED)
                    tx.execute(update(questions).where(questions.c.id == row.id).values(**values))

    def recent(self, limit: int, before: str = "", search: str = "") -> list[TraceSummary]:
        """Return questions, newest first, from behind the one with the id ``before`` on.

        Each word of ``search`` stands somewhere in the question, in letters of either case. Raises: ``NotFound``.
        """
        columns = [column for column in questions.c if column.name != "trace"]
        fitting = [own(), *holds_words(questions.c.question, search)]
        with self._database.read() as tx:
            if before:
                place = select(questions.c.asked_at).where(questions.c.id == before, own())
                asked_at = tx.scalar(place) if is_storable(before) else None
                if asked_at is None:
                    raise NotFound("This question is not in the history.", remedy="Begin again without “before”.")
                beside = and_(questions.c.asked_at == asked_at, questions.c.id < before)
                fitting.append(or_(questions.c.asked_at < asked_at, beside))
            if search.strip():
                fitting = [questions.c.id.in_(_newest_ids(fitting, limit))]
            rows = tx.execute(select(*columns).where(*fitting).order_by(*_NEWEST).limit(limit)).all()
            hidden = hidden_rows(tx, [row.id for row in rows])
        return [summary_of(row, is_hidden=row.id in hidden) for row in rows]

    def count(self) -> int:
        with self._database.read() as tx:
            return int(tx.scalar(select(func.count()).select_from(questions).where(own())) or 0)


def _newest_ids(fitting: Sequence[ColumnElement[bool]], limit: int) -> CompoundSelect[Any]:
    """Select the ids of the newest short and the newest long questions, each from an index."""
    parts = (
        select(questions.c.id).where(length, *fitting).order_by(*_NEWEST).limit(limit).subquery()
        for length in (IS_SHORT_QUESTION, IS_LONG_QUESTION)
    )
    return union_all(*(select(part.c.id) for part in parts))


def holds_words(column: ColumnElement[str], search: str) -> list[ColumnElement[bool]]:
    """Select what holds each word of a search literally, in letters of either case, as far as the database knows."""
    return [column.icontains(word, autoescape=True) for word in _storable(search).replace("\0", "").split()]


def summary_of(row: Row[Any], *, is_hidden: bool) -> TraceSummary:
    """Return a row of the history, without its account; without its answer where that is hidden."""
    return TraceSummary(
        row.id,
        row.asked_at,
        row.question,
        AnswerType(row.answer_type),
        "" if is_hidden else row.answer,
        row.total_ms,
        row.as_of,
        row.versions,
        row.is_tentative,
    )


def is_redacted(kept: bytes | None) -> bool:
    """Tell whether an account was removed because it quoted what was purged; ``kept`` is ``kept_trace``."""
    return kept is not None and bool(unpacked(kept) == REDACTED)


def own() -> ColumnElement[bool]:
    """Select what whoever acts has asked; of administrators, all questions."""
    user_id = viewer()
    return true() if user_id is None else questions.c.owner_id == user_id


def hidden_rows(tx: Connection, ids: Sequence[str]) -> Set[str]:
    """Return those questions that found documents which whoever acts does not see.

    They are looked for where an administrator's account acts with less than its role, as with a key for reading.
    """
    who = access.current()
    if access.sees_all(who) or tx.scalar(select(users.c.role).where(users.c.id == who.user_id)) != Role.ADMIN:
        return set()
    hidden = set()
    for question_id in ids:
        packed = tx.scalar(select(questions.c.trace).where(questions.c.id == question_id))
        if packed is not None and _is_hidden(tx, _found(account(tx, packed))):
            hidden.add(question_id)
    return hidden


def _found(data: Any) -> set[int]:
    """Return the ids of the documents whose text a trace holds."""
    return {hit["placed"]["doc_id"] for hit in (*data.get("hits", ()), *data.get("candidates", ()))}


def _is_hidden(tx: Connection, found: Set[int]) -> bool:
    """Tell whether whoever acts does not see one of the documents."""
    if viewer() is None:
        return False
    return tx.scalar(select(documents.c.id).where(documents.c.id.in_(found), ~seen()).limit(1)) is not None


def _of_today(data: Any) -> Any:
    """Return an account with the failure of its generator at its answer, where earlier releases did not keep it."""
    generation = data.get("generation") or {}
    error = generation.get("error")
    if error and "generator_failure" not in data["answer"]:
        failure = {name: str(error.get(name) or "") for name in ("code", "message", "remedy")}
        failure["generator"] = generation.get("generator", "")
        return {**data, "answer": {**data["answer"], "generator_failure": failure}}
    return data


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def purged_since(tx: Connection, sequence: int) -> Set[Named]:
    """Return the purged versions where anything was purged after ``sequence``; nothing else can be in a trace."""
    if tx.scalar(_NEWER_PURGE, {"sequence": sequence}) is None:
        return set()
    query = select(documents.c.doc_key, versions.c.number).join(documents, documents.c.id == versions.c.doc_id)
    return {(row.doc_key, row.number) for row in tx.execute(query.where(versions.c.state == "purged"))}


def _other_reading(data: Any) -> list[str]:
    """Return what else a follow-up question was searched as, which may name a title, too."""
    other = data.get("analysis", {}).get("standalone_other", "")
    return [other] if other else []


def _quotes(data: Any, purged: Set[Named]) -> bool:
    """Tell whether a trace holds text of one of the versions."""
    return _answers_from(data, purged) or _places(data.get("candidates", ()), purged)


def _answers_from(data: Any, purged: Set[Named]) -> bool:
    """Tell whether one of the versions was among what the answer was made of."""
    cited = ((citation["doc_key"], citation["version"]) for citation in data.get("answer", {}).get("citations", ()))
    return _places(data.get("hits", ()), purged) or any(name in purged for name in cited)


def _has_told(tx: Connection, conversation_id: str, purged: Set[Named]) -> bool:
    """Tell whether a conversation may have named one of the versions; one that is gone may have named anything."""
    accounts = tx.scalars(select(questions.c.trace).where(questions.c.conversation_id == conversation_id)).all()
    told = (account(tx, kept) for kept in accounts)
    return not accounts or any(data == REDACTED or _quotes(data, purged) for data in told)


def _titles(data: Any, purged: Set[Named]) -> Set[str]:
    """Return what the versions are called in a trace: by their titles and by the names of their files."""
    placed = (hit["placed"] for hit in (*data.get("hits", ()), *data.get("candidates", ())))
    hidden = [each for each in placed if (each["doc_key"], each["version"]) in purged]
    return {name for each in hidden for name in (each["title"], each["name"].rpartition(".")[0]) if name}


def _places(hits: Any, purged: Set[Named]) -> bool:
    return any((hit["placed"]["doc_key"], hit["placed"]["version"]) in purged for hit in hits)
