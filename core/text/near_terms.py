"""Which terms of an index are a few edits away from another one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist


def near_terms(term: str, terms: Iterable[str], edits: int) -> list[str]:
    """Return the terms that begin with the same sign and are at most ``edits`` away, the nearest first.

    A sign more, less or another, or two neighbours that have changed places, are one edit.
    """
    least, most, first = len(term) - edits, len(term) + edits, term[:1]
    alike = [each for each in terms if least <= len(each) <= most and each[:1] == first]
    if not alike:
        return []
    distances = cdist([term], alike, scorer=OSA.distance, score_cutoff=edits)[0].tolist()
    return [each for distance, each in sorted(zip(distances, alike, strict=True)) if distance <= edits]
