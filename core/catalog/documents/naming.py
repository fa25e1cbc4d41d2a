"""Documents by what people call them: their title or their name, of those that whoever acts sees and that are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, or_, select

from core.catalog.documents.isolation import seen
from core.catalog.documents.views import View, shown_versions
from core.catalog.engine import Database
from core.catalog.schema import NUMBER, documents, shown_now, versions
from core.model.file_types import CALLED_BY_STEM

_FEW = 500
_FIRST_YEAR = 1981
"""What is told to be older was written by a clock that was never set."""
_MOST_SPELLINGS = 5_000
"""Names that a database is asked for; of more, every document is looked at here."""


@dataclass(frozen=True, slots=True)
class Named:
    """A shown document as people may call it."""

    doc_id: int
    doc_key: str
    name: str
    title: str
    updated_at: datetime


_NAMED = (
    select(documents.c.id, documents.c.doc_key, documents.c.name, versions.c.title, documents.c.updated_at)
    .join(versions, versions.c.doc_id == documents.c.id)
    .where(versions.c.id.in_(shown_now))
    .order_by(documents.c.doc_key)
)


def moment_told(text: str | None, now: datetime) -> datetime | None:
    """Return the moment that a file tells as its date, None for what is none or cannot be; days are of this zone."""
    try:
        told = datetime.fromisoformat((text or "").strip().replace("/", "-"))
        moment = told.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year >= _FIRST_YEAR and moment <= now else None


class Naming:
    def __init__(self, database: Database) -> None:
        self._database = database

    def called(self, names: Collection[str]) -> dict[str, list[Named]]:
        """Return the documents whose title, or whose name with or without its extension, is one of ``names``.

        Names are in lower case; a blank in one stands for ``-`` and ``_`` in file names as well.
        """
        wanted = set(names)
        spelt: dict[str, set[str]] = {}
        for name in wanted:
            for form in {name, name.replace(" ", "-"), name.replace(" ", "_")}:
                for spelling in (form, *(f"{form}.{extension}" for extension in CALLED_BY_STEM)):
                    spelt.setdefault(spelling, set()).add(name)
        if not spelt:
            return {}
        title, file_name = func.lower(versions.c.title), func.lower(documents.c.name)
        query = _NAMED.where(seen())
        if len(spelt) <= _MOST_SPELLINGS:
            query = query.where(or_(title.in_(names), file_name.in_(list(spelt))))
        with self._database.read() as tx:
            rows = tx.execute(query).all()
        found: dict[str, list[Named]] = {}
        for row in rows:
            document = Named(row.id, row.doc_key, row.name, row.title or row.name, row.updated_at)
            own_title = (row.title or "").lower()
            by_title = {own_title} & wanted
            for name in by_title | spelt.get(row.name.lower(), set()):
                found.setdefault(name, []).append(document)
        return found

    def holding(self, text: str, *, title_only: bool) -> list[int]:
        """Return the ids of the documents whose title (or name) holds ``text`` literally, whatever the case."""
        needle = text.casefold()
        with self._database.read() as tx:
            rows = tx.execute(_NAMED.where(seen())).all()
        return [
            row.id
            for row in rows
            if needle in (row.title or row.name).casefold()
            or (not title_only and (needle in row.name.casefold() or needle in row.doc_key.casefold()))
        ]

    def updated_between(self, after: datetime | None, before: datetime | None, limit: int) -> tuple[list[Named], int]:
        """Return the documents that changed between two moments, newest first, and how many there are."""
        query = _NAMED.where(seen())
        if after is not None:
            query = query.where(documents.c.updated_at >= after)
        if before is not None:
            query = query.where(documents.c.updated_at <= before)
        newest = query.order_by(None).order_by(documents.c.updated_at.desc(), documents.c.doc_key).limit(limit)
        with self._database.read() as tx:
            rows = tx.execute(newest).all()
            total = int(tx.scalar(select(func.count()).select_from(query.order_by(None).subquery())) or 0)
        return [Named(row.id, row.doc_key, row.name, row.title or row.name, row.updated_at) for row in rows], total

    def updated(self, doc_ids: Iterable[int]) -> dict[int, datetime]:
        """Return when each of the documents last changed."""
        query = select(documents.c.id, documents.c.updated_at).where(documents.c.id.in_(list(doc_ids)), seen())
        with self._database.read() as tx:
            return {row.id: row.updated_at for row in tx.execute(query)}

    def dated(self, shown: Collection[tuple[int, int]]) -> dict[tuple[int, int], datetime]:
        """Return how old the contents are of some versions, given as document id and number.

        That is the date that the file itself tells, of its last change rather than of its making; where it tells none,
        or one that is no past moment, when the document last changed here.
        """
        ids, numbers = {doc_id for doc_id, _ in shown}, {number for _, number in shown}
        own = [versions.c.metadata[name].as_string().label(name) for name in ("modified", "created")]
        query = (
            select(versions.c.doc_id, NUMBER.label("number"), documents.c.updated_at, *own)
            .join(documents, documents.c.id == versions.c.doc_id)
            .where(versions.c.doc_id.in_(list(ids)), NUMBER.in_(list(numbers)), seen())
        )
        now = datetime.now(UTC)
        with self._database.read() as tx:
            rows = tx.execute(query).all()
        return {
            (row.doc_id, row.number): moment_told(row.modified, now) or moment_told(row.created, now) or row.updated_at
            for row in rows
            if (row.doc_id, row.number) in shown
        }

    def shows_any(self, view: View, doc_ids: Sequence[int]) -> bool:
        """Tell whether ``view`` shows anything of the documents."""
        with self._database.read() as tx:
            for at in range(0, len(doc_ids), _FEW):
                own = versions.c.doc_id.in_(doc_ids[at : at + _FEW])
                query = select(versions.c.id).where(versions.c.id.in_(shown_versions(view)), own).limit(1)
                if tx.scalar(query) is not None:
                    return True
        return False
