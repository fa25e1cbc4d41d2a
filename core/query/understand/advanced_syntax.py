"""The advanced form of a question: ``"phrases"``, ``-word`` and ``field:value``, for those who ask for it.

A tiny parser of our own that knows no error: what it cannot read is literal text. What it finds is applied by the
catalogue and by literal matching, never by an engine's query language.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

from core.model import Filters, PlacedChunk, Syntax
from core.model.file_types import EXTENSIONS, KINDS, kept_as

FIELDS = ("title", "type", "tag", "doc")
_MOST = 50
_TOKEN = re.compile(
    r'(?P<not>(?<!\S)-)?(?:(?P<field>(?<!\S)[A-Za-z]{2,8}):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))|(?P<quote>")'
)
_TYPES = {
    **KINDS,
    "excel": ("xlsx", "xls"),
    "word": ("docx", "doc"),
    "powerpoint": ("pptx", "ppt"),
    "html": ("html", "htm"),
}
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What is left to search for, and what is demanded besides."""

    text: str
    syntax: Syntax


def parse(text: str) -> Parsed:
    """Read the advanced form of a question; a question that is nothing but demands is searched for literally."""
    said: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    fields: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text.replace("\0", " "))):
        value = _SPACE.sub(" ", match["phrase"] if match["phrase"] is not None else match["word"] or "").strip()
        field = (match["field"] or "").lower()
        full = len(phrases) + len(excluded) + len(fields) >= _MOST
        if not value or full or (field and not _is_field(field, value)) or (field and match["not"]):
            said.append(match.group())
        elif field:
            fields.append((field, value))
        elif match["not"]:
            excluded.append(value)
        elif match["phrase"] is not None:
            phrases.append(value)
            said.append(value)
        else:
            said.append(value)
    searched = " ".join(said).strip()
    if not any(sign.isalnum() for sign in searched):
        if not fields:
            return Parsed(text, Syntax())
        searched = " ".join(value for _, value in fields)
    syntax = Syntax(tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys(excluded)), tuple(dict.fromkeys(fields)))
    return Parsed(searched, syntax)


def merged(filters: Filters, read: Filters) -> Filters | None:
    """Return what both allow; None where they contradict each other."""
    kinds = {}
    for kind in ("doc_keys", "tags", "extensions"):
        ours, theirs = getattr(filters, kind), getattr(read, kind)
        kinds[kind] = tuple(value for value in theirs if value in ours) if ours and theirs else ours or theirs
        if ours and theirs and not kinds[kind]:
            return None
    after = [moment for moment in (filters.updated_after, read.updated_after) if moment]
    before = [moment for moment in (filters.updated_before, read.updated_before) if moment]
    return replace(
        filters,
        **kinds,
        updated_after=max(after, default=None),
        updated_before=min(before, default=None),
    )


def is_met(syntax: Syntax, placed: PlacedChunk) -> bool:
    """Tell whether a passage with its title and headings holds all phrases and none of the excluded words."""
    held = _folded(placed.chunk.indexed_text(placed.title))
    return all(_folded(phrase) in held for phrase in syntax.phrases) and not any(
        _holds_word(held, _folded(word)) for word in syntax.excluded
    )


def _is_field(field: str, value: str) -> bool:
    return field in FIELDS and (field != "type" or bool(_extensions(value)))


def _extensions(value: str) -> tuple[str, ...]:
    plain = value.lower().lstrip(".")
    return _TYPES.get(plain, kept_as([plain]) if plain in EXTENSIONS else ())


def filters_of(syntax: Syntax) -> Filters:
    """Return what the fields demand of documents' tags and types."""
    return Filters(
        tags=tuple(value for field, value in syntax.fields if field == "tag"),
        extensions=tuple(e for field, value in syntax.fields if field == "type" for e in _extensions(value)),
    )


def _folded(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold())


def _holds_word(text: str, word: str) -> bool:
    """Tell whether the text holds the word, and not only as a part of a longer Latin one."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_joins(text[at - 1 : at], word[:1]) or _joins(word[-1:], text[end : end + 1])):
            return True
        at = text.find(word, at + 1)
    return False


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and left.isascii() and right.isascii()
