"""Settles what words cannot: a verifier reads a claim with its passage, and says how likely the passage says all of it.

What words find counts along. Figures, units, identifiers, negation and direction that the passage has otherwise are
settled by words alone, for a small model reads over those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.model import ClaimEvidence
from core.query.guard.attribution import (
    LEAST_OVERLAP,
    PassageUnit,
    ReadSentence,
    Support,
    SupportPassage,
    WrittenSentence,
    held_against,
    read_sentence,
)
from core.query.guard.evidence import MOST_CHARS, evidence_in
from core.query.guard.frames import without_frame

Verify = Callable[[Sequence[ClaimEvidence]], list[float]]

VERIFIED_LANGUAGES = ("en", "ja")
"""Of sentences and passages that the verifier learnt from; it tells little of a sentence in another language."""
MOST_VERIFIED = 16
"""Sentences of an answer that are verified; what follows is left to words."""
PASSAGES_EACH = 2
SETTLED_BY_WORDS = ("figure", "unit", "identifier", "negation", "direction")
SETTLED_WHERE_NEAR = ("name", "agents")
"""The same where most of the sentence's words are in its span: one is another then, or two have changed places."""
NEAR, WHOLE = 0.8, 0.95
WEIGHTS = {"chance": 0.689, "by_words": 0.603, "whole": 1.645, "nearest": 0.456, "names": -0.324}
BIAS = 0.166
"""Fitted on claims that the verifier did not learn from (``benchmarks.claim_training.fit``)."""
LEAST = 0.6
"""Certainty from which a sentence is shown as supported: .50 of the true and .12 of the nearly true written claims are,
.98 and .017 of those made by rule; words alone show .05, .08, .99 and .011."""
_LEAST_LOGIT, _MOST_LOGIT = -3.0, 8.0
"""Less would let the verifier deny a sentence whose words all stand in its span, for their order alone."""


@dataclass(frozen=True, slots=True)
class AskedOf:
    """A sentence with one of the passages that it is verified against."""

    number: int
    support: Support
    pair: ClaimEvidence
    start: int
    end: int
    """Where in the passage stands what is read of it."""


def verified(
    sentences: Sequence[WrittenSentence],
    supports: Sequence[Support],
    passages: Sequence[SupportPassage],
    verify: Verify,
) -> list[Support]:
    """Return the supports with what the verifier makes of each sentence. Raises: ``ModelUnavailable``."""
    found = list(supports)
    every = asked_of(sentences, supports, passages)
    for one in every:
        found[one.number] = replace(found[one.number], is_supported=False)
    asked = [one for one in every if not is_settled(one.support)]
    best: dict[int, float] = {}
    for one, chance in zip(asked, verify([each.pair for each in asked]), strict=True):
        certain = certainty(one.support, chance)
        if certain > best.get(one.number, 0.0):
            best[one.number] = certain
            support = replace(one.support, entailed=round(certain, 4), is_supported=certain >= LEAST)
            if support.nearest < LEAST_OVERLAP:
                # No sentence has its words: what was read says it.
                support = replace(support, start=one.start, end=one.end)
            found[one.number] = support
    return found


def asked_of(
    sentences: Sequence[WrittenSentence], supports: Sequence[Support], passages: Sequence[SupportPassage]
) -> list[AskedOf]:
    """Return the first sentences, each with the passages that it is verified against."""
    return [
        one
        for number, (sentence, support) in enumerate(zip(sentences[:MOST_VERIFIED], supports, strict=False))
        for one in _asked(number, read_sentence(sentence), support, passages)
    ]


def certainty(support: Support, chance: float) -> float:
    """Return how likely a passage says all of a sentence, by what words find and a verifier says."""
    if is_settled(support):
        return 0.0
    features = verification_features(support, chance)
    score = BIAS + math.fsum(weight * features[name] for name, weight in WEIGHTS.items())
    return 1 / (1 + math.exp(-score))


def is_settled(support: Support) -> bool:
    """Tell whether words alone say that a passage does not say a sentence."""
    if support.foreign_figures or support.contradiction in SETTLED_BY_WORDS:
        return True
    return support.nearest >= NEAR and bool(support.foreign_names or support.contradiction in SETTLED_WHERE_NEAR)


def verification_features(support: Support, chance: float) -> dict[str, float]:
    """Return what tells whether a passage says a sentence, by the names of ``WEIGHTS``."""
    logit = math.log(max(chance, 1e-9) / max(1 - chance, 1e-9))
    return {
        "chance": max(_LEAST_LOGIT, min(_MOST_LOGIT, logit)),
        "by_words": float(support.is_supported),
        "whole": float(support.is_supported and support.nearest >= WHOLE),
        "nearest": support.nearest,
        "names": float(bool(support.foreign_names) or support.contradiction == "name"),
    }


def _asked(number: int, read: ReadSentence, support: Support, passages: Sequence[SupportPassage]) -> Iterable[AskedOf]:
    """Yield the sentence with the passages that may say it: those it names, and those that hold most of its words."""
    if read.language not in VERIFIED_LANGUAGES or support.is_across:
        return
    fitting = [passage for passage in passages if passage.language == read.language]
    ordered = sorted(
        fitting,
        key=lambda passage: (
            passage.source.number not in read.sentence.hints,
            passage.source is not support.source,
            -len(read.words & passage.terms),
        ),
    )
    for passage in ordered[:PASSAGES_EACH]:
        chosen = _evidence(read, passage)
        text = "\n".join(unit.text for unit in chosen)
        pair = ClaimEvidence(without_frame(read.sentence.text), text, passage.source.hit.placed.title)
        places = (chosen[0].start, chosen[-1].end) if chosen else (0, 0)
        yield AskedOf(number, held_against(read, passage), pair, *places)


def _evidence(read: ReadSentence, passage: SupportPassage) -> list[PassageUnit]:
    """Return what is read of a passage with a sentence."""
    units = passage.units
    most = MOST_CHARS.get(passage.language, MOST_CHARS["en"])
    chosen = evidence_in(read.words, [unit.terms for unit in units], [len(unit.text) for unit in units], most)
    return [units[place] for place in chosen]
