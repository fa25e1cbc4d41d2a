"""Shortens sources that exceed the context's budget: the sentences nearest to the question stay, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from core.model import Hit
from core.query.answer.candidates import Candidate, CandidateFinder
from core.query.answer.context import SEPARATOR, ContextSource, joined_chars

LEFT_OUT = "(…)"
_MARK_CHARS = len(LEFT_OUT) + 2


def compress(
    question: str,
    sources: Sequence[ContextSource],
    budget_chars: int,
    candidates: Sequence[Hit] = (),
    finder: CandidateFinder | None = None,
) -> list[ContextSource]:
    """Return the sources within the budget, each with those sentences that are likeliest to answer.

    Sources that fit stay as they are. What was left out is marked by ``LEFT_OUT``; numbers stay, and a source of which
    nothing is likely enough goes. A single sentence that is longer than the budget stays whole: cutting comes later.
    ``candidates`` are all hits of the question; they only add statistics; a ``finder`` has been given the sources'
    passages and these.
    """
    if joined_chars(sources) <= budget_chars:
        return list(sources)
    hits = [source.hit for source in sources]
    found = (finder or CandidateFinder(question, [*hits, *candidates])).find(hits)
    by_hit = {id(source.hit): source for source in sources}
    left = budget_chars
    kept: set[int] = set()
    opened: set[int] = set()
    for index in sorted(range(len(found)), key=lambda i: (-found[i].chance, i)):
        candidate = found[index]
        source = by_hit[id(candidate.hit)]
        price = len(candidate.text) + _MARK_CHARS + len(candidate.above) + 1
        if source.number not in opened:
            price += len(source.head) + _MARK_CHARS + (len(SEPARATOR) if opened else 0)
        if price <= left or not kept:
            left -= price
            kept.add(index)
            opened.add(source.number)
    chosen = [found[index] for index in sorted(kept)]
    texts = {id(hit): _joined(list(group)) for hit, group in _by_hit(chosen)}
    return [replace(source, text=texts[id(source.hit)]) for source in sources if id(source.hit) in texts]


def _by_hit(chosen: Sequence[Candidate]) -> list[tuple[Hit, list[Candidate]]]:
    return [(group[0].hit, group) for _, some in groupby(chosen, key=lambda c: id(c.hit)) if (group := list(some))]


def _joined(chosen: Sequence[Candidate]) -> str:
    """Return the sentences of one passage with what stands between neighbours, and marks where something does not."""
    text = chosen[0].hit.placed.chunk.text
    pieces: list[str] = []
    above, end, before = "", 0, -1
    for candidate in chosen:
        is_next = candidate.order == before + 1
        gap = text[end : candidate.start] if is_next else ""
        if not is_next:
            pieces.append(f" {LEFT_OUT} " if pieces else f"{LEFT_OUT} ")
        elif pieces:
            pieces.append("\n" if "\n" in gap else " " if gap else "")
        if candidate.above and candidate.above != above:
            above = candidate.above
            pieces.append(f"{above}\n")
        pieces.append(candidate.text)
        end, before = candidate.end, candidate.order
    if text[end:].strip():
        pieces.append(f" {LEFT_OUT}")
    return "".join(pieces)
