"""Texts that make a comparison slow or large where it is written carelessly: exact results all the same."""

from __future__ import annotations

import random

import pytest

from core.model import Block, BlockKind
from core.versions.diff.difference import apply, diff
from tests.unit.versions.texts import Blocks, paragraphs, parsed

_chance = random.Random(20)


def lines(*texts: str) -> Blocks:
    return [Block("\n".join(texts), BlockKind.CODE)]


def thinned(texts: list[str], share: float) -> list[str]:
    return [text for text in texts if _chance.random() > share]


def numbered(count: int) -> list[str]:
    return [f"line {number} of many" for number in range(count)]


def shuffled(texts: list[str]) -> list[str]:
    return _chance.sample(texts, len(texts))


_SAME = ["the same"] * 50_000
_BLANKS = [text for number in range(10_000) for text in (f"text {number}", "")]
_LETTERS = "".join(_chance.choices("abcdefgh", k=400_000))
_GROUPS = [Block(f"k{number} | {number % 7} | x", BlockKind.TABLE) for number in range(2_000)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(lines(*_SAME), lines(*_SAME[:-77]), id="identical lines"),
        pytest.param(lines(*_SAME), lines(*_SAME[:20_000], "odd", *_SAME, "odd"), id="identical lines and odd ones"),
        pytest.param(lines(*_BLANKS), lines(*thinned(_BLANKS, 0.05)), id="alternating blank lines"),
        pytest.param(lines(*["a", "b"] * 20_000), lines(*thinned(["a", "b"] * 20_000, 0.01)), id="two lines in turn"),
        pytest.param(lines(*numbered(20_000)), lines(*(text + "!?" for text in numbered(20_000))), id="all changed"),
        pytest.param(paragraphs(*numbered(20_000)), paragraphs(*shuffled(numbered(20_000))), id="shuffled"),
        pytest.param(paragraphs("a b c " * 90_000), paragraphs("x y z " * 90_000), id="total rewrite of one line"),
        pytest.param(paragraphs(_LETTERS), paragraphs(_LETTERS[:1_000] + "?" + _LETTERS[5_000:]), id="no space at all"),
        pytest.param(paragraphs("x" * 500_000), paragraphs("x" * 499_999), id="one letter"),
        pytest.param(paragraphs("\n" * 9_001), paragraphs("\n" * 9_000), id="nothing but line breaks"),
        pytest.param(_GROUPS, _GROUPS[:1_000] + _GROUPS[1_001:], id="a table in many pieces"),
        pytest.param(
            [Block(" | ".join("ab" * 700), BlockKind.TABLE)],
            [Block(" | ".join("ba" * 700), BlockKind.TABLE)],
            id="columns",
        ),
        pytest.param(paragraphs("e" + "\u0301" * 5_000), paragraphs("e" + "\u0301" * 4_999), id="stacked marks"),
    ],
)
def test_a_degenerate_text_is_compared_exactly(old: Blocks, new: Blocks) -> None:
    assert apply(parsed(old), diff(old, new).rows) == parsed(new)
    assert apply(parsed(new), diff(new, old).rows) == parsed(old)


def test_a_total_rewrite_pairs_nothing_and_gives_up_soon() -> None:
    old = paragraphs(*(f"{number} alpha beta gamma delta" for number in range(5_000)))
    new = paragraphs(*(f"one {number}x two three four" for number in range(5_000)))

    difference = diff(old, new)

    assert difference.count == 10_000
    assert len(difference.runs) == 2
