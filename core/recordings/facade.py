"""Recordings of spiking neurons: they come from answers or as files, are kept whole, and go with what they quote.

A file is whole and durable before its row is written, and its row is gone before the file is: what a killed process
leaves is a file without a row; the next start removes those that the catalogue has noted, and no others.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.access import needs
from core.blobs.quota import StorageQuota, disk_errors
from core.catalog.documents.leftovers import FileKind
from core.catalog.questions.recordings import Quoted
from core.errors import InvalidInput, TooLarge, UnreadableRecording
from core.model import Recording, Role, Trace
from core.platform.durable import sync
from core.platform.failpoints import failpoint
from core.recordings.viewing import Viewing, damaged, gone
from core.text.language import is_storable

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.settings import NeuronSettings
    from core.snn.recording import NeuronRecording

log = logging.getLogger(__name__)

NAME_CHARS = 200
_BEGUN = ".begun"
_WHOLE = ".pt"
_STALE_S = 3600.0
_OPENED = 2
_PIECE = 1024 * 1024
_OVERHEAD_BYTES = 4 * 1024 * 1024
"""What a file may hold beside its spikes: names, tokens, and the table of its parts."""

Several = list[Recording]
Paths = list[Path]


class Recordings(Viewing):
    """The recordings of one data folder; everyone sees their own, administrators see all."""

    def __init__(
        self, catalog: Catalog, folder: Path, quota: StorageQuota, settings: NeuronSettings, *, is_alone: bool = True
    ) -> None:
        """Keep recordings in ``folder``; what killed processes left is removed where no other one works there."""
        self._catalog = catalog
        self._folder = folder
        self._quota = quota
        self._recording_bytes = settings.recording_bytes
        self._upload_bytes = settings.recording_upload_bytes
        self._changing = threading.Lock()
        self._opening = threading.Lock()
        self._opened: OrderedDict[str, NeuronRecording] = OrderedDict()
        folder.mkdir(parents=True, exist_ok=True)
        if is_alone:
            self._sweep()

    # ---- reading

    @needs(Role.READER)
    def list(self) -> Several:
        """Return the recordings, newest first, also one whose file is lost: reading it says what to do."""
        return self._catalog.recordings.list()

    @needs(Role.READER)
    def get(self, recording_id: str) -> Recording:
        """Raises: ``NotFound``."""
        return self._catalog.recordings.get(recording_id)

    @needs(Role.READER)
    def disk_bytes(self) -> int:
        """Return the size of all recordings that whoever acts sees."""
        return sum(recording.size_bytes for recording in self.list())

    @needs(Role.READER)
    def path(self, recording_id: str) -> Path:
        """Return the file of a recording. Raises: ``NotFound``."""
        path = self._file(self.get(recording_id).id)
        if not path.is_file():
            raise gone()
        return path

    @needs(Role.READER)
    def open(self, recording_id: str) -> NeuronRecording:
        """Return a recording, read once; the last two that were read stay in memory.

        Raises: ``NotFound``, ``Damaged``.
        """
        path = self.path(recording_id)
        with self._opening:
            found = self._opened.pop(recording_id, None)
            if found is None:
                try:
                    found = self._load(path)
                except (FileNotFoundError, UnreadableRecording) as error:
                    # It may have been deleted since it was looked for.
                    raise damaged() if path.is_file() else gone() from error
            self._opened[recording_id] = found
            while len(self._opened) > _OPENED:
                self._opened.popitem(last=False)
        return found

    # ---- changing

    @needs(Role.READER)
    def rename(self, recording_id: str, name: str) -> Recording:
        """Raises: ``NotFound``; ``InvalidInput`` for a name that is empty or too long."""
        named = _name(name)
        if not named:
            raise InvalidInput("A recording has a name.", remedy="Type one.")
        return self._catalog.recordings.rename(recording_id, named)

    @needs(Role.READER)
    def delete(self, recording_id: str) -> None:
        """Remove a recording and its file. Raises: ``NotFound``."""
        self._catalog.recordings.delete(recording_id)
        self._remove({recording_id})

    @needs(Role.EDITOR)
    def import_file(self, name: str, source: Path | BinaryIO) -> Recording:
        """Keep a copy of a file of spikes, once it was read and found to hold nothing else.

        Raises: ``UnreadableRecording``, ``TooLarge``, ``QuotaExceeded``, ``DiskFull``, ``InvalidInput`` for its name.
        """
        named = _name(name.removesuffix(_WHOLE)) or "recording"
        begun = self._begun()
        try:
            self._copy(source, begun)
            found = _described(self._load(begun), begun, named)
            return self._keep(begun, replace(found, is_uploaded=True), Quoted()) or found
        finally:
            self.discard(begun)

    # ---- the way of an answer

    def begin(self) -> Path:
        """Return the name of a file to record an answer into, which ``keep`` or ``discard`` takes away again.

        Raises: ``QuotaExceeded``, ``DiskFull``.
        """
        self._quota.check(1, on_disk=self._recording_bytes)
        return self._begun()

    def keep(self, begun: Path, trace: Trace) -> Recording | None:
        """Keep what was recorded of an answer of whoever acts; None where text that it quotes was purged meanwhile.

        Raises: ``UnreadableRecording``, ``QuotaExceeded``; then the file is still there to be discarded.
        """
        self._quota.check(begun.stat().st_size, on_disk=0)
        found = _described(self._load(begun), begun, _name(_plain(trace.query.text)[:NAME_CHARS]) or "recording")
        placed = (hit.placed for hit in trace.hits)
        quoted = Quoted(
            frozenset((each.doc_id, each.doc_key, each.version) for each in placed),
            trace.sequence,
            bool(trace.analysis.standalone),
        )
        return self._keep(begun, replace(found, question=_plain(trace.query.text)), quoted)

    def belongs(self, recording_id: str, trace_id: str) -> None:
        """Say which question of the history a recording is of."""
        self._catalog.recordings.belongs(recording_id, trace_id)

    def discard(self, begun: Path) -> None:
        """Remove what was begun and is not kept; nothing where it is kept or was never written."""
        for path in self._folder.glob(f"*{begun.name}*"):
            path.unlink(missing_ok=True)

    def drop(self, recording_id: str) -> None:
        """Remove a recording that was kept for an answer that is not."""
        self._catalog.recordings.forget({recording_id})
        self._remove({recording_id})

    def redact(self, purged: Set[tuple[str, int]]) -> None:
        """Remove the recordings whose prompts quote one of the versions, and files that no row names."""
        self._catalog.recordings.forget(self._catalog.recordings.quoting(purged))
        with self._changing:
            named = self._catalog.recordings.all_ids()
            loose = {path.stem for path in self._folder.glob(f"*{_WHOLE}")} - named
        self._remove(loose)

    # ---- files

    def _keep(self, begun: Path, recording: Recording, quoted: Quoted) -> Recording | None:
        target = self._file(recording.id)
        with self._changing, disk_errors():
            self._catalog.leftovers.note(FileKind.RECORDING, [recording.id])
            sync(begun)
            begun.replace(target)
            sync(self._folder)
            failpoint("recordings.file.kept")
            is_kept = False
            try:
                is_kept = self._catalog.recordings.add(recording, quoted)
            finally:
                if not is_kept:
                    target.unlink(missing_ok=True)
                    self._catalog.leftovers.drop(FileKind.RECORDING, [recording.id])
        return recording if is_kept else None

    def _copy(self, source: Path | BinaryIO, target: Path) -> None:
        if isinstance(source, Path):
            with source.open("rb") as stream:
                return self._copy(stream, target)
        size = 0
        with disk_errors(), target.open("xb") as file:
            while piece := source.read(_PIECE):
                size += len(piece)
                if size > self._upload_bytes:
                    raise TooLarge(
                        f"The recording is larger than the limit of {self._upload_bytes:,} bytes.",
                        remedy="Record fewer neurons, or raise EVORAG_RECORDING_UPLOAD_BYTES.",
                    )
                self._quota.check_disk(len(piece))
                file.write(piece)
        self._quota.check(size, on_disk=0)

    def _load(self, path: Path) -> NeuronRecording:
        from core.snn.recording import load

        # What was taken once can be read after the limits were lowered.
        limit = max(self._upload_bytes, self._recording_bytes, path.stat().st_size) + _OVERHEAD_BYTES
        return load(path, limit)

    def _remove(self, ids: Set[str]) -> None:
        for recording_id in ids:
            with self._opening:
                self._opened.pop(recording_id, None)
            self._file(recording_id).unlink(missing_ok=True)
        self._catalog.leftovers.drop(FileKind.RECORDING, ids)

    def file_of(self, recording_id: str) -> Path:
        """Return the name of the file of a recording, whether it is there or not."""
        return self._file(recording_id)

    def unnamed_files(self) -> Paths:
        """Return the files of whole recordings that no row names."""
        present = sorted(self._folder.glob(f"*{_WHOLE}"))
        known = self._catalog.recordings.all_ids() | self._catalog.leftovers.noted(FileKind.RECORDING)
        return [path for path in present if path.stem not in known]

    def tidy(self) -> None:
        """Remove what killed processes have begun, where others go on: no answer takes as long as that is old."""
        for path in self._folder.glob(f"*{_BEGUN}*"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _STALE_S:
                    path.unlink()

    def _sweep(self) -> None:
        """Remove what a killed process was writing or removing; rows whose files are lost stay, and are told of."""
        left_over = self._catalog.leftovers.noted(FileKind.RECORDING)
        named = self._catalog.recordings.all_ids()
        whole = set()
        for path in self._folder.iterdir():
            if path.suffix == _WHOLE and path.stem in named:
                whole.add(path.stem)
            elif _BEGUN in path.name or (path.suffix == _WHOLE and path.stem in left_over):
                path.unlink(missing_ok=True)
        self._catalog.leftovers.drop(FileKind.RECORDING, left_over)
        if lost := named - whole:
            log.warning("the files of %d recordings are not in the data folder", len(lost))

    def _begun(self) -> Path:
        return self._folder / f"{secrets.token_hex(16)}{_BEGUN}"

    def _file(self, recording_id: str) -> Path:
        return self._folder / f"{recording_id}{_WHOLE}"


def _described(recording: NeuronRecording, path: Path, name: str) -> Recording:
    meta = recording.meta
    return Recording(
        id=path.stem,
        name=name,
        created_at=datetime.now(UTC),
        size_bytes=path.stat().st_size,
        model=_plain(str(meta.get("model", "")))[:NAME_CHARS],
        code=_plain(str(meta.get("code", "")))[:NAME_CHARS],
        steps=recording.steps,
        tokens=len(recording.tokens),
        neurons=recording.neurons,
        truncated=_plain(str(meta.get("truncated", "")))[:NAME_CHARS],
        left_out=recording.left_out,
    )


def _name(given: str) -> str:
    """Return a name on one line. Raises: ``InvalidInput``."""
    if not isinstance(given, str) or not is_storable(given):
        raise InvalidInput("A recording's name is a text.")
    name = " ".join("".join(sign if sign.isprintable() else " " for sign in given).split())
    if len(name) > NAME_CHARS:
        raise InvalidInput(f"A recording's name has at most {NAME_CHARS} characters.")
    return name


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
