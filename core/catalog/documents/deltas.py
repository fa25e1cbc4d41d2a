"""Deltas: which chunks may differ between two versions, found at the cost of what differs and not of what they hold.

Every version names a base, the newest earlier one that had its chunks when it got its own, and keeps the chunks that
the two do not share. Two versions then differ at most in the deltas on the way from one to the other.
"""

from __future__ import annotations

from sqlalchemy import Connection, Select, delete, exists, func, insert, literal, select, union, update

from core.catalog.schema import IS_CURRENT, version_chunks, version_deltas, versions

_LONGEST_WAY = 1000
_HAS_CHUNKS = ("ready", "stored")
_earlier = versions.alias("earlier")
BASE = (
    select(_earlier.c.id)
    .where(
        _earlier.c.doc_id == versions.c.doc_id,
        _earlier.c.number > 0,
        _earlier.c.number < versions.c.number,
        _earlier.c.chunk_count > 0,
        _earlier.c.state.in_(_HAS_CHUNKS),
    )
    .order_by(_earlier.c.number.desc())
    .limit(1)
    .correlate(versions)
    .scalar_subquery()
)
"""What ``base_of`` gives of a version that is no other reading."""


def base_of(tx: Connection, version_id: int) -> int | None:
    """Return the id of the newest earlier version of the document that has its chunks; of a reading, its version's."""
    columns = versions.c.doc_id, versions.c.number, versions.c.reading_of
    own = tx.execute(select(*columns).where(versions.c.id == version_id)).one()
    earlier = versions.c.number < own.number if own.reading_of is None else versions.c.number <= own.reading_of
    return tx.scalar(
        select(versions.c.id)
        .where(
            versions.c.doc_id == own.doc_id,
            IS_CURRENT,
            earlier,
            versions.c.chunk_count > 0,
            versions.c.state.in_(_HAS_CHUNKS),
        )
        .order_by(versions.c.number.desc())
        .limit(1)
    )


def record(tx: Connection, version_id: int, base_id: int | None) -> None:
    """Keep what the version and its base do not share."""
    tx.execute(delete(version_deltas).where(version_deltas.c.version_id == version_id))
    tx.execute(update(versions).where(versions.c.id == version_id).values(base_id=base_id))
    if base_id is not None:
        own, base = _members(version_id), _members(base_id)
        differing = union(_without(own, base), _without(base, own)).subquery()
        rows = select(literal(version_id), differing.c.chunk_id)
        tx.execute(insert(version_deltas).from_select(["version_id", "chunk_id"], rows))


def difference(tx: Connection, of: int, without: int | None) -> Select[tuple[int]]:
    """Select the ids, each once, of the chunks of one version that another one does not have."""
    way = None if without is None else _way(tx, of, without)
    if way is None or without is None:
        own = _members(of)
        return own if without is None else select(_without(own, _members(without)).subquery().c.chunk_id)
    # Chunks on the way may have come and gone again, or be known to a base only: membership decides.
    held = exists().where(version_chunks.c.chunk_id == version_deltas.c.chunk_id)
    return (
        select(version_deltas.c.chunk_id)
        .where(version_deltas.c.version_id.in_(way))
        .where(held.where(version_chunks.c.version_id == of), ~held.where(version_chunks.c.version_id == without))
        .distinct()
    )


def bequeath(tx: Connection, version_id: int) -> None:
    """Take a version out of the tree of bases; those that were based on it get its base, and its delta as well."""
    base_id = tx.scalar(select(versions.c.base_id).where(versions.c.id == version_id))
    siblings = versions.c.doc_id == select(versions.c.doc_id).where(versions.c.id == version_id).scalar_subquery()
    based = select(versions.c.id).where(siblings, versions.c.base_id == version_id)
    children = list(tx.scalars(based.order_by(versions.c.number)))
    for child in children:
        _add(tx, child, version_id)
    heir = base_id
    if base_id is None and children:
        # The eldest becomes the root; what it did not share with the old root stands between it and the others.
        heir = children.pop(0)
        for child in children:
            _add(tx, child, heir)
        _cut(tx, heir)
    for child in children:
        tx.execute(update(versions).where(versions.c.id == child).values(base_id=heir))
    _cut(tx, version_id)


def _add(tx: Connection, version_id: int, other: int) -> None:
    """Add the delta of another version to that of a version."""
    theirs, own = version_deltas.alias("theirs"), version_deltas.alias("own")
    rows = select(literal(version_id), theirs.c.chunk_id).where(
        theirs.c.version_id == other,
        ~exists().where(own.c.version_id == version_id, own.c.chunk_id == theirs.c.chunk_id),
    )
    tx.execute(insert(version_deltas).from_select(["version_id", "chunk_id"], rows))


def _cut(tx: Connection, version_id: int) -> None:
    tx.execute(delete(version_deltas).where(version_deltas.c.version_id == version_id))
    tx.execute(update(versions).where(versions.c.id == version_id).values(base_id=None))


def _way(tx: Connection, one: int, other: int) -> list[int] | None:
    """Return the versions whose deltas lead from one to the other; None where there is no way, or no short one."""
    doc_id = select(versions.c.doc_id).where(versions.c.id == one).scalar_subquery()
    bases = {
        row.id: row.base_id
        for row in tx.execute(select(versions.c.id, versions.c.base_id).where(versions.c.doc_id == doc_id))
    }
    ups = (_line(one, bases), _line(other, bases))
    met = set(ups[1])
    common = next((version for version in ups[0] if version in met), None)
    if common is None:
        return None
    way = [version for up in ups for version in up[: up.index(common)]]
    if len(way) > _LONGEST_WAY:
        return None
    on_the_way = select(func.count()).where(version_deltas.c.version_id.in_(way))
    held = select(func.sum(versions.c.chunk_count)).where(versions.c.id.in_((one, other)))
    return way if (tx.scalar(on_the_way) or 0) <= (tx.scalar(held) or 0) else None


def _line(version_id: int, bases: dict[int, int | None]) -> list[int]:
    line: list[int] = []
    at: int | None = version_id
    while at is not None:
        line.append(at)
        at = bases.get(at)
    return line


def _members(version_id: int) -> Select[tuple[int]]:
    return select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == version_id).distinct()


def _without(own: Select[tuple[int]], others: Select[tuple[int]]) -> Select[tuple[int]]:
    return select(own.except_(others).subquery().c.chunk_id)
