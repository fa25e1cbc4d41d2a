"""Checksums of parts, as the tus protocol names them, and the running hashes of a whole file."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from collections.abc import Callable
from typing import Protocol, Self

from core.errors import ChecksumMismatch, InvalidInput


class Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def digest(self) -> bytes: ...


class _Crc32:
    """CRC-32 with the face of a hash; its digest is four bytes, the most significant first."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes) -> None:
        self._value = zlib.crc32(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(4, "big")


_KINDS: dict[str, tuple[Callable[[], Hash], int]] = {
    "sha1": (lambda: hashlib.sha1(usedforsecurity=False), 20),
    "sha256": (hashlib.sha256, 32),
    "sha512": (hashlib.sha512, 64),
    "md5": (lambda: hashlib.md5(usedforsecurity=False), 16),
    "crc32": (_Crc32, 4),
}
ALGORITHMS = tuple(_KINDS)
"""What the checksum of a part may be made with."""


class PartChecksum:
    """What a part must amount to. Raises: ``InvalidInput`` for an unknown algorithm or a digest of another length."""

    def __init__(self, algorithm: str, wanted: bytes) -> None:
        if algorithm not in _KINDS:
            raise InvalidInput(f"Checksums are made with {', '.join(ALGORITHMS)}.")
        make, length = _KINDS[algorithm]
        if len(wanted) != length:
            raise InvalidInput(f"A checksum made with {algorithm} has {length} bytes.")
        self._wanted = wanted
        self._hash = make()

    def update(self, piece: bytes) -> None:
        self._hash.update(piece)

    def check(self) -> None:
        """Raises: ``ChecksumMismatch``."""
        if not hmac.compare_digest(self._hash.digest(), self._wanted):
            raise ChecksumMismatch("The part is not what was sent: its checksum differs.")


class RunningHashes:
    """SHA-256 and SHA-1 of the first ``size`` bytes of a file, for as long as pieces come in order."""

    def __init__(self) -> None:
        self.size = 0
        self._sha256 = hashlib.sha256()
        self._sha1 = hashlib.sha1(usedforsecurity=False)

    def update(self, at: int, piece: bytes) -> None:
        """Take the piece that stands at ``at`` in; pieces after a gap are left out, and the file is read later."""
        if at == self.size:
            self._sha256.update(piece)
            self._sha1.update(piece)
            self.size += len(piece)

    def copy(self) -> Self:
        other = type(self)()
        other.size, other._sha256, other._sha1 = self.size, self._sha256.copy(), self._sha1.copy()
        return other

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    @property
    def sha1(self) -> str:
        return self._sha1.hexdigest()
