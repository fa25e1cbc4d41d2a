"""Rows of chunks: the hash and the stable id of a content, and what its document and its versions keep of it."""

from __future__ import annotations

import hashlib
from typing import Any

from core.model import Chunk
from core.model.codec import to_dict

_ID_BITS = (1 << 63) - 1


def content_hash(indexed_text: str, owner_id: int | None = None) -> bytes:
    """Return the SHA-256 of the text that the indexes read, for a private document one that its owner alone shares.

    Else what an upload has to embed would tell whether somebody else keeps the same text to themselves.
    """
    salt = b"" if owner_id is None else b"\0private\0%d\0" % owner_id
    return hashlib.sha256(salt + indexed_text.encode("utf-8", "surrogatepass")).digest()


def chunk_id(doc_id: int, digest: bytes, probe: int = 0) -> int:
    """Return the stable 63-bit id of a content in a document; ``probe`` steps over another content's id."""
    key = doc_id.to_bytes(8, "big") + digest
    return (int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") + probe) & _ID_BITS


def row_of(number: int, doc_id: int, digest: bytes, title: str, chunk: Chunk) -> dict[str, Any]:
    """Return the row of a content that a document has."""
    return {
        "id": number,
        "doc_id": doc_id,
        "content_hash": digest,
        "title": title,
        "heading_path": list(chunk.locator.heading_path),
        "header": chunk.header,
        "kind": chunk.kind,
        "text": chunk.text,
        "token_count": chunk.token_count,
    }


def place_of(version_id: int, number: int, chunk: Chunk) -> dict[str, Any]:
    """Return the row of a place that a content has in a version."""
    locator = to_dict(chunk.locator).items()
    place = {name: value for name, value in locator if value is not None and name != "heading_path"}
    if chunk.labels:
        place["labels"] = [[label.start, label.text] for label in chunk.labels]
    return {
        "version_id": version_id,
        "position": chunk.position,
        "chunk_id": number,
        "start": chunk.start,
        "end": chunk.end,
        "locator": place,
    }
