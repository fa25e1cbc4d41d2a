"""Keeps from askers what the statistics of a term tell of other people's private documents: how many rows hold it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.model import Hit, Leg, TermScore
from core.query.search.search import SearchResult


def found_without_statistics(found: SearchResult) -> SearchResult:
    """Return what a search found with terms that tell their score alone."""
    return replace(
        found,
        retrieved=replace(found.retrieved, keyword=_leg(found.retrieved.keyword)),
        candidates=_hits(found.candidates),
        hits=_hits(found.hits),
    )


def without_statistics(terms: Sequence[TermScore]) -> tuple[TermScore, ...]:
    """Return terms with their scores alone: idf, tf and document frequency are 0, as they never are otherwise."""
    return tuple(TermScore(term.term, term.score, stands_for=term.stands_for) for term in terms)


def _leg(leg: Leg) -> Leg:
    return replace(leg, hits=tuple(replace(hit, terms=without_statistics(hit.terms)) for hit in leg.hits))


def _hits(hits: Sequence[Hit]) -> list[Hit]:
    return [
        hit
        if hit.keyword is None
        else replace(hit, keyword=replace(hit.keyword, terms=without_statistics(hit.keyword.terms)))
        for hit in hits
    ]
