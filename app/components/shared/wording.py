"""Sentences whose values are components: a time that the browser keeps current, a link, a name in bold."""

from __future__ import annotations

from typing import Any

from app.i18n import t

EDGE = "\x00"


def on_one_line(text: str, most: int) -> str:
    """Return a text on one line, cut to at most so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def of_pages(key: str, pages: str) -> str:
    """Return a message about pages as ``3, 7–9`` names them."""
    return t(key, pages=pages, count=1 if pages.isdigit() else 2)


def in_part_words(pages: str) -> str:
    """Say which pages of a document were not read as they are."""
    return t("version.in_part_somewhere") if pages == "*" else of_pages("version.in_part", pages)


def sentence(key: str, **values: Any) -> list[Any]:
    """Return the message ``key`` as text and components in the order of the language.

    Texts, numbers and moments are written as ``t`` writes them; every other value stands in its place as it is.
    """
    parts = {name: value for name, value in values.items() if not isinstance(value, str | int | float)}
    words = {name: value for name, value in values.items() if name not in parts}
    text = t(key, **words, **{name: f"{EDGE}{name}{EDGE}" for name in parts})
    return [parts[piece] if index % 2 else piece for index, piece in enumerate(text.split(EDGE)) if piece]
