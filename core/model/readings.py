"""Readings: what an EvoRAG that reads more, or cuts otherwise, makes of the bytes of versions that are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ReadingState(StrEnum):
    """What another reading of a version is than the one in use."""

    READING = "reading"
    FAILED = "failed"
    WAITING = "waiting"
    """It is read and indexed, and waits for somebody to show it."""
    WITHDRAWN = "withdrawn"
    """It was in use, and somebody went back to the reading before."""
    REPLACED = "replaced"
    """It was in use before, and can be again."""


@dataclass(frozen=True, slots=True)
class Differences:
    """How a reading differs from the one in use, in words; a letter of a script without spaces counts as a word."""

    gained: int = 0
    lost: int = 0
    gained_lines: tuple[str, ...] = ()
    """A few lines with words that only this reading has."""
    lost_lines: tuple[str, ...] = ()
    """A few lines with words that only the reading in use has."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Another reading of a version than the one in use."""

    id: int
    doc_key: str
    name: str
    version: int
    number: int
    """1 is the first reading of the version's bytes."""
    state: ReadingState
    chunk_count: int
    present_chunk_count: int
    """How many chunks the reading in use has."""
    is_shown: bool
    """Whether the document shows this version now, in the reading in use."""
    differences: Differences | None = None
    """None until it is read, and for one that is replaced."""
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ReadingReport:
    """How many documents are read by an earlier reader than this EvoRAG's, and what has been done about it."""

    reader: str
    """What this EvoRAG reads and cuts with, such as ``2.1.400``: parsers, chunking, tokens a chunk."""
    outdated: int
    """Documents that show what an earlier reader made, and are not read anew yet."""
    reading: int
    failed: int
    waiting: int
    withdrawn: int
    replaced: int

    @property
    def usable(self) -> int:
        """Documents whose readings are ready and not in use."""
        return self.waiting + self.withdrawn
