"""Versions of texts that tests compare: blocks at random, and edits of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import settings
from hypothesis import strategies as st

from core.model import BLOCK_JOINT, Block, BlockKind, Change, Locator, Row
from core.versions.diff.difference import diff

Blocks = list[Block]

no_deadline = settings(deadline=None)
"""The first Japanese word loads a dictionary."""

_WORDS = st.sampled_from(
    [
        "alpha",
        "beta",
        "gamma",
        "the",
        "of",
        "2026-11-21",
        "1,200.50",
        "契約は",
        "甲",
        "令和8年4月1日",
        "😀",
        "e\u0301",
        "\ud800",
    ]
)
_CELLS = st.sampled_from(["a", "b", "12", "13.5", "", "東京", "a longer cell", "x|y"])
_TITLES = st.sampled_from(["One", "Two", "Three and more", "第一章"])
_PARAGRAPHS = st.lists(_WORDS, max_size=9).map(" ".join).map(Block)
_PLACED = st.builds(
    lambda words, page: Block(" ".join(words), locator=Locator(page=page)), st.lists(_WORDS), st.integers(1, 3)
)
_HEADINGS = st.builds(lambda title, level: Block(title, BlockKind.HEADING, level=level), _TITLES, st.integers(1, 3))
_CODE = st.text("x}\n \r\u2028", max_size=8).map(lambda text: Block(text, BlockKind.CODE))
_ROWS = st.lists(st.lists(_CELLS, min_size=1, max_size=4).map(" | ".join), min_size=1, max_size=4).map("\n".join)
_TABLES = st.builds(
    lambda text, header: Block(text, BlockKind.TABLE, header=header), _ROWS, st.sampled_from(["", "h | i | j"])
)
_LONG = st.lists(_WORDS, min_size=3, max_size=6).map(lambda words: Block(". ".join(words * 150)))
ANY_BLOCK = _PARAGRAPHS | _PLACED | _HEADINGS | _CODE | _TABLES
ANY_BLOCKS = st.lists(ANY_BLOCK, max_size=12) | st.lists(ANY_BLOCK | _LONG, max_size=3)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Blocks, Blocks]:
    """Two versions: the second is the first with blocks taken out, put in, moved and reworded."""
    old = draw(ANY_BLOCKS)
    new = list(old)
    for _edit in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(new)))
        kind = draw(st.sampled_from(["insert", "remove", "move", "reword"]))
        if kind == "insert" or place == len(new):
            new.insert(place, draw(ANY_BLOCK))
        elif kind == "remove":
            del new[place]
        elif kind == "move":
            block = new.pop(place)
            new.insert(draw(st.integers(0, len(new))), block)
        else:
            words = new[place].text.split(" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(_WORDS | st.sampled_from(["", "\n", "a | b"]))
            new[place] = Block(" ".join(words), new[place].kind, new[place].locator, new[place].level)
    return old, new


PAIRS = edited() | st.tuples(ANY_BLOCKS, ANY_BLOCKS)


def parsed(blocks: Iterable[Block]) -> str:
    return BLOCK_JOINT.join(block.text for block in blocks)


def paragraphs(*texts: str) -> Blocks:
    return [Block(text) for text in texts]


def table(*rows: str, header: str = "") -> Blocks:
    return [Block("\n".join(rows), BlockKind.TABLE, header=header)]


def rows_between(old: Iterable[Block], new: Iterable[Block]) -> list[Row]:
    return list(diff(old, new).rows)


def changes(rows: Sequence[Row]) -> str:
    """The rows as one letter each: ``=`` equal, ``~`` changed, ``-`` removed, ``+`` added."""
    signs = {Change.EQUAL: "=", Change.CHANGED: "~", Change.REMOVED: "-", Change.ADDED: "+"}
    return "".join(signs[row.change] for row in rows)
