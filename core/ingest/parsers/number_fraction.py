"""Numbers as whole ones and fractions: ``# ?/?``, ``# ??/16``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

_MOST_DIGITS = 7


def fraction_text(value: float, parts: Sequence[tuple[bool, str]], whole_text: Callable[[int, str], str]) -> str | None:
    """Return a number, 0 or more, as a fraction; None where the format has none that can be understood.

    ``parts`` are those of the format, each with whether it stands for digits; ``whole_text`` writes a whole number by
    its pattern.
    """
    slash = next(at for at, part in enumerate(parts) if part == (False, "/"))
    first, end = slash, slash + 1
    while first and parts[first - 1][0] and parts[first - 1][1] in "0#?":
        first -= 1
    while end < len(parts) and (
        parts[end][1] in ("0", "#", "?") or (parts[end][1].isdigit() and parts[end][1].isascii())
    ):
        end += 1
    below = "".join(text for _, text in parts[slash + 1 : end])
    before = [at for at in range(first) if parts[at][0]]
    if first == slash or not below or any(parts[at][1] not in "0#?," for at in before):
        return None
    whole = floor(value) if before else 0
    rest = Fraction(value) - whole
    fixed = below.strip("#?")
    if any(digit in fixed for digit in "123456789"):
        under = int(fixed[:_MOST_DIGITS])
        over = ceil(rest * under - Fraction(1, 2))
    else:
        near = rest.limit_denominator(10 ** min(len(below), _MOST_DIGITS) - 1)
        over, under = near.numerator, near.denominator
    if before and over == under:
        whole, over = whole + 1, 0
    pattern = "".join(parts[at][1] for at in before)
    said = [whole_text(whole, pattern)] if before and (whole or not over or "0" in pattern) else []
    if over or not before:
        said.append(f"{over}/{under}")
    lead = "".join(text for is_digit, text in parts[: before[0] if before else first] if not is_digit)
    return lead + (" ".join(filter(None, said)) or "0") + "".join(text for _, text in parts[end:])
