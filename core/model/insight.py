"""Why a passage was found, or was not; what the analyser makes of a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from core.model.questions import TermScore, Trace


class Obstacle(StrEnum):
    """What keeps a passage from the answer."""

    NONE = "none"
    NOT_SHOWN = "not_shown"
    """Its version is a draft, or another version of the document is shown."""
    DELETED = "deleted"
    FILTERED = "filtered"
    NO_COMMON_TERM = "no_common_term"
    TOO_DEEP = "too_deep"
    """Neither leg reads as far as it stands."""
    OUTRANKED = "outranked"
    """It is a candidate; others stand before it."""
    DOCUMENT_FULL = "document_full"
    """The document has as many passages among the first as one may have."""
    MERGED = "merged"
    """An identical passage stands for it."""


@dataclass(frozen=True, slots=True)
class LegPlace:
    """Where a passage stands in one leg: rank and score without limit, and the depth that would have reached it."""

    rank: int | None
    score: float | None
    of: int
    """How many rows the leg ranks."""
    depth_needed: int | None
    terms: tuple[TermScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """What would bring a passage up; ``code`` is one of the page's texts and ``values`` fill it."""

    code: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The account of one passage for one question; ``trace`` is that of the question as it was asked."""

    trace: Trace
    chunk_id: int
    doc_key: str
    version: int
    position: int
    text: str
    obstacle: Obstacle
    obstacle_detail: str
    fused_rank: int | None
    final_rank: int | None
    vector: LegPlace
    keyword: LegPlace
    missing_terms: tuple[str, ...]
    present_terms: tuple[str, ...]
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an analysed text: its place, its term in the index, or why it has none."""

    surface: str
    start: int
    end: int
    terms: tuple[str, ...]
    reading: str = ""
    part_of_speech: str = ""
    """Of Japanese words in the dictionary's own terms; ``user_word`` of a word of the vocabulary."""
    stopped: str = ""
    """Why it is not indexed: ``stop_word``, ``part_of_speech``, ``punctuation``; empty where it is.

    English stop words are indexed, for phrases and names, and have terms; no question asks for them.
    """
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """What the analyser makes of a text, as a passage and as a question, and what each keyword engine indexes."""

    text: str
    language: str
    tokens: tuple[Token, ...]
    indexed: tuple[str, ...]
    asked: tuple[str, ...]
    engines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Engine to its terms; the one that serves now first."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a knowledge base's own: compounds that stay whole, and words that mean the same.

    ``words`` are pairs of surface and reading (may be empty). Each of ``synonyms`` is a group of words that find each
    other. ``number`` counts changes; ``indexed_number`` is the one that the keyword index was built with.
    """

    words: tuple[tuple[str, ...], ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    number: int = 0
    indexed_number: int = 0
