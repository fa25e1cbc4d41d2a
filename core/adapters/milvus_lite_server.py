"""Milvus Lite served inside this process, on a socket that only this user can reach.

``pymilvus`` would start the same server on a TCP port that any local user can read, and hide why it could not.
"""

from __future__ import annotations

import logging
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# The client tries calls that Milvus Lite does not have and does without them; the server would log each as an error.
logging.getLogger("grpc._server").setLevel(logging.CRITICAL)

MESSAGE_BYTES = 256 * 1024 * 1024
SOCKET_PATH_BYTES = 100
"""Sockets cannot have longer names; one that would is put into a temporary folder."""


class MilvusLiteServer:
    """Serves the Milvus protocol over one folder from construction to ``close``; ``uri`` is for ``MilvusClient``."""

    def __init__(self, folder: Path) -> None:
        import grpc  # type: ignore[import-untyped]
        from milvus_lite.adapter.grpc.servicer import MilvusServicer
        from milvus_lite.db import MilvusLite
        from pymilvus.grpc_gen import milvus_pb2_grpc

        folder.mkdir(parents=True, exist_ok=True)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._database: Any = MilvusLite(str(folder))
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="milvus-lite")
        self._server: Any = grpc.server(
            self._pool,
            options=[
                ("grpc.max_receive_message_length", MESSAGE_BYTES),
                ("grpc.max_send_message_length", MESSAGE_BYTES),
                # The client asks every ten seconds whether the server lives; that is no abuse.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
                ("grpc.http2.max_ping_strikes", 0),
            ],
        )
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(self._database), self._server)
        self.uri = self._listen(folder.resolve() / "socket")
        self._server.start()

    def close(self) -> None:
        """Write everything out, release the folder and end every thread."""
        self._server.stop(grace=2).wait()
        self._pool.shutdown(wait=True)
        self._database.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _listen(self, socket: Path) -> str:
        if len(bytes(socket)) > SOCKET_PATH_BYTES:
            self._temporary = tempfile.TemporaryDirectory(prefix="evorag-")
            socket = Path(self._temporary.name) / "socket"
        socket.unlink(missing_ok=True)
        try:
            self._server.add_insecure_port(f"unix:{socket}")
        except RuntimeError:
            # No Unix sockets here.
            return f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        return f"unix:{socket}"
