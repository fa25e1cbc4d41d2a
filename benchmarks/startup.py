"""How long imports and a start of the server take.

``import core`` in a fresh interpreter (median of several), and ``evorag serve`` from the command to the first answered
page, to stores and models that are ready, and again on the folder that then exists.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context

ROOT = Path(__file__).parents[1]
TIMED = "import time; started = time.perf_counter(); {}; print(time.perf_counter() - started)"
IMPORT = TIMED.format("import core")
USE = TIMED.format("from core import EvoRAG, Settings, build")
LONGEST_S = 60


def import_seconds(statement: str, times: int) -> float:
    """Return the median time of an import in fresh interpreters; the first one, which fills the caches, is left out."""
    runs = [
        subprocess.run([sys.executable, "-c", statement], cwd=ROOT, capture_output=True, text=True, check=True)
        for _ in range(times + 1)
    ]
    return statistics.median(float(run.stdout) for run in runs[1:])


def serve_seconds(data_dir: Path) -> dict[str, float]:
    """Return when, after the command, the first page and the first ready state were answered."""
    port = _free_port()
    command = [sys.executable, "-m", "core.cli", "serve", "--port", str(port), "--data-dir", str(data_dir)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment)
        try:
            _until(lambda: _get(f"http://127.0.0.1:{port}/"), process)
            first_page_s = time.perf_counter() - started
            page_started = time.perf_counter()
            _get(f"http://127.0.0.1:{port}/")
            second_page_s = time.perf_counter() - page_started
            _until(lambda: json.loads(_get(f"http://127.0.0.1:{port}/health") or "{}").get("models_ready"), process)
            ready_s = time.perf_counter() - started
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=LONGEST_S)
    return {"first_page_s": first_page_s, "second_page_s": second_page_s, "models_ready_s": ready_s}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _get(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=LONGEST_S) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, ConnectionError):
        return b""


def _until(is_so: Any, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LONGEST_S
    while not is_so():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("The server did not start.")
        time.sleep(0.02)


def run(times: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="evorag-startup-") as folder:
        fresh, again = serve_seconds(Path(folder) / "data"), serve_seconds(Path(folder) / "data")
    return {
        "measured_on": f"an empty data folder, then the same again; imports: median of {times}",
        "import_core_s": import_seconds(IMPORT, times),
        "import_names_s": import_seconds(USE, times),
        "serve_fresh": fresh,
        "serve_again": again,
    }


def figures(context: Context) -> dict[str, Any]:
    return run(context.options.times)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=5, help="imports that the median is of")


BENCHMARK = Benchmark("startup", figures, add_options, smallest={"times": 1}, small={"times": 3}, scale="times")


if __name__ == "__main__":
    runner.main(BENCHMARK)
