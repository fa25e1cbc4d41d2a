"""The job of an archive: all of it is read once and checked; then its members become documents, one after another."""

from __future__ import annotations

import logging
import secrets
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.access import acting
from core.blobs.pinned import PinnedBlobs
from core.blobs.quota import StorageQuota
from core.catalog.jobs.ledger import Attempt, Step
from core.catalog.jobs.stage_run import StageResult, StageRun, run_stage
from core.errors import Cancelled, EvoRAGError, NotFound, QuotaExceeded
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.child import OpenArchive, opened
from core.ingest.archives.members import Member
from core.ingest.archives.store_archive import ArchiveIntake, check_members
from core.model import Filing, Job, JobFilter, JobState, Principal, Stage, Upload
from core.model.codec import from_dict
from core.platform.failpoints import failpoint

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

FileMembers = Callable[[Sequence[tuple[str, Path]], Filing, Attempt], Sequence[Upload | EvoRAGError]]
"""Files what was unpacked, each name with its bytes, for an attempt at an archive; an error refuses one member."""


_TOGETHER = 32
_TOGETHER_BYTES = 32 * 1024 * 1024
_NOTED = 200


class ArchiveUnpacker:
    """Runs jobs of kind ``unpack``; a job that was interrupted goes on where it stood, and files nothing twice."""

    work = "unpacking"

    def __init__(
        self,
        catalog: Catalog,
        blobs: PinnedBlobs,
        scratch: Path,
        intake: ArchiveIntake,
        limits: ArchiveLimits,
        quota: StorageQuota,
        file: FileMembers,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs.store
        self._pins = blobs.pins
        self._scratch = scratch
        self._intake = intake
        self._limits = limits
        self._quota = quota
        self._file = file

    def run(self, job: Job, stop: threading.Event) -> None:
        """Work on a job until it has ended, or until ``stop`` is set: then it stays for the next start."""
        run = StageRun(self._catalog.jobs, job, stop)
        if run_stage(self._unpack, run, self):
            self._end(job, None)
        self._intake.sweep()

    def cancelled(self, run: StageRun) -> None:
        """Leave the documents that the archive has given so far."""

    def failed(self, run: StageRun, error: EvoRAGError) -> None:
        self._end(run.job, error)

    def _end(self, job: Job, error: EvoRAGError | None) -> None:
        state = JobState.DONE if error is None else JobState.FAILED
        told = None if error is None else error.as_dict()
        self._catalog.jobs.end(job.id, state, error=told, version_state="failed", attempt=job.attempts)
        failpoint("archives.job.ended")

    def _unpack(self, run: StageRun) -> StageResult:
        job = run.job
        payload = self._catalog.jobs.payload(job.id)
        if not payload.get("sha256"):
            raise NotFound("The bytes of the archive are gone.", remedy="Upload the archive again.")
        run.begin(Stage.UNPACKING)

        def go_on() -> bool:
            run.check()
            return True

        if not self._catalog.jobs.advance([_first_step(job, run.attempt)]):
            raise Cancelled("The job was cancelled.")
        with (
            self._pins.held(payload["sha256"]),
            tempfile.TemporaryDirectory(prefix="unpack-", dir=self._scratch, ignore_cleanup_errors=True) as folder,
            opened(
                run.wait_for_store(lambda: self._blobs.path(payload["sha256"])),
                payload["kind"],
                self._limits,
                Path(folder),
            ) as archive,
        ):
            members = archive.survey(go_on) or []
            check_members(members)
            who = from_dict(Principal, payload["who"])
            self._check_room(members[job.done :], who)
            failpoint("archives.surveyed")
            unpacking = _Unpacking(run, members, _filing(payload["filing"]), who, Path(folder))
            self._file_all(unpacking, archive, go_on)
        return StageResult()

    def _file_all(self, run: _Unpacking, archive: OpenArchive, go_on: Callable[[], bool]) -> None:
        if not run.done:
            self._note(run, [(member, member.refusal) for member in run.members if member.refusal])
        for together in _batches(run.members[run.done :]):
            go_on()
            files: list[tuple[Member, Path]] = []
            try:
                for member in together:
                    path = run.folder / secrets.token_hex(16)
                    files.append((member, path))
                    archive.take(member, path, go_on)
                with acting(run.who):
                    named = [(member.name, path) for member, path in files]
                    answers = run.run.wait_for_store(partial(self._file, named, run.filing, run.attempt))
            finally:
                for _, path in files:
                    path.unlink(missing_ok=True)
            failpoint("archives.members.filed")
            pairs = zip(together, answers, strict=True)
            refused = [(member, answer.code) for member, answer in pairs if isinstance(answer, EvoRAGError)]
            self._note(run, refused)
            run.refused_late += len(refused)
            run.done = together[-1].number + 1
            self._write(run)
            failpoint("archives.step.written")
        run.done = len(run.members)
        self._write(run, finished=Stage.UNPACKING)

    def _write(self, run: _Unpacking, finished: Stage | None = None) -> None:
        filed = sum(self._catalog.jobs.counts(JobFilter(parent_id=run.attempt.job_id)).values())
        step = Step(
            run.attempt,
            Stage.UNPACKING,
            run.done,
            len(run.members),
            seconds={Stage.UNPACKING.value: run.seconds()},
            counts={**run.counts(filed), Stage.UNPACKING.value: run.done},
            finished=finished,
        )
        if not self._catalog.jobs.advance([step]):
            raise Cancelled("The job was cancelled.")

    def _note(self, run: _Unpacking, refused: Sequence[tuple[Member, str]]) -> None:
        """Name in the job's log what does not become a document, as far as anyone would read."""
        for member, code in refused:
            if code != "ignored" and run.noted < _NOTED:
                run.noted += 1
                told = {"member": member.number, "name": member.name, "reason": code}
                self._catalog.jobs.note([run.attempt.job_id], "member_refused", Stage.UNPACKING, **told)

    def _check_room(self, members: Sequence[Member], who: Principal) -> None:
        """Raises: ``DiskFull``, ``QuotaExceeded`` where the documents together have no room."""
        wanted = sum(member.size_bytes for member in members if not member.refusal)
        self._quota.check_disk(wanted)
        with acting(who):
            if self._quota.max_bytes() < min(wanted, self._quota.max_file_bytes):
                raise QuotaExceeded(f"The archive unpacks to {wanted:,} bytes; you may not keep as many.")


class _Unpacking:
    """One attempt at an archive, and how far it is."""

    def __init__(self, run: StageRun, members: Sequence[Member], filing: Filing, who: Principal, folder: Path) -> None:
        job = run.job
        self.run = run
        self.attempt = run.attempt
        self.members = members
        self.filing = filing
        self.who = who
        self.folder = folder
        self.done = job.done
        self.noted = 0
        self._planned = Counter(member.refusal for member in members)
        self._skipped = self._planned["ignored"] + self._planned["nested_archive"]
        self._refused = len(members) - self._planned[""] - self._skipped
        self.refused_late = max(job.stage_counts.get("refused", 0) - self._refused, 0) if job.done else 0
        """How many were refused only when their content was looked at."""
        self._spent = job.stage_seconds.get(Stage.UNPACKING, 0.0)
        self._started = time.monotonic()

    def seconds(self) -> float:
        return round(self._spent + time.monotonic() - self._started, 4)

    def counts(self, filed: int) -> dict[str, int]:
        """Return what has become of the members, ``filed`` of which got jobs."""
        tried = sum(1 for member in self.members[: self.done] if not member.refusal)
        return {
            "members": len(self.members),
            "filed": filed,
            "unchanged": max(tried - filed - self.refused_late, 0),
            "skipped": self._skipped,
            "refused": self._refused + self.refused_late,
        }


def _first_step(job: Job, attempt: Attempt) -> Step:
    return Step(attempt, Stage.UNPACKING, job.done, job.total, dict(job.stage_seconds), dict(job.stage_counts))


def _filing(kept: dict[str, Any]) -> Filing:
    """Return what was said of the archive; a moment of publication that has passed meanwhile is now."""
    filing = from_dict(Filing, kept)
    if filing.publish_at is not None and filing.publish_at <= datetime.now(UTC):
        return replace(filing, publish_at=None, draft=False)
    return filing


def _batches(members: Sequence[Member]) -> Iterator[list[Member]]:
    """Yield the members that become documents, a few small ones together."""
    size = number = batch = 0

    def place(member: Member) -> int:
        nonlocal size, number, batch
        size, number = size + member.size_bytes, number + 1
        if number > _TOGETHER or (size > _TOGETHER_BYTES and number > 1):
            size, number, batch = member.size_bytes, 1, batch + 1
        return batch

    for _, together in groupby((member for member in members if not member.refusal), place):
        yield list(together)
