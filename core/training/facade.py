"""``kb.training``: small language models that learn from the documents, one at a time, each in its own process.

A process is told to stop by the end of its standard input, so it stops as well when this process is gone; what it
leaves is a checkpoint from which ``resume`` goes on. Private documents are never learnt from, and a model that learnt
from a version which is purged goes with it.
"""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from core.access import needs
from core.errors import Cancelled, Conflict, EvoRAGError, InvalidInput, NotFound
from core.generators import Generators
from core.model import Artifact, Document, Role, Training, TrainingCourse, TrainingLabels, TrainingState
from core.model.training import NAME
from core.snn.artifacts import LOG, MANIFEST, SOURCES, Artifacts, read_json
from core.snn.jobs import (
    JOB,
    MOST_TEXT_BYTES,
    PROGRESS,
    TrainingSource,
    begin_job,
    is_worked_on,
    last_told,
    may_hold,
    read_job,
    read_texts,
    running_elsewhere,
    told_of,
)
from core.training.process import Running

log = logging.getLogger(__name__)

WRITERS = ("standard", "huggingface", "snn")
"""The generators that may write with a trained model."""
_POLL_S = 0.1


class Library(Protocol):
    """The documents that a model may learn from."""

    def documents(self) -> Iterable[Document]: ...

    def text_of(self, key: str, version: int, /) -> str:
        """Return the text of a version. Raises: ``NotFound`` where it has none."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A training whose texts are not gathered; ``told`` is what became of gathering them."""

    labels: TrainingLabels
    course: TrainingCourse
    files: tuple[Path, ...] | None
    told: Mapping[str, str] = field(default_factory=dict)


class Trainings:
    """The models trained in one data folder, and those in the making."""

    def __init__(
        self,
        models: Path,
        generators: Generators,
        library: Library,
        check_disk: Callable[[int], None] = lambda size_bytes: None,
        *,
        is_alone: bool = True,
    ) -> None:
        """Keep models below ``models``, and learn from what ``library`` shows.

        What killed processes left is removed where no other one works there.
        """
        self._models = models
        self._work = models / "training"
        self._artifacts = Artifacts(models)
        self._generators = generators
        self._check_disk = check_disk
        self._library = library
        self._ungathered: dict[str, _Wish] = {}
        self._lock = threading.Lock()
        self._gathering = threading.Lock()
        self._running: Running | None = None
        if is_alone:
            self._sweep()

    # ---- trained models

    @needs(Role.READER)
    def artifacts(self) -> list[Artifact]:
        """Return the trained models, newest first."""
        return self._artifacts.all()

    @needs(Role.READER)
    def artifact(self, name: str) -> Artifact:
        """Raises: ``NotFound``."""
        return self._artifacts.get(name)

    @needs(Role.ADMIN)
    def choose(self, name: str) -> Artifact:
        """Have the generator ``standard`` write with a model from now on. Raises: ``NotFound``."""
        self._artifacts.choose(name)
        self._reopen()
        return self._artifacts.get(name)

    @needs(Role.ADMIN)
    def delete(self, name: str) -> None:
        """Remove a trained model for good. Raises: ``NotFound``."""
        self._artifacts.delete(name)
        self._reopen()

    # ---- trainings

    @needs(Role.READER)
    def trainings(self) -> list[Training]:
        """Return the trainings, the one that runs first, then those to be resumed, then those done, newest first."""
        running, unfinished = (
            self._running,
            [each.name for each in _newest_first(self._work) if self._is_begun(each.name)],
        )
        first = [running.name] if running is not None else []
        done = [each.name for each in self._artifacts.all()]
        return [self._told(name) for name in dict.fromkeys([*first, *self._ungathered, *unfinished, *done])]

    @needs(Role.READER)
    def status(self, name: str) -> Training:
        """Raises: ``NotFound``."""
        running = self._running
        is_running = running is not None and running.name == name
        if not is_running and not self._is_known(name) and not self._artifacts.has(name):
            raise NotFound("There is no such training.", remedy="It may have been discarded.")
        return self._told(name)

    @needs(Role.ADMIN)
    def start(
        self, labels: TrainingLabels, course: TrainingCourse | None = None, files: Sequence[Path] | None = None
    ) -> Training:
        """Train a model in the background on the documents that are shown to all, or on text files.

        Raises: ``InvalidInput`` for odd options and where there is no text; ``Conflict`` where the name is taken or
        another training runs; ``DiskFull``.
        """
        course = course or TrainingCourse()
        labels.check()
        course.check()
        name = labels.artifact_name
        if self._artifacts.has(name) or self._is_known(name):
            raise Conflict("This name is taken.", remedy="Choose another one, or delete or discard what has it.")
        wish = _Wish(labels, course, tuple(files) if files is not None else None)
        if next(self._sources(wish), None) is None:
            raise InvalidInput(
                "There is no document to learn from.", remedy="Add documents first; private ones are never learnt from."
            )
        return self._go(name, course, wish)

    @needs(Role.ADMIN)
    def resume(self, name: str) -> Training:
        """Go on from the last checkpoint of a training, or gather its texts where that had failed.

        Raises: ``NotFound``, ``Conflict`` while another one runs or this one elsewhere, ``DiskFull``.
        """
        self._require(name)
        if not self._is_begun(name) and (wish := self._ungathered.get(name)) is not None:
            return self._go(name, wish.course, replace(wish, told={}))
        if self._is_elsewhere(name):
            raise running_elsewhere()
        return self._go(name, read_job(self._work / name / JOB).course)

    @needs(Role.ADMIN)
    def cancel(self, name: str) -> Training:
        """Stop a training at its next step; it can be resumed. Twice is as once.

        Raises: ``NotFound``, ``Conflict`` where it runs elsewhere.
        """
        self.status(name)
        running = self._running
        if running is not None and running.name == name:
            running.stop()
            running.join()
        elif self._is_elsewhere(name):
            raise running_elsewhere()
        return self.status(name)

    @needs(Role.ADMIN)
    def discard(self, name: str) -> None:
        """Remove a training that is not finished, with its checkpoint. Raises: ``NotFound``, ``Conflict``."""
        running = self._running
        if running is not None and running.name == name:
            raise Conflict("This training is running.", remedy="Cancel it first.")
        self._require(name)
        if self._is_elsewhere(name):
            raise running_elsewhere()
        self._ungathered.pop(name, None)
        self._remove(name)

    @needs(Role.READER)
    def wait(self, name: str, timeout_s: float = 60.0) -> Training:
        """Return a training once it runs no longer, or as it is after ``timeout_s``. Raises: ``NotFound``."""
        deadline = time.monotonic() + timeout_s
        while (found := self.status(name)).state is TrainingState.RUNNING and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return found

    # ---- what the knowledge base asks

    def redact(self, purged: Collection[tuple[str, int]]) -> None:
        """Delete the models that learnt from versions, or may have, and the trainings that do, by key and number."""
        gone = {(key, number) for key, number in purged}
        with self._gathering:
            for path in _newest_first(self._work):
                if may_hold(path / JOB, gone):
                    running = self._running
                    if running is not None and running.name == path.name:
                        running.end()
                    self._remove(path.name)
        for artifact in self._artifacts.all():
            folder = self._artifacts.folder(artifact.name)
            if folder is not None and may_hold(folder / SOURCES, gone):
                with suppress(NotFound):
                    self._artifacts.delete(artifact.name)
                self._reopen()

    def close(self) -> None:
        """Stop what runs; it can be resumed."""
        running = self._running
        if running is not None:
            running.end()

    # ---- the work

    def _sources(self, wish: _Wish) -> Iterator[TrainingSource]:
        if wish.files is not None:
            yield from read_texts(wish.files)
            return
        for document in self._library.documents():
            version = document.published_version
            if document.owner or version is None:
                continue
            # It may be purged, or not be indexed yet.
            with suppress(NotFound):
                if (text := self._library.text_of(document.doc_key, version)).strip():
                    yield TrainingSource(text, document.tags, (document.doc_key, version))

    def _take(self, name: str, steps: int) -> Running:
        with self._lock:
            if self._running is not None:
                raise Conflict(
                    f"The training “{self._running.name}” is running.", remedy="Wait until it ends, or cancel it."
                )
            self._running = Running(name, steps)
            return self._running

    def _go(self, name: str, course: TrainingCourse, wish: _Wish | None = None) -> Training:
        self._check_disk(course.disk_bytes + (2 * MOST_TEXT_BYTES if wish is not None else 0))
        running = self._take(name, course.steps)
        self._ungathered.pop(name, None)
        running.follow(lambda: self._run(running, wish))
        return self.status(name)

    def _run(self, running: Running, wish: _Wish | None) -> None:
        try:
            if (wish is None or self._gather(wish, running)) and not running.stopped.is_set():
                self._train(running)
            self._offer(running.name)
        except Exception as error:
            told = told_of(error)
            log.warning("a training failed: %s", told["error"])
            self._note(running.name, **told)
        finally:
            with self._lock:
                self._running = None

    def _gather(self, wish: _Wish, running: Running) -> bool:
        """Gather the texts of a training, and tell whether it can begin; why not is kept."""
        try:
            # A purge waits until the texts are gathered, and finds which they are.
            with self._gathering:
                sources = self._sources(wish)
                begin_job(self._models, wish.labels, wish.course, sources, is_stopped=running.stopped.is_set)
        except Cancelled:
            self._ungathered[running.name] = wish
            return False
        except Exception as error:
            told = told_of(error)
            log.warning("the texts of a training were not gathered: %s", told["error"])
            self._ungathered[running.name] = replace(wish, told=told)
            return False
        return True

    def _offer(self, name: str) -> None:
        """Have generators find a model that is done; the first one is what ``standard`` has waited for."""
        if self._artifacts.has(name):
            if not self._artifacts.chosen():
                self._artifacts.choose(name)
            self._reopen()

    def _reopen(self) -> None:
        for name in WRITERS:
            self._generators.reopen(name)

    def _train(self, running: Running) -> None:
        self._note(running.name, state="running")
        running.begin(self._work / running.name / JOB)
        status = running.wait()
        said = last_told(self._work / running.name / PROGRESS).get("state")
        is_ended = not running.stopped.is_set() and not self._artifacts.has(running.name)
        if status and said not in ("cancelled", "failed") and is_ended:
            remedy = "Resume it; where memory ran out, discard it and train a smaller model."
            raise EvoRAGError("Its process was ended by the system.", remedy=remedy)

    def _told(self, name: str) -> Training:
        running, folder, wish = self._running, self._artifacts.folder(name), self._ungathered.get(name)
        ours = running if running is not None and running.name == name else None
        told = last_told(folder / LOG if folder is not None else self._work / name / PROGRESS)
        if ours is not None:
            state = TrainingState.RUNNING
        elif folder is not None:
            state = TrainingState.DONE
        elif self._is_elsewhere(name):
            state = TrainingState.RUNNING
        else:
            told = told if wish is None else dict(wish.told)
            state = TrainingState.FAILED if told.get("state") == "failed" else TrainingState.CANCELLED
        steps = ours.steps if ours is not None else wish.course.steps if wish is not None else self._steps(name)
        failed = told if state is TrainingState.FAILED else {}
        return Training(
            name,
            state,
            step=int(told.get("step", 0)),
            steps=int(told.get("steps", steps)),
            loss=told.get("loss"),
            held_out_loss=told.get("held_out_loss"),
            tokens_per_s=float(told.get("tokens_per_s", 0.0)),
            seconds_left=told.get("seconds_left") if state is TrainingState.RUNNING else None,
            error=str(failed.get("error", "")),
            code=str(failed.get("code", "")),
            remedy=str(failed.get("remedy", "")),
            left_out=self._left_out(name, folder),
        )

    def _steps(self, name: str) -> int:
        return int(read_json(self._work / name / JOB).get("course", {}).get("steps", 0))

    def _left_out(self, name: str, folder: Path | None) -> int:
        return int(read_json(folder / MANIFEST if folder is not None else self._work / name / JOB).get("left_out", 0))

    def _note(self, name: str, **told: str) -> None:
        with suppress(OSError), (self._work / name / PROGRESS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")

    def _is_begun(self, name: str) -> bool:
        return NAME.fullmatch(name) is not None and (self._work / name / JOB).is_file()

    def _is_known(self, name: str) -> bool:
        return name in self._ungathered or self._is_begun(name)

    def _is_elsewhere(self, name: str) -> bool:
        return self._is_begun(name) and is_worked_on(self._work / name)

    def _require(self, name: str) -> None:
        if not self._is_known(name):
            raise NotFound("There is no unfinished training of this name.", remedy="It may be done, or was discarded.")

    def _remove(self, name: str) -> None:
        if not (self._work / name).is_dir():
            return
        going = Path(tempfile.mkdtemp(prefix=".going-", dir=self._work))
        # Whoever is still at it finds nothing to go on with.
        with suppress(FileNotFoundError):
            (self._work / name).rename(going / name)
        shutil.rmtree(going, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what a killed process had not finished beginning."""
        self._artifacts.sweep()
        for path in _newest_first(self._work):
            if not self._is_begun(path.name) and not is_worked_on(path):
                shutil.rmtree(path, ignore_errors=True)


def _newest_first(folder: Path) -> list[Path]:
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        # One that is going is none.
        with suppress(OSError):
            if path.is_dir():
                found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)]
