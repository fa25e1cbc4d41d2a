"""What runs in the background of a knowledge base: begun once it is wired, ended before anything else ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from core.errors import is_for_want_of_room

log = logging.getLogger(__name__)

_START_S = 60.0


class Background:
    """Starts the workers, in a thread of its own where nobody should wait for stores and models."""

    def __init__(
        self, start: Callable[[], None], on_close: Sequence[Callable[[], None]], closing: threading.Event
    ) -> None:
        """Start with ``start``; ``on_close`` ends in its order what only follows others, once ``closing`` is set."""
        self._start = start
        self._on_close = tuple(on_close)
        self._thread: threading.Thread | None = None
        self.closing = closing

    def start(self) -> None:
        """Start everything in the calling thread."""
        self._start()

    def start_soon(self) -> None:
        """Start everything in the background; until that has ended the stores count as loading."""
        self._thread = threading.Thread(target=self._run, name="evorag-start", daemon=True)
        self._thread.start()

    @property
    def is_starting(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def join(self, timeout_s: float | None = None) -> None:
        """Return once everything has been started, or the time is over."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def close(self) -> None:
        self.closing.set()
        self.join(_START_S)
        for act in self._on_close:
            act()

    def _run(self) -> None:
        try:
            self._start()
        except Exception as error:
            if is_for_want_of_room(error):
                log.error("there is no room on the disk of the data folder: stores that need some do not start")
                return
            log.exception("starting up failed; what needs the stores or models will say so")
