"""One training on its way: the thread that follows it, and the process that does the work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.platform.child_process import Process, start_module

STOP_S = 10.0


class Running:
    """A training of ``steps`` steps that runs; there is no process yet while its texts are gathered."""

    def __init__(self, name: str, steps: int) -> None:
        self.name = name
        self.steps = steps
        self.stopped = threading.Event()
        self._process: Process | None = None
        self._thread: threading.Thread | None = None

    def follow(self, run: Callable[[], None]) -> None:
        """Have ``run`` follow the training in the background."""
        self._thread = threading.Thread(target=run, name="evorag-training", daemon=True)
        self._thread.start()

    def begin(self, job: Path) -> None:
        """Start the process of a job; it sees nothing of the environment and stops when its standard input ends."""
        self._process = start_module(
            "core.snn.train", "--job", str(job), home=job.parent, environment={"HF_HUB_OFFLINE": "1"}
        )
        if self.stopped.is_set():
            self.stop()

    def wait(self) -> int:
        """Return the status of the process once it has ended."""
        assert self._process is not None
        return self._process.wait()

    def stop(self) -> None:
        """Have the process write a checkpoint and end at its next step."""
        self.stopped.set()
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def join(self) -> None:
        """Wait a while for the end."""
        if self._thread is not None:
            self._thread.join(STOP_S)

    def end(self) -> None:
        """Stop, at once where the process does not stop by itself."""
        self.stop()
        self.join()
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self.join()
