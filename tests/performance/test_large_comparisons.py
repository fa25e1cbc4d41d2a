"""Comparisons of hostile size end with a result and within the memory that a child may take (HOSTILE 54)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.model import Block
from core.versions.cache import ComparisonCache, DiffLimits
from tests.unit.versions.test_cache import Folder

# Slow machines get all the time they need: what is looked at is memory and the result.
_LIMITS = DiffLimits(seconds=40.0, memory_bytes=1024**3)
_SYLLABLES = ["ka", "to", "mi", "ren", "sor", "val", "dek", "pum", "lir", "qua", "zen", "bos", "tar", "wim", "olf"]


def blocks(lines: Iterator[str], together: int = 50) -> list[Block]:
    found, few = [], []
    for line in lines:
        few.append(line)
        if len(few) == together:
            found.append(Block("\n".join(few)))
            few = []
    return [*found, *([Block("\n".join(few))] if few else [])]


def prose(seed: int, size: int) -> Iterator[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices(_SYLLABLES, k=3)) for _ in range(5_000)]
    done = 0
    while done < size:
        line = " ".join(rng.choices(words, k=12))
        done += len(line) + 1
        yield line


def identical(count: int) -> list[Block]:
    return blocks(iter(["the same line again and again"] * count))


def one_line(edits: int) -> list[Block]:
    words = " ".join(prose(1, 50_000_000)).split(" ")
    for edit in range(edits):
        words[(edit * 104_729) % len(words)] = f"edit{edit}"
    text = " ".join(words)
    return [Block(text)]


def blank_lines(seed: int) -> list[Block]:
    rng = random.Random(seed)
    return [Block("\n\n\n".join(f"line {rng.randrange(40)}" for _ in range(50))) for _ in range(2_000)]


@pytest.mark.shard
@pytest.mark.parametrize(
    ("old", "new", "notices"),
    [
        pytest.param(lambda: identical(1_000_000), lambda: identical(999_950), set(), id="a million identical lines"),
        pytest.param(lambda: one_line(0), lambda: one_line(30), {"long_lines"}, id="one line of 50 MB"),
        pytest.param(lambda: blank_lines(1), lambda: blank_lines(2), set(), id="alternating blank lines"),
        pytest.param(
            lambda: blocks(prose(1, 20_000_000)),
            lambda: blocks(prose(2, 20_000_000)),
            set(),
            id="total rewrite of 20 MB",
        ),
    ],
)
def test_a_hostile_pair_ends_with_a_result(
    tmp_path: Path, old: Callable[[], list[Block]], new: Callable[[], list[Block]], notices: set[str]
) -> None:
    blobs = Folder(tmp_path / "blobs")
    comparisons = ComparisonCache(tmp_path / "kept", blobs, _LIMITS)

    found = comparisons.get(blobs.version(1, old()), blobs.version(2, new()))

    assert notices <= set(found.summary.notices)
    assert not found.summary.is_equal and found.count == found.summary.rows
    assert found.view().lines(0, 50) and found.view(folded=False).lines(found.count // 2, found.count // 2 + 50)
    comparisons.close()
