"""The context: the chosen passages, numbered for citation, within a budget of characters."""

from __future__ import annotations

from collections.abc import Sequence

from core.model import Hit
from core.text.sentences import split_sentences

SEPARATOR = "\n---\n"
CUT_MARK = " (…)"


def build_context(hits: Sequence[Hit], budget_chars: int) -> str:
    """Join ``[n] name`` and text of each hit by ``SEPARATOR``; the last one is cut after a sentence, with a mark."""
    parts: list[str] = []
    left = budget_chars
    for number, hit in enumerate(hits, 1):
        head = f"[{number}] {_name(hit)}\n"
        room = left - len(head) - (len(SEPARATOR) if parts else 0)
        body = passage_text(hit)
        if len(body) > room:
            body = _cut(body, room)
            if body:
                parts.append(head + body)
            break
        parts.append(head + body)
        left = room - len(body)
    return SEPARATOR.join(parts)


def passage_text(hit: Hit) -> str:
    """Return the passage as a reader needs it: with the table's header where the chunk does not hold it."""
    chunk = hit.placed.chunk
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text


def _name(hit: Hit) -> str:
    chunk = hit.placed.chunk
    return " › ".join((hit.placed.title, *chunk.locator.heading_path))


def _cut(text: str, room: int) -> str:
    room -= len(CUT_MARK)
    end = 0
    for _, stop in split_sentences(text[: max(room + 1, 0)]):
        if stop > room:
            break
        end = stop
    return text[:end].rstrip() + CUT_MARK if end else ""
