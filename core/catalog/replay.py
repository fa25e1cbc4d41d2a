"""Bringing an older catalogue to where its journal ends: what was added comes back and is indexed again.

Each document shows in the end what it showed; in between, publications that followed one another are not repeated, so
that questions as of a moment between the two see what the older catalogue says. What is not in the journal is as it
was: tags and notes of what was there, questions, conversations, users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, func, insert, or_, select, text, update

from core.catalog.documents.leftovers import FileKind
from core.catalog.documents.publications import Decision
from core.catalog.jobs.ledger import NewJob, queue
from core.catalog.journal import Entry, Point
from core.catalog.schema import (
    api_keys,
    document_tags,
    documents,
    leftovers,
    publications,
    sessions,
    users,
    versions,
)
from core.errors import Conflict
from core.model import JobKind

if TYPE_CHECKING:
    from core.catalog import Catalog

_MOMENTS = ("created_at", "publish_at")
_FILED = (
    "number",
    "file_name",
    "extension",
    "is_text_entry",
    "sha256",
    "sha1",
    "size_bytes",
    "note",
    "label",
    "actor",
    "title",
    "publish_actor",
    "publish_early",
)


@dataclass(frozen=True, slots=True)
class Since:
    """What a journal names that came after a point, oldest first."""

    versions: tuple[Entry, ...] = ()
    publications: tuple[Entry, ...] = ()
    keys: tuple[str, ...] = ()
    users: tuple[int, ...] = ()
    end: Point = field(default_factory=Point)
    damaged: int = 0
    """Lines that cannot be read."""
    has_gap: bool = False
    """Whether the journal begins after the point."""

    @classmethod
    def of(cls, entries: Sequence[Entry], damaged: int, base: Point) -> Since:
        """Take of a journal's lines what came after ``base``."""

        def newer(kind: str, than: int) -> tuple[Entry, ...]:
            return tuple(each for each in entries if each["kind"] == kind and each["id"] > than)

        def ids(kind: str) -> tuple[Any, ...]:
            return tuple(dict.fromkeys(each["id"] for each in entries if each["kind"] == kind))

        is_headless = not entries or entries[0]["kind"] != "begin"
        return cls(
            versions=newer("version", base.version),
            publications=newer("publication", base.sequence),
            keys=ids("key"),
            users=ids("user"),
            end=Point(*entries[-1]["point"]) if entries else base,
            damaged=damaged,
            has_gap=is_headless or Point(*entries[0]["point"]).is_beyond(base),
        )

    def added(self) -> list[Entry]:
        """Return the versions that were uploaded and not purged since; another reading of one is no upload."""
        purged = [each for each in self.publications if each["action"] == "purge"]
        whole = {each["doc_id"] for each in purged if each["subject"] is None}
        single = {(each["doc_id"], each["subject"]) for each in purged}
        return [
            each
            for each in self.versions
            if each["reading_of"] is None
            and each["doc_id"] not in whole
            and (each["doc_id"], each["number"]) not in single
        ]

    def hidden(self) -> list[int]:
        """Return the documents that were deleted or hidden last."""
        return [doc_id for doc_id, last in self.last().items() if _hides(last)]

    def last(self) -> dict[int, Entry]:
        """Return the last publication of each document."""
        return {each["doc_id"]: each for each in self.publications}


@dataclass(slots=True)
class Replayed:
    """What was brought to a catalogue."""

    versions: int = 0
    lost: list[str] = field(default_factory=list)
    """Names of files whose original is gone, or whose place is taken."""
    hidden: int = 0
    """Documents that are hidden again."""
    keys: int = 0
    """Keys that are revoked again."""
    users: list[str] = field(default_factory=list)
    """Names of the users who are as they were before they were changed."""


def replay(catalog: Catalog, since: Since, has: Callable[[str], bool]) -> Replayed:
    """Bring a catalogue that nobody else has open to where its journal ends; ``has`` tells which originals are there.

    Everybody is signed out. Files that nothing names stay: what was being written then may have been acknowledged.
    """
    done = Replayed()
    came: set[int] = set()
    numbers = {each["id"]: each["number"] for each in since.versions}
    decided: dict[int, list[Entry]] = {}
    for each in since.publications:
        if each["action"] != "purge":
            decided.setdefault(each["doc_id"], []).append(each)
    with catalog.database.write() as tx:
        tx.execute(delete(sessions))
        tx.execute(delete(leftovers).where(leftovers.c.kind == FileKind.BLOB.value))
        for entry in since.added():
            if has(entry["sha256"]) and _has_place(tx, entry):
                _bring(tx, entry, is_draft=_is_draft(entry, decided.get(entry["doc_id"], []), numbers))
                came.add(entry["id"])
            else:
                done.lost.append(entry["file_name"])
        revoked = update(api_keys).where(api_keys.c.id.in_(since.keys), api_keys.c.revoked_at.is_(None))
        done.keys = tx.execute(revoked.values(revoked_at=datetime.now(UTC))).rowcount
        done.users = list(tx.scalars(select(users.c.name).where(users.c.id.in_(since.users))))
        _use_no_number_again(tx, since.end.sequence)
    done.versions = len(came)
    _purge(catalog, since.publications)
    of_came = {each["doc_id"] for each in since.versions if each["id"] in came}
    for doc_id, last in since.last().items():
        done.hidden += _show(catalog, last, came, is_new=doc_id in of_came)
    with catalog.database.write() as tx:
        # What is still to be shown was uploaded after whatever was decided here, all else before.
        newest = select(func.coalesce(func.max(publications.c.seq), 0)).scalar_subquery()
        tx.execute(update(versions).where(versions.c.id.in_(came), ~versions.c.is_draft).values(claimed_seq=newest))
    return done


def _is_draft(entry: Entry, own: Sequence[Entry], numbers: Mapping[int, int]) -> bool:
    """Tell whether a version is to be indexed without being shown, by its document's ``own`` publications."""
    if own and own[-1]["version_id"] == entry["id"]:
        return False
    reopened = [each["id"] for each in own if each["version_id"] is None and not _hides(each)]
    # What was hidden or replaced since it was uploaded; a version of before the point has a lower number.
    is_settled = any(
        _hides(each) or numbers.get(each["version_id"], 0) >= entry["number"]
        for each in own
        if each["id"] > max([entry["claimed_seq"], *reopened])
    )
    return is_settled or bool(entry["is_draft"])


def _hides(publication: Entry) -> bool:
    """Tell whether a document shows nothing by a decision; one that is restored while it is indexed shows it later."""
    return publication["version_id"] is None and publication["action"] != "restore"


def _has_place(tx: Connection, entry: Entry) -> bool:
    """Tell whether neither the document nor the number is another one's."""
    is_same = documents.c.id == entry["doc_id"], documents.c.doc_key == entry["doc_key"]
    others = select(documents.c.id).where(or_(*is_same), ~(is_same[0] & is_same[1]))
    taken = versions.c.doc_id == entry["doc_id"], versions.c.number == entry["number"]
    same = select(versions.c.id).where(or_(versions.c.id == entry["id"], taken[0] & taken[1]))
    return tx.scalar(others.limit(1)) is None and tx.scalar(same.limit(1)) is None


def _bring(tx: Connection, entry: Entry, *, is_draft: bool) -> None:
    now = datetime.now(UTC)
    doc_id, moments = entry["doc_id"], {name: _moment(entry[name]) for name in _MOMENTS}
    if tx.scalar(select(documents.c.id).where(documents.c.id == doc_id)) is None:
        tx.execute(
            insert(documents).values(
                id=doc_id,
                doc_key=entry["doc_key"],
                name=entry["file_name"],
                is_text_entry=entry["is_text_entry"],
                created_at=moments["created_at"],
                updated_at=now,
                owner_id=entry["owner_id"],
            )
        )
        if tags := [{"doc_id": doc_id, "tag": tag} for tag in entry["tags"]]:
            tx.execute(insert(document_tags), tags)
    values = {**{name: entry[name] for name in _FILED}, **moments, "is_draft": is_draft}
    if not is_draft:
        values |= {"publish_at": None, "publish_actor": ""}
    tx.execute(insert(versions).values(id=entry["id"], doc_id=doc_id, state="stored", claimed_seq=0, **values))
    job = NewJob(
        kind=JobKind.INGEST,
        name=entry["file_name"],
        size_bytes=entry["size_bytes"],
        actor=entry["actor"],
        owner_id=entry["owner_id"],
        doc_id=doc_id,
        version_id=entry["id"],
    )
    queue(tx, job, now)


def _use_no_number_again(tx: Connection, sequence: int) -> None:
    """Have publications go on behind the numbers that somebody may have noted."""
    known = tx.execute(text("SELECT seq FROM sqlite_sequence WHERE name = 'publications'")).scalar()
    if known is None:
        tx.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES ('publications', :seq)"), {"seq": sequence})
    else:
        newest = {"seq": max(int(known), sequence)}
        tx.execute(text("UPDATE sqlite_sequence SET seq = :seq WHERE name = 'publications'"), newest)


def _purge(catalog: Catalog, entries: Iterable[Entry]) -> None:
    """Purge again what was purged; the next start removes its bytes."""
    for entry in entries:
        if entry["action"] != "purge":
            continue
        with catalog.database.read() as tx:
            numbered = versions.c.doc_id == entry["doc_id"], versions.c.number == entry["subject"]
            version_id = tx.scalar(select(versions.c.id).where(*numbered))
        if entry["subject"] is None or version_id is not None:
            with suppress(Conflict):
                catalog.purges.bury(entry["doc_id"], version_id, entry["actor"], entry["note"])


def _show(catalog: Catalog, last: Entry, came: set[int], *, is_new: bool) -> bool:
    """Have a document show what it showed last, but for what its job will show; tell whether it is hidden with this.

    With ``is_new`` there are versions of it that came since, which are not to look as if nobody had hidden them.
    """
    doc_id, target, action = last["doc_id"], last["version_id"], last["action"]
    expected = catalog.publications.showing(doc_id)
    if target is None:
        if action not in ("delete", "unpublish") or (expected.version_id is None and not is_new):
            return False
    elif target in came or target == expected.version_id or not _is_ready(catalog, target):
        return False
    else:
        action, expected = "publish", catalog.publications.prepare(doc_id, target)
    with suppress(Conflict):
        decision = Decision(doc_id, target, action, last["actor"], last["note"])
        catalog.publications.commit(decision, expected=expected)
    return target is None


def _is_ready(catalog: Catalog, version_id: int) -> bool:
    with catalog.database.read() as tx:
        return tx.scalar(select(versions.c.state).where(versions.c.id == version_id)) == "ready"


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
