"""What a question asks a keyword index for."""

from __future__ import annotations

from dataclasses import dataclass

Terms = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """Terms that a question asks for as one: the alternative that scores best counts, the sum of its terms.

    ``word`` is what the question says, where the other alternatives are its synonyms or what it is in another language;
    the first is the question's own.
    """

    alternatives: tuple[Terms, ...]
    word: str = ""
