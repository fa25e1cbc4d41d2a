"""How far a comparison is, told by its steps as shares of the part that each of them has."""

from __future__ import annotations

from collections.abc import Callable

_WHOLE = 1_000


class Progress:
    """Tells which share of the whole is done; ``part`` is what a step gets for its stretch of it."""

    def __init__(self, told: Callable[[int, int], None], first: float = 0.0, last: float = 1.0) -> None:
        self._told = told
        self._first = first
        self._last = last

    def __call__(self, share: float) -> None:
        """Tell that this share, from 0 to 1, of this part is done."""
        self._told(int(_WHOLE * (self._first + share * (self._last - self._first))), _WHOLE)

    def part(self, first: float, last: float) -> Progress:
        size = self._last - self._first
        return Progress(self._told, self._first + first * size, self._first + last * size)


UNHEARD = Progress(lambda done, total: None)
