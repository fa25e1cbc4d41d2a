"""What the recognition of characters finds in a picture."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """A line of text in a picture; ``box`` is its place (left, top, right, bottom) in parts of width and height."""

    text: str
    box: tuple[float, float, float, float]
    confidence: float
    """How sure the recognition is of its characters, 0 to 1."""
