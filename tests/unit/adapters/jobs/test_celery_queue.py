"""A worker of Celery ends when it is told to, whenever that is."""

from __future__ import annotations

import threading

from core.adapters.jobs.celery_queue import CeleryWorker


def test_a_worker_that_is_stopped_before_it_runs_does_not_begin() -> None:
    worker = CeleryWorker("redis://127.0.0.1:1/0", "none", 60, lambda stop: None)
    worker.stop()
    running = threading.Thread(target=worker.run, daemon=True)
    running.start()
    running.join(60)
    assert not running.is_alive()
