"""How many requests a second a server answers to many clients at once, and how long each of them waits.

A real server on a new data folder gets a text of ``--text`` bytes. Then so many clients, on connections that stay open,
ask one thing after another for ``--seconds``, without a pause; they share the machine with the server, which takes some
of its speed.

- ``vector_at_hand``: a search by a question whose vector the server still has;
- ``embedding``: a search by a question that nobody has asked before;
- ``asked``: such a question, answered with the reader;
- ``alive``: ``/health/live``, which is little but the server itself.

``p95_ratio`` is p95 to p50: how much longer those wait who wait long. ``processor_ms`` is the server's processor time
for one request.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from benchmarks import machine, runner, tus
from benchmarks.benchmark import Benchmark, Context
from benchmarks.crowd import LONGEST_END_S, QUESTIONS, searches
from benchmarks.served import Served, served
from benchmarks.upload import PART_BYTES, in_bytes
from benchmarks.upload_text import write_text

JSON = {"Content-Type": "application/json"}
Ask = Callable[[HTTPConnection, int, int], None]
"""Sends one request: of a client, its number and that of its request."""


def _search_again(made: HTTPConnection, client: int, number: int) -> None:
    made.request("GET", f"/api/v1/search?q={quote(QUESTIONS[number % len(QUESTIONS)])}")


def _search_anew(made: HTTPConnection, client: int, number: int) -> None:
    made.request("GET", f"/api/v1/search?q={quote(_never_asked(client, number))}")


def _ask(made: HTTPConnection, client: int, number: int) -> None:
    sent = {"question": _never_asked(client, number), "keep": False}
    made.request("POST", "/api/v1/ask", json.dumps(sent), JSON)


def _look(made: HTTPConnection, client: int, number: int) -> None:
    made.request("GET", "/health/live")


KINDS: Mapping[str, Ask] = {
    "vector_at_hand": _search_again,
    "embedding": _search_anew,
    "asked": _ask,
    "alive": _look,
}


def _never_asked(client: int, number: int) -> str:
    return f"{QUESTIONS[number % len(QUESTIONS)]} {client}-{number}"


def measured(server: Served, kind: str, clients: int, seconds: float) -> dict[str, float]:
    """Return what so many clients see who ask at once, for so long."""
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[tuple[list[float], float]] = context.Queue()
    ready = context.Event()
    asking = context.Process(target=_act, args=(server.port, kind, clients, seconds, ready, results), daemon=True)
    asking.start()
    ready.wait()
    before = server.memory.processor_s()
    times, took = results.get()
    used = server.memory.processor_s() - before
    asking.join(timeout=LONGEST_END_S)
    p50, p95 = (float(np.percentile(times, share)) for share in (50, 95))
    return {
        "requests": len(times),
        "requests_per_s": len(times) / took,
        "p50_ms": p50,
        "p95_ms": p95,
        "max_ms": max(times),
        "p95_ratio": p95 / p50,
        "processor_ms": used / len(times) * 1000,
    }


def _act(port: int, kind: str, clients: int, seconds: float, ready: Any, results: Any) -> None:
    """Have all clients ask, in a process of their own."""
    times: list[float] = []
    server, ask = Served(port), KINDS[kind]
    starting, ends = threading.Barrier(clients + 1), threading.Event()

    def go(client: int) -> None:
        made = server.connection()
        starting.wait()
        for number in count():
            if ends.is_set():
                break
            started = time.perf_counter()
            ask(made, client, number)
            answer = made.getresponse()
            answer.read()
            if answer.status != 200:
                os.write(2, f"a request was answered with {answer.status}\n".encode())
                os._exit(1)
            times.append((time.perf_counter() - started) * 1000)
        made.close()

    threads = [threading.Thread(target=go, args=(client,), daemon=True) for client in range(clients)]
    for thread in threads:
        thread.start()
    starting.wait()
    ready.set()
    started = time.perf_counter()
    time.sleep(seconds)
    ends.set()
    for thread in threads:
        thread.join()
    results.put((times, time.perf_counter() - started))


def figures(context: Context) -> dict[str, Any]:
    options, folder = context.options, context.workspace
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    text = Path(folder) / "library.txt"
    write_text(text, options.text, context.seed)
    settings = {"server_threads": str(options.threads)} if options.threads else {}
    # All clients come from one address, which would be held to the rate of one.
    with served(folder, rate_limit="0", **settings) as server:
        job_id = tus.receipt(server, tus.send(server, text, text.name, PART_BYTES))["job_id"]
        while server.ask("GET", f"/api/v1/jobs/{job_id}")["state"] != "done":
            time.sleep(0.5)
        searches(server, 3 * len(QUESTIONS))
        report: dict[str, Any] = {"clients": options.clients}
        for kind in KINDS:
            machine.note(f"{options.clients} clients: {kind}")
            report[kind] = measured(server, kind, options.clients, options.seconds)
        report["memory_mb"] = server.memory.now()
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long they ask for each thing")
    parser.add_argument("--text", type=in_bytes, default=in_bytes("256K"), help="size of the text that is searched")
    parser.add_argument("--threads", type=int, default=0, help="threads of the server, 0 for its default")


BENCHMARK = Benchmark(
    "load",
    figures,
    add_options,
    smallest={"clients": 3, "seconds": 0.5, "text": in_bytes("16K")},
    small={"clients": 16, "seconds": 5.0},
    scale="clients",
    seed=7,
    units={".*/seconds": ("s", "neither")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
