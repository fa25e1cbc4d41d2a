"""How uploads do: speed, memory, indexing of large texts, many clients at once.

A real server on a new data folder gets a file over HTTP in parts of 8 MiB, as the browser sends it (``--size 5G``,
with ``--text 1G`` and ``--clients 64`` for more); what is measured is what its clients and its machine see:

- ``one_connection``, ``parallel``: from the first byte to the last answer, against a plain ``cp`` of the same file in
  the same run, once as ``cp`` returns and once with its bytes on the disk (``sync``), as every part of an upload is;
- ``until_receipt_s``: from the last part to the receipt, while the whole file's SHA-256 is compared and it is claimed;
- ``memory_mb``: resident memory of the server when idle and warm, and its peak meanwhile (``RssFile``: pages of files
  that are mapped, which the system takes back when it needs them; ``children``: processes that parse);
- ``text``: the same for a text of the given size until it can be found by its words, with the speed of each stage;
- ``clients``: so many at once, of which a third uploads over lines of 20 Mbit/s, a third follows progress and a third
  asks a question every two seconds; the time of a search against that of one searcher alone on the idle server.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, runner, tus
from benchmarks.benchmark import Benchmark, Context
from benchmarks.crowd import QUESTIONS, Crowd, searches, together
from benchmarks.served import Served, served
from benchmarks.upload_text import write_bytes, write_text

UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
PART_BYTES = 8 * 2**20
PARALLEL = 4
SEARCHES = 100
CLIENTS_S = 45.0
LINE_BYTES = 2.5 * 2**20
PAUSE_S = 2.0


def in_bytes(text: str) -> int:
    """Return a size such as ``5G`` in bytes."""
    return int(float(text[:-1]) * UNITS[text[-1].upper()]) if text[-1].upper() in UNITS else int(text)


def uploading(folder: Path, size: int, sha: bool, seed: int) -> dict[str, Any]:
    """Measure one file over one connection and over several, each on a server of its own."""
    source, copy = folder / "file.pdf", folder / "copy.pdf"
    machine.note(f"writing a file of {size:,} bytes")
    write_bytes(source, size, seed)
    digest = tus.sha256_of(source) if sha else ""
    report: dict[str, Any] = {"size_bytes": size, "part_bytes": PART_BYTES}
    for name, parallel in (("one_connection", 1), ("parallel", PARALLEL)):
        cp = _copying(source, copy)
        with served(folder) as server:
            report[name] = {"connections": parallel, "cp": cp, **_one(server, source, parallel, digest, cp)}
        shutil.rmtree(folder / "data")
    source.unlink()
    return report


def _copying(source: Path, copy: Path) -> dict[str, float]:
    """Copy the file as a person would, and bring the copy to the disk."""
    machine.note("cp")
    started = time.perf_counter()
    subprocess.run(["cp", str(source), str(copy)], check=True)
    copied = time.perf_counter() - started
    subprocess.run(["sync", str(copy)], check=True)
    synced = time.perf_counter() - started
    copy.unlink()
    size = source.stat().st_size / 2**20
    return {"seconds": copied, "synced_s": synced, "mb_per_s": size / copied, "synced_mb_per_s": size / synced}


def _one(server: Served, source: Path, parallel: int, digest: str, cp: dict[str, float]) -> dict[str, Any]:
    idle = _warm(server)
    server.memory.reset()
    machine.note(f"uploading over {parallel} connections")
    started = time.perf_counter()
    transfer = tus.send(server, source, "file.pdf", PART_BYTES, parallel=parallel, sha256=digest)
    sent = time.perf_counter() - started
    given = tus.receipt(server, transfer)
    filed = time.perf_counter() - started
    peak = server.memory.peak()
    server.ask("POST", f"/api/v1/jobs/{given['job_id']}/cancel")
    return {
        "seconds": sent,
        "mb_per_s": source.stat().st_size / 2**20 / sent,
        "ratio_to_cp": sent / cp["seconds"],
        "ratio_to_cp_synced": sent / cp["synced_s"],
        "until_receipt_s": filed - sent,
        "memory_mb": {"idle": idle, "peak": peak, "above_idle": peak["VmRSS"] - idle["VmRSS"]},
    }


def indexing(folder: Path, size: int, extension: str, seed: int) -> dict[str, Any]:
    """Measure a large text until it can be found by its words."""
    source = folder / f"text.{extension}"
    machine.note(f"writing a text of {size:,} bytes")
    write_text(source, size, seed)
    stages: dict[str, float] = {}
    peaks: dict[str, dict[str, float]] = {}
    with served(folder) as server:
        idle = _warm(server)
        server.memory.reset()
        started = time.perf_counter()
        transfer = tus.send(server, source, source.name, PART_BYTES)
        job_id = tus.receipt(server, transfer)["job_id"]
        stage = "upload"
        while True:
            job = server.ask("GET", f"/api/v1/jobs/{job_id}")
            now = "keyword_ready" if job["keyword_ready"] else str(job["stage"])
            if now != stage or job["state"] in ("done", "failed", "cancelled"):
                peaks[stage] = server.memory.peak()
                stages[stage] = time.perf_counter() - started
                machine.note(f"{stage}: {stages[stage]:.1f} s, {peaks[stage]['VmRSS']:.0f} MB")
                server.memory.reset()
                started, stage = time.perf_counter(), now
            if job["keyword_ready"] or job["state"] in ("done", "failed", "cancelled"):
                break
            time.sleep(0.2)
        error = job.get("error")
        if job["state"] == "running":
            server.ask("POST", f"/api/v1/jobs/{job_id}/cancel")
    shutil.rmtree(folder / "data")
    source.unlink()
    highest = max(peak["VmRSS"] for peak in peaks.values())
    return {
        "size_bytes": size,
        "form": extension,
        "error": error,
        "stage_s": stages,
        "stage_mb_per_s": {name: size / 2**20 / seconds for name, seconds in stages.items() if seconds > 1},
        "memory_mb": {"idle": idle, "peak_by_stage": peaks, "above_idle": highest - idle["VmRSS"]},
    }


def clients(folder: Path, count: int, seconds: float, seed: int) -> dict[str, Any]:
    """Measure searches of an idle server, and of one with so many clients at once."""
    text, file = folder / "library.txt", folder / "part.pdf"
    write_text(text, 2**18, seed)
    write_bytes(file, 64 * 2**20, seed)
    # All clients come from one address, which would be held to the rate of one.
    with served(folder, rate_limit="0") as server:
        job_id = tus.receipt(server, tus.send(server, text, "library.txt", PART_BYTES))["job_id"]
        while server.ask("GET", f"/api/v1/jobs/{job_id}")["state"] != "done":
            time.sleep(0.5)
        idle_memory = _warm(server)
        idle = searches(server, SEARCHES)
        server.memory.reset()
        machine.note(f"{count} clients")
        crowd = Crowd(server.port, file, job_id, PART_BYTES, LINE_BYTES, PAUSE_S, seconds)
        busy, sent, followed = together(crowd, count)
        peak = server.memory.peak()
    shutil.rmtree(folder / "data")
    quiet, loaded = _times(idle), _times(busy)
    return {
        "clients": count,
        "seconds": seconds,
        "uploaded_mb_per_s": sent / 2**20 / seconds,
        "progress_answers": followed,
        "search_idle": quiet,
        "search_with_clients": loaded,
        "p50_ratio": loaded["p50_ms"] / quiet["p50_ms"],
        "p95_ratio": loaded["p95_ms"] / quiet["p95_ms"],
        "memory_mb": {"idle": idle_memory, "peak": peak, "above_idle": peak["VmRSS"] - idle_memory["VmRSS"]},
    }


def _times(times: list[float]) -> dict[str, float]:
    return {
        "count": len(times),
        "p50_ms": float(np.percentile(times, 50)),
        "p95_ms": float(np.percentile(times, 95)),
        "p99_ms": float(np.percentile(times, 99)),
    }


def _warm(server: Served) -> dict[str, float]:
    """Have the server load what the first questions and documents need; return what is resident then."""
    for _ in range(3):
        searches(server, len(QUESTIONS))
    time.sleep(2)
    return server.memory.now()


def figures(context: Context) -> dict[str, Any]:
    options, folder = context.options, context.workspace
    report: dict[str, Any] = {}
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.file:
        report["upload"] = uploading(folder, options.file, options.sha256, context.seed)
    if options.text:
        report["text"] = indexing(folder, options.text, options.form, context.seed)
    if options.clients:
        report["clients"] = clients(folder, options.clients, options.seconds, context.seed)
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--file", type=in_bytes, default=in_bytes("5G"), help="size of the file; 0 leaves it out")
    parser.add_argument("--sha256", action="store_true", help="announce the file's SHA-256")
    parser.add_argument("--text", type=in_bytes, default=0, help="size of a text that is indexed, such as 1G")
    parser.add_argument("--form", default="txt", choices=("txt", "md", "html", "csv"))
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=CLIENTS_S, help="how long those clients are there")


BENCHMARK = Benchmark(
    "upload",
    figures,
    add_options,
    smallest={"file": in_bytes("64K"), "text": in_bytes("64K"), "clients": 3, "seconds": 1.0},
    small={"file": in_bytes("64M"), "text": in_bytes("1M"), "clients": 8, "seconds": 10.0},
    scale="file",
    number=in_bytes,
    seed=7,
    units={"clients/seconds": ("s", "neither")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
