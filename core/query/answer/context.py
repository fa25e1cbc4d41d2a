"""The context: the chosen passages as numbered sources, within a budget of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.model import Hit
from core.text.sentences import split_sentences

SEPARATOR = "\n---\n"
CUT_MARK = " (…)"


@dataclass(frozen=True, slots=True)
class ContextSource:
    """A passage under the number by which it is cited; ``text`` is what of it is shown to a generator."""

    number: int
    hit: Hit
    text: str

    @property
    def name(self) -> str:
        """The title of its document with the headings that it stands under."""
        return " › ".join((self.hit.placed.title, *self.hit.placed.chunk.locator.heading_path))

    @property
    def head(self) -> str:
        return f"[{self.number}] {self.name}\n"


def sources_of(hits: Sequence[Hit]) -> list[ContextSource]:
    """Return the hits as sources with their whole text, numbered from 1."""
    return [ContextSource(number, hit, passage_text(hit)) for number, hit in enumerate(hits, 1)]


def joined_chars(sources: Sequence[ContextSource]) -> int:
    """Return the length of the context of these sources, uncut."""
    joints = max(0, len(sources) - 1) * len(SEPARATOR)
    return joints + sum(len(source.head) + len(source.text) for source in sources)


def build_context(sources: Sequence[ContextSource], budget_chars: int) -> str:
    """Join ``[n] name`` and text of each source by ``SEPARATOR``; the last is cut after a sentence, with a mark."""
    parts: list[str] = []
    left = budget_chars
    for source in sources:
        room = left - len(source.head) - (len(SEPARATOR) if parts else 0)
        body = source.text
        if len(body) > room:
            body = _cut(body, room)
            if body:
                parts.append(source.head + body)
            break
        parts.append(source.head + body)
        left = room - len(body)
    return SEPARATOR.join(parts)


def passage_text(hit: Hit) -> str:
    """Return the passage as a reader needs it: with the table's header where the chunk does not hold it."""
    chunk = hit.placed.chunk
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text


def _cut(text: str, room: int) -> str:
    room -= len(CUT_MARK)
    end = 0
    for _, stop in split_sentences(text[: max(room + 1, 0)]):
        if stop > room:
            break
        end = stop
    return text[:end].rstrip() + CUT_MARK if end else ""
