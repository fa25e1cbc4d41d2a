"""What a follow-up question is read as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Readings:
    """A question as it stands by itself; ``other`` is what it may mean instead, empty where the rules are sure."""

    text: str
    other: str = ""
