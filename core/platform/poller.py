"""Following: what other processes have changed is taken over by this one soon after."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

log = logging.getLogger(__name__)

Act = Callable[[], object]


class Poller:
    """Calls each of its acts again and again in one thread; one that fails is called again all the same."""

    def __init__(self, acts: Iterable[Act], every_s: float = 2.0) -> None:
        self._acts = tuple(acts)
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="evorag-following", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Call every act now, in the calling thread."""
        for act in self._acts:
            try:
                act()
            except Exception as error:
                log.warning("what other processes changed could not be looked up (%s)", type(error).__name__)

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            self.look()
