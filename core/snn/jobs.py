"""The work folder of a training: its job, its texts, and the lines that tell how far it is."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import Cancelled, Conflict, DiskFull, EvoRAGError, InvalidInput, NotFound
from core.model.codec import from_dict
from core.model.training import TrainingCourse, TrainingLabels
from core.snn.artifacts import read_json, write_json

JOB = "job.json"
TEXTS = "texts.jsonl"
PROGRESS = "progress.jsonl"
LOCK = "lock"
MOST_TEXT_BYTES = 64 * 1024 * 1024
TAIL_BYTES = 64 * 1024
ENDS = ("state", "error", "code", "remedy")
"""What holds of the last line alone."""
_LOCK_TRIES, _LOCK_PAUSE_S = 10, 0.05
"""Who only looks whether a lock is held has it for a moment."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class TrainingSource:
    """A text to learn from; ``document`` is its key and version."""

    text: str
    tags: tuple[str, ...] = ()
    document: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """What is to be trained, and the work folder, two levels below the folder of models."""

    work: Path
    labels: TrainingLabels
    course: TrainingCourse
    tags: tuple[str, ...] = ()
    documents: tuple[tuple[str, int], ...] = ()
    """Key and version of each document that it learns from; none where it learns from files."""
    left_out: int = 0
    """How many texts were too much."""

    @property
    def models(self) -> Path:
        return self.work.parent.parent


def begin_job(
    models: Path,
    labels: TrainingLabels,
    course: TrainingCourse,
    sources: Iterable[TrainingSource],
    tags: Sequence[str] = (),
    is_stopped: Callable[[], bool] = lambda: False,
) -> TrainingJob:
    """Make the work folder of a training, the job last; texts beyond 64 MB together are left out, and counted.

    Where it fails nothing is left of it. Raises: ``InvalidInput``, also where there is no text; ``Conflict`` where one
    of this name is there; ``Cancelled``; whatever reading the sources raises.
    """
    labels.check()
    course.check()
    work = models / "training" / labels.artifact_name
    try:
        work.mkdir(parents=True)
    except FileExistsError as error:
        raise Conflict(
            "A training of this name is not finished.", remedy="Resume or discard it, or choose another name."
        ) from error
    try:
        with working_on(work):
            return _gathered(work, labels, course, sources, tags, is_stopped)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _gathered(
    work: Path,
    labels: TrainingLabels,
    course: TrainingCourse,
    sources: Iterable[TrainingSource],
    tags: Sequence[str],
    is_stopped: Callable[[], bool],
) -> TrainingJob:
    size, left_out, all_tags, documents = 0, 0, set(tags), []
    with (work / TEXTS).open("w", encoding="utf-8") as file:
        for source in sources:
            if is_stopped():
                raise Cancelled("The training was cancelled.", remedy="Resume it to gather its texts anew.")
            encoded = source.text.encode("utf-8", "replace")
            if size + len(encoded) > MOST_TEXT_BYTES:
                left_out += 1
                continue
            size += len(encoded)
            file.write(json.dumps(encoded.decode()) + "\n")
            all_tags.update(source.tags)
            if source.document is not None:
                documents.append(source.document)
    if not size:
        raise InvalidInput("There is no text to learn from.", remedy="Add documents, or split those that are too long.")
    job = TrainingJob(work, labels, course, tuple(sorted(all_tags)), tuple(documents), left_out)
    told = {"labels": asdict(labels), "course": asdict(course), "tags": job.tags, "documents": job.documents}
    write_json(work / JOB, told | {"left_out": left_out})
    return job


@contextmanager
def working_on(work: Path) -> Iterator[None]:
    """Hold the lock of a work folder, which goes with the process.

    Raises: ``Conflict`` where another process works on it, ``NotFound`` where the folder is gone.
    """
    try:
        handle = os.open(work / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError as error:
        raise _absent() from error
    try:
        for left in reversed(range(_LOCK_TRIES)):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if not left:
                    raise running_elsewhere() from error
                time.sleep(_LOCK_PAUSE_S)
        yield
    finally:
        os.close(handle)


def is_worked_on(work: Path) -> bool:
    """Tell whether a process holds the lock of a work folder."""
    with suppress(FileNotFoundError):
        handle = os.open(work / LOCK, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
    return False


def running_elsewhere() -> Conflict:
    """Return what is said of a training that another process is at."""
    return Conflict(
        "This training is running elsewhere.", remedy="Stop the process that is at it, or wait until it ends."
    )


def told_of(error: Exception) -> dict[str, str]:
    """Return what progress says of a training that failed."""
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        error = DiskFull("There is no room on the disk of the data folder.")
    if not isinstance(error, EvoRAGError):
        error = EvoRAGError(
            f"It ended with {type(error).__name__}.", remedy="Resume it; if it fails again, discard it and train anew."
        )
    return {"state": "failed", "error": error.message, "code": error.code, "remedy": error.remedy}


def _absent() -> NotFound:
    return NotFound("There is no such training.", remedy="It may be done, or was discarded.")


def read_job(file: Path) -> TrainingJob:
    """Raises: ``NotFound``, ``InvalidInput``."""
    told = read_json(file)
    if not told:
        raise _absent()
    try:
        labels, course = from_dict(TrainingLabels, told["labels"]), from_dict(TrainingCourse, told["course"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("The job of the training cannot be read.", remedy="Discard it and train anew.") from error
    labels.check()
    course.check()
    tags = tuple(map(str, told.get("tags", ())))
    left_out = int(told.get("left_out", 0))
    return TrainingJob(file.absolute().parent, labels, course, tags, documents_of(told), left_out)


def documents_of(told: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return key and version of the documents that a file about a training names."""
    return tuple((str(key), int(version)) for key, version in told.get("documents", ()))


def may_hold(told: Path, versions: Collection[tuple[str, int]]) -> bool:
    """Tell whether a file about a training names one of these versions, or is there and cannot be read any more."""
    found = read_json(told)
    try:
        return (not found and told.exists()) or not set(documents_of(found)).isdisjoint(versions)
    except (TypeError, ValueError):
        return True


def read_texts(files: Iterable[Path]) -> list[TrainingSource]:
    """Return the texts of files. Raises: ``InvalidInput`` for one that is no UTF-8 text, and for too much of it."""
    found, size = [], 0
    for file in files:
        try:
            size += file.stat().st_size
            if size > MOST_TEXT_BYTES:
                raise InvalidInput("These texts are too long together.", remedy="Name fewer files: 64 MB at most.")
            found.append(file.read_bytes().decode("utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"“{file.name}” cannot be read as UTF-8 text.", remedy="Name text files, saved as UTF-8."
            ) from error
    texts = [TrainingSource(text) for text in found if text.strip()]
    if not texts:
        raise InvalidInput("There is no text to train on.", remedy="Name text files with --texts.")
    return texts


def last_told(file: Path) -> dict[str, Any]:
    """Return what a file of progress said last, each word of it; empty where there is no file."""
    try:
        with file.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - TAIL_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return {}
    told: dict[str, Any] = {}
    for line in lines:
        try:
            told = {name: value for name, value in told.items() if name not in ENDS} | json.loads(line)
        except (ValueError, TypeError):
            continue
    return told
