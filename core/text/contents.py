"""Entries of tables of contents and of indexes: a title, what leads to its page, and the page."""

from __future__ import annotations

import re
from functools import lru_cache

LEADER = " … "
_LEADING = re.compile(r"(?:[.・]\s?){5,}|(?:…\s?){2,}|\s*\t+\s*")
_PAGE = re.compile(r"\s+(\d{1,4})\s*\Z")
_ENTRY = re.compile(
    r"\S … (?:[A-Z]{0,2}[-‐–])?(?:\d{1,4}(?:[-–.]\d{1,4})?|[ivxlc]{1,7})(?:, \d{1,4})*\s*\Z", re.IGNORECASE
)
_MOST = 0.6
"""Share of its text that the entries of a passage have that is a table of contents."""
_REMEMBERED = 8_000


def as_entry(line: str) -> str:
    """Return a line of a table of contents with one leader between its title and its page.

    Dots, tabs and, where there is neither, the blank before a number lead to the page.
    """
    entry, leaders = _LEADING.subn(LEADER, line.strip())
    if not leaders and not is_entry(entry):
        entry = _PAGE.sub(rf"{LEADER}\1", entry)
    return " ".join(entry.split())


def is_entry(line: str) -> bool:
    """Tell whether a line names a title and its page, and says nothing else."""
    return _ENTRY.search(line[-60:]) is not None


@lru_cache(maxsize=_REMEMBERED)
def is_contents(passage: str) -> bool:
    """Tell whether a passage is for the most part a table of contents or an index."""
    if LEADER not in passage:
        return False
    lines = passage.split("\n")
    return sum(len(line) for line in lines if is_entry(line)) > _MOST * len(passage)
