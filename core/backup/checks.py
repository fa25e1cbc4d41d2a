"""What has to hold between the rows of a catalogue that arrives, beyond what the database itself insists on.

Everything is asked of the catalogue within the transaction that brings the rows, which is rolled back where something
does not hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, exists, func, or_, select

from core.backup.rows import travelling
from core.catalog.schema import (
    IS_CURRENT,
    chunks,
    embeddings,
    generations,
    index_settings,
    jobs,
    publications,
    shown_now,
    version_chunks,
    versions,
)
from core.errors import BadBundle, Conflict
from core.model import JobKind

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
SEEDED = frozenset({"index_settings", "generations"})
"""Tables that a catalogue has rows of before anything was added."""
_FEW = 10_000


@dataclass(frozen=True, slots=True)
class Blobs:
    """The blobs that the catalogue names: those that versions need, and those that archives to be unpacked may have."""

    needed: frozenset[str]
    allowed: frozenset[str]


def named_blobs(tx: Connection) -> Blobs:
    """Return the names of the blobs that travel with the rows."""
    kept = select(versions.c.sha256, versions.c.parsed_sha256).where(versions.c.state != "purged")
    needed = frozenset(name for row in tx.execute(kept) for name in row if name)
    packed = select(jobs.c.payload).where(jobs.c.kind == JobKind.UNPACK, jobs.c.payload.is_not(None))
    told = (payload.get("sha256") for payload in tx.scalars(packed) if isinstance(payload, dict))
    return Blobs(needed, frozenset(name for name in told if isinstance(name, str) and _SHA256.fullmatch(name)) - needed)


def require_empty(tx: Connection) -> None:
    """Refuse to move into a catalogue that holds something. Raises: ``Conflict``."""
    for table in travelling():
        if table.name not in SEEDED and tx.execute(select(table).limit(1)).first() is not None:
            raise Conflict(
                "There is a knowledge base already.", remedy="Import into a new data folder and an empty database."
            )


def check(tx: Connection) -> None:
    """Raises: ``BadBundle`` where rows contradict each other."""
    for what, query in _faults():
        if tx.execute(query.limit(1)).first() is not None:
            raise BadBundle(f"The archive's rows contradict each other: {what}.")
    _check_generation(tx)
    _check_embeddings(tx)


def _faults() -> list[tuple[str, Select[Any]]]:
    base = versions.alias("base")
    numbers = select(versions.c.doc_id).where(IS_CURRENT).group_by(versions.c.doc_id)
    last = select(func.coalesce(func.max(publications.c.seq), 0)).scalar_subquery()
    placed = version_chunks.join(versions, versions.c.id == version_chunks.c.version_id)
    placed = placed.join(chunks, chunks.c.id == version_chunks.c.chunk_id)
    shown = publications.join(versions, versions.c.id == publications.c.version_id)
    based = versions.outerjoin(base, base.c.id == versions.c.base_id)
    worked = jobs.join(versions, versions.c.id == jobs.c.version_id)
    return [
        (
            "versions that are not numbered one by one",
            numbers.having(or_(func.min(versions.c.number) != 1, func.max(versions.c.number) != func.count())),
        ),
        (
            "a version without its file",
            select(versions.c.id).where(versions.c.state != "purged", func.length(versions.c.sha256) != 64),
        ),
        (
            "another reading of no version",
            select(versions.c.id).where(
                or_(versions.c.number < 1, versions.c.reading_of.is_not(None)),
                ~exists().where(
                    base.c.doc_id == versions.c.doc_id,
                    base.c.number == versions.c.reading_of,
                    versions.c.number < 0,
                ),
            ),
        ),
        ("a version from later than all publications", select(versions.c.id).where(versions.c.claimed_seq > last)),
        (
            "a version that stands on another document's",
            select(versions.c.id)
            .select_from(based)
            .where(versions.c.base_id.is_not(None), or_(base.c.id.is_(None), base.c.doc_id != versions.c.doc_id)),
        ),
        (
            "a publication of another document's version",
            select(publications.c.seq).select_from(shown).where(publications.c.doc_id != versions.c.doc_id),
        ),
        (
            "a purged version that is shown",
            select(versions.c.id).where(versions.c.state == "purged", versions.c.id.in_(shown_now)),
        ),
        (
            "a version with another document's text",
            select(versions.c.id).select_from(placed).where(chunks.c.doc_id != versions.c.doc_id),
        ),
        (
            "a job on another document's version",
            select(jobs.c.id).select_from(worked).where(jobs.c.doc_id != versions.c.doc_id),
        ),
    ]


def dimension(tx: Connection) -> int:
    """Return how long the vectors of the indexes are. Raises: ``BadBundle`` where nothing sensible is said of it."""
    told = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == "dimension")) or "0"
    if not told.isascii() or not told.isdigit() or len(told) > 5:
        raise BadBundle("The archive does not say how long its vectors are.")
    return int(told)


def _check_generation(tx: Connection) -> None:
    """One generation serves, or none where nothing was opened since there are any; the settings say the same of it."""
    told = {row.key: row.value for row in tx.execute(select(index_settings))}
    if not all(_NUMBER.fullmatch(told.get(key, "1")) for key in ("generation", "last_generation")):
        raise BadBundle("The archive's generations are not numbered.")
    found = tx.execute(select(generations)).all()
    if not found and told.keys().isdisjoint(("generation", "last_generation")):
        return
    said = told.get("generation", "1"), told.get("embedder"), told.get("dimension")
    if [(str(row.number), row.model, str(row.dimension), row.state) for row in found] != [(*said, "serving")]:
        raise BadBundle("The archive's rows contradict each other about the generation that serves.")
    if not dimension(tx):
        raise BadBundle("The archive does not say how long its vectors are.")


def _check_embeddings(tx: Connection) -> None:
    """Vectors are half-precision numbers, as many in each as the model has."""
    sizes: dict[str, int] = {}
    query = select(embeddings.c.model, embeddings.c.vector).execution_options(yield_per=_FEW)
    for rows in tx.execute(query).partitions():
        for model, vector in rows:
            size = sizes.setdefault(model, len(vector))
            if not size or size % 2 or len(vector) != size:
                raise BadBundle("The archive holds vectors of another length than their model's.")
        if not np.isfinite(np.frombuffer(b"".join(row.vector for row in rows), np.float16)).all():
            raise BadBundle("The archive holds vectors that are no numbers.")
    builder = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == "embedder"))
    if builder in sizes and sizes[builder] != 2 * dimension(tx):
        raise BadBundle("The archive holds vectors of another length than it says.")
