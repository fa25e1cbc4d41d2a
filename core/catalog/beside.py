"""Parts of the catalogue: what a transaction names that may write beside others, where the catalogue is on a server.

There are two kinds of write. ``Database.write`` is alone: nothing else writes from its first statement to its commit.
``Database.beside`` names its parts and is beside others that name none of them; those that share one wait for each
other. Each first takes the one lock of all writes, for itself or with the others, and then its parts in one order:
nobody who holds a part waits for that lock, so none wait in a circle. On SQLite both are alone.

What is alone: whatever gives out numbers that somebody reads on from or orders by (publications, versions, documents),
places rows in the stores, decides what is shown or purged, or changes the state of a job. So nothing of that changes
while others are at work, and what they have checked holds until they commit. Beside others are:

- ``document``: the chunks and embeddings of a document, what its parser said, how far it is. All that is written of a
  document in this way, its row in the list included, names it. Entries of the outbox for one chunk are thereby in the
  order of their commits. Entries for several may be committed in another one: whoever drains the outbox reads what is
  there, forgets what it has read, and keeps no number below which it has seen everything.
- ``CHANGES``: how far jobs are, and their logs. Readers ask for what is beyond a number of a change or of a line; these
  are given out with this part held until the commit, so none that is smaller comes later.
- ``store``: what a store has done is taken from the outbox, and handed on to other generations in that order.
- ``leftover``: a file that is about to be written.

An embedding belongs to a content, which any document may get meanwhile. Those that have it once the transaction has
begun are named (``holders``). One that gets it later has no rows asked for yet: that is alone, and so it comes after
the embedding, and finds it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, select

from core.catalog.schema import chunks, versions

CHANGES = "changes"
_HELD = "evorag_parts"
MOST_PARTS = 100
"""Parts of one transaction; one with more is alone, since the server has room for some thousand locks in all."""


def hold(tx: Connection, parts: Collection[str]) -> None:
    """Note that a transaction is beside others, and holds these parts until it ends."""
    tx.info[_HELD] = frozenset(parts)


def be_alone(tx: Connection) -> None:
    """Note that a transaction begins, and is alone so far."""
    tx.info.pop(_HELD, None)


def holds(tx: Connection, part: str) -> bool:
    """Tell whether nobody else writes to a part: it is held, or the transaction is alone."""
    held = tx.info.get(_HELD)
    return held is None or part in held


def is_alone(tx: Connection) -> bool:
    return _HELD not in tx.info


def document(doc_id: int) -> str:
    return f"document:{doc_id}"


def documents(doc_ids: Iterable[int]) -> set[str]:
    return {document(doc_id) for doc_id in doc_ids}


def documents_of(tx: Connection, version_ids: Collection[int]) -> set[str]:
    """Name the documents of versions."""
    return documents(tx.scalars(select(versions.c.doc_id).where(versions.c.id.in_(version_ids))))


def holders(tx: Connection, hashes: Collection[bytes]) -> set[str]:
    """Name the documents that have any of these contents at this moment, or more than one transaction may have."""
    held = select(chunks.c.doc_id).where(chunks.c.content_hash.in_(hashes)).distinct()
    return documents(tx.scalars(held.limit(MOST_PARTS + 1)))


def store(name: str) -> str:
    return f"store:{name}"


def leftover(kind: str, name: str) -> str:
    return f"leftover:{kind}:{name}"
