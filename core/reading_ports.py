"""The ports of what reads passages: a reader, for an answer, and a verifier, for whether they say what is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.model import ClaimEvidence, Stretch, StretchReading


class Reader(Protocol):
    """Finds the answer to a question in stretches of passages by reading each together with the question.

    The same question and stretch give the same reading, whatever else is read with it.
    """

    name: str

    def load(self) -> None:
        """Load what the first reading would otherwise wait for. Raises: ``ModelUnavailable``."""

    def read(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        """Return what is made of each stretch, in their order. Raises: ``ModelUnavailable``."""


class Verifier(Protocol):
    """Tells whether a passage says what a claim does, by reading both together.

    The same claim and evidence give the same chance, whatever else is verified with it.
    """

    name: str

    def verify(self, pairs: Sequence[ClaimEvidence]) -> list[float]:
        """Return for each how likely its evidence says all of its claim, 0 to 1. Raises: ``ModelUnavailable``."""
