"""Archives under a passphrase: AES-256-GCM in frames, with a key that scrypt makes of it.

An encrypted archive is a head, and the archive in frames of a mebibyte. The nonce of a frame is its number and whether
it is the last, so that frames can be neither changed nor left out, exchanged or cut off without being noticed.

Source: Hoang, Reyhanitabar, Rogaway and Vizár, "Online authenticated-encryption and its nonce-reuse misuse-resistance"
(CRYPTO 2015), construction STREAM; Percival and Josefsson, RFC 7914, scrypt.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from core.backup import PIECE_BYTES
from core.errors import BadBundle, InvalidInput

MARK = b"EVORAG-SEALED-1\n"
"""What an encrypted archive begins with."""
LEAST_CHARS = 12

_HEAD = struct.Struct(">16sBBB16s7s16s")
"""Mark, scrypt's log2 N, r and p, salt, prefix of the nonces, and what tells the right passphrase."""
_TAG_BYTES = 16
_COST = (17, 8, 1)
_MOST_COST = (20, 16, 4)
_MOST_FRAMES = 2**32 - 1

Passphrase = Callable[[], str]
"""Gives the passphrase of an archive that has one."""


def encrypted(pieces: Iterator[bytes], passphrase: str) -> Iterator[bytes]:
    """Yield an archive as it is under a passphrase. Raises: ``InvalidInput`` for one that is too short."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(passphrase) < LEAST_CHARS:
        raise InvalidInput(
            f"A passphrase has at least {LEAST_CHARS} characters.", remedy="Take several words that nobody guesses."
        )
    salt, prefix = secrets.token_bytes(16), secrets.token_bytes(7)
    key, check = _keys(passphrase, salt, _COST)
    head = _HEAD.pack(MARK, *_COST, salt, prefix, check)
    yield head
    cipher, number, left = AESGCM(key), 0, bytearray()
    for piece in pieces:
        left += piece
        # The last frame is told by its nonce, so that one is always kept back.
        while len(left) > PIECE_BYTES:
            yield cipher.encrypt(_nonce(prefix, number, is_last=False), bytes(left[:PIECE_BYTES]), head)
            del left[:PIECE_BYTES]
            number += 1
    yield cipher.encrypt(_nonce(prefix, number, is_last=True), bytes(left), head)


def opened_archive(source: BinaryIO, passphrase: Passphrase) -> BinaryIO:
    """Return what reads an archive, which ``passphrase`` is asked for where it is encrypted.

    Raises: ``BadBundle`` where it is another one's, or the archive is damaged; then nothing of it is used.
    """
    start = _exactly(source, len(MARK))
    if start != MARK:
        return as_file(_plain(source, start))
    head = start + _exactly(source, _HEAD.size - len(MARK))
    if len(head) < _HEAD.size:
        raise BadBundle("The archive is cut off.")
    _, *cost, salt, prefix, check = _HEAD.unpack(head)
    if not all(0 < each <= most for each, most in zip(cost, _MOST_COST, strict=True)):
        raise BadBundle("The head of the encrypted archive is damaged.")
    key, told = _keys(passphrase(), salt, (cost[0], cost[1], cost[2]))
    if not hmac.compare_digest(told, check):
        raise BadBundle(
            "The passphrase is not the one of this archive.",
            remedy="Nothing was taken in. Give the passphrase that the archive was made with; without it nobody can"
            " read it.",
        )
    return as_file(_frames(source, key, prefix, head))


def _frames(source: BinaryIO, key: bytes, prefix: bytes, head: bytes) -> Iterator[bytes]:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher, size = AESGCM(key), PIECE_BYTES + _TAG_BYTES
    frame, number, is_last = _exactly(source, size), 0, False
    while not is_last:
        following = _exactly(source, size) if len(frame) == size else b""
        is_last = not following
        try:
            yield cipher.decrypt(_nonce(prefix, number, is_last=is_last), frame, head)
        except InvalidTag:
            raise BadBundle("The encrypted archive is damaged or cut off.") from None
        frame, number = following, number + 1


def _plain(source: BinaryIO, start: bytes) -> Iterator[bytes]:
    yield start
    while piece := source.read(PIECE_BYTES):
        yield piece


def as_file(pieces: Iterator[bytes]) -> BinaryIO:
    """Return what pieces hold, to be read from front to end as from a file."""
    return cast(BinaryIO, _Flow(pieces))


class _Flow:
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._left = memoryview(piece)
        taken, self._left = self._left[:size], self._left[size:]
        return bytes(taken)


def _keys(passphrase: str, salt: bytes, cost: tuple[int, int, int]) -> tuple[bytes, bytes]:
    """Return the key of the frames, and what is kept to tell the right passphrase."""
    log_n, r, p = cost
    room = 128 * r * (2**log_n + p + 2) + 1024 * 1024
    made = hashlib.scrypt(passphrase.encode(), salt=salt, n=2**log_n, r=r, p=p, maxmem=room, dklen=48)
    return made[:32], made[32:]


def _nonce(prefix: bytes, number: int, *, is_last: bool) -> bytes:
    if number > _MOST_FRAMES:
        raise InvalidInput("The archive is too large to be encrypted.")
    return prefix + struct.pack(">IB", number, is_last)


def _exactly(source: BinaryIO, size: int) -> bytes:
    found = b""
    while len(found) < size and (piece := source.read(size - len(found))):
        found += piece
    return found
