"""The parts of a BM25 score, by the formula that tantivy and Lucene share.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the idf is Lucene's,
which is never negative.
"""

from __future__ import annotations

from math import log1p

K1 = 1.2
B = 0.75


def idf(documents: int, document_frequency: int) -> float:
    """Return how rare a term is that ``document_frequency`` of all ``documents`` hold."""
    return log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5))


def tf_part(frequency: int, length: float, mean_length: float) -> float:
    """Return what a term's ``frequency`` is worth in a document of ``length`` terms; 0 to ``K1 + 1``."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean_length))
