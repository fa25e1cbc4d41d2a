"""Lets a generator write in a thread of its own, so that its reader can stop and gives up in time.

Whatever the writer waits for, an answer ends when its time is over, when it is long enough, or when nobody reads it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress

from core.errors import EvoRAGError, GenerationFailed, GenerationTimedOut

TICK_S = 0.1
BEAT_S = 2.0
"""A reader hears this often of a writer that writes nothing yet."""
WAITING = 1024
"""Pieces that wait for their reader."""

Put = Callable[[str], None]


class ReaderGone(Exception):
    """Nobody reads any more."""


def read_pieces(
    write: Callable[[Put, threading.Event], None], *, timeout_s: float, max_bytes: int
) -> Generator[str, None, None]:
    """Yield what ``write`` puts, at most ``max_bytes`` of UTF-8, and ``""`` every ``BEAT_S`` while it puts nothing.

    Closing the iterator sets the event. ``put`` raises ``ReaderGone`` when the reader has gone, which ``write`` lets
    through. Raises: ``GenerationTimedOut``, and what ``write`` raises; anything but our errors as ``GenerationFailed``.
    """
    pieces: queue.Queue[str | EvoRAGError | None] = queue.Queue(WAITING)
    stopped = threading.Event()
    deadline = time.monotonic() + timeout_s

    def put(piece: str | EvoRAGError | None) -> None:
        # A reader that holds the iterator and asks for nothing more must not keep the writer for ever.
        while not stopped.is_set() and time.monotonic() < deadline:
            with suppress(queue.Full):
                return pieces.put(piece, timeout=TICK_S)
        raise ReaderGone

    def work() -> None:
        last: EvoRAGError | None = None
        try:
            write(put, stopped)
        except ReaderGone:
            return
        except EvoRAGError as error:
            last = error
        except Exception as error:
            last = GenerationFailed(f"The writing of the answer ended with an error ({type(error).__name__}).")
            last.__cause__ = error
        with suppress(ReaderGone):
            put(last)

    threading.Thread(target=work, name="evorag-writing", daemon=True).start()
    left = max_bytes
    try:
        while left > 0:
            piece = _next(pieces, deadline, timeout_s)
            if piece is None:
                return
            if isinstance(piece, EvoRAGError):
                raise piece
            kept, left = cut(piece, left)
            if kept or not piece:
                yield kept
    finally:
        stopped.set()


def cut(piece: str, left: int) -> tuple[str, int]:
    """Return as much of the piece as fits into ``left`` bytes of UTF-8, and what is left after it."""
    data = piece.encode("utf-8", "replace")
    return data[:left].decode("utf-8", "ignore"), left - len(data)


def timed_out(timeout_s: float) -> GenerationTimedOut:
    return GenerationTimedOut(f"The answer was not written within {timeout_s:g} seconds.")


def _next(pieces: queue.Queue[str | EvoRAGError | None], deadline: float, timeout_s: float) -> str | EvoRAGError | None:
    """Return what was put next, ``""`` where that is not there within a beat."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise timed_out(timeout_s)
    try:
        return pieces.get(timeout=min(left, BEAT_S))
    except queue.Empty:
        return ""
