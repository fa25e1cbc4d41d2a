"""Uploads in parts, as the catalogue holds them: what is durable of each, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, func, insert, or_, select, update

from core.catalog.asking_schema import recordings
from core.catalog.documents.leftovers import FileKind, drop, note
from core.catalog.engine import Database
from core.catalog.schema import IS_CURRENT, documents, leftovers, transfers, users, versions
from core.model import Filing, Receipt, Transfer, TransferState, Upload
from core.model.codec import from_dict, to_dict

_OPEN = (TransferState.RECEIVING, TransferState.CHECKING)
_SIZE = func.coalesce(transfers.c.size_bytes, transfers.c.offset_bytes)


@dataclass(frozen=True, slots=True)
class TransferPiece:
    """A partial upload that became a part of another one."""

    id: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What reading the whole file has shown; kept so that it need not be read again."""

    sha256: str
    sha1: str
    size_bytes: int
    kind: str
    """The extension of a document, without its dot; how an archive is packed."""
    is_archive: bool = False


@dataclass(frozen=True, slots=True)
class TransferRow:
    """One upload with what only its own machinery needs to know."""

    shown: Transfer
    owner_id: int | None
    metadata: str
    pieces: tuple[TransferPiece, ...]
    """What it is put together from; empty for one that arrives by itself."""
    findings: Findings | None

    @property
    def id(self) -> str:
        return self.shown.id

    @property
    def is_whole(self) -> bool:
        return self.shown.offset_bytes == self.shown.size_bytes


class TransferLedger:
    """Every change says from what state it starts, so that of two that come at once only one counts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- reading

    def get(self, transfer_id: str) -> TransferRow | None:
        with self._database.read() as tx:
            row = tx.execute(_rows().where(transfers.c.id == transfer_id)).one_or_none()
        return None if row is None else _transfer(row)

    @contextmanager
    def alone(self, transfer_id: str) -> Iterator[bool]:
        """Keep others, in whatever process, from filing an upload; give whether nobody does."""
        with self._database.if_free(f"transfer {transfer_id}") as is_ours:
            yield is_ours

    def of(self, owner_id: int | None, *, active: bool) -> list[TransferRow]:
        """Return the uploads of one user (None: of nobody), newest first."""
        query = _rows().where(_owned(owner_id)).order_by(transfers.c.created_at.desc(), transfers.c.id)
        if active:
            query = query.where(transfers.c.state.in_(_OPEN))
        with self._database.read() as tx:
            return [_transfer(row) for row in tx.execute(query)]

    def checking(self) -> list[TransferRow]:
        """Return the uploads that have arrived and are not filed yet, oldest first."""
        query = _rows().where(transfers.c.state == TransferState.CHECKING).order_by(transfers.c.created_at)
        with self._database.read() as tx:
            return [_transfer(row) for row in tx.execute(query)]

    def files(self) -> set[str]:
        """Return the names of the files that uploads still need."""
        with self._database.read() as tx:
            rows = tx.execute(select(transfers.c.id, transfers.c.parts).where(transfers.c.state.in_(_OPEN))).all()
        return {row.id for row in rows} | {piece["id"] for row in rows for piece in row.parts or ()}

    def removed(self, names: Collection[str]) -> None:
        """Forget the files of uploads that ended, now that they are gone."""
        with self._database.write() as tx:
            drop(tx, FileKind.TRANSFER, names)

    def left_over(self) -> set[str]:
        """Return the names of the files of uploads that have ended."""
        with self._database.read() as tx:
            noted = select(leftovers.c.name).where(leftovers.c.kind == FileKind.TRANSFER)
            ended = select(transfers.c.id).where(transfers.c.state.not_in(_OPEN))
            return set(tx.scalars(noted)) | set(tx.scalars(ended))

    def unfinished(self, owner_id: int | None) -> int:
        """Return how many uploads of one user are under way."""
        query = select(func.count()).where(_owned(owner_id), transfers.c.state == TransferState.RECEIVING)
        with self._database.read() as tx:
            return tx.scalar(query) or 0

    def used_bytes(self, owner_id: int | None, name: str, *, except_ids: Sequence[str] = ()) -> int:
        """Return the size of all that one user keeps: originals that are not purged, recordings, and uploads under way.

        Nobody (None) keeps everything while there are no users, and nothing where there are.
        """
        kept = select(func.coalesce(func.sum(versions.c.size_bytes), 0)).where(versions.c.state != "purged", IS_CURRENT)
        recorded = select(func.coalesce(func.sum(recordings.c.size_bytes), 0))
        coming = select(func.coalesce(func.sum(_SIZE), 0)).where(transfers.c.state.in_(_OPEN))
        if except_ids:
            coming = coming.where(transfers.c.id.not_in(except_ids))
        with self._database.read() as tx:
            if owner_id is not None:
                kept = kept.join(documents, documents.c.id == versions.c.doc_id)
                kept = kept.where(or_(documents.c.owner_id == owner_id, versions.c.actor == name))
                recorded = recorded.where(recordings.c.owner_id == owner_id)
                coming = coming.where(transfers.c.owner_id == owner_id)
            elif tx.scalar(select(users.c.id).limit(1)) is not None:
                return 0
            return sum(int(tx.scalar(each) or 0) for each in (kept, recorded, coming))

    # ---- changing

    def add(self, row: TransferRow) -> bool:
        """Write a new upload down; what it is put together from is no upload of its own any more.

        False where one of the pieces is there no more; then nothing is written.
        """
        shown = row.shown
        pieces = transfers.c.id.in_([piece.id for piece in row.pieces]), transfers.c.is_partial
        with self._database.write() as tx:
            if row.pieces:
                if tx.scalar(select(func.count()).where(*pieces)) != len(row.pieces):
                    return False
                tx.execute(delete(transfers).where(*pieces))
            tx.execute(
                insert(transfers).values(
                    id=shown.id,
                    owner_id=row.owner_id,
                    name=shown.name,
                    size_bytes=shown.size_bytes,
                    offset_bytes=shown.offset_bytes,
                    state=shown.state,
                    is_partial=shown.is_partial,
                    parts=[to_dict(piece) for piece in row.pieces] or None,
                    metadata=row.metadata,
                    sha256=shown.sha256,
                    filing=to_dict(shown.filing),
                    created_at=shown.created_at,
                    expires_at=shown.expires_at,
                )
            )
        return True

    def advance(self, transfer_id: str, start: int, end: int, expires_at: datetime, state: TransferState) -> bool:
        """Say that the bytes up to ``end`` are durable; False where ``start`` was not the offset."""
        values = {"offset_bytes": end, "expires_at": expires_at, "state": state}
        return self._change(transfer_id, TransferState.RECEIVING, values, transfers.c.offset_bytes == start)

    def set_size(self, transfer_id: str, size_bytes: int, state: TransferState) -> bool:
        values = {"size_bytes": size_bytes, "state": state}
        return self._change(transfer_id, TransferState.RECEIVING, values, transfers.c.size_bytes.is_(None))

    def announce(self, transfer_id: str, sha256: str) -> bool:
        """Note what the SHA-256 of the whole file is to be."""
        return self._change(transfer_id, TransferState.RECEIVING, {"sha256": sha256})

    def joined(self, transfer_id: str, start: int, end: int) -> bool:
        """Say how much of an upload that is put together has been."""
        return self._change(
            transfer_id, TransferState.CHECKING, {"offset_bytes": end}, transfers.c.offset_bytes == start
        )

    def found(self, transfer_id: str, findings: Findings) -> bool:
        """Keep what reading the whole file has shown."""
        return self._change(transfer_id, TransferState.CHECKING, {"receipt": to_dict(findings), "error": None})

    def note(self, transfer_id: str, error: Mapping[str, Any]) -> bool:
        """Say why an upload that has arrived could not be filed yet."""
        return self._change(transfer_id, TransferState.CHECKING, {"error": dict(error)})

    def refuse(self, transfer_id: str, error: Mapping[str, Any], expires_at: datetime) -> bool:
        """Say why an upload is not filed; its files, and those of its pieces, are noted as left over."""
        values = {"state": TransferState.REFUSED, "error": dict(error), "receipt": None, "parts": None}
        waiting = (transfers.c.id == transfer_id, transfers.c.state == TransferState.CHECKING)
        with self._database.write() as tx:
            parts = tx.scalar(select(transfers.c.parts).where(*waiting))
            if not tx.execute(update(transfers).where(*waiting).values(**values, expires_at=expires_at)).rowcount:
                return False
            note(tx, FileKind.TRANSFER, [transfer_id, *(str(piece["id"]) for piece in parts or ())])
        return True

    def remove(self, transfer_id: str) -> bool:
        """Forget an upload, and note its file as left over; False where it is being filed, or is gone."""
        idle = transfers.c.state != TransferState.CHECKING
        with self._database.write() as tx:
            if not tx.execute(delete(transfers).where(transfers.c.id == transfer_id, idle)).rowcount:
                return False
            note(tx, FileKind.TRANSFER, [transfer_id])
        return True

    def remove_expired(self, now: datetime) -> list[str]:
        """Forget the uploads that nobody continues, and what became of former ones; return their ids."""
        over = and_(transfers.c.state != TransferState.CHECKING, transfers.c.expires_at <= now)
        with self._database.read() as tx:
            if tx.scalar(select(transfers.c.id).where(over).limit(1)) is None:
                return []
        with self._database.write() as tx:
            ids = list(tx.scalars(select(transfers.c.id).where(over)))
            note(tx, FileKind.TRANSFER, ids)
            tx.execute(delete(transfers).where(over))
        return ids

    def _change(self, transfer_id: str, state: TransferState, values: Mapping[str, Any], *conditions: Any) -> bool:
        where = (transfers.c.id == transfer_id, transfers.c.state == state, *conditions)
        with self._database.write() as tx:
            return bool(tx.execute(update(transfers).where(*where).values(**values)).rowcount)


def file_away(tx: Connection, transfer_id: str, receipt: Upload, expires_at: datetime) -> bool:
    """Say within a claim what an upload became; False where it has become something already."""
    waiting = (transfers.c.id == transfer_id, transfers.c.state == TransferState.CHECKING)
    values = {
        "state": TransferState.DONE,
        "receipt": to_dict(Receipt.of(receipt)),
        "error": None,
        "expires_at": expires_at,
    }
    return bool(tx.execute(update(transfers).where(*waiting).values(**values)).rowcount)


def _owned(owner_id: int | None) -> Any:
    return transfers.c.owner_id.is_(None) if owner_id is None else transfers.c.owner_id == owner_id


def _rows() -> Select[Any]:
    return select(transfers, users.c.name.label("owner")).outerjoin(users, users.c.id == transfers.c.owner_id)


def _transfer(row: Row[Any]) -> TransferRow:
    is_done = row.state == TransferState.DONE
    shown = Transfer(
        id=row.id,
        name=row.name,
        size_bytes=row.size_bytes,
        offset_bytes=row.offset_bytes,
        state=TransferState(row.state),
        created_at=row.created_at,
        expires_at=row.expires_at,
        is_partial=row.is_partial,
        owner=row.owner or "",
        sha256=row.sha256,
        checked_bytes=row.size_bytes if row.receipt else 0,
        receipt=from_dict(Receipt, row.receipt) if is_done and row.receipt else None,
        error=row.error,
        filing=from_dict(Filing, row.filing),
    )
    return TransferRow(
        shown,
        row.owner_id,
        row.metadata,
        tuple(TransferPiece(**piece) for piece in row.parts or ()),
        Findings(**row.receipt) if row.receipt and not is_done else None,
    )
