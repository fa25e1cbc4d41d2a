"""Milvus Lite served inside this process, on a socket that only this user can reach.

``pymilvus`` would start the same server on a TCP port that any local user can read, and hide why it could not.
"""

from __future__ import annotations

import errno
import logging
import re
import shutil
import tempfile
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

# The client tries calls that Milvus Lite does not have and does without them; the server would log each as an error.
logging.getLogger("grpc._server").setLevel(logging.CRITICAL)

log = logging.getLogger(__name__)

_REFUSALS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EMFILE, errno.ENFILE})
_REFUSED = re.compile(
    r"No space left|quota exceeded|Permission denied|Read-only file|Too many open|\bLOCK(ED)?\b"
    r"|deadline|time-?out|timed out",
    re.I,
)
"""The same as words, where the error came over the socket; what Milvus Lite says where another has the folder, and
what its client says where an answer takes too long."""
DEFAULT_DATABASE, COLLECTIONS = "default", "collections"
MESSAGE_BYTES = 256 * 1024 * 1024
SOCKET_PATH_BYTES = 100
"""Sockets cannot have longer names; one that would is put into a temporary folder."""


class MilvusLiteServer:
    """Serves the Milvus protocol over one folder from construction to ``close``; ``uri`` is for ``MilvusClient``."""

    def __init__(self, folder: Path) -> None:
        import grpc  # type: ignore[import-untyped]
        from milvus_lite.adapter.grpc.servicer import MilvusServicer
        from milvus_lite.db import COLLECTIONS_DIRNAME, SCHEMA_FILENAME, MilvusLite
        from pymilvus.grpc_gen import milvus_pb2_grpc

        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._database: Any = MilvusLite(str(folder))
        for unfinished in (folder / COLLECTIONS_DIRNAME).iterdir():
            if not (unfinished / SCHEMA_FILENAME).exists():
                # Whoever began it was killed; Milvus Lite neither sees it nor makes it anew.
                shutil.rmtree(unfinished)
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

    def names(self) -> list[str]:
        """Return the names of all collections, open or not."""
        return list(self._database.list_collections())

    def collection(self, name: str) -> Any:
        """Return a collection as Milvus Lite itself has it, opened where it was not."""
        return self._database.get_collection(name)

    def put_away(self, name: str) -> None:
        """Write out what a collection has in memory and free that; it is opened again where it is asked for."""
        collection = self._database._collections.get((DEFAULT_DATABASE, name))
        try:
            if collection is not None:
                collection.close()
        except Exception as error:
            # What it could not write is in its log, and read from there when it is opened again.
            log.warning("a part of the vector store could not be written out: %s", type(error).__name__)
        del collection
        self.leave(name)

    def leave(self, name: str) -> None:
        """Forget a collection as a process does that is killed; it is read from its files and its log again."""
        collection = self._database._collections.pop((DEFAULT_DATABASE, name), None)
        if collection is not None:
            collection._bg_closed = True
            collection._bg_executor.shutdown(wait=True)
        del collection
        _give_back()

    def may_hold(self, name: str, key: str, ids: Set[int]) -> bool:
        """Tell whether a file of a collection holds one of the rows, or a log does, which may."""
        folder = self._folder / COLLECTIONS / name
        if any((folder / "wal").glob("*")):
            return True
        return any(_holds(file, key, ids) for file in folder.rglob("data_*.parquet"))

    def mark_of(self, name: str) -> str:
        """Return what changes where somebody writes to a collection; one that is at rest has no log."""
        folder = self._folder / COLLECTIONS / name
        try:
            logs = sorted(f"{path.name} {path.stat().st_size}" for path in (folder / "wal").glob("*"))
            return sha256((folder / "manifest.json").read_bytes() + repr(logs).encode()).hexdigest()
        except OSError:
            return ""

    @staticmethod
    def expunge(collection: Any, key: str, ids: Set[int]) -> bool:
        """Write every file of a collection anew that holds one of the deleted rows; tell whether none does.

        Milvus Lite merges its files when it has many of them and offers no way to ask for it, so this calls what it
        calls itself.
        """
        collection.flush()
        collection._wait_for_bg()
        manifest, deleted = collection._manifest, collection._delta_index
        with collection._maintenance_lock:
            for partition in manifest.list_partitions():
                folder = Path(collection.data_dir) / "partitions" / partition
                for file in list(manifest.get_data_files(partition)):
                    if _holds(folder / file, key, ids):
                        collection._compaction_mgr._compact_files(partition, str(folder), [file], manifest, deleted)
            collection._refresh_segment_cache()
            collection._cleanup_orphan_index_files()
            clean = not any(_holds(file, key, ids) for file in Path(collection.data_dir).rglob("data_*.parquet"))
        collection._ensure_loaded_segments_indexed()
        return clean

    def close(self) -> None:
        """Write everything out, release the folder and end every thread."""
        self._server.stop(grace=2).wait()
        self._pool.shutdown(wait=True)
        self._database.close()
        del self._database
        _give_back()
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


def _give_back() -> None:
    """Have Arrow return to the machine what it keeps for its next tables, half of what a collection takes."""
    import pyarrow  # type: ignore[import-untyped]

    pyarrow.default_memory_pool().release_unused()


def _holds(file: Path, key: str, ids: Set[int]) -> bool:
    import pyarrow.parquet  # type: ignore[import-untyped]

    rows = pyarrow.parquet.read_table(file, columns=[key])
    return not ids.isdisjoint(rows.column(key).to_pylist())


def is_of_the_system(error: BaseException) -> bool:
    """Tell whether the system refused something, such as room, a lock or time, so that no file need be damaged."""
    found: BaseException | None = error
    seen: set[int] = set()
    # The errors of grpc may have each other as their cause.
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, MemoryError) or (isinstance(found, OSError) and found.errno in _REFUSALS):
            return True
        if _REFUSED.search(str(found)):
            return True
        found = found.__cause__ or found.__context__
    return False
