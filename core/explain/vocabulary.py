"""Checks a vocabulary before it is kept: every word must be one that the analyser can find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import InvalidInput
from core.text.analysis import normalise
from core.text.language import is_storable
from core.text.vocabulary import SHORTEST, is_indexed, scannable

MOST_WORDS = 10_000
MOST_GROUPS = 2_000
LONGEST_GROUP = 20
LONGEST_WORD = 64


def checked_words(words: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Return pairs of surface and reading, each surface once. Raises: ``InvalidInput``."""
    found: dict[str, tuple[str, str]] = {}
    for entry in words:
        surface, reading = (*entry, "")[:2] if isinstance(entry, (tuple, list)) and 1 <= len(entry) <= 2 else ("", "")
        word = _checked(surface)
        if not isinstance(reading, str) or len(reading) > LONGEST_WORD or not is_storable(reading):
            raise InvalidInput(f"The reading of “{word}” is no text of at most {LONGEST_WORD} characters.")
        form = scannable(normalise(word))[0]
        if len(form) < SHORTEST:
            raise InvalidInput(f"“{word}” is too short.", remedy=f"A word has at least {SHORTEST} signs.")
        found.setdefault(form, (word, " ".join(reading.split())))
    if len(found) > MOST_WORDS:
        raise InvalidInput(f"A vocabulary has at most {MOST_WORDS:,} words.")
    return tuple(found.values())


def checked_synonyms(groups: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return groups of at least two different words. Raises: ``InvalidInput``."""
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for group in groups:
        if not isinstance(group, (tuple, list)) or len(group) > LONGEST_GROUP:
            raise InvalidInput(f"A group of synonyms has at most {LONGEST_GROUP} words.")
        words: dict[str, str] = {}
        for word in map(_checked, group):
            words.setdefault(scannable(normalise(word))[0], word)
        if len(words) < 2:
            raise InvalidInput("A group of synonyms has at least two different words.")
        found.setdefault(frozenset(words), tuple(words.values()))
        if len(found) > MOST_GROUPS:
            raise InvalidInput(f"A vocabulary has at most {MOST_GROUPS:,} groups of synonyms.")
    return tuple(found.values())


def _checked(word: object) -> str:
    if not isinstance(word, str) or not is_storable(word) or "\0" in word:
        raise InvalidInput("A word of the vocabulary is a text.")
    plain = " ".join(word.split())
    if not plain or len(plain) > LONGEST_WORD:
        raise InvalidInput(f"A word of the vocabulary has 1 to {LONGEST_WORD} characters, and “{plain[:32]}” has not.")
    if not is_indexed(plain):
        raise InvalidInput(f"“{plain}” holds no word that can be found.", remedy="Write at least one letter or figure.")
    return plain
