"""Comparisons on demand: computed once in a child process, kept on disk, evicted when they take too much space."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import orjson

from core.blobs.block_file import unpacked_bytes
from core.errors import Cancelled, DiffLimit, EvoRAGError, NotFound
from core.model import ChangeSummary, ComparisonProgress, ImageRef
from core.model.codec import from_dict, to_dict
from core.platform.sealing import is_whole, seal
from core.ports import BlobStore
from core.versions.process import ComparisonProcess
from core.versions.result import ComparisonResult
from core.versions.underway import Run, Underway

log = logging.getLogger(__name__)

RULES = 7
"""Raised whenever the same two texts are compared to another result; what was kept under earlier ones is not shown."""
_PART = ".part"
_IMAGES = "images-"
_WITH_IMAGES = ("pdf", "docx", "pptx", "xlsx")
_OPEN_COMPARISONS = 8
_FINE_PATIENCE = 1.5
"""Fine work ends by itself in time; what is as good as done is not begun anew for a little more."""
_ORDINARY_BYTES = 20_000_000
"""What two parsed texts have together that are compared within the limit as it is set; larger ones get more time."""
_COARSE_PATIENCE = 3
"""A coarse run is short work; on a machine under load it may still take a while."""
_GIVE_WAY_S = 0.5
_FINE_SHARE = 0.35
"""Share of the time limit that fine work may take, so that reading and writing fit in as well."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of a comparison: a version with its texts as names of blobs."""

    id: int
    doc_key: str
    name: str
    version: int
    parsed_sha256: str
    sha256: str
    extension: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"doc_key": self.doc_key, "name": self.name, "version": self.version, "metadata": dict(self.metadata)}


@dataclass(frozen=True, slots=True)
class DiffLimits:
    """What one comparison may take in time and memory, and all that are kept on disk."""

    seconds: float = 10.0
    memory_bytes: int = 2048 * 1024 * 1024
    kept_bytes: int = 1024 * 1024 * 1024


class ComparisonCache:
    """The kept comparisons and images below one folder. Two requests for one thing wait for one computation."""

    def __init__(
        self,
        folder: Path,
        blobs: BlobStore,
        limits: DiffLimits = DiffLimits(),
        scratch: Path | None = None,
        *,
        is_alone: bool = True,
        is_purged: Callable[[Collection[int]], bool] = lambda version_ids: False,
    ) -> None:
        """Keep comparisons in ``folder``, where other processes may as well unless this one ``is_alone``.

        ``is_purged`` tells of versions whether one was purged, which another process may have done.
        """
        self._folder = folder
        self._blobs = blobs
        self._limits = limits
        self._lock = threading.Lock()
        self._running: dict[str, Future[Path]] = {}
        self._begun: set[str] = set()
        self._failed: dict[str, EvoRAGError] = {}
        self._open: OrderedDict[str, ComparisonResult] = OrderedDict()
        self._process = ComparisonProcess(limits.memory_bytes, scratch)
        self._underway = Underway()
        self._forgotten: set[int] = set()
        self._stop = threading.Event()
        self._queue: SimpleQueue[tuple[Compared, Compared] | None] = SimpleQueue()
        self._preparing: threading.Thread | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._is_purged = is_purged
        for half_written in folder.glob(f"*{_PART}") if is_alone else ():
            shutil.rmtree(half_written, ignore_errors=True)

    # ---- asking

    def get(self, old: Compared, new: Compared) -> ComparisonResult:
        """Return the comparison of two versions. Raises: ``DiffLimit``; ``NotFound`` where a blob is gone."""
        name = _name(old, new)
        while True:
            folder = self._once(name, {old.id, new.id}, lambda part, run: self._compute(old, new, part, run))
            # Between the two steps it may have been evicted: then it is made again.
            with self._lock, contextlib.suppress(FileNotFoundError):
                return self._opened(folder, (self._images_folder(old.id), self._images_folder(new.id)))

    def _opened(self, folder: Path, images: tuple[Path, Path]) -> ComparisonResult:
        for used in (folder, *images):
            if used.exists():
                os.utime(used)
        comparison = self._open.get(folder.name) or ComparisonResult(folder, images)
        self._open[folder.name] = comparison
        self._open.move_to_end(folder.name)
        while len(self._open) > _OPEN_COMPARISONS:
            self._open.popitem(last=False)
        return comparison

    def is_kept(self, old: Compared, new: Compared) -> bool:
        return (self._folder / _name(old, new)).is_dir()

    def compute_soon(self, old: Compared, new: Compared) -> None:
        """Compute a comparison in the background, for whoever asks later."""
        self._queue.put((old, new))
        with self._lock:
            if self._preparing is None and not self._stop.is_set():
                self._preparing = threading.Thread(target=self._prepare, name="evorag-compare", daemon=True)
                self._preparing.start()

    def start(self, old: Compared, new: Compared) -> None:
        """Begin to compute a comparison at once, unless that has begun, without waiting for it.

        Raises: ``DiffLimit`` and its kin where the attempt that was begun before has failed, once.
        """
        name = _name(old, new)
        self._tell_failure(name)
        with self._lock:
            if name in self._running or name in self._begun:
                return
            self._begun.add(name)
        threading.Thread(target=self._begin, args=(old, new), name="evorag-compare-now", daemon=True).start()

    def progress(self, old: Compared, new: Compared) -> ComparisonProgress | None:
        """Return how far a comparison is, None where nobody computes it. Raises: as ``start`` does."""
        name = _name(old, new)
        if self.is_kept(old, new):
            return ComparisonProgress(0.0, 1.0)
        self._tell_failure(name)
        found = self._underway.progress(name)
        with self._lock:
            return found or (ComparisonProgress(0.0, 0.0) if name in self._begun else None)

    def cancel(self, old: Compared, new: Compared) -> bool:
        """Stop computing a comparison, and return whether it was; others who wait for it have it begun anew."""
        images = (self._images_folder(version.id).name for version in (old, new))
        return self._underway.cancel(_name(old, new), *images)

    def _tell_failure(self, name: str) -> None:
        with self._lock:
            failed = self._failed.pop(name, None)
        if failed is not None:
            raise failed

    def _begin(self, old: Compared, new: Compared) -> None:
        name = _name(old, new)
        try:
            self.get(old, new)
        except Cancelled:
            pass  # Whoever stopped it knows.
        except EvoRAGError as error:
            with self._lock:
                self._failed[name] = error
        except Exception as error:
            log.exception("a comparison met an unexpected %s", type(error).__name__)
            with self._lock:
                self._failed[name] = DiffLimit("The comparison stopped unexpectedly; the log of the server says why.")
        finally:
            with self._lock:
                self._begun.discard(name)

    def image(self, version: Compared, number: int) -> Path:
        """Return the PNG of an image of a version. Raises: ``NotFound``."""
        path = self._images_of(version) / f"{number:d}.png"
        if not path.is_file():
            raise NotFound(f"Version {version.version} of “{version.doc_key}” has no image {number}.")
        return path

    # ---- keeping

    def forget(self, version_ids: Collection[int]) -> None:
        """Remove all that is kept of these versions."""
        with self._lock:
            self._forgotten |= set(version_ids)
            gone = [folder for folder in self._folder.iterdir() if _ids_of(folder.name) & set(version_ids)]
            for folder in gone:
                # What is being computed here removes its own; a killed process of several has left the others.
                if folder.name.rpartition("-")[0] not in self._running:
                    self._open.pop(folder.name, None)
                    shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End the children; what is being computed is dropped."""
        self._stop.set()
        self._queue.put(None)
        self._process.close()
        if self._preparing is not None:
            self._preparing.join(timeout=10)

    def _prepare(self) -> None:
        while (pair := self._queue.get()) is not None:
            # What is indexed right now goes first.
            if self._stop.wait(_GIVE_WAY_S):
                return
            self._quietly(*pair)

    def _quietly(self, old: Compared, new: Compared) -> None:
        try:
            self.get(old, new)
        except Cancelled:
            # The knowledge base was closed meanwhile; whoever asks for it later has it computed.
            return
        except Exception as error:
            # Whoever asks for it is told; user text stays out of the log.
            log.warning("a comparison could not be prepared (%s)", type(error).__name__)

    def _once(self, name: str, version_ids: Set[int], make: Callable[[Path, Run], None]) -> Path:
        """Return the folder of that name, made by exactly one of those who ask at the same time."""
        target = self._folder / name
        with self._lock:
            running = self._running.get(name)
            if running is None and target.is_dir():
                if name in self._open or is_whole(target):
                    return target
                log.warning("a kept comparison is damaged, and is made again")
                shutil.rmtree(target, ignore_errors=True)
            mine = running is None
            if running is None:
                running = self._running[name] = Future()
        if not mine:
            try:
                return running.result()
            except Cancelled:
                if self._stop.is_set():
                    raise
                return self._once(name, version_ids, make)
        part = self._folder / f"{name}-{secrets.token_hex(4)}{_PART}"
        try:
            part.mkdir()
            with self._underway.run(name) as run:
                make(part, run)
            seal(part)
            with self._lock:
                if version_ids & self._forgotten:
                    raise NotFound("A version was removed for good while it was compared.")
                self._put(part, target)
            if self._is_purged(version_ids):
                shutil.rmtree(target, ignore_errors=True)
                raise NotFound("A version was removed for good while it was compared.")
        except BaseException as error:
            running.set_exception(error)
            raise
        else:
            running.set_result(target)
        finally:
            with self._lock:
                del self._running[name]
            shutil.rmtree(part, ignore_errors=True)
        self._evict(keep=name)
        return target

    @staticmethod
    def _put(part: Path, target: Path) -> None:
        """Give what was computed its name, unless another process has computed the same meanwhile."""
        try:
            part.replace(target)
        except OSError:
            if not target.is_dir():
                raise

    def _kept_folders(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if path.is_dir() and not path.name.endswith(_PART)]

    def _evict(self, keep: str) -> None:
        """Remove what was asked for least recently until the rest fits."""
        with self._lock:
            sized = []
            for folder in self._kept_folders():
                with contextlib.suppress(FileNotFoundError):
                    size = sum(file.stat().st_size for file in folder.iterdir())
                    sized.append((folder.stat().st_mtime, folder, size))
            total = sum(size for _, _, size in sized)
            for _, folder, size in sorted(sized, key=lambda entry: entry[0]):
                if total <= self._limits.kept_bytes:
                    return
                if folder.name != keep:
                    self._open.pop(folder.name, None)
                    shutil.rmtree(folder, ignore_errors=True)
                    total -= size

    # ---- computing

    def _compute(self, old: Compared, new: Compared, folder: Path, run: Run) -> None:
        if not {old.extension, new.extension} & set(_WITH_IMAGES):
            self._compare(old, new, folder, run)
            return
        with ThreadPoolExecutor(1, thread_name_prefix="evorag-images") as images:
            seen = images.submit(self._image_refs, (old, new))
            self._compare(old, new, folder, run)
            (old_images, new_images), was_skipped = seen.result()
        # Pairing needs Pillow; documents without images never load it.
        from core.versions.diff.images import pair_images

        file = folder / "summary.json"
        summary = from_dict(ChangeSummary, orjson.loads(file.read_bytes()))
        notices = (*summary.notices, *(["images_skipped"] * was_skipped))
        # Those of one side, while the other's could not be read, would pass for removed or added ones.
        is_one_sided = was_skipped and not (old_images and new_images)
        pairs = () if is_one_sided else pair_images(old_images, new_images)
        file.write_bytes(orjson.dumps(to_dict(replace(summary, images=pairs, notices=notices))))

    def _compare(self, old: Compared, new: Compared, folder: Path, run: Run) -> None:
        parsed = [self._blobs.path(version.parsed_sha256) for version in (old, new)]
        order = {
            "task": "compare",
            "folder": str(folder),
            "old_parsed": str(parsed[0]),
            "new_parsed": str(parsed[1]),
            "old": old.as_dict(),
            "new": new.as_dict(),
        }
        seconds = self._limits.seconds * max(1.0, sum(map(unpacked_bytes, parsed)) / _ORDINARY_BYTES)
        fine = order | {"coarse": False, "fine_seconds": seconds * _FINE_SHARE, "aim_seconds": seconds}
        reason = self._process.ask(fine, seconds * _FINE_PATIENCE, run)
        if reason is None:
            return
        log.warning("a comparison broke its limit (%s) and is made coarsely", reason)
        coarse = order | {"coarse": True, "fine_seconds": 0.0, "aim_seconds": seconds}
        reason = self._process.ask(coarse, seconds * _COARSE_PATIENCE, run)
        if reason is not None:
            raise DiffLimit(f"The two versions are too large to be compared ({reason}).")

    # ---- images

    def _images_folder(self, version_id: int) -> Path:
        return self._folder / f"{_IMAGES}{version_id}"

    def _images_of(self, version: Compared) -> Path:
        def make(part: Path, run: Run) -> None:
            order = {"task": "images", "folder": str(part), "extension": version.extension}
            source = str(self._blobs.path(version.sha256))
            if self._process.ask(order | {"source": source}, self._limits.seconds, run) is not None:
                for file in part.iterdir():
                    file.unlink()
                (part / "images.json").write_bytes(orjson.dumps({"images": [], "skipped": True}))

        if version.extension not in _WITH_IMAGES:
            return self._images_folder(version.id)
        return self._once(f"{_IMAGES}{version.id}", {version.id}, make)

    def _image_refs(self, versions: Iterable[Compared]) -> tuple[list[list[ImageRef]], bool]:
        sides: list[list[ImageRef]] = []
        was_skipped = False
        for version in versions:
            file = self._images_of(version) / "images.json"
            kept: dict[str, Any] = (
                orjson.loads(file.read_bytes()) if file.is_file() else {"images": [], "skipped": False}
            )
            sides.append([from_dict(ImageRef, fields) for fields in kept["images"]])
            was_skipped = was_skipped or kept["skipped"]
        return sides, was_skipped


def _name(old: Compared, new: Compared) -> str:
    return f"{old.id}-{new.id}-r{RULES}"


def _ids_of(name: str) -> set[int]:
    return {int(part) for part in name.removeprefix(_IMAGES).split("-") if part.isdigit()}
