"""What documents showed before publications of theirs, of a whole page of the audit at once."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, func, select

from core.catalog.documents.isolation import sees
from core.catalog.schema import NUMBER, documents, publications, versions

_last, _earlier = publications.alias("last"), publications.alias("earlier")
_LAST = (
    select(func.max(_last.c.seq))
    .where(_last.c.doc_id == publications.c.doc_id, _last.c.seq < publications.c.seq)
    .correlate(publications)
    .scalar_subquery()
)
_REPLACED = (
    select(publications.c.seq, NUMBER, documents.c.owner_id)
    .select_from(publications)
    .join(documents, documents.c.id == publications.c.doc_id)
    .outerjoin(_earlier, _earlier.c.seq == _LAST)
    .outerjoin(versions, versions.c.id == _earlier.c.version_id)
    .where(publications.c.seq.in_(bindparam("numbers", expanding=True)))
)


def replaced(tx: Connection, numbers: Sequence[int]) -> dict[int, int | None]:
    """Return the number of the version that was shown until each publication that whoever acts sees; None: nothing."""
    rows = tx.execute(_REPLACED, {"numbers": list(numbers)})
    return {row.seq: row.number for row in rows if sees(row.owner_id)}
