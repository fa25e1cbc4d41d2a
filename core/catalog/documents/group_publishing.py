"""Groups of versions, one a document, are placed, shown and ended in one transaction, with a few statements for all.

What this leaves out takes the way of ``publications``, one version in each transaction: a draft, what replaces another
version than its base, whatever was cancelled, purged or decided on meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, func, insert, or_, select, update

from core.catalog.documents.placing import place_all, place_changed
from core.catalog.documents.publications import Finishing, Showing
from core.catalog.engine import Database
from core.catalog.jobs.changes import next_change
from core.catalog.jobs.events import LogLine, record_all
from core.catalog.jobs.ledger import Attempt, running_among, write_steps
from core.catalog.journal import acknowledge
from core.catalog.questions.cached_answers import drop_changed
from core.catalog.schema import NOT_A_DRAFT, documents, jobs, publications, versions
from core.model import JobState, Part, Stage

_of_ids = versions.c.id.in_(bindparam("ids", expanding=True))
_BASES = select(versions.c.id, versions.c.base_id).where(_of_ids)
_published = versions.alias("published")
_SETTLED = (
    select(versions.c.id)
    .join(publications, and_(publications.c.doc_id == versions.c.doc_id, publications.c.seq > versions.c.claimed_seq))
    .outerjoin(_published, _published.c.id == publications.c.version_id)
    .where(
        _of_ids,
        # The purge of one version decides nothing about what the document shows.
        or_(publications.c.action != "purge", publications.c.subject.is_(None)),
        or_(
            func.coalesce(_published.c.reading_of, _published.c.number) >= versions.c.number,
            and_(publications.c.version_id.is_(None), publications.c.action != "restore"),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A version that is to be shown, what its document showed when its rows were asked for, and the attempt at it.

    ``finishing`` is the job whose end this is; without it the version is shown early.
    """

    doc_id: int
    version_id: int
    expected: Showing
    attempt: Attempt
    finishing: Finishing | None = None


class GroupPublishing:
    def __init__(self, database: Database) -> None:
        self._database = database

    def prepare(self, owned: Mapping[int, int]) -> dict[int, Showing]:
        """Ask the indexes for versions in head, each named with its document, where that shows nothing or their bases.

        Return what each of these documents shows until then, by the ids of the versions.
        """
        with self._database.write() as tx:
            present = _showings(tx, set(owned.values()))
            bases = _bases(tx, owned)
            fit = {
                version_id: present[doc_id]
                for version_id, doc_id in owned.items()
                if present[doc_id].version_id in (None, bases[version_id])
            }
            if fit:
                place_all(tx, [of for of, showing in fit.items() if showing.version_id is None])
                place_changed(tx, [of for of, showing in fit.items() if showing.version_id is not None], Part.HEAD)
                tx.execute(update(versions).where(versions.c.id.in_(fit)).values(is_prepared=True))
        return fit

    def publish(self, members: Sequence[GroupMember]) -> set[int]:
        """Show versions; return the ids of those that are shown now, which leave ``stored`` with their jobs' ends."""
        with self._database.write() as tx:
            present = _showings(tx, {each.doc_id for each in members})
            running = running_among(tx, [each.attempt for each in members])
            ids = [each.version_id for each in members]
            rows, settled = _versions(tx, ids), _settled(tx, ids)
            fit: dict[int, GroupMember] = {}
            for each in members:
                row, showing = rows[each.version_id], present[each.doc_id]
                is_as_expected = showing == each.expected and showing.version_id in (None, row.base_id)
                is_wanted = row.state == "stored" and not row.is_draft and row.chunk_count > 0
                if is_as_expected and is_wanted and each.attempt in running and each.version_id not in settled:
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
    columns = ("number", "state", "is_draft", "chunk_count", "file_name", "is_text_entry", "actor", "base_id")
    query = select(versions.c.id, *(versions.c[name] for name in columns)).where(versions.c.id.in_(version_ids))
    return {row.id: row for row in tx.execute(query)}


def _bases(tx: Connection, version_ids: Collection[int]) -> dict[int, int | None]:
    return {row.id: row.base_id for row in tx.execute(_BASES, {"ids": list(version_ids)})}


def _settled(tx: Connection, version_ids: Collection[int]) -> set[int]:
    """Return those of the versions that an upload must not publish (again), as ``Publications.is_settled`` says."""
    return set(tx.scalars(_SETTLED, {"ids": list(version_ids)}))


def _show(tx: Connection, members: Sequence[GroupMember], rows: Mapping[int, Row[Any]]) -> None:
    finishings = [each.finishing for each in members if each.finishing is not None]
    early = [each for each in members if each.finishing is None]
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
    shown = versions.c.id.in_([each.version_id for each in members])
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
            for each in members
        ],
    )
    replacing = [each.version_id for each in members if each.expected.version_id is not None]
    place_changed(tx, replacing, Part.HISTORY)
    drop_changed(tx, [each.doc_id for each in members], last.seq + 1 if last else 1, purged=False)
    named = update(documents).where(documents.c.id == bindparam("of"))
    tx.execute(
        named.values(name=bindparam("shown"), is_text_entry=bindparam("typed"), updated_at=now),
        [
            {
                "of": each.doc_id,
                "shown": rows[each.version_id].file_name,
                "typed": rows[each.version_id].is_text_entry,
            }
            for each in members
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
