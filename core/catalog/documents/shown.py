"""What the documents show at a sequence number, in memory: which chunks, in which version, as arrays of numbers.

It decides for questions of the present which chunks they may see, without asking the database for each of them. It is
read of the publications and the chunks of what they show, and brought from one sequence number to a later one by what
was published in between: a version that is shown neither gains nor loses chunks without a publication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, select

from core.catalog.schema import publications, version_chunks, versions

Numbers = npt.NDArray[np.int64]

_MOST_PUBLICATIONS = 500

_NEXT = (
    select(publications.c.seq, publications.c.doc_id, publications.c.version_id, versions.c.chunk_count)
    .outerjoin(versions, versions.c.id == publications.c.version_id)
    .where(publications.c.seq > bindparam("after"), publications.c.seq <= bindparam("sequence"))
    .order_by(publications.c.seq)
    .limit(_MOST_PUBLICATIONS)
)
_MEMBERS = (
    select(version_chunks.c.chunk_id, version_chunks.c.version_id)
    .where(version_chunks.c.version_id.in_(bindparam("version_ids", expanding=True)))
    .distinct()
)


def _none() -> Numbers:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ShownChunks:
    """The chunks that are shown at ``sequence``, ordered by their ids, each with its version and its document."""

    sequence: int = 0
    ids: Numbers = field(default_factory=_none)
    version_ids: Numbers = field(default_factory=_none)
    doc_ids: Numbers = field(default_factory=_none)

    def versions_of(self, chunk_ids: Sequence[int]) -> list[int]:
        """Return the id of the version that shows each of the chunks; 0 where none does."""
        if not len(self.ids):
            return [0] * len(chunk_ids)
        asked = np.array(chunk_ids, dtype=np.int64)
        at = np.minimum(self.ids.searchsorted(asked), len(self.ids) - 1)
        found: list[int] = np.where(self.ids[at] == asked, self.version_ids[at], 0).tolist()
        return found

    def later(self, tx: Connection, sequence: int, most_rows: int) -> ShownChunks:
        """Return what is shown at a later number, or on the way to it once ``most_rows`` chunks were read."""
        shows: dict[int, int | None] = {}
        last, rows = self.sequence, 0
        found = tx.execute(_NEXT, {"after": self.sequence, "sequence": sequence}).all()
        for seq, doc_id, version_id, chunk_count in found:
            if rows and rows + (chunk_count or 0) > most_rows:
                break
            shows[doc_id], last, rows = version_id, seq, rows + (chunk_count or 0)
        else:
            last = sequence if len(found) < _MOST_PUBLICATIONS else last
        document_of = {version_id: doc_id for doc_id, version_id in shows.items() if version_id is not None}
        members = tx.execute(_MEMBERS, {"version_ids": list(document_of)}).all() if document_of else []
        new = np.array([(*row, document_of[row[1]]) for row in members], dtype=np.int64).reshape(-1, 3)
        new = new[new[:, 0].argsort()]
        kept = ~np.isin(self.doc_ids, list(shows))
        ids, version_ids, doc_ids = self.ids[kept], self.version_ids[kept], self.doc_ids[kept]
        at = ids.searchsorted(new[:, 0])
        return ShownChunks(
            last,
            np.insert(ids, at, new[:, 0]),
            np.insert(version_ids, at, new[:, 1]),
            np.insert(doc_ids, at, new[:, 2]),
        )
