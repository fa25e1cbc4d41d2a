"""Hints follow the signal of work, and are tried again while Redis is away."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from core.adapters.jobs import celery_queue
from core.adapters.jobs.celery_queue import CeleryJobs
from core.platform.work_signal import WorkSignal


class QuietLedger:
    """A ledger with nothing in it."""

    def start(self) -> None: ...

    def close(self) -> None: ...


def test_a_hint_is_sent_for_each_notification_and_again_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    told = threading.Semaphore(0)

    def hint(_: Any) -> None:
        sent.append("hint")
        told.release()
        if len(sent) == 2:
            raise ConnectionError("Redis is away")

    monkeypatch.setattr(CeleryJobs, "_hint", hint)
    monkeypatch.setattr(celery_queue, "_FIRST_PAUSE_S", 0.01)
    signal = WorkSignal()
    queue = CeleryJobs(QuietLedger(), signal, "redis://127.0.0.1:1/0", "none", 60)  # type: ignore[arg-type]
    queue.start()
    assert told.acquire(timeout=30)
    signal.notify()
    assert told.acquire(timeout=30) and told.acquire(timeout=30)
    assert not told.acquire(timeout=0.1)
    queue.close()
    assert len(sent) == 3
