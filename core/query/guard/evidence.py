"""Chooses what of a source is read with a claim: the sentences that hold its words, and what stands around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set

MOST_CHARS = {"en": 900, "ja": 400}
"""About what the verifier reads of a source (``MOST_TEXT`` of its adapter)."""


def evidence_in(claimed: Set[str], held: Sequence[Set[str]], lengths: Sequence[int], most: int) -> list[int]:
    """Return the places of the sentences to be read, in their order and together about ``most`` characters long.

    ``held`` are the terms of each sentence. The one that holds most of what is not held yet comes first, rare words
    counting for more; then those before and behind the chosen ones, the first sentences where none holds any.
    """
    if sum(lengths) <= most:
        return list(range(len(held)))
    counted = Counter(term for terms in held for term in terms & claimed)
    worth = {term: 1 / count for term, count in counted.items()}
    chosen: list[int] = []
    left, room = set(worth), most
    places = set(range(len(held)))
    while places and room > 0:
        best = max(places, key=lambda n: (sum(worth[term] for term in held[n] & left), -n))
        if not held[best] & left:
            break
        places.discard(best)
        # A sentence longer than all that may be read is cut by the reader.
        if not chosen or lengths[best] <= room:
            chosen.append(best)
            room -= lengths[best]
            left -= held[best]
    beside = [place - 1 for place in chosen] + [place + 1 for place in chosen]
    for place in beside or range(len(held)):
        if place in places and (lengths[place] <= room or not chosen):
            places.discard(place)
            chosen.append(place)
            room -= lengths[place]
    return sorted(chosen)
