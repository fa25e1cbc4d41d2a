"""The words of a question and of a passage as people read them, and which of them both have."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import PlacedChunk
from core.text.analysis import AnalysedPiece, commas_within_numbers, normalise, pieces, unmarked
from core.text.vocabulary import Words


def shared(words: Words, question: str, placed: PlacedChunk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a question that a passage holds, be it as a synonym or in translation, and those it lacks."""
    held = set(words.analyse(indexed(placed)))
    readable = as_written(question)
    present: dict[str, None] = {}
    missing: dict[str, None] = {}
    for clause in words.ask(question):
        others = [other for terms in clause.alternatives[1:] for other in terms]
        for term in clause.alternatives[0]:
            is_held = term in held or any(other in held for other in others)
            word = next((readable[each] for each in (term, *others) if each in readable), unmarked(term))
            (present if is_held else missing)[word] = None
    return tuple(present), tuple(missing)


def indexed(placed: PlacedChunk) -> str:
    """Return the text of a passage that the indexes read."""
    return placed.chunk.indexed_text(placed.title)


def as_written(text: str) -> dict[str, str]:
    """Return the terms of a text with the words that they stand for in it; a part of a longer word is its own."""
    found: dict[str, str] = {}
    for piece in _pieces(text):
        for term in piece.terms + piece.spoken:
            is_whole = len(piece.terms) == 1 or (term == piece.terms[0] and not piece.kind)
            found.setdefault(term, piece.surface if is_whole else term)
    return found


def _pieces(text: str) -> Iterator[AnalysedPiece]:
    normalised = normalise(text)
    commas = set(commas_within_numbers(normalised))
    joined = "".join(sign for at, sign in enumerate(normalised) if at not in commas)
    return pieces(joined)
