"""The first step of ingest: bytes arrive, are counted and hashed, and lie in a temporary file."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.errors import EmptyDocument, TooLarge

_PIECE = 1024 * 1024
_HEAD = 64 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """A file that has arrived; ``head`` holds its first bytes, by which its type is told."""

    path: Path
    sha256: str
    sha1: str
    size_bytes: int
    head: bytes


def receive(
    stream: BinaryIO, folder: Path, max_bytes: int, too_much: Callable[[int], TooLarge] | None = None
) -> Received:
    """Write ``stream`` to a new file of ``folder``; ``too_much`` makes the error for a size over the limit.

    Raises: ``TooLarge``, ``EmptyDocument``; then no file is left.
    """
    path = folder / secrets.token_hex(16)
    sha256, sha1 = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    size, head = 0, b""
    try:
        with path.open("xb") as target:
            while piece := stream.read(_PIECE):
                size += len(piece)
                if size > max_bytes:
                    raise (
                        too_much(size)
                        if too_much
                        else TooLarge(f"The file is larger than the limit of {max_bytes:,} bytes.")
                    )
                if len(head) < _HEAD:
                    head += piece[: _HEAD - len(head)]
                sha256.update(piece)
                sha1.update(piece)
                target.write(piece)
        if not size:
            raise EmptyDocument("The file is empty.", remedy="Choose a file that has something in it.")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Received(path, sha256.hexdigest(), sha1.hexdigest(), size, head)
