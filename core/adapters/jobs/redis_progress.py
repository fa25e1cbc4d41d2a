"""Progress by way of Redis: changes of jobs are published on ``upload:channel:<job id>`` and heard by all processes.

A message tells where a job stands, in numbers and words of ours. Whoever hears one looks into the catalogue, which has
the truth and knows who may see it; so a forged or lost message does no harm.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import orjson
from redis import Redis

from core.model import Job

log = logging.getLogger(__name__)

CHANNEL = "upload:channel:"
_TOGETHER_S = 0.05
"""Changes that follow one another so soon are told of together."""
_MOST_JOBS = 1_000
_PAUSE_S = 2.0
_LOOK_S = 1.0
_TIMEOUT_S = 5.0


class RedisProgress:
    """Publishes the changes that ``own`` returns, of the jobs that ``changed_since`` returns for a number.

    ``own`` waits for a change of this process, at most some seconds; ``heard`` is called when there is news of others.
    """

    def __init__(
        self,
        url: str,
        own: Callable[[float], Collection[int]],
        changed_since: Callable[[int], Sequence[Job]],
        heard: Callable[[], object],
    ) -> None:
        self._redis: Any = Redis.from_url(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
        self._take_own = own
        self._changed_since = changed_since
        self._heard = heard
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(act,), name=f"evorag-{name}", daemon=True)
            for name, act in (("progress-out", self._publish), ("progress-in", self._listen))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=2 * _TIMEOUT_S)
        self._redis.close()

    def _run(self, act: Callable[[], None]) -> None:
        while not self._stop.is_set():
            try:
                act()
            except Exception as error:
                # Its message may name the server; what nobody tells of is looked up every half second.
                log.warning("progress is not told through Redis now (%s)", type(error).__name__)
                self._stop.wait(_PAUSE_S)

    def _publish(self) -> None:
        own = set(self._take_own(_LOOK_S))
        if own and not self._stop.wait(_TOGETHER_S):
            own.update(self._take_own(0))
            for job in self._changed_since(min(own) - 1)[:_MOST_JOBS]:
                # What another process has changed since, it tells itself.
                if job.change in own:
                    self._redis.publish(f"{CHANNEL}{job.id}", orjson.dumps(_told(job)))

    def _listen(self) -> None:
        with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
            channel.psubscribe(f"{CHANNEL}*")
            # What was said before is not heard any more.
            self._heard()
            while not self._stop.is_set():
                if channel.get_message(timeout=1.0) is None:
                    continue
                until = time.monotonic() + _TOGETHER_S
                while (left := until - time.monotonic()) > 0 and channel.get_message(timeout=left) is not None:
                    pass
                self._heard()


def _told(job: Job) -> dict[str, object]:
    return {
        "job_id": job.id,
        "change": job.change,
        "state": job.state,
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
    }
