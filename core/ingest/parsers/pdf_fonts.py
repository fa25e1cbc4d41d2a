"""How the letters of a PDF look: bold by their font or because they are drawn heavier than it, or all equally wide."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BOLD_FONT, _MONO_FONT = 16, 8
_BOLD_SIGNS, _FILLED, _STROKED = 8, 16, 32
"""Flags of a span's signs: drawn twice beside itself; its area and its outline are drawn."""
_NAMELESS = re.compile(r"Type3 \((\d{1,9}) 0 R\)")
_DRAWN_HEAVIER = re.compile(rb"(?<![\d.])[26]\s+Tr(?![A-Za-z])")
_REFERENCE = re.compile(r"(\d{1,9}) 0 R")
_NUMBER = re.compile(r"-?\d*\.?\d+")
_BOLD_NAME = re.compile(r"Bold|Heavy|\b(?:CM|SF|LM|EC|CS)[A-Z]{0,3}BX|-(?:Demi|Medi)(?:Ital|Obli)?\Z", re.IGNORECASE)
"""Fonts of TeX and those of URW and ITC have names of their own for bold."""
_WEIGHT = 600
"""Fonts of this weight are bold (CSS Fonts Module Level 4, "font-weight")."""
_SEVERAL = 12
"""Signs that a font must have before their equal widths say something: figures are as wide as each other in most."""
_NARROW, _WIDE = 0.4, 0.7
"""Widths, in sizes of the font, of the letters of typewriters; ideographs are wider."""
_EVEN = 0.01


@dataclass(frozen=True, slots=True)
class _Look:
    bold: bool
    mono: bool


class Fonts:
    """Tells which spans of a document are bold, and which are set in a typewriter's letters; asks each font once.

    MuPDF knows neither of fonts of type 3, as Chromium and old TeX make them, nor typewriter fonts that do not say so.
    """

    def __init__(self, document: Any) -> None:
        self._document = document
        self._looks: dict[str, _Look] = {}

    def is_bold(self, span: Mapping[str, Any], page: Any) -> bool:
        """Tell whether the signs of a span of a page are bold."""
        drawn = span["char_flags"]
        if span["flags"] & _BOLD_FONT or drawn & _BOLD_SIGNS or (drawn & _STROKED and drawn & _FILLED):
            return True
        return self._look(span["font"], page).bold

    def is_mono(self, span: Mapping[str, Any], page: Any) -> bool:
        """Tell whether the letters of a span of a page are equally wide, as those of code are."""
        return bool(span["flags"] & _MONO_FONT) or self._look(span["font"], page).mono

    def _look(self, name: str, page: Any) -> _Look:
        if name not in self._looks:
            mono, bold = "Mono" in name or "Courier" in name, _is_bold_name(name)
            try:
                number = self._number(name, page)
                bold = bold or self._is_described_bold(number)
                mono = mono or self._is_even(number)
            except (RuntimeError, ValueError, IndexError):
                pass
            self._looks[name] = _Look(bold, mono)
        return self._looks[name]

    def _number(self, name: str, page: Any) -> int:
        if nameless := _NAMELESS.match(name):
            return int(nameless[1])
        return next((font[0] for font in page.get_fonts(full=True) if font[3].rpartition("+")[2] == name), 0)

    def _is_described_bold(self, number: int) -> bool:
        _, name = self._value(number, "FontDescriptor/FontName")
        kind, weight = self._value(number, "FontDescriptor/FontWeight")
        return _is_bold_name(name) or (kind in ("int", "real") and float(weight) >= _WEIGHT)

    def _is_even(self, number: int) -> bool:
        unit = 0.001
        if self._value(number, "Subtype")[1] == "/Type3":
            unit = abs(_numbers(self._value(number, "FontMatrix")[1])[0])
        widths = [unit * width for width in _numbers(self._value(number, "Widths")[1]) if width]
        if len(widths) < _SEVERAL or not _NARROW < widths[0] < _WIDE:
            return False
        return max(widths) - min(widths) <= _EVEN * widths[0]

    def _value(self, number: int, key: str) -> tuple[str, str]:
        if number <= 0:
            return "null", ""
        kind, value = self._document.xref_get_key(number, key)
        if kind == "xref" and (reference := _REFERENCE.match(value)):
            return "array", str(self._document.xref_object(int(reference[1]), compressed=True))
        return str(kind), str(value)


def _is_bold_name(name: str) -> bool:
    return _BOLD_NAME.search(name) is not None


def is_drawn_heavier(page: Any) -> bool:
    """Tell whether a page draws text with its outline as well, as word processors do where a font has no bold."""
    try:
        return _DRAWN_HEAVIER.search(page.read_contents()) is not None
    except (RuntimeError, ValueError):
        return False


def _numbers(array: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(array)]
