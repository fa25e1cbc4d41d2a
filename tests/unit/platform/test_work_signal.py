"""Work that is queued wakes whoever waits for it, also where it came between looking and waiting."""

from __future__ import annotations

import threading

from core.platform.work_signal import WorkSignal


def test_a_notification_between_looking_and_waiting_is_not_missed() -> None:
    signal = WorkSignal()
    seen = signal.count
    signal.notify()
    waiting = threading.Thread(target=signal.wait, args=(seen,), daemon=True)
    waiting.start()
    waiting.join(30)
    assert not waiting.is_alive()


def test_a_notification_wakes_all_who_wait() -> None:
    signal = WorkSignal()
    waiting = [threading.Thread(target=signal.wait, args=(signal.count,), daemon=True) for _ in range(3)]
    for thread in waiting:
        thread.start()
    signal.notify()
    for thread in waiting:
        thread.join(30)
    assert not any(thread.is_alive() for thread in waiting)
