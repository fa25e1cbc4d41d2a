"""The journal: a file beside a catalogue that is a file, which names each version and publication once it is committed.

A line is on the disk before anything is acknowledged, and after its commit: so a catalogue that lacks what the journal
names has lost it. Lines go back to the older of the kept snapshots, which each new snapshot drops; a purge drops all.
What a commit writes is read from the catalogue itself, so that whatever an earlier release has added is caught up with.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection, func, inspect, select

from core.catalog.beside import is_alone
from core.catalog.schema import api_keys, document_tags, documents, publications, versions
from core.errors import EvoRAGError
from core.platform.durable import sync

log = logging.getLogger(__name__)

Entry = dict[str, Any]
Read = Callable[[], AbstractContextManager[Connection]]

_NOTED = "evorag_journal"
_NEW = ".new"
_TAIL = 1 << 16
_FEW = 500
_FAR = 10_000
"""Rows that are caught up with where there is no snapshot that would need them."""
_OF_VERSION = (
    "number",
    "file_name",
    "extension",
    "is_text_entry",
    "sha256",
    "sha1",
    "size_bytes",
    "claimed_seq",
    "created_at",
    "note",
    "label",
    "actor",
    "title",
    "is_draft",
    "publish_at",
    "publish_actor",
    "publish_early",
    "reading_of",
)


@dataclass(frozen=True, slots=True)
class Point:
    """How far a catalogue has come: its newest version and publication."""

    version: int = 0
    sequence: int = 0

    def is_beyond(self, other: Point) -> bool:
        """Tell whether it has a version or a publication that the other has not."""
        return self.version > other.version or self.sequence > other.sequence


def acknowledge(tx: Connection, *entries: Entry) -> None:
    """Have the journal follow a write transaction once it is committed; ``entries`` are no rows that it finds."""
    assert is_alone(tx)
    tx.info.setdefault(_NOTED, []).extend(entries)


def acknowledged(tx: Connection) -> list[Entry] | None:
    """Take what a transaction wants in the journal besides its rows, None where it is not followed."""
    found: list[Entry] | None = tx.info.pop(_NOTED, None)
    return found


def point_of(tx: Connection) -> Point:
    """Return how far a catalogue of any release has come."""
    if not inspect(tx).has_table(versions.name):
        return Point()
    newest = select(func.max(versions.c.id)), select(func.max(publications.c.seq))
    return Point(*(tx.scalar(each) or 0 for each in newest))


class Journal:
    """The journal of one data folder; it is written from ``begin`` or ``go_on`` on, by one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._point = Point()
        self._owed: list[Entry] = []
        self.is_behind = False
        """Whether the disk took no line of the last commit; the next one that it takes catches up."""

    # ---- reading

    def point(self) -> Point | None:
        """Return how far the journal has come, None where there is none or nothing of it can be read."""
        return self._end()[0]

    def entries(self) -> tuple[list[Entry], int]:
        """Return all lines that can be read, oldest first, and how many cannot."""
        found: list[Entry] = []
        damaged = 0
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            for line in file:
                entry = _read(line)
                if entry is None:
                    damaged += 1
                else:
                    found.append(entry)
        return found, damaged

    def _end(self) -> tuple[Point | None, int]:
        """Return how far the last line that can be read has come, and the size of the file to the end of it."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                start = max(0, size - _TAIL)
                while True:
                    file.seek(start)
                    lines = file.read(size - start).splitlines(keepends=True)
                    end = size
                    # The first one of a tail is half a line, which no checksum fits.
                    for line in reversed(lines):
                        entry = _read(line)
                        if entry is not None:
                            return Point(*entry["point"]), end
                        end -= len(line)
                    if not start:
                        return None, 0
                    start = max(0, start - 16 * _TAIL)
        except FileNotFoundError:
            return None, 0

    def _is_whole(self, size: int) -> bool:
        """Read the checksums of all lines up to ``size``; there are those of two snapshots at most."""
        with self._path.open("rb") as file:
            first = _read(file.readline())
            is_whole = first is not None and first["kind"] == "begin"
            while is_whole and file.tell() < size:
                is_whole = _is_line(file.readline())
        return is_whole

    # ---- writing

    def go_on(self, read: Read, base: Point | None, since: datetime | None) -> None:
        """Write from now on, and catch up with what the catalogue has and the journal has not.

        It begins anew where it is missing or damaged, with what came after ``base``, the older of the snapshots.
        """
        point, size = self._end()
        with read() as tx:
            now = point_of(tx)
            is_usable = point is not None and self._is_whole(size) and not _has_purged(tx, point)
        is_far = point is not None and base is None and now.version - point.version > _FAR
        if point is None or is_far or not is_usable:
            self.begin(read, base or now, since)
            return
        with self._lock:
            try:
                self._file = self._path.open("r+b")
                self._file.truncate(size)
                self._file.seek(size)
            except OSError as error:
                self._say(error)
                return
            self._point = point
        self.follow(read)

    def begin(self, read: Read, base: Point, since: datetime | None = None) -> bool:
        """Put a new journal in the place of what there is: all that came after ``base``, which was at ``since``.

        Tell whether the disk took it; where it did not, the former one goes on.
        """
        with self._lock:
            self._close()
            try:
                with read() as tx:
                    head: Entry = {"kind": "begin", "at": datetime.now(UTC).isoformat()}
                    lines = [_line(head, base), *self._since(tx, base), *self._revoked(tx, since)]
                    last = _read(lines[-1])
                self._replace(b"".join(lines))
                self._file = self._path.open("r+b")
                self._file.seek(0, os.SEEK_END)
                self._point = Point(*last["point"]) if last is not None else base
                self._owed, self.is_behind = [], False
            except (OSError, EvoRAGError) as error:
                self._say(error)
                with suppress(OSError):
                    self._file = self._path.open("r+b")
                    self._file.seek(0, os.SEEK_END)
                return False
            return True

    def _replace(self, data: bytes) -> None:
        draft = self._path.with_suffix(_NEW)
        try:
            with draft.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self._path)
        except OSError:
            # What it shall forget goes, even where a full disk takes no second file.
            draft.unlink(missing_ok=True)
            with self._path.open("r+b") as file:
                file.truncate(0)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        sync(self._path.parent)

    def follow(self, read: Read, entries: Collection[Entry] = ()) -> None:
        """Bring what was committed to the disk: rows that are not in the journal yet, and ``entries``.

        Whoever waits for another's lines finds its own among them. A disk that takes none stops nobody: what is
        committed is in the catalogue, and the log says it.
        """
        with self._lock:
            if self._file is None:
                return
            self._owed += entries
            file, size = self._file, self._file.tell()
            try:
                with read() as tx:
                    lines = self._since(tx, self._point)
                point = Point(*_entry_of(lines[-1])["point"]) if lines else self._point
                lines += [_line(entry, point) for entry in self._owed]
                if lines:
                    file.write(b"".join(lines))
                    file.flush()
                    os.fsync(file.fileno())
                self._point, self._owed, self.is_behind = point, [], False
            except (OSError, EvoRAGError) as error:
                self._say(error)
                with suppress(OSError):
                    # Bytes that could not be written are not tried again when it is closed.
                    self._close()
                    os.truncate(self._path, size)
                with suppress(OSError):
                    self._file = self._path.open("r+b")
                    self._file.seek(size)

    def remove(self) -> None:
        """Leave no journal: another catalogue takes the place of the folder's own."""
        with self._lock:
            self._close()
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def _say(self, error: Exception) -> None:
        if not self.is_behind:
            log.warning("the journal of the catalogue cannot be written (%s)", type(error).__name__)
        self.is_behind = True

    def _since(self, tx: Connection, base: Point) -> list[bytes]:
        """Return the lines of all versions and publications that came after a point."""
        point, lines = base, []
        for entry in _versions(tx, base.version):
            point = Point(entry["id"], point.sequence)
            lines.append(_line(entry, point))
        for entry in _publications(tx, base.sequence):
            point = Point(point.version, entry["id"])
            lines.append(_line(entry, point))
        return lines

    def _revoked(self, tx: Connection, since: datetime | None) -> list[bytes]:
        if since is None:
            return []
        found = tx.scalars(select(api_keys.c.id).where(api_keys.c.revoked_at >= since))
        point = point_of(tx)
        return [_line(revocation(key_id), point) for key_id in found]


def revocation(key_id: str) -> Entry:
    """Return the line of a key that was revoked."""
    return {"kind": "key", "id": key_id}


def change_of(user_id: int) -> Entry:
    """Return the line of a user whose password, role or state was changed, or who was removed."""
    return {"kind": "user", "id": user_id}


def _has_purged(tx: Connection, since: Point) -> bool:
    """Tell whether an earlier release, which knows no journal, has purged what may stand there."""
    purged = publications.c.seq > since.sequence, publications.c.action == "purge"
    return tx.scalar(select(publications.c.seq).where(*purged).limit(1)) is not None


def _versions(tx: Connection, after: int) -> Iterator[Entry]:
    columns = [versions.c[name] for name in _OF_VERSION]
    query = (
        select(versions.c.id, versions.c.doc_id, documents.c.doc_key, documents.c.owner_id, *columns)
        .join(documents, documents.c.id == versions.c.doc_id)
        .where(versions.c.id > after, versions.c.state != "purged")
        .order_by(versions.c.id)
    )
    rows = tx.execute(query).all()
    tags: dict[int, list[str]] = {}
    for at in range(0, len(rows), _FEW):
        of = document_tags.c.doc_id.in_({row.doc_id for row in rows[at : at + _FEW]})
        for doc_id, tag in tx.execute(select(document_tags.c.doc_id, document_tags.c.tag).where(of)).all():
            if tag not in tags.setdefault(doc_id, []):
                tags[doc_id].append(tag)
    for row in rows:
        values = {name: _plain(getattr(row, name)) for name in _OF_VERSION}
        of_document = {"doc_id": row.doc_id, "doc_key": row.doc_key, "owner_id": row.owner_id}
        yield {"kind": "version", "id": row.id, **of_document, **values, "tags": tags.get(row.doc_id, [])}


def _publications(tx: Connection, after: int) -> Iterator[Entry]:
    names = ("doc_id", "version_id", "action", "at", "actor", "note", "subject")
    query = select(publications).where(publications.c.seq > after).order_by(publications.c.seq)
    for row in tx.execute(query):
        yield {"kind": "publication", "id": row.seq, **{name: _plain(getattr(row, name)) for name in names}}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _line(entry: Entry, point: Point) -> bytes:
    text = json.dumps({**entry, "point": [point.version, point.sequence]}, separators=(",", ":"))
    data = text.encode("ascii")
    return b"%08x %b\n" % (zlib.crc32(data), data)


def _entry_of(line: bytes) -> Entry:
    return dict(json.loads(line[9:]))


def _read(line: bytes) -> Entry | None:
    """Return what a line says, None where it is not as it was written."""
    return _entry_of(line) if _is_line(line) else None


def _is_line(line: bytes) -> bool:
    return line.endswith(b"\n") and line[:9] == b"%08x " % zlib.crc32(line[9:-1])
