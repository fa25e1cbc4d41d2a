"""A real server on a folder of its own, watched from outside: its resident memory, and that of its children."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
START_S = 120
_LOOK_S = 0.2
_PARTS = ("VmRSS", "RssAnon", "RssFile")


class Memory:
    """The highest resident memory since ``reset`` of the process that serves, and of its children together, in MB."""

    def __init__(self, pid: int) -> None:
        self._pid = _serving(pid)
        self._peaks: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def now(self) -> dict[str, float]:
        """Return what is resident at this moment."""
        return {**_resident(self._pid), "children": sum(_resident(child)["VmRSS"] for child in _children(self._pid))}

    def processor_s(self) -> float:
        """Return the processor time that the process has used, without its children."""
        used = Path(f"/proc/{self._pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")

    def reset(self) -> None:
        self._peaks = {}

    def peak(self) -> dict[str, float]:
        self._look()
        return dict(self._peaks)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self._look()

    def _look(self) -> None:
        peaks, now = self._peaks, self.now()
        for name, value in now.items():
            peaks[name] = max(peaks.get(name, 0.0), value)


class Served:
    """A running server."""

    memory: Memory

    def __init__(self, port: int) -> None:
        self.port = port

    def connection(self) -> http.client.HTTPConnection:
        made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        made.connect()
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return what a JSON route answers."""
        made = self.connection()
        try:
            sent = None if body is None else json.dumps(body)
            made.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
            answer = made.getresponse()
            data = answer.read()
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.status} {data[:300]!r}")
            return json.loads(data) if data else None
        finally:
            made.close()


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[Served]:
    """Start a server on a new data folder in ``folder`` and stop it afterwards."""
    port = _free_port()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **{f"EVORAG_{key.upper()}": settings[key] for key in settings}}
    command = [sys.executable, "-m", "core.cli", "serve", "--port", str(port), "--data-dir", str(folder / "data")]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment)
        try:
            server = Served(port)
            _until_ready(server, process)
            server.memory = Memory(process.pid)
            yield server
            server.memory.close()
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=START_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _until_ready(server: Served, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if server.ask("GET", "/health").get("models_ready"):
                return
        except (OSError, RuntimeError, http.client.HTTPException):
            pass
        time.sleep(0.2)
    raise SystemExit("The server did not start.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _resident(pid: int) -> dict[str, float]:
    found = dict.fromkeys(_PARTS, 0.0)
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in found:
                    found[name] = int(value.split()[0]) / 1024
    except OSError:
        return found
    return found


def _serving(pid: int) -> int:
    """Return the process that a server's master has forked to serve, or the server itself where it has none."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    forked = [child for child in _children(pid) if Path(f"/proc/{child}/cmdline").read_bytes() == command]
    return forked[0] if forked else pid


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_children(int(child))]
    except OSError:
        return found
    return found
