"""How Elasticsearch explains a score, read as the scores of its terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.model import TermScore

_WEIGHT = re.compile(r"weight\(terms:(\S+) in \d+\)")


def term_scores(explanation: Mapping[str, Any]) -> dict[str, TermScore]:
    """Return the scores of the terms that a row holds; those that did not count are among them."""
    return {score.term: score for score in _scores(explanation)}


def _scores(explanation: Mapping[str, Any]) -> Iterator[TermScore]:
    named = _WEIGHT.match(explanation["description"])
    if named is None:
        for detail in explanation.get("details", ()):
            yield from _scores(detail)
        return
    idf = _found(explanation, "idf, ")
    frequency = _found(idf, "n, ") if idf else None
    if idf and frequency and idf["value"]:
        score = float(explanation["value"])
        yield TermScore(
            named.group(1), score, float(idf["value"]), score / float(idf["value"]), int(frequency["value"])
        )


def _found(explanation: Mapping[str, Any], beginning: str) -> Mapping[str, Any] | None:
    """Return the part of an explanation whose words begin so."""
    for detail in explanation.get("details", ()):
        found = detail if detail["description"].startswith(beginning) else _found(detail, beginning)
        if found is not None:
            return found
    return None
