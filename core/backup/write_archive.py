"""Everything as it was at one moment, as the pieces of an archive; the knowledge base goes on meanwhile.

One read snapshot gives all rows, which are packed into a file of the data folder at once, so that a slow reader keeps
no transaction open. Files never change once they are there: each gets a second name (a hard link) before the snapshot
counts, so that what is purged meanwhile is still in the archive of the moment before.
"""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection, Table, func, select

from core.backup import FORMAT, HEAD, MANIFEST, PIECE_BYTES
from core.backup.checks import named_blobs
from core.backup.rows import RowWriter, is_local, travelling
from core.backup.sequences import last_numbers
from core.backup.source import BackupSource, Show, silent
from core.backup.tar import END, header, padding
from core.blobs.quota import disk_errors
from core.catalog.asking_schema import recordings
from core.catalog.schema import index_settings, transfers
from core.errors import Conflict, NotFound
from core.model.backup import BackupReport
from core.platform.failpoints import failpoint

_PART_ROWS = 2_000
_PART_BYTES = 8 * 1024 * 1024
_PACKING = 1
_ATTEMPTS = 5
_LONGEST_NAME = 100

Hashed = tuple[str, int, str]
"""Name, size and SHA-256 of a member."""


@dataclass(slots=True)
class _Moment:
    """A moment's rows as members in a file, and the files that belong to them."""

    head: bytes
    rows: Path
    members: list[Hashed]
    files: list[tuple[str, Path]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


class _Gone(Exception):
    """A file was removed between the snapshot and its second name."""


def archive(
    place: BackupSource,
    *,
    show: Show = silent,
    told: Callable[[BackupReport], None] = lambda moved: None,
    with_keys: bool = False,
) -> Iterator[bytes]:
    """Yield the archive piece by piece; ``told`` is called with what went into it once all was.

    The keys of servers that write answers are left out unless ``with_keys``.
    Raises: ``DiskFull``; ``Conflict`` where files keep vanishing while they are gathered.
    """
    with _staging(place) as staging:
        moment = _taken(place, staging, show, with_keys=with_keys)
        members, sizes = list(moment.members), [path.stat().st_size for _, path in moment.files]
        all_bytes, done = moment.rows.stat().st_size + sum(sizes), 0
        head = _member(HEAD, moment.head)
        members.insert(0, (HEAD, len(moment.head), sha256(moment.head).hexdigest()))
        yield head
        for piece in _pieces(moment.rows):
            done += len(piece)
            show(done, all_bytes, "rows")
            yield piece
        for (name, path), size in zip(moment.files, sizes, strict=True):
            yield header(name, size)
            summed = sha256()
            for piece in _padded(path, size):
                summed.update(piece)
                done += len(piece)
                show(done, all_bytes, name.partition("/")[0])
                yield piece
            yield padding(size)
            members.append((name, size, summed.hexdigest()))
            if name.startswith("blobs/") and not name.endswith(summed.hexdigest()):
                moment.absent.append(name.partition("/")[2])
        manifest = json.dumps({"members": members, "absent": sorted(moment.absent)}, separators=(",", ":")).encode()
        yield _member(MANIFEST, manifest)
        yield END
    head_told = json.loads(moment.head)
    told(BackupReport(head_told["rows"], len(moment.files), done, len(moment.absent), head_told["unfinished_uploads"]))


def one_at_a_time(place: BackupSource, *, with_keys: bool = False) -> Iterator[bytes]:
    """Yield the archive unless another one is being made. Raises: ``Conflict``; what ``archive`` raises."""
    with place.catalog.database.if_free("backup") as is_free:
        if not is_free:
            raise Conflict("A backup is being made already.", remedy="Wait until it is done.")
        yield from archive(place, with_keys=with_keys)


@contextmanager
def _staging(place: BackupSource) -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="moving-", dir=place.folder.incoming))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _taken(place: BackupSource, staging: Path, show: Show, *, with_keys: bool) -> _Moment:
    for attempt in range(_ATTEMPTS):
        folder = staging / str(attempt)
        folder.mkdir()
        try:
            with disk_errors(), place.catalog.database.read() as tx:
                moment = _rows(tx, folder, show, with_keys=with_keys)
                failpoint("bundle.rows")
                _gather(tx, place, folder, moment)
            return moment
        except _Gone:
            shutil.rmtree(folder, ignore_errors=True)
    raise Conflict(
        "Files went away again and again while they were gathered.", remedy="Try again when purges are done."
    )


def _rows(tx: Connection, folder: Path, show: Show, *, with_keys: bool) -> _Moment:
    """Write the rows of every table as members into a file."""
    tables = travelling()
    counts = {table.name: int(tx.scalar(select(func.count()).select_from(table)) or 0) for table in tables}
    head = json.dumps(
        {
            "format": FORMAT,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "embedder": tx.scalar(select(index_settings.c.value).where(index_settings.c.key == "embedder")) or "",
            "last": last_numbers(tx),
            "rows": counts,
            "unfinished_uploads": _unfinished(tx),
        }
    ).encode()
    moment = _Moment(head, folder / "rows", [])
    total, done = sum(counts.values()), 0
    with moment.rows.open("wb") as file:
        for table in tables:
            for number, (lines, count) in enumerate(_parts(tx, RowWriter(table, with_keys=with_keys), table), 1):
                name = f"tables/{table.name}/{number:06}"
                packed = gzip.compress(lines, _PACKING, mtime=0)
                file.write(_member(name, packed))
                moment.members.append((name, len(packed), sha256(packed).hexdigest()))
                done += count
                show(done, total, table.name)
    return moment


def _parts(tx: Connection, writer: RowWriter, table: Table) -> Iterator[tuple[bytes, int]]:
    """Yield the rows as JSON lines, some at a time, and how many they are."""
    lines: list[bytes] = []
    size = 0
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_PART_ROWS)
    for row in tx.execute(query).mappings():
        if is_local(table, row):
            continue
        lines.append(writer.line(row))
        size += len(lines[-1])
        if len(lines) == _PART_ROWS or size > _PART_BYTES:
            yield b"".join(lines), len(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines), len(lines)


def _unfinished(tx: Connection) -> int:
    query = select(func.count()).where(transfers.c.state.in_(("receiving", "checking")))
    return int(tx.scalar(query) or 0)


def _gather(tx: Connection, place: BackupSource, folder: Path, moment: _Moment) -> None:
    """Give every file of the moment a second name. Raises: ``_Gone`` where one went away meanwhile."""
    blobs = named_blobs(tx)
    (folder / "files").mkdir()

    def add(name: str, path: Path) -> None:
        if len(name) <= _LONGEST_NAME:
            moment.files.append((name, _linked(path, folder / "files" / str(len(moment.files)))))

    def still_named() -> frozenset[str]:
        with place.catalog.database.read() as now:
            return named_blobs(now).needed

    lost = []
    for name in sorted(blobs.needed | blobs.allowed):
        try:
            add(f"blobs/{name}", place.blobs.path(name, verified=False))
        except (NotFound, FileNotFoundError):
            if name in blobs.needed:
                lost.append(name)
    if lost and not still_named().issuperset(lost):
        raise _Gone
    moment.absent.extend(lost)
    for recording_id in tx.scalars(select(recordings.c.id).order_by(recordings.c.id)):
        _try(add, f"recordings/{recording_id}.pt", place.folder.recordings / f"{recording_id}.pt")
    for name, path in list(place.models()):
        _try(add, f"models/{name}", path)


def _try(add: Callable[[str, Path], None], name: str, path: Path) -> None:
    try:
        add(name, path)
    except FileNotFoundError as error:
        if name.startswith("models/"):
            raise _Gone from error
        # A recording without its file is forgotten at the next start; here it arrives so.


def _linked(path: Path, name: Path) -> Path:
    try:
        name.hardlink_to(path)
    except FileNotFoundError:
        raise
    except OSError:
        # This file system has no second names: the file itself is read.
        if not path.is_file():
            raise FileNotFoundError(path.name) from None
        return path
    return name


def _member(name: str, content: bytes) -> bytes:
    return header(name, len(content)) + content + padding(len(content))


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _padded(path: Path, size: int) -> Iterator[bytes]:
    """Yield exactly so many bytes, as the header has promised; a file that got shorter has another hash then."""
    left = size
    with path.open("rb") as file:
        while left:
            piece = file.read(min(PIECE_BYTES, left)) or b"\0" * min(PIECE_BYTES, left)
            left -= len(piece)
            yield piece


def write_to(target: BinaryIO, pieces: Iterator[bytes]) -> int:
    """Write an archive to an open file; return its size. Raises: ``DiskFull``."""
    size = 0
    with disk_errors():
        for piece in pieces:
            target.write(piece)
            size += len(piece)
    return size
