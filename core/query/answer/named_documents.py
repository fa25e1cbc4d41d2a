"""Tells which of the documents that were found a question names by a word of their names or titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from core.model import Hit
from core.query.answer.question_profile import QuestionProfile
from core.text.analysis import analyse

_NO_WORD = re.compile(r"[\W_]+")
_MOST_NAMED = 1 / 3
"""Of the documents that were found; a word that more of their names hold tells none of them from the others."""
_FEW = 2


def named_documents(profile: QuestionProfile, hits: Sequence[Hit]) -> dict[str, float]:
    """Return how far the question names each document, by its key: 1 for the one that it names by its rarest word.

    Others have the share of that word's weight; one that no word names is left out.
    """
    documents = {hit.placed.doc_key: hit for hit in hits}
    names = {key: words_of_name(hit, profile.language) & profile.weights.keys() for key, hit in documents.items()}
    held = Counter(word for words in names.values() for word in words)
    most = max(_FEW, _MOST_NAMED * len(names))
    told = {
        key: max((profile.weights[w] for w in words if held[w] <= most), default=0.0) for key, words in names.items()
    }
    heaviest = max(told.values(), default=0.0)
    return {key: weight / heaviest for key, weight in told.items() if weight > 0}


def words_of_name(hit: Hit, language: str) -> frozenset[str]:
    """Return the terms of a document's title and of its file's name, without the ending that tells its kind."""
    stem = hit.placed.name.rpartition(".")[0] or hit.placed.name
    return frozenset(analyse(_NO_WORD.sub(" ", f"{hit.placed.title} {stem}"), language))
