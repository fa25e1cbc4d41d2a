"""What the recognition of characters finds in a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Place = tuple[float, float, float, float]
"""Left, top, right and bottom in parts of a picture's width and height."""


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """A line of text and its place in a picture."""

    text: str
    box: Place
    confidence: float
    """How sure the recognition is of its characters, 0 to 1."""
    size: float = 0.0
    """Of its letters, as fonts are measured, in parts of the picture's height; 0 where nobody measured."""
    bold: bool = False
    gaps: tuple[tuple[int, float, float], ...] = ()
    """Wide blanks: where in the text, and from where to where in parts of the picture's width, as in tables."""


@dataclass(frozen=True, slots=True)
class RecognisedPicture:
    """The lines of text in a picture, as they lie in it, and the straight lines that are drawn in it."""

    lines: tuple[RecognisedLine, ...]
    rulings: tuple[Place, ...] = ()
    """Where the picture, once straight, has lines such as a table's."""
    skew: float = 0.0
    """Degrees by which lines of text rise to the right."""


Pictures = Mapping[str, RecognisedPicture | None]
"""What pictures show, by the names that the parser gave them; None of one that could not be read."""
