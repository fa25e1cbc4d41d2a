"""What a person has marked on web pages: phrases that a reading should hold, and phrases that stand around the text.

A folder may hold such marks in a file ``phrases.json``, or ``evaldata.json`` as trafilatura's repository has it: an
object whose values name a ``file`` below the folder and its phrases ``with`` and ``without``. A phrase is found where
it stands in the text, whatever the blanks, which is how that repository counts, and whatever address the reading has
set behind the words of a link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAMES = frozenset({"phrases.json", "evaldata.json"})
_ADDRESS = re.compile(r" \([a-z]{3,6}:[^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The marks of one page."""

    wanted: tuple[str, ...]
    furniture: tuple[str, ...]


def marked(folders: Sequence[Path]) -> Mapping[str, Phrases]:
    """Return the marks of all pages below some folders by the names of their files."""
    found: dict[str, Phrases] = {}
    for folder in folders:
        for path in sorted(each for each in folder.rglob("*.json") if each.name in NAMES):
            for entry in json.loads(path.read_text("utf-8")).values():
                found[Path(entry["file"]).name] = Phrases(_alike(entry["with"]), _alike(entry["without"]))
    return found


def count(text: str, phrases: Sequence[str]) -> int:
    """Return how many of some phrases stand in a text."""
    whole = one_blank(text)
    bare = _ADDRESS.sub("", whole)
    return sum(phrase in whole or phrase in bare for phrase in phrases)


def one_blank(text: str) -> str:
    return " ".join(text.split())


def _alike(phrases: Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(None, map(one_blank, phrases)))
