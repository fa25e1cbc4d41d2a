"""A real Elasticsearch node: the one of ``../shared/elasticsearch``, or the program named by EVORAG_TEST_ELASTICSEARCH.

The program is started as ``run DATA_FOLDER PORT TRANSPORT_PORT``, prints ``started on`` when it is ready, and ends when
its standard input closes.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from tests import programs

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "elasticsearch" / "run"
READY_S = 180


def program() -> Path:
    return Path(os.environ.get("EVORAG_TEST_ELASTICSEARCH") or BESIDE)


def missing() -> str | None:
    """Say in one line why no server can be started here."""
    if not program().is_file():
        return "no Elasticsearch: EVORAG_TEST_ELASTICSEARCH names no program and ../shared/elasticsearch has none"
    return programs.missing(os.environ.get("JAVA", "java"))


class Server:
    """A node on the loopback address; killed and started again it has its data again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port, self._among_nodes = _free_ports()
        self.url = f"http://127.0.0.1:{self.port}"
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [program(), self._folder, str(self.port), str(self._among_nodes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines: Queue[str] = Queue()
        Thread(target=self._read, args=(self._process, lines), daemon=True).start()
        said = []
        try:
            while not (line := lines.get(timeout=READY_S)).startswith("started on"):
                said.append(line)
                assert line, f"Elasticsearch ended: {''.join(said)[-2000:]}"
        except Empty:
            self.kill()
            raise AssertionError(f"Elasticsearch is not ready: {''.join(said)[-2000:]}") from None

    @staticmethod
    def _read(process: subprocess.Popen[str], lines: Queue[str]) -> None:
        """Read until the end, so that the node never waits for somebody who reads."""
        assert process.stdout
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        if self._process.poll() is None:
            self.kill()
        self._start()


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.kill()


def _free_ports() -> tuple[int, int]:
    """Return two ports that nobody listens on; other tests of this machine get others."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]
