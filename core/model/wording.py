"""What the words of a question were taken for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of the question that no passage holds, and the one that was read instead of it."""

    id: str
    """Dismisses it, among the ``dismissed`` of a query."""
    word: str
    read_as: str


@dataclass(frozen=True, slots=True)
class Syntax:
    """What the advanced form of a question demands besides its words."""

    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
