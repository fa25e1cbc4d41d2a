"""A Redis server of one test process, with a password, on a free port of this machine."""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests import programs

_START_S = 20


class RedisServer:
    """A server that writes every command to its folder, so that a killed one loses nothing that it had said."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._password = secrets.token_hex(8)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"redis://:{self._password}@127.0.0.1:{self._port}/0"
        self.restart()

    def client(self) -> Redis:
        return Redis.from_url(self.url)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Start the server on what its folder holds, and wait until it answers."""
        options = {
            "bind": "127.0.0.1",
            "port": str(self._port),
            "dir": str(self._folder),
            "appendonly": "yes",
            "appendfsync": "no",
            "save": "",
        }
        self._process = subprocess.Popen(
            ["redis-server", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        lines = [f'{name} "{value}"' for name, value in (options | {"requirepass": self._password}).items()]
        assert self._process.stdin is not None
        with self._process.stdin as settings:
            settings.write("\n".join(lines).encode() + b"\n")
        deadline = time.monotonic() + _START_S
        with self.client() as client:
            while True:
                try:
                    client.ping()
                    return
                except RedisError:
                    if time.monotonic() > deadline or self._process.poll() is not None:
                        raise
                    time.sleep(0.02)


def missing() -> str | None:
    """Tell in one line why no server can be started here; None where one can."""
    return programs.missing("redis-server")


@contextmanager
def running(folder: Path) -> Iterator[RedisServer]:
    """Give a server that ends with the block."""
    server = RedisServer(folder)
    try:
        yield server
    finally:
        server.kill()
