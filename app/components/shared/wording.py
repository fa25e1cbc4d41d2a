"""Sentences whose values are components: a time that the browser keeps current, a link, a name in bold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from app.i18n import has, t
from core.model.documents import SHEETS, SLIDES

EDGE = "\x00"
_ENGINES = {
    "data folder": "engine.folder",
    "exact scan in memory (FAISS fp16)": "engine.exact_faiss",
    "exact scan in memory (NumPy)": "engine.exact_numpy",
    "1-bit scan in memory, the nearest measured in 16 bits (FAISS RaBitQ)": "engine.coarse_faiss",
    "memory": "engine.memory",
}


def on_one_line(text: str, most: int) -> str:
    """Return a text on one line, cut to at most so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def of_pages(key: str, pages: str) -> str:
    """Return a message about pages as ``3, 7–9`` names them."""
    return t(key, pages=pages, count=1 if pages.isdigit() else 2)


def _of_parts(key: str, unit: str, names: str) -> str:
    is_one = names.isdigit() if unit == SLIDES else ", " not in names
    return t(f"{key}{unit}", pages=names, count=1 if is_one else 2)


def in_part_words(places: str) -> str:
    """Say where a document was not read as it is, as ``Version.in_part`` names it."""
    if places == "*":
        return t("version.in_part_somewhere")
    unit, names = _unit(places)
    return _of_parts("version.in_part_", unit, names) if unit else of_pages("version.in_part", names)


def loss_words(reason: str, places: str) -> str:
    """Say what was lost and where, of which ``places`` names nothing where it has no place."""
    unit, names = _unit(places)
    is_told = has(f"losses.somewhere.{reason}")
    if names and not unit and is_told:
        return of_pages(f"losses.{reason}", names)
    what = t(f"losses.somewhere.{reason}" if is_told else f"losses.{reason}")
    return t("losses.at", place=_of_parts("losses.", unit, names), what=what) if unit else what


def _unit(places: str) -> tuple[str, str]:
    """Part slides and sheets from how they are named; of pages the unit is empty."""
    unit, _, names = places.partition(" ")
    return (unit, names) if unit in (SLIDES, SHEETS) else ("", places)


def sentence(key: str, **values: Any) -> list[Any]:
    """Return the message ``key`` as text and components in the order of the language.

    Texts, numbers and moments are written as ``t`` writes them; every other value stands in its place as it is.
    """
    parts = {name: value for name, value in values.items() if not isinstance(value, str | int | float)}
    words = {name: value for name, value in values.items() if name not in parts}
    text = t(key, **words, **{name: f"{EDGE}{name}{EDGE}" for name in parts})
    return [parts[piece] if index % 2 else piece for index, piece in enumerate(text.split(EDGE)) if piece]


def unbroken(parts: Sequence[str], joint: str) -> list[Any]:
    """Return parts of which none is broken between two lines; all but the last are followed by the joint."""
    shown: list[Any] = []
    for part in parts[:-1]:
        shown += [html.Span(part + joint, className="text-nowrap"), " "]
    return [*shown, *(html.Span(part, className="text-nowrap") for part in parts[-1:])]


def engine_name(engine: str) -> str:
    """Return what a store works with in the reader's language; the names of programs are those of all languages."""
    return t(_ENGINES[engine]) if engine in _ENGINES else engine
