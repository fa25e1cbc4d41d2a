"""Of the false claims that are made from the sample documents hardly any passes the guard, and true ones are kept."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import core
from benchmarks.claims import FALSE_KINDS, TRUE_KINDS, Claim, ClaimPassage, claims
from benchmarks.guard import guarded, held_against, passes
from core.query.guard.guard import Compare

SAMPLE = Path(core.__file__).parent / "sample" / "documents" / "v1"
PER_KIND = 40
_CHARS = 700


@cache
def passages() -> list[ClaimPassage]:
    """Return the sample's texts in parts of some paragraphs; nothing is asked of them."""
    found = []
    for path in sorted(path for path in SAMPLE.iterdir() if path.suffix in (".md", ".markdown", ".txt")):
        part = ""
        for paragraph in path.read_text("utf-8").split("\n\n"):
            part += paragraph + "\n"
            if len(part) > _CHARS:
                found.append(ClaimPassage(path.stem, part))
                part = ""
        if part:
            found.append(ClaimPassage(path.stem, part))
    return found


@cache
def judged() -> list[tuple[Claim, bool]]:
    """Judge by words alone, as where no embedder answers."""
    made = claims(passages(), 5, PER_KIND)
    return [
        (claim, passes(guarded(claim.text, "", claim.language, held_against(claim, number, passages()), Compare())))
        for number, claim in enumerate(made)
    ]


@pytest.mark.parametrize("kind", [kind for kind in (*FALSE_KINDS, *TRUE_KINDS) if kind != "question"])
def test_there_are_claims_of_every_kind(kind: str) -> None:
    assert Counter(claim.kind for claim, _ in judged())[kind] >= 3


def test_false_claims_differ_from_what_they_were_made_from() -> None:
    assert all(claim.text != claim.of for claim, _ in judged() if not claim.is_true)


def test_hardly_any_false_claim_passes() -> None:
    false = [passed for claim, passed in judged() if not claim.is_true]
    assert sum(false) <= 0.03 * len(false)


def test_true_claims_are_kept() -> None:
    true = [passed for claim, passed in judged() if claim.is_true]
    assert sum(true) >= 0.93 * len(true)
