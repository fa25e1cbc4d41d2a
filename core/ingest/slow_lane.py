"""The slow lane: a file that takes its parser long goes on here, one at a time, and short ones go first.

What steps aside while the lane is free goes on in its child process, at a lower priority. While the lane is taken,
another one is stopped for those that wait behind it, and is parsed anew when its turn has come: no more than one parser
is at work, and holds memory, beside those of the other lanes.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.catalog.jobs.job_scheduler import LARGE_BYTES
from core.catalog.jobs.stage_run import StageResult, StageRun
from core.errors import Cancelled, StoreUnavailable
from core.ingest.fair_queue import FairQueue
from core.platform.failpoints import failpoint
from core.ports import Look, Parsing, Signal

if TYPE_CHECKING:
    from core.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Aside(StageResult):
    """That a document has stepped aside; with ``parsing`` it is still being parsed, into ``target``."""

    parsing: Parsing | None = None
    target: Path = Path()

    def end(self) -> None:
        """Give up what is being parsed."""
        if self.parsing is not None and self.parsing.is_open:
            self.parsing.end()
            self.target.unlink(missing_ok=True)


class SlowLane:
    """Documents whose parser has used more processor time than short ones should wait for."""

    def __init__(self, catalog: Catalog, patience_s: float, signal: Signal) -> None:
        """``patience_s`` is the processor time after which a parser steps aside; ``signal`` is told when one does."""
        self._catalog = catalog
        self._patience_s = patience_s
        self._signal = signal
        self._lock = threading.Lock()
        self._queue: FairQueue[StageRun] = FairQueue()
        self._holder: StageRun | None = None

    def look(self, run: StageRun) -> Look:
        """Return what follows the parsing of a document, and steps it aside where it takes long."""
        is_aside, is_large = has_stepped_aside(run), run.job.size_bytes > LARGE_BYTES

        def follow(parsing: Parsing) -> bool:
            if is_aside:
                parsing.lower()
            try:
                run.check()
                return not (is_aside or is_large) and parsing.used_s >= self._patience_s and self._takes(run, parsing)
            except StoreUnavailable:
                # What is parsed is not lost because the catalogue does not answer; it is asked again.
                return False

        return follow

    def put(self, run: StageRun) -> None:
        """Let a document wait for its turn that has stepped aside."""
        try:
            failpoint("ingest.aside.begun")
            with suppress(Cancelled):
                run.wait_for_store(run.write)
                run.wait_for_store(lambda: run.note("aside"))
        except BaseException:
            self.release(run)
            raise
        with self._lock:
            self._queue.put(run.job.actor, run.job.priority, run)
        self._signal.notify()

    def next(self) -> StageRun | None:
        """Return the document that has the lane from now on; None where none waits."""
        with self._lock:
            going_on, self._holder = self._holder, None
            run = None
            if going_on is not None:
                run = self._queue.remove(lambda each: each is going_on)
                if run is None:
                    # It is about to be put here, or somebody is at work on it.
                    self._holder = going_on
                    return None
            run = self._holder = run or self._queue.next()
        if run is not None:
            failpoint("ingest.aside.resumed")
            run.rest()
            run.together = 1
        return run

    def release(self, run: StageRun) -> None:
        """Let another document have the lane; what is still being parsed of this one is given up."""
        with self._lock:
            if self._holder is run:
                self._holder = None
        if (aside := run.result(Aside)) is not None:
            aside.end()

    def drop(self, job_id: str) -> bool:
        """Take a document out of the lane whose job has ended; tell whether it waited there."""
        run = self._queue.remove(lambda each: each.job.id == job_id and not each.is_running)
        if run is not None:
            self.release(run)
        return run is not None

    def prioritise(self, job_id: str, priority: int) -> None:
        """Have a document's turn come earlier or later than those of its user's others."""
        with self._lock:
            run = self._queue.remove(lambda each: each.job.id == job_id)
            if run is not None:
                self._queue.put(run.job.actor, priority, run)

    def close(self) -> None:
        """Give up what waits; the next start goes on with it."""
        while (run := self._queue.next()) is not None:
            self.release(run)

    def _takes(self, run: StageRun, parsing: Parsing) -> bool:
        """Take a parsing into the lane if that is free; if not, stop it where others wait."""
        with self._lock:
            is_free = self._holder is None and self._queue.is_empty()
            if is_free:
                self._holder = run
        if is_free:
            parsing.lower()
        elif run.together > 1 or self._catalog.jobs.is_waiting(large=False):
            parsing.end()
        else:
            return False
        run.spend({"peak_aside_s": parsing.used_s})
        return True


def has_stepped_aside(run: StageRun) -> bool:
    """Tell whether a document takes its parser so long that it has, or had, a place in the slow lane."""
    return run.result(Aside) is not None
