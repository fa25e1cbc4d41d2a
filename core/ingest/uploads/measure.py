"""Reading a whole file again, where its hashes were not kept while it arrived."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.errors import Cancelled
from core.ingest.receive import Received
from core.ingest.uploads.checksums import RunningHashes

_PIECE_BYTES = 1024 * 1024
_HEAD_BYTES = 64 * 1024


def measure(path: Path, size_bytes: int, hashes: RunningHashes | None, tell: Callable[[int], bool]) -> Received:
    """Return the hashes and the first bytes of a file; it is read only where ``hashes`` do not cover all of it.

    ``tell`` is called with how much has been read, and allows to go on. Raises: ``Cancelled`` where it does not.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if hashes is None or hashes.size != size_bytes:
            hashes = RunningHashes()
            file.seek(0)
            while hashes.size < size_bytes and (piece := file.read(min(_PIECE_BYTES, size_bytes - hashes.size))):
                hashes.update(hashes.size, piece)
                if not tell(hashes.size):
                    raise Cancelled("The check was interrupted.")
    return Received(path, hashes.sha256, hashes.sha1, hashes.size, head)
