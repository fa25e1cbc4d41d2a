"""How much a comparison may spend on fine work: words, cells and the pairing of similar lines."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one comparison: without ``seconds`` no clock is read, and the same texts give the same rows."""

    seconds: float | None = None
    max_word_chars: int = 20_000
    words: bool = True
    pairing: bool = True


class Clock:
    """Tells when the seconds of a budget are spent, counted from now."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    def is_spent(self) -> bool:
        return self._end is not None and monotonic() > self._end
