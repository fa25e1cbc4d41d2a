"""Many clients of one server at once: some upload, some follow a job, some search; each kind in a process of its own.

In one process they would wait for each other and not for the server.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tus
from benchmarks.served import Served

QUESTIONS = ("How is the pump started?", "点検の手順と基準", "record of the machine", "装置の校正", "valve pressure")
LONGEST_END_S = 30.0


@dataclass(frozen=True)
class Crowd:
    """What the clients work with: uploaders send ``part_bytes`` of ``file`` as fast as their lines allow."""

    port: int
    file: Path
    job_id: str
    part_bytes: int
    line_bytes: float
    pause_s: float
    seconds: float


def together(crowd: Crowd, count: int) -> tuple[list[float], int, int]:
    """Have so many clients work at once; return the times of searches, the bytes sent and the answers of followers."""
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[tuple[str, list[float]]] = context.Queue()
    shares = {"upload": count // 3, "follow": count // 3, "search": count - 2 * (count // 3)}
    processes = [
        context.Process(target=_act, args=(crowd, kind, share, results), daemon=True) for kind, share in shares.items()
    ]
    for process in processes:
        process.start()
    told = dict(results.get(timeout=crowd.seconds + 4 * LONGEST_END_S) for _ in processes)
    for process in processes:
        process.join(timeout=LONGEST_END_S)
    return told["search"], int(sum(told["upload"])), len(told["follow"])


def searches(server: Served, count: int) -> list[float]:
    """Ask so many questions one after another; return the times in milliseconds."""
    made = server.connection()
    times = []
    for number in range(count):
        quoted = "".join(f"%{byte:02x}" for byte in QUESTIONS[number % len(QUESTIONS)].encode())
        started = time.perf_counter()
        made.request("GET", f"/api/v1/search?q={quoted}")
        answer = made.getresponse()
        answer.read()
        times.append((time.perf_counter() - started) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"a search answered {answer.status}")
    made.close()
    return times


def _act(crowd: Crowd, kind: str, count: int, results: multiprocessing.Queue[tuple[str, list[float]]]) -> None:
    stop = threading.Event()
    noted: list[float] = []
    work: dict[str, Callable[..., None]] = {"upload": _upload, "follow": _follow, "search": _search}
    arguments = (crowd, Served(crowd.port), stop, noted)
    threads = [
        threading.Thread(target=work[kind], args=(*arguments, number / count), daemon=True) for number in range(count)
    ]
    for thread in threads:
        thread.start()
    time.sleep(crowd.seconds)
    stop.set()
    end = time.monotonic() + LONGEST_END_S
    for thread in threads:
        thread.join(timeout=max(end - time.monotonic(), 0))
    results.put((kind, noted))


def _upload(crowd: Crowd, server: Served, stop: threading.Event, noted: list[float], share: float) -> None:
    size = crowd.file.stat().st_size
    part_s = crowd.part_bytes / crowd.line_bytes
    stop.wait(share * part_s)
    while not stop.is_set():
        sending = tus.Sending(server, f"{share:.4f}.pdf", size)
        with crowd.file.open("rb") as source:
            # The last part is never sent: this is about sending, not about what comes after it.
            while not stop.is_set() and source.tell() + crowd.part_bytes < size:
                started = time.monotonic()
                sending.send(source.read(crowd.part_bytes))
                noted.append(crowd.part_bytes)
                stop.wait(max(part_s - (time.monotonic() - started), 0))
        sending.give_up()


def _follow(crowd: Crowd, server: Served, stop: threading.Event, noted: list[float], share: float) -> None:
    change = 0
    while not stop.is_set():
        started = time.monotonic()
        told = server.ask("GET", f"/api/v1/jobs?ids={crowd.job_id}&changed_since={change}&wait_s=2")
        change = told["change"]
        noted.append(1)
        # Where there is no room to wait for news, one asks again a little later.
        stop.wait(max(1.0 - (time.monotonic() - started), 0))


def _search(crowd: Crowd, server: Served, stop: threading.Event, noted: list[float], share: float) -> None:
    stop.wait(share * crowd.pause_s)
    while not stop.is_set():
        started = time.monotonic()
        noted.extend(searches(server, 1))
        stop.wait(max(crowd.pause_s - (time.monotonic() - started), 0))
