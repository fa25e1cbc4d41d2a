"""A server that speaks S3, on a free port: moto's, whose objects outlive its ends as they are this process's."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class S3Server:
    def __init__(self) -> None:
        self._port = 0
        self.restart()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def kill(self) -> None:
        """Refuse connections until ``restart``."""
        self._server.stop()

    def restart(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer("127.0.0.1", self._port, verbose=False)
        self._server.start()
        self._port = self._server.get_host_and_port()[1]


def missing() -> str | None:
    """Tell in one line why no server can be started here; None where one can."""
    absent = [name for name in ("moto", "flask_cors", "s3fs") if not importlib.util.find_spec(name)]
    return f"{absent[0]} is not installed (the extra dev brings it)" if absent else None


@contextmanager
def running(folder: Path) -> Iterator[S3Server]:
    """Give a server that ends with the block."""
    server = S3Server()
    try:
        yield server
    finally:
        server.kill()
