"""The data folder: its layout, and the lock that lets one process work on it, or several that share its catalogue."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from core.errors import DataFolderInUse
from core.platform.confinement import Rooms
from core.platform.disk_room import starting_on
from core.platform.private_file import keep_private, private_file, tighten

_ATTEMPTS = 20
_PAUSE_S = 0.1
_PATIENCE_S = 120.0
"""Time for which a process waits for another one that is opening the same folder."""
_IDENTITY = re.compile(r"[0-9a-f]{32}")
_LOCK = ".lock"
_OPENING = frozenset({"opening", "lock", "incoming"})
"""What opening a folder makes in it."""


class DataFolder:
    """A locked data folder with its sub-folders.

    Raises: ``DataFolderInUse`` naming the process that holds it; ``DiskFull`` where it cannot be written to.

    ``shared`` lets several processes have it. The first one is alone until it calls ``share``: others wait for that, so
    that what killed processes left is removed while nobody works. Each has an ``incoming`` folder of its own then.
    """

    def __init__(self, root: Path, *, shared: bool = False) -> None:
        """Open the folder for its owner alone: from now on this process writes no file that others may read."""
        self.root = root.expanduser().absolute()
        self.is_shared = shared
        self.blobs = self.root / "blobs"
        self.incoming = self.root / "incoming"
        self.keywords = self.root / "keywords"
        self.vectors = self.root / "vectors"
        self.comparisons = self.root / "comparisons"
        self.pages = self.root / "pages"
        self.transfers = self.root / "transfers"
        self.models = self.root / "models"
        self.recordings = self.root / "recordings"
        self.recognised = self.root / "recognised"
        with starting_on(self.root):
            self._open(shared)

    def _open(self, shared: bool) -> None:
        self._is_made = not self.root.exists()
        self.root.parent.mkdir(parents=True, exist_ok=True)
        keep_private()
        self.root.mkdir(exist_ok=True)
        self._own: IO[str] | None = None
        self._gate = self._take_gate() if shared else None
        try:
            self._lock, self.is_alone = self._take_lock()
            if self.is_alone:
                tighten(self.root)
            if shared:
                self._take_own_incoming()
            else:
                self._empty_incoming()
        except BaseException:
            if self._gate is not None:
                self._gate.close()
            raise
        if not self.is_alone:
            self.share()

    @property
    def catalog_file(self) -> Path:
        return self.root / "catalog.db"

    @property
    def journal_file(self) -> Path:
        return self.root / "journal"

    @property
    def reached_file(self) -> Path:
        return self.root / "reached"

    @property
    def identity(self) -> str:
        """The mark that its catalogue carries too, empty in a folder of an earlier release, or where it is damaged."""
        found = _read(self.root / "identity")
        return found if _IDENTITY.fullmatch(found) else ""

    @property
    def bucket_owner(self) -> str:
        """The mark at EVORAG_BLOB_URL, empty where no originals were ever kept there."""
        return _read(self.root / "blob-owner")

    def mark(self, identity: str) -> None:
        """Give the folder its identity, which it keeps."""
        if not self.identity:
            with private_file(self.root / "identity") as file:
                file.write(identity.encode("ascii"))
                file.flush()
                os.fsync(file.fileno())

    def rooms_of_readers(self) -> Rooms:
        """Return where what reads documents may go: it reads originals, and writes what it makes of them."""
        self.recognised.mkdir(exist_ok=True)
        return Rooms(self.root, (self.blobs, self.root / "blob-cache"), (self.incoming, self.recognised))

    def share(self) -> None:
        """Let other processes in, where the folder is shared."""
        gate, self._gate = self._gate, None
        if gate is not None:
            self.is_alone = False
            gate.close()

    def _empty_incoming(self) -> None:
        """Remove what a killed process had not finished receiving, reading or comparing; none of it was acknowledged.

        Its children end within a second of it, and may write until then.
        """
        for _ in range(_ATTEMPTS):
            shutil.rmtree(self.incoming, ignore_errors=True)
            if not self.incoming.exists():
                break
            time.sleep(_PAUSE_S)
        self.incoming.mkdir(exist_ok=True)

    def _take_own_incoming(self) -> None:
        """Make a folder that only this process receives in, and remove those of processes that are gone."""
        self.incoming.mkdir(exist_ok=True)
        for path in self.incoming.glob(f"*{_LOCK}"):
            with suppress(OSError), path.open("a", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                folder = path.with_suffix("")
                shutil.rmtree(folder, ignore_errors=True)
                if not folder.exists():
                    path.unlink()
        name = secrets.token_hex(8)
        self._own = (self.incoming / f"{name}{_LOCK}").open("w", encoding="ascii")
        fcntl.flock(self._own, fcntl.LOCK_EX)
        self.incoming = self.incoming / name
        self.incoming.mkdir()

    def _take_gate(self) -> IO[str]:
        """Wait until no other process is opening the folder, and keep others from it."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            # Who had it may have removed the folder.
            self.root.mkdir(parents=True, exist_ok=True)
            gate = (self.root / "opening").open("a", encoding="ascii")
            if _locked(gate, fcntl.LOCK_EX):
                return gate
            gate.close()
            if time.monotonic() >= deadline:
                raise DataFolderInUse(f"Another process has been opening the data folder “{self.root}” for too long.")
            time.sleep(_PAUSE_S)

    def _take_lock(self) -> tuple[IO[str], bool]:
        """Return the lock, and whether no other process has the folder."""
        lock = (self.root / "lock").open("a+", encoding="ascii")
        is_alone = _locked(lock, fcntl.LOCK_EX)
        if not (_locked(lock, fcntl.LOCK_SH) if self.is_shared else is_alone):
            lock.seek(0)
            holder = f"the process {number}" if (number := lock.read().strip()) else "other processes"
            lock.close()
            raise DataFolderInUse(
                f"The data folder “{self.root}” is in use by {holder}.",
                remedy=f"Stop {holder}, work on a server that runs there with --url, or choose another folder with "
                "EVORAG_DATA_DIR.",
            )
        if is_alone:
            lock.truncate(0)
            lock.write("" if self.is_shared else str(os.getpid()))
            lock.flush()
        return lock, is_alone

    @contextmanager
    def as_it_was(self) -> Iterator[None]:
        """Leave nothing in a folder that held nothing where the block fails, as long as no other process is let in."""
        was_empty = all(path.name in _OPENING for path in self.root.iterdir())
        try:
            yield
        except BaseException:
            if was_empty and self.is_alone:
                self._remove()
            raise

    def _remove(self) -> None:
        """Remove everything, the lock at last, and the folder where it was not there before."""
        for path in sorted(self.root.iterdir(), key=lambda path: path.name in ("opening", "lock")):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if self._is_made:
            with suppress(OSError):
                self.root.rmdir()

    def discard(self, place: Path) -> None:
        """Remove a folder at once for whoever looks; what a killed process leaves of it, the next start removes."""
        aside = self.incoming / f"{place.name}-{secrets.token_hex(8)}"
        place.rename(aside)
        shutil.rmtree(aside)

    def keep_indexes(self, generations: Collection[int]) -> None:
        """Remove the indexes of all generations but these."""
        for base in (self.vectors, self.keywords):
            for place in self.root.glob(f"{base.name}*"):
                number = place.name.removeprefix(base.name).removeprefix("-") or "1"
                if number.isdecimal() and int(number) not in generations:
                    shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        if self._own is not None:
            shutil.rmtree(self.incoming, ignore_errors=True)
            with suppress(OSError):
                self.incoming.with_suffix(_LOCK).unlink(missing_ok=True)
            self._own.close()
        self.share()
        self._lock.close()


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace").strip()
    except FileNotFoundError:
        return ""


def _locked(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    # One that was removed meanwhile keeps nobody out.
    return os.fstat(file.fileno()).st_nlink > 0
