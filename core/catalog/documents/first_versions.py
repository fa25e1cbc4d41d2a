"""First versions: many documents are shown for the first time in one transaction, with a few statements for all.

What this leaves out takes the way of ``publications``, one version in each transaction: a document that has shown
something, a draft, whatever was cancelled, purged or decided on meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from core.catalog.documents.placing import place_all
from core.catalog.documents.publications import Finishing, Showing
from core.catalog.engine import Database
from core.catalog.jobs.changes import next_change
from core.catalog.jobs.events import LogLine, record_all
from core.catalog.jobs.ledger import Attempt, running_among, write_steps
from core.catalog.journal import acknowledge
from core.catalog.questions.cached_answers import drop_changed
from core.catalog.schema import NOT_A_DRAFT, documents, jobs, publications, versions
from core.model import JobState, Part, Stage


@dataclass(frozen=True, slots=True)
class FirstVersion:
    """A version that is to be shown, what its document showed when its rows were asked for, and the attempt at it.

    ``finishing`` is the job whose end this is; without it the version is shown early.
    """

    doc_id: int
    version_id: int
    expected: Showing
    attempt: Attempt
    finishing: Finishing | None = None


class FirstVersions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def prepare(self, owned: Mapping[int, int]) -> dict[int, Showing]:
        """Ask the indexes for versions in head, each named with its document, where that has shown nothing.

        Return what each of these documents shows until then, by the ids of the versions.
        """
        with self._database.write() as tx:
            present = _showings(tx, set(owned.values()))
            fit = {version_id: present[doc_id] for version_id, doc_id in owned.items() if present[doc_id].seq == 0}
            if fit:
                place_all(tx, fit, Part.HEAD)
                tx.execute(update(versions).where(versions.c.id.in_(fit)).values(is_prepared=True))
        return fit

    def publish(self, firsts: Sequence[FirstVersion]) -> set[int]:
        """Show versions; return the ids of those that are shown now, which leave ``stored`` with their jobs' ends."""
        with self._database.write() as tx:
            present = _showings(tx, {each.doc_id for each in firsts})
            running = running_among(tx, [each.attempt for each in firsts])
            rows = _versions(tx, [each.version_id for each in firsts])
            fit: dict[int, FirstVersion] = {}
            for each in firsts:
                row = rows[each.version_id]
                is_first = present[each.doc_id] == each.expected and each.expected.seq == 0
                is_wanted = row.state == "stored" and not row.is_draft and row.chunk_count > 0
                if is_first and is_wanted and each.attempt in running:
                    fit.setdefault(each.doc_id, each)
            if fit:
                _show(tx, list(fit.values()), rows)
        return {each.version_id for each in fit.values()}

    def finish_shown(self, finishings: Sequence[Finishing]) -> set[int]:
        """End the jobs of versions that were published early; return the ids of those versions."""
        with self._database.write() as tx:
            running = running_among(tx, [each.step.attempt for each in finishings])
            rows = _versions(tx, [each.version_id for each in finishings])
            fit = [
                each
                for each in finishings
                if each.step.attempt in running
                and rows[each.version_id].state == "ready"
                and rows[each.version_id].chunk_count > 0
            ]
            _end(tx, fit, {})
        return {each.version_id for each in fit}


def _showings(tx: Connection, doc_ids: Collection[int]) -> dict[int, Showing]:
    """Return what documents show at this moment."""
    last = select(publications.c.doc_id, func.max(publications.c.seq).label("seq"))
    last_of = last.where(publications.c.doc_id.in_(doc_ids)).group_by(publications.c.doc_id).subquery()
    query = (
        select(documents.c.id, documents.c.shelvings, publications.c.seq, publications.c.version_id)
        .outerjoin(last_of, last_of.c.doc_id == documents.c.id)
        .outerjoin(publications, publications.c.seq == last_of.c.seq)
        .where(documents.c.id.in_(doc_ids))
    )
    return {row.id: Showing(row.seq or 0, row.version_id, row.shelvings) for row in tx.execute(query)}


def _versions(tx: Connection, version_ids: Collection[int]) -> dict[int, Row[Any]]:
    columns = ("number", "state", "is_draft", "chunk_count", "file_name", "is_text_entry", "actor")
    query = select(versions.c.id, *(versions.c[name] for name in columns)).where(versions.c.id.in_(version_ids))
    return {row.id: row for row in tx.execute(query)}


def _show(tx: Connection, firsts: Sequence[FirstVersion], rows: Mapping[int, Row[Any]]) -> None:
    finishings = [each.finishing for each in firsts if each.finishing is not None]
    early = [each for each in firsts if each.finishing is None]
    _end(tx, finishings, rows)
    if early:
        record_all(
            tx,
            [
                LogLine(each.attempt.job_id, "published", Stage.KEYWORDS, {"version": rows[each.version_id].number})
                for each in early
            ],
        )
        theirs = jobs.c.id.in_([each.attempt.job_id for each in early])
        tx.execute(update(jobs).where(theirs).values(change=next_change(tx)))
    shown = versions.c.id.in_([each.version_id for each in firsts])
    tx.execute(update(versions).where(shown).values(state="ready", error=None, is_prepared=False, **NOT_A_DRAFT))
    now = datetime.now(UTC)
    newest = select(publications.c.seq, publications.c.at).order_by(publications.c.seq.desc()).limit(1)
    last = tx.execute(newest).one_or_none()
    acknowledge(tx)
    tx.execute(
        insert(publications),
        [
            {
                "doc_id": each.doc_id,
                "version_id": each.version_id,
                "action": "publish",
                # Moments must order as sequence numbers do, or "as of" a moment would cut between them.
                "at": max(now, last.at) if last else now,
                "actor": rows[each.version_id].actor,
                "note": "",
                "subject": None,
            }
            for each in firsts
        ],
    )
    drop_changed(tx, [each.doc_id for each in firsts], last.seq + 1 if last else 1, purged=False)
    named = update(documents).where(documents.c.id == bindparam("of"))
    tx.execute(
        named.values(name=bindparam("shown"), is_text_entry=bindparam("typed"), updated_at=now),
        [
            {
                "of": each.doc_id,
                "shown": rows[each.version_id].file_name,
                "typed": rows[each.version_id].is_text_entry,
            }
            for each in firsts
        ],
    )


def _end(tx: Connection, finishings: Sequence[Finishing], published: Mapping[int, Row[Any]]) -> None:
    """End jobs and their versions as done; the logs say which versions are published with that."""
    if not finishings:
        return
    ended = {"state": JobState.DONE, "error": None, "finished_at": datetime.now(UTC)}
    write_steps(tx, [each.step for each in finishings], **ended)
    own = versions.c.id.in_([each.version_id for each in finishings])
    ready = {"state": "ready", "error": None, "embedded_chunks": versions.c.chunk_count, "keyword_ready": True}
    tx.execute(update(versions).where(own).values(**ready))
    lines = []
    for each in finishings:
        job_id, stage = each.step.attempt.job_id, each.step.stage
        if each.version_id in published:
            lines.append(LogLine(job_id, "published", stage, {"version": published[each.version_id].number}))
        lines.append(LogLine(job_id, "done", stage))
    record_all(tx, lines)
