"""Reads the server-sent events of a chat with limits, and finds in them what the model writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from core.errors import GenerationFailed

EVENT_BYTES = 1024 * 1024
STREAM_BYTES = 64 * 1024 * 1024
"""Most that one answer may send; what is written is a small part of it."""
_END = "[DONE]"


def pieces_of(chunks: Iterable[bytes], failed: Callable[[str], GenerationFailed]) -> Iterator[str]:
    """Yield what the model writes until the stream says that it ends.

    Raises: ``GenerationFailed`` for a stream that is none, too large or cut short; ``failed`` words what the server
    itself calls an error.
    """
    finished = False
    for data in _events(chunks):
        if data.strip() == _END:
            return
        event = _parsed(data)
        if not isinstance(event, dict):
            raise _malformed()
        if event.get("error"):
            error = event["error"]
            message = error.get("message") if isinstance(error, dict) else error
            raise failed(message if isinstance(message, str) else "")
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise _malformed()
        for choice in choices[:1]:
            delta = choice.get("delta") or {}
            piece = delta.get("content") if isinstance(delta, dict) else 0
            if piece is not None and not isinstance(piece, str):
                raise _malformed()
            if piece:
                # JSON can write halves of characters that are none.
                yield piece.encode("utf-8", "replace").decode("utf-8")
            finished = finished or bool(choice.get("finish_reason"))
    if not finished:
        raise GenerationFailed("The server ended the answer in the middle.")


def read_limited(chunks: Iterable[bytes], limit: int) -> Any:
    """Return the JSON of a body. Raises: ``GenerationFailed`` for one that is none, or larger than ``limit`` bytes."""
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise GenerationFailed("The server sent more than an answer can be.")
    return _parsed(body.decode("utf-8", "replace"))


def _events(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of every event."""
    data: list[str] = []
    size = 0
    for line in _lines(chunks):
        if not line:
            if data:
                yield "\n".join(data)
            data, size = [], 0
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
            size += len(line)
            if size > EVENT_BYTES:
                raise GenerationFailed("The server sent more than an answer can be.")
        elif not line.startswith((":", "event:", "id:", "retry:")):
            raise _malformed()
    if data:
        yield "\n".join(data)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    held = bytearray()
    read = 0
    for chunk in chunks:
        read += len(chunk)
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            held += line
            yield held.decode("utf-8", "replace").removesuffix("\r")
            held.clear()
        held += rest
        if read > STREAM_BYTES or len(held) > EVENT_BYTES:
            raise GenerationFailed("The server sent more than an answer can be.")
    if held:
        yield held.decode("utf-8", "replace").removesuffix("\r")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _malformed() from error


def _malformed() -> GenerationFailed:
    return GenerationFailed(
        "What the server sent is no streamed chat.",
        remedy="Check that EVORAG_OPENAI_URL leads to an OpenAI-compatible interface; it mostly ends with /v1.",
    )
