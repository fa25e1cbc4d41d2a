"""The connection of one request, which another thread can cut at any moment, also while the server says nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from core.adapters.generation.background_writing import ReaderGone, timed_out

_OPENED = ("connect_tcp.complete", "start_tls.complete")


class CutLine:
    """Ends with ``timeout_s``, or when it is cut; every request needs a line and a connection of its own."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_cut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Hear of the connection, as the extension ``trace`` of httpx tells."""
        if not event.endswith(_OPENED):
            return
        with self._lock:
            self._socket = info["return_value"].get_extra_info("socket")
            if self._is_cut:
                self._shut()

    def chunks(self, received: Iterable[bytes]) -> Iterator[bytes]:
        """Yield what is received. Raises: ``ReaderGone`` once the line is cut, ``GenerationTimedOut``."""
        for chunk in received:
            if self._is_cut:
                raise ReaderGone
            if time.monotonic() >= self._deadline:
                raise timed_out(self._timeout_s)
            yield chunk

    def cut(self) -> None:
        """End the request; whoever waits for it finds the connection closed."""
        with self._lock:
            self._is_cut = True
            self._shut()

    def _shut(self) -> None:
        if isinstance(self._socket, socket.socket):
            with suppress(OSError):
                # Closing alone wakes nobody who reads, and that of TLS would say goodbye first.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
