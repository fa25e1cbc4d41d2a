"""The explanation of a score is read term by term."""

from __future__ import annotations

from typing import Any

import pytest

from core.adapters.keyword.elastic_scores import term_scores


def part(words: str, value: float, *details: Any) -> dict[str, Any]:
    return {"description": words, "value": value, "details": list(details)}


def weight(term: str, idf: float, tf: float, frequency: int) -> dict[str, Any]:
    """What the server says of one term of a row."""
    return part(
        f"weight(terms:{term} in 7) [PerFieldSimilarity], result of:",
        idf * tf,
        part(
            "score(freq=1.0), computed as boost * idf * tf from:",
            idf * tf,
            part("boost", 2.2),
            part(
                "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:",
                idf,
                part("n, number of documents containing term", frequency),
                part("N, total number of documents with field", 90),
            ),
            part("tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:", tf / 2.2),
        ),
    )


def test_every_term_has_its_score_its_rarity_and_its_frequency() -> None:
    both = part("sum of:", 5.0, weight("harbour", 2.0, 1.5, 3), part("max of:", 2.0, weight("ferri", 4.0, 0.5, 1)))
    filtered = part("sum of:", 5.0, both, part("match on required clause, product of:", 0.0, part("# clause", 0.0)))
    found = term_scores(filtered)
    assert set(found) == {"harbour", "ferri"}
    assert found["harbour"].score == pytest.approx(3.0)
    assert (found["harbour"].idf, found["harbour"].document_frequency) == (2.0, 3)
    assert found["harbour"].tf == pytest.approx(1.5)


def test_term_of_any_signs_is_read_whole() -> None:
    [found] = term_scores(weight("weight(terms:x", 1.0, 1.0, 2)).values()
    assert found.term == "weight(terms:x"


def test_explanation_without_a_term_gives_no_scores() -> None:
    assert term_scores(part("ConstantScore(*:*)", 1.0)) == {}
