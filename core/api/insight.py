"""Insight: why a passage was not found, and what the analyser does with a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from core.model import AnalysedText, Query, Vocabulary, WhyNot


class InsightApi(Protocol):
    """Explanations of search, and the vocabulary that it uses."""

    def why_not(self, query: Query, doc_key: str, position: int | None = None, version: int | None = None) -> WhyNot:
        """Return where a passage ranks for a question, what excludes it, and what would bring it up.

        Without ``position`` it is the best passage of the document. Raises: ``NotFound``, ``Conflict``, ``BadFilter``.
        """

    def analyse(self, text: str, *, written: bool = False) -> AnalysedText:
        """Return the words and terms of a text; with ``written`` by the vocabulary that is not in effect yet."""

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary as it was written last."""

    def set_vocabulary(self, words: Iterable[Sequence[str]], synonyms: Iterable[Sequence[str]]) -> Vocabulary:
        """Replace words (each with its reading, or alone) and groups of synonyms. Raises: ``InvalidInput``."""

    def reindex_words(self) -> str:
        """Queue the job that puts the vocabulary into effect; return its id."""
