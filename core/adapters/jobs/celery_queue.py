"""Jobs by way of Celery on Redis: web processes hint that there is work, and workers look into the ledger.

A message names no job: the ledger knows what there is to do, so that a lost message, one that comes twice and one that
anybody else has put into Redis do no harm. A worker acknowledges one when it has nothing left to do; where it is killed
before, Redis gives the message to another worker after the visibility time-out.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from celery import Celery
from celery.worker import WorkController, state
from redis import Redis

from core.model import Job
from core.ports import JobQueue, Signal

log = logging.getLogger(__name__)

# One line a hint is no news to anyone who runs EvoRAG.
logging.getLogger("celery").setLevel(logging.WARNING)

TASK = "evorag.work"
_MOST_WAITING = 32
"""Hints that lie in Redis at once; each has a worker look for all that there is to do."""
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_TIMEOUT_S = 5.0


def celery_app(url: str, name: str, visibility_s: float) -> Celery:
    """Return the application whose queue is ``name.jobs`` on the Redis behind ``url``."""
    app = Celery("evorag", broker=url, set_as_current=False)
    app.conf.update(
        task_default_queue=f"{name}.jobs",
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": max(visibility_s, 1.0),
            "socket_timeout": _TIMEOUT_S,
            "socket_connect_timeout": _TIMEOUT_S,
        },
    )
    return app


class CeleryJobs:
    """The port ``JobQueue`` of a process that works on no job itself, over the one that knows the ledger."""

    has_threads = True

    def __init__(self, ledger: JobQueue, signal: Signal, url: str, name: str, visibility_s: float) -> None:
        """Send a hint whenever ``signal`` is notified, which tells of work."""
        self._ledger = ledger
        self._app = celery_app(url, name, visibility_s)
        self._queue = f"{name}.jobs"
        self._redis = Redis.from_url(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
        self._signal = signal
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evorag-hints", daemon=True)

    def start(self) -> None:
        self._ledger.start()
        self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Have a hint sent; several wishes at the same time are one, and Redis is not waited for."""
        self._signal.notify()

    def work_off(self) -> None:
        self._ledger.work_off()

    def wait(self, job_ids: Sequence[str], timeout_s: float | None) -> list[Job]:
        return self._ledger.wait(job_ids, timeout_s)

    def changed(self, seen: int, timeout_s: float) -> int:
        return self._ledger.changed(seen, timeout_s)

    def cancel(self, job_id: str) -> Job:
        return self._ledger.cancel(job_id)

    def retry(self, job_id: str, *, anew: bool = True) -> Job:
        return self._ledger.retry(job_id, anew=anew)

    def prioritise(self, job_id: str, priority: int) -> Job:
        return self._ledger.prioritise(job_id, priority)

    def close(self) -> None:
        self._stop.set()
        self._signal.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=2 * _TIMEOUT_S)
        self._ledger.close()
        self._app.close()
        self._redis.close()

    def _run(self) -> None:
        pause_s, seen = _FIRST_PAUSE_S, 0
        while True:
            self._signal.wait(seen)
            if self._stop.is_set():
                return
            heard = self._signal.count
            try:
                self._hint()
                pause_s, seen = _FIRST_PAUSE_S, heard
            except Exception as error:
                # Its message may name the server; workers look into the ledger by themselves meanwhile.
                log.warning("Redis does not take a hint and is asked again (%s)", type(error).__name__)
                self._stop.wait(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _hint(self) -> None:
        if int(self._redis.llen(self._queue)) < _MOST_WAITING:
            self._app.send_task(TASK, ignore_result=True, retry=False)


class CeleryWorker:
    """Takes hints from Redis, one at a time; ``work`` returns when nothing is left to do, or its event is set."""

    def __init__(self, url: str, name: str, visibility_s: float, work: Callable[[threading.Event], None]) -> None:
        self._stop = threading.Event()
        # Celery keeps this for the whole process, from one worker to the next.
        state.should_stop = None
        self._app = celery_app(url, name, visibility_s)

        def carry_out(*_: Any, **__: Any) -> None:
            work(self._stop)

        self._app.task(name=TASK)(carry_out)

    def run(self) -> None:
        """Take hints until ``stop`` is called, be it before this; a Redis that is down is waited for."""
        if self._stop.is_set():
            return
        # The thread pool leaves the loop free that takes back what a killed worker has not acknowledged.
        WorkController(app=self._app, pool="threads", concurrency=1, loglevel="WARNING", optimization="fair").start()

    def stop(self) -> None:
        """Have ``run`` return soon; what is left to do, others find in the ledger."""
        self._stop.set()
        state.should_stop = 0
