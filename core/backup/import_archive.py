"""An archive taken in by an empty place: wholly, or not at all.

Everything goes into a folder of what is not acknowledged. Once it has arrived and agrees with the manifest, the
catalogue notes the files that it is going to have, and one transaction takes the rows. The files take their places when
the rows agree with each other, and the transaction is committed. Whatever fails before takes everything with it; of a
process that is killed the next start removes the files that were noted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import JSON, Connection, Table, bindparam, delete, insert, select
from sqlalchemy.exc import DataError, IntegrityError

from core.backup import FORMAT, HEAD, MANIFEST, MOST_TEXT_BYTES
from core.backup.checks import SEEDED, check, named_blobs, require_empty
from core.backup.rows import RowReader as RowReader
from core.backup.rows import columns_of, is_local, travelling
from core.backup.sequences import check as checked_numbers
from core.backup.sequences import go_on_from
from core.backup.source import BackupSource, Show, silent
from core.backup.tar import TarStream
from core.blobs.quota import disk_errors
from core.catalog.asking_schema import recordings
from core.catalog.documents.leftovers import FileKind, drop
from core.errors import BadBundle, Conflict, UnreadableRecording
from core.model.backup import BackupReport
from core.platform.failpoints import failpoint
from core.snn.artifacts import CHOSEN, publish, read_json
from core.snn.artifacts import MANIFEST as MODEL_MANIFEST

_TABLE = re.compile(r"tables/([a-z_]{1,64})/([0-9]{6,9})")
_BLOB = re.compile(r"blobs/([0-9a-f]{64})")
_RECORDING = re.compile(r"recordings/([0-9A-Za-z_-]{1,32})\.pt")
_MODEL = re.compile(r"models/trained/([a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?)/([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})")
_CHOSEN = f"models/{CHOSEN}"
_MODEL_KINDS = (".json", ".jsonl", ".jinja", ".txt", ".safetensors")
"""What a trained model is made of; nothing that is unpickled or run is among it."""
_RECORDING_OVERHEAD = 4 * 1024 * 1024
_MOST_ROWS = 2_000


class ArchiveImport:
    """One archive on its way into a place. Raises: ``BadBundle``, ``Conflict`` where the place holds something."""

    def __init__(self, place: BackupSource, source: BinaryIO, show: Show = silent) -> None:
        self._place = place
        self._tar = TarStream(source)
        self._show = show
        self._found: dict[str, tuple[int, str]] = {}
        self._tables = {table.name: table for table in travelling()}
        self._rows: dict[str, int] = {}
        self._parts: list[tuple[Table, Path]] = []
        self._head: Mapping[str, Any] = {}

    def take_in(self, *, has_room: Callable[[Connection], None] = lambda tx: None) -> BackupReport:
        """Take everything in; ``has_room`` may refuse to, once all rows are there, by raising an error of ours."""
        staging = Path(tempfile.mkdtemp(prefix="moving-", dir=self._place.folder.incoming))
        try:
            with ExitStack() as undo, disk_errors():
                with self._place.catalog.database.read() as tx:
                    require_empty(tx)
                absent = self._read(staging)
                leftovers, noted = self._place.catalog.leftovers, self._new_files(staging)
                for kind, names in noted.items():
                    leftovers.note(kind, names)
                    undo.callback(leftovers.drop, kind, names)
                with self._place.catalog.database.write() as tx:
                    require_empty(tx)
                    self._take_tables(tx)
                    go_on_from(tx, checked_numbers(self._head.get("last")))
                    check(tx)
                    self._check_files(tx, staging, absent)
                    has_room(tx)
                    failpoint("bundle.checked")
                    self._settle(staging, undo)
                    failpoint("bundle.files")
                    for kind, names in noted.items():
                        drop(tx, kind, names)
                undo.pop_all()
            unfinished = self._head.get("unfinished_uploads")
            return BackupReport(
                self._rows,
                sum(not name.startswith("tables/") for name in self._found) - 1,
                self._tar.read_bytes,
                len(absent),
                unfinished if isinstance(unfinished, int) else 0,
            )
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            self._place.catalog.database.truncate_log()

    # ---- what arrives

    def _read(self, staging: Path) -> frozenset[str]:
        """Take all members into ``staging``; return the blobs that the sender had not."""
        for name in ("blobs", "recordings", "models", "tables"):
            (staging / name).mkdir()
        manifest: bytes | None = None
        for name, size in self._tar.members():
            self._show(self._tar.read_bytes, 0, name.partition("/")[0])
            if manifest is not None or name in self._found or (name == HEAD) is not (not self._found):
                raise BadBundle("The archive's members are not in their order, or are there twice.")
            if name == MANIFEST:
                manifest = self._text(size)
            else:
                self._found[name] = (size, self._member(staging, name, size))
        if manifest is None:
            raise BadBundle("The archive has no manifest: it is not whole.", remedy="Make it anew.")
        return self._agreed(manifest)

    def _member(self, staging: Path, name: str, size: int) -> str:
        """Take one member in; return the SHA-256 of its bytes."""
        if name == HEAD:
            text = self._text(size)
            self._head = _object(text, "head")
            if self._head.get("format") != FORMAT:
                raise BadBundle(
                    "The archive is of another format than this EvoRAG reads.", remedy="Read it with what made it."
                )
            return sha256(text).hexdigest()
        if (found := _TABLE.fullmatch(name)) and found[1] in self._tables:
            if size > MOST_TEXT_BYTES:
                raise _too_large()
            self._parts.append((self._tables[found[1]], staging / name))
        elif not (_BLOB.fullmatch(name) or _RECORDING.fullmatch(name) or name == _CHOSEN or _is_of_model(name)):
            raise BadBundle("The archive holds something that no knowledge base keeps.")
        path = staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        summed = sha256()
        with path.open("xb") as file:
            for piece in self._tar.pieces():
                file.write(piece)
                summed.update(piece)
        return summed.hexdigest()

    def _new_files(self, staging: Path) -> dict[FileKind, set[str]]:
        """Return the names of the files that are going to be new here."""
        blobs = {path.name for path in (staging / "blobs").iterdir()}
        recordings = {path.stem for path in (staging / "recordings").iterdir()}
        place = self._place.folder.recordings
        return {
            FileKind.BLOB: {name for name in blobs if self._place.blobs.size(name) is None},
            FileKind.RECORDING: {name for name in recordings if not (place / f"{name}.pt").exists()},
        }

    def _take_tables(self, tx: Connection) -> None:
        for name in SEEDED & self._tables.keys():
            self._clear(tx, self._tables[name])
        for table, path in self._parts:
            self._take_rows(tx, table, path.read_bytes())

    def _take_rows(self, tx: Connection, table: Table, packed: bytes) -> None:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            lines = unpacker.decompress(packed, MOST_TEXT_BYTES)
        except zlib.error as error:
            raise BadBundle("The archive is damaged.") from error
        if not unpacker.eof or unpacker.unused_data:
            raise BadBundle("The archive is damaged, or unpacks to far more than it should.")
        read, statement = RowReader(table).row, _insertion(table)
        for rows in _batches(read(line) for line in lines.split(b"\n") if line):
            if any(is_local(table, row) for row in rows):
                raise BadBundle(f"The table {table.name} has rows that stay behind.")
            _insert(tx, table, statement, rows)
            self._rows[table.name] = self._rows.get(table.name, 0) + len(rows)

    def _text(self, size: int) -> bytes:
        if size > MOST_TEXT_BYTES:
            raise _too_large()
        return b"".join(self._tar.pieces())

    @staticmethod
    def _clear(tx: Connection, table: Table) -> None:
        for row in tx.execute(select(table)).mappings().all():
            if table.name != "index_settings" or not is_local(table, row):
                own = [column == row[column.name] for column in table.primary_key]
                tx.execute(delete(table).where(*own))

    # ---- whether it agrees

    def _agreed(self, manifest: bytes) -> frozenset[str]:
        told = _object(manifest, "manifest")
        members, absent = told.get("members"), told.get("absent")
        if not isinstance(members, list) or not isinstance(absent, list):
            raise BadBundle("The archive's manifest cannot be read.")
        if {str(name): (size, summed) for name, size, summed in _triples(members)} != self._found:
            raise BadBundle("The archive is not what its manifest says.", remedy="Make it anew.")
        if not all(isinstance(name, str) for name in absent):
            raise BadBundle("The archive's manifest cannot be read.")
        return frozenset(absent)

    def _check_files(self, tx: Connection, staging: Path, absent: frozenset[str]) -> None:
        blobs = named_blobs(tx)
        there = {path.name for path in (staging / "blobs").iterdir()}
        wrong = {name for name in there if self._found[f"blobs/{name}"][1] != name}
        if not there <= blobs.needed | blobs.allowed:
            raise BadBundle("The archive holds files that none of its versions has.")
        if not wrong | (blobs.needed - there) <= absent:
            raise BadBundle("The archive lacks files of its versions, or holds other ones in their place.")
        for name in wrong:
            (staging / "blobs" / name).unlink()
        named = set(tx.scalars(select(recordings.c.id)))
        for path in (staging / "recordings").iterdir():
            if path.stem not in named:
                raise BadBundle("The archive holds recordings that it does not list.")
            _check_recording(path)

    # ---- taking its place

    def _settle(self, staging: Path, undo: ExitStack) -> None:
        """Give every file its place; ``undo`` takes it away again."""
        before = frozenset(self._place.blobs.names())
        for path in (staging / "blobs").iterdir():
            if path.name not in before:
                undo.callback(self._place.blobs.delete, path.name)
            self._place.blobs.put(path, path.name)
        folder = self._place.folder
        folder.recordings.mkdir(exist_ok=True)
        for path in (staging / "recordings").iterdir():
            _move(path, folder.recordings / path.name, undo)
        models = staging / "models"
        (folder.models / "trained").mkdir(parents=True, exist_ok=True)
        for path in (models / "trained").iterdir() if (models / "trained").is_dir() else ():
            target = folder.models / "trained" / path.name
            if not target.exists():
                undo.callback(shutil.rmtree, target, ignore_errors=True)
                publish(path, target)
            elif read_json(target / MODEL_MANIFEST) != read_json(path / MODEL_MANIFEST):
                raise Conflict("There is another trained model of this name.", remedy="Import into a new data folder.")
        if (models / CHOSEN).is_file():
            _move(models / CHOSEN, folder.models / CHOSEN, undo)


def _too_large() -> BadBundle:
    return BadBundle("A part of the archive is larger than any that EvoRAG writes.")


def _object(text: bytes, what: str) -> Mapping[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadBundle(f"The archive's {what} cannot be read.") from error
    if not isinstance(told, dict):
        raise BadBundle(f"The archive's {what} cannot be read.")
    return told


def _triples(members: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
    for member in members:
        if not isinstance(member, list) or len(member) != 3 or not all(isinstance(each, (str, int)) for each in member):
            raise BadBundle("The archive's manifest cannot be read.")
        yield member[0], member[1], member[2]


def _is_of_model(name: str) -> bool:
    found = _MODEL.fullmatch(name)
    return found is not None and ".." not in name and name.endswith(_MODEL_KINDS)


def _check_recording(path: Path) -> None:
    from core.snn.recording import load

    try:
        load(path, path.stat().st_size + _RECORDING_OVERHEAD)
    except UnreadableRecording as error:
        raise BadBundle("The archive holds a recording that is more than plain tensors, or damaged.") from error


def _move(path: Path, target: Path, undo: ExitStack) -> None:
    if not target.exists():
        undo.callback(target.unlink, missing_ok=True)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.replace(target)


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _MOST_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _insertion(table: Table) -> Any:
    """Return an insertion that writes None as SQL's NULL, also where the column holds JSON."""
    kinds = {
        column.name: JSON(none_as_null=True) if isinstance(column.type, JSON) else column.type
        for column in columns_of(table)
    }
    return insert(table).values({name: bindparam(f"_{name}", type_=kind) for name, kind in kinds.items()})


def _insert(tx: Connection, table: Table, statement: Any, rows: list[dict[str, Any]]) -> None:
    try:
        tx.execute(statement, [{f"_{name}": value for name, value in row.items()} for row in rows])
    except (DataError, IntegrityError) as error:
        raise BadBundle(f"The database does not take rows of the table {table.name}.") from error
