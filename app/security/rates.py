"""How often somebody may ask, and how often a password may be wrong.

Each user has counters of their own. Strangers share a fixed number of them, chosen by a hash with a secret, so that
those who come from many addresses or with many names cannot fill the memory, nor find out with whom they share one.
Several processes count together in Redis; while that does not answer, each counts by itself.
"""

from __future__ import annotations

import hashlib
import logging
import math
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from threading import BoundedSemaphore
from typing import TypeVar, cast

import flask
from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter, SlidingWindowCounterRateLimiter

from core.access import current
from core.errors import RateLimited, Unauthorized

log = logging.getLogger(__name__)
Found = TypeVar("Found")

COUNTERS = 4096
KEY = "evorag-rates"
USER = "user "
"""How the counters of somebody known begin."""
CHECKED_AT_ONCE = 2
"""A password takes tens of milliseconds and megabytes to check."""
_TIMEOUT_S = 1.0
_PAUSE_S = 5.0
"""Time for which a Redis that did not answer is not asked again."""


class Counters:
    """Counters of this process, or those that all processes have in the Redis behind a URL."""

    def __init__(self, url: str = "", name: str = "") -> None:
        self._secret_name = f"{name}.rates.secret"
        self._storage: MemoryStorage | RedisStorage = MemoryStorage()
        if url:
            self._storage = RedisStorage(
                url,
                key_prefix=f"{name}.rates",
                wrap_exceptions=True,
                socket_timeout=_TIMEOUT_S,
                socket_connect_timeout=_TIMEOUT_S,
            )
        self.requests = SlidingWindowCounterRateLimiter(self._storage)
        self.failures = MovingWindowRateLimiter(self._storage)

    @cached_property
    def secret(self) -> bytes:
        """What strangers are told apart by. Raises: ``StorageError``."""
        made = secrets.token_bytes(16)
        if isinstance(self._storage, MemoryStorage):
            return made
        redis = self._storage.storage
        try:
            redis.set(self._secret_name, made, nx=True)
            return bytes(redis.get(self._secret_name) or made)
        except self._storage.base_exceptions as error:
            raise StorageError(error) from error


class Rates:
    """Counts requests and failed sign-ins; a limit of 0 is none. With a ``url`` they are counted in that Redis."""

    def __init__(self, requests_a_minute: int, failures_a_minute: int, url: str = "", name: str = "evorag") -> None:
        self._own = Counters()
        self._shared = Counters(url, name) if url else None
        self._asked_again = 0.0
        self._request_limit = RateLimitItemPerMinute(requests_a_minute) if requests_a_minute > 0 else None
        self._failure_limits = _growing(failures_a_minute) if failures_a_minute > 0 else ()
        self._checking = BoundedSemaphore(CHECKED_AT_ONCE)

    def ask(self, who: str) -> int:
        """Count a request and return 0, or the seconds after which the next one is welcome."""
        limit = self._request_limit
        if limit is None:
            return 0

        def ask(counters: Counters) -> int:
            counter = _counter(who, counters)
            if counters.requests.hit(limit, "ask", counter):
                return 0
            return _seconds_until(counters.requests.get_window_stats(limit, "ask", counter).reset_time)

        return self._counted(ask)

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Check passwords within the block: few at a time, so that guesses cannot take the machine."""
        with self._checking:
            yield

    def locked(self, *whom: str) -> int:
        """Return the seconds for which none of ``whom`` may try another password, 0 where all may."""

        def look(counters: Counters) -> int:
            names = [_counter(who, counters) for who in whom]
            spent = [
                (limit, name)
                for limit in self._failure_limits
                for name in names
                if not counters.failures.test(limit, "fail", name)
            ]
            resets = (counters.failures.get_window_stats(limit, "fail", name).reset_time for limit, name in spent)
            return max((_seconds_until(reset) for reset in resets), default=0)

        return self._counted(look) if self._failure_limits else 0

    def failed(self, *whom: str) -> None:
        """Count a wrong password against all of ``whom``."""

        def count(counters: Counters, who: str, limit: RateLimitItem) -> bool:
            return counters.failures.hit(limit, "fail", _counter(who, counters))

        for who in whom:
            for limit in self._failure_limits:
                self._counted(partial(count, who=who, limit=limit))

    def _counted(self, act: Callable[[Counters], Found]) -> Found:
        """Count with all processes, or alone where Redis does not answer."""
        if self._shared is not None and time.monotonic() >= self._asked_again:
            try:
                return act(self._shared)
            except StorageError:
                # Its cause may name the server.
                self._asked_again = time.monotonic() + _PAUSE_S
                log.warning("Redis does not count; each process counts by itself meanwhile")
        return act(self._own)


def _growing(a_minute: int) -> tuple[RateLimitItem, ...]:
    """Return limits by which whoever goes on guessing waits for minutes, then for hours."""
    return (
        RateLimitItemPerMinute(a_minute),
        RateLimitItemPerMinute(3 * a_minute, 15),
        RateLimitItemPerHour(6 * a_minute),
        RateLimitItemPerDay(20 * a_minute),
    )


def _counter(who: str, counters: Counters) -> str:
    if who.startswith(USER):
        return who
    digest = hashlib.blake2b(who.encode("utf-8", "replace"), key=counters.secret, digest_size=8).digest()
    return str(int.from_bytes(digest, "big") % COUNTERS)


def rates() -> Rates:
    """Return the counters of the application that serves the present request."""
    return cast("Rates", flask.current_app.extensions[KEY])


def counted(act: Callable[[], Found], often: str) -> Found:
    """Do what the present caller proves by a password or a code, and count it where that is wrong.

    Raises: ``RateLimited`` with the words ``often`` where it was wrong too often; what ``act`` raises.
    """
    who = current().user_id
    if who is None:
        return act()
    counts, whom = rates(), user(who)
    with counts.checking():
        if wait := counts.locked(whom):
            flask.g.evorag_retry_after = wait
            raise RateLimited(often)
        try:
            return act()
        except Unauthorized:
            counts.failed(whom)
            raise


def user(user_id: int, by_key: bool = False) -> str:
    """Return by which name a user's requests are counted; all keys of one share a counter."""
    return f"{USER}{user_id} by key" if by_key else f"{USER}{user_id}"


def stranger(kind: str, name: str) -> str:
    """Return by which name somebody is counted whom nobody knows."""
    return f"{kind} {name}"


def _seconds_until(moment: float) -> int:
    return max(1, math.ceil(moment - time.time()))
