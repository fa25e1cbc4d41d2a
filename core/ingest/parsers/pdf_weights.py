"""Which letters of a PDF are bold: by their font, or because they are drawn heavier than it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BOLD_FONT = 16
_BOLD_SIGNS, _FILLED, _STROKED = 8, 16, 32
"""Flags of a span's signs: drawn twice beside itself; its area and its outline are drawn."""
_NAMELESS = re.compile(r"Type3 \((\d{1,9}) 0 R\)")
_DRAWN_HEAVIER = re.compile(rb"(?<![\d.])[26]\s+Tr(?![A-Za-z])")
_KEYS = "FontName", "FontWeight"
_WEIGHT = 600
"""Fonts of this weight are bold (CSS Fonts Module Level 4, "font-weight")."""


class FontWeights:
    """Tells which spans of a document are bold; fonts of type 3, as Chromium makes, have their name looked up."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._is_bold: dict[str, bool] = {}

    def is_bold(self, span: Mapping[str, Any]) -> bool:
        """Tell whether the signs of a span look bold."""
        drawn = span["char_flags"]
        if span["flags"] & _BOLD_FONT or drawn & _BOLD_SIGNS or (drawn & _STROKED and drawn & _FILLED):
            return True
        font = span["font"]
        if font not in self._is_bold:
            self._is_bold[font] = "Bold" in font or self._is_described_bold(font)
        return self._is_bold[font]

    def _is_described_bold(self, font: str) -> bool:
        nameless = _NAMELESS.match(font)
        if not nameless:
            return False
        try:
            described = [self._document.xref_get_key(int(nameless[1]), f"FontDescriptor/{key}") for key in _KEYS]
        except (RuntimeError, ValueError):
            return False
        (_, name), (kind, weight) = described
        return "Bold" in name or (kind in ("int", "real") and float(weight) >= _WEIGHT)


def is_drawn_heavier(page: Any) -> bool:
    """Tell whether a page draws text with its outline as well, as word processors do where a font has no bold."""
    try:
        return _DRAWN_HEAVIER.search(page.read_contents()) is not None
    except (RuntimeError, ValueError):
        return False
