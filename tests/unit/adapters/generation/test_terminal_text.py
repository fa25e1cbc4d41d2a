"""Plain text out of what programs write to terminals."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.generation.redaction import LONGEST, shortened
from core.adapters.generation.terminal_text import LONGEST_SEQUENCE, PlainText

PARTS = [
    "text",
    "日本語",
    "\x1b[31m",
    "\x1b]0;a title\x07",
    "\x1b]8;;x\x1b\\",
    "\x9b1m",
    "\x1b(B",
    "\r\n",
    "\r",
    "\x1b",
    "\b",
    "é",
]


def plain(*pieces: bytes) -> str:
    text = PlainText()
    return "".join([*(text.feed(piece) for piece in pieces), text.feed(b"", final=True)])


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.lists(st.integers(0, 200), max_size=6))
def test_text_is_the_same_however_its_bytes_are_cut(parts: list[str], cuts: list[int]) -> None:
    data = "".join(parts).encode()
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert plain(*pieces) == plain(data)


@pytest.mark.parametrize("part", [part for part in PARTS if part[0] in "\x1b\x9b" and len(part) > 1])
def test_sequences_leave_nothing(part: str) -> None:
    assert plain(f"a{part}b".encode()) == "ab"


def test_characters_that_arrive_in_two_pieces_are_whole() -> None:
    data = "日本".encode()
    assert plain(data[:2], data[2:4], data[4:]) == "日本"


def test_sequence_without_an_end_does_not_swallow_the_answer() -> None:
    text = PlainText()
    assert "answer" in text.feed(b"\x1b]0;" + b"x" * LONGEST_SEQUENCE + b"answer")


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abcdef123456",
        "api_key: 'abcdef123456'",
        "x-token=abcdef123456",
        "sk-abcdef123456789",
        "my own abcdef123456",
    ],
)
def test_shortened_text_holds_no_secret(text: str) -> None:
    assert "abcdef123456" not in shortened(f"failed with {text}", ("abcdef123456",) if "own" in text else ())


def test_shortened_text_is_one_short_line() -> None:
    found = shortened("a\x1b[1m\nb" + "c" * 1_000)
    assert len(found) == LONGEST and found.isprintable()
