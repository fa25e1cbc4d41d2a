"""A Milvus server of the package `milvus`, alone in a network namespace, for it listens on all interfaces.

`python -m tests.servers.milvus <folder> <fd>` is the process that holds the namespace: the listening socket ``fd`` was
made outside, so that what is accepted there can be handed to the server inside. It obeys the lines ``kill`` and
``start`` on its standard input, answers each with a line, and ends, with the server, when its input closes.
"""

from __future__ import annotations

import ctypes
import fcntl
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
SET_INTERFACE_FLAGS, UP_AND_RUNNING = 0x8914, 0x41
FASTER = {
    # A server that was killed is waited for by the next one as long as its session lives.
    "common.session.ttl": 5,
    # What is written can be read when a tick has passed.
    "proxy.timeTickInterval": 50,
    # What is loaded can be searched when it was looked at.
    "queryCoord.checkInterval": 100,
    "queryCoord.distPullInterval": 100,
}


class Milvus:
    """The server as the tests see it: ``url`` stays the same when it is killed and started again."""

    token = "root:Milvus"

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        self.url = url
        self._process = process

    def kill(self) -> None:
        """End the server with SIGKILL."""
        self._tell("kill")

    def restart(self) -> None:
        """Start it again on the same data and wait until it answers."""
        self._tell("start")

    def _tell(self, order: str) -> None:
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None
        assert answers is not None
        orders.write(order + "\n")
        orders.flush()
        if answers.readline().strip() != order:
            raise RuntimeError(f"Milvus did not {order}.")


def missing() -> str | None:
    """Say in one line why no server can run here."""
    if find_spec("milvus") is None:
        return "the package milvus is not installed"
    if not sys.platform.startswith("linux"):
        return "Milvus is kept in a network namespace, which only Linux has"
    tried = subprocess.run([sys.executable, "-c", "from tests.servers.milvus import enter; enter()"], check=False)
    return None if tried.returncode == 0 else "no network namespace may be made here"


@contextmanager
def running(folder: Path) -> Iterator[Milvus]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.milvus", str(folder), str(door.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[door.fileno()],
        )
        url = f"http://127.0.0.1:{door.getsockname()[1]}"
    try:
        server = Milvus(url, process)
        server.restart()
        yield server
    finally:
        process.communicate()


def enter() -> None:
    """Move this process into a network of its own, with nothing but loopback. Raises: ``OSError``."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_NETWORK) and libc.unshare(NEW_USER | NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_INTERFACE_FLAGS, struct.pack("16sh14x", b"lo", UP_AND_RUNNING))


def serve(folder: Path, door: socket.socket) -> None:
    """Obey standard input until it closes or this process is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    enter()
    # Its class reads the port of its health page when it is made: nothing else uses it in here.
    from milvus import MilvusServer

    server = MilvusServer(data_dir=str(folder))
    server.config.set("authorization_enabled", True)
    for name, value in FASTER.items():
        server.config.set(name, value)
    threading.Thread(target=_let_in, args=[door, server], daemon=True).start()
    try:
        for line in sys.stdin:
            order = line.strip()
            if order == "start":
                server.start()
            elif server.server_proc is not None:
                server.server_proc.send_signal(signal.SIGKILL)
                server.stop()
            print(order, flush=True)
    finally:
        server.stop()


def _let_in(door: socket.socket, server: Any) -> None:
    while True:
        outside, _ = door.accept()
        try:
            inside = socket.create_connection(("127.0.0.1", server.listen_port))
        except OSError:
            outside.close()
            continue
        for source, target in ((outside, inside), (inside, outside)):
            threading.Thread(target=_pass_on, args=[source, target], daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
