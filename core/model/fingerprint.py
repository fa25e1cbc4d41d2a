"""Fingerprints: what a row of a store was made of and by, in 64 bits that the store keeps with it.

A store whose row has another one than the catalogue would give it holds a stale row: other text, or an embedding or
terms of another model or analyser.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache


def fingerprint(content_hash: bytes, built_by: str) -> int:
    """Return the fingerprint of a content that ``built_by`` (an embedder's or analyser's id) made a row of; never 0."""
    digest = hashlib.blake2b(content_hash, digest_size=8, key=_key(built_by)).digest()
    return int.from_bytes(digest, "big", signed=True) or 1


@lru_cache(maxsize=64)
def _key(built_by: str) -> bytes:
    """Return what the hash is keyed with: the name, or a hash of one that is longer than a key can be."""
    name = built_by.encode("utf-8", "surrogatepass")
    return name if len(name) <= hashlib.blake2b.MAX_KEY_SIZE else hashlib.blake2b(name).digest()
