"""Keeps threads of the server free of requests that wait: only a share of the threads, and of that a half for each."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import cast

import flask
from werkzeug.exceptions import ServiceUnavailable

from app.context import kb, principal, rag
from core.model import Query, Task

SHARE = 4
"""One of so many threads may wait."""
KEY = "evorag-waiting"
KEY_OF_WRITING = "evorag-writing"
AGAIN_S = 5
NONE = "none"
"""The generator that extracts."""


class Waiting:
    """The places of those who wait."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._each = max(1, places // 2)
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def place(self, who: str) -> Iterator[bool]:
        """Hold a place within the block; gives whether there was one."""
        with self._lock:
            has_room = self._taken.total() < self._places and self._taken[who] < self._each
            if has_room:
                self._taken[who] += 1
        try:
            yield has_room
        finally:
            if has_room:
                with self._lock:
                    self._taken[who] -= 1
                    self._taken += Counter()  # forgets who holds none


@contextmanager
def room_to_wait() -> Iterator[bool]:
    """Give whether whoever asks may wait within the block; else the answer has to come at once."""
    with _place(KEY) as has_room:
        yield has_room


@contextmanager
def room_to_write(query: Query | None = None) -> Iterator[None]:
    """Hold a place within the block where a generator answers the question, of as many as may wait besides.

    Without a question it is one that leaves the generator to the settings. Raises: 503 where there is no place.
    """
    with _place(KEY_OF_WRITING) if _is_written(query) else nullcontext(True) as has_room:
        if not has_room:
            raise ServiceUnavailable("Too many answers are being written at the same time.", retry_after=AGAIN_S)
        yield


def _is_written(query: Query | None) -> bool:
    generators = kb().generators
    if query is not None and query.conversation_id and generators.chosen(Task.STANDALONE) != NONE:
        return True
    if query is not None and (query.generator or query.record):
        return generators.writer_of(query) != NONE
    return generators.chosen(Task.ANSWER, rag().llm_type) != NONE


@contextmanager
def _place(key: str) -> Iterator[bool]:
    places = max(1, kb().settings.server.server_threads // SHARE)
    waiting = cast("Waiting", flask.current_app.extensions.setdefault(key, Waiting(places)))
    who = principal().user_id
    with waiting.place(f"address {flask.request.remote_addr}" if who is None else f"user {who}") as has_room:
        yield has_room
