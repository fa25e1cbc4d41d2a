"""The design tokens, read from ``assets/theme.css`` so that figures and tests use the very colours of the pages."""

from __future__ import annotations

import re
from functools import cache

from app import ASSETS

THEMES = {"light": ":root", "dark": '[data-bs-theme="dark"]'}


@cache
def tokens(theme: str = "light") -> dict[str, str]:
    """Return the ``--ev-*`` variables of a theme without that prefix, e.g. ``tokens("dark")["accent"]``."""
    css = (ASSETS / "theme.css").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for name in ("light", theme):
        block = re.search(re.escape(THEMES[name]) + r"\s*\{([^}]*)\}", css)
        if block:
            found |= {key: value.strip() for key, value in re.findall(r"--ev-([\w-]+):\s*([^;]+);", block[1])}
    return found
