"""What a reader and a verifier are given of a passage, and what a reader makes of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a passage that is read with the question: its text, and the sentences in it, by characters."""

    text: str
    sentences: tuple[tuple[int, int], ...]
    above: str = ""
    """Title and headings that it stands under."""


@dataclass(frozen=True, slots=True)
class StretchReading:
    """What a reader makes of a stretch.

    ``answers`` is how likely the stretch answers, 0 to 1; ``relevance`` orders the stretches of one question, larger
    is better. ``start`` and ``end`` are the characters of the likeliest answer, and ``span`` how likely it is among
    all spans and "nowhere". The sums over a stretch's sentences are 1 less what says "nowhere".
    """

    answers: float
    relevance: float
    start: int
    end: int
    span: float
    by_sentence: tuple[float, ...]
    """How likely each sentence holds the answer."""
    by_start: tuple[float, ...]
    """How likely the answer begins in each sentence."""
    within: tuple[tuple[int, int], ...]
    """The characters of the likeliest answer inside each sentence, empty where none of it was read."""


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """A claim with what a verifier reads of a passage, and what that stands under."""

    claim: str
    text: str
    above: str = ""
