"""Sentences of errors in the language of the request; the locales hold those that people meet, under ``said.``."""

from __future__ import annotations

import re
from functools import cache

from app.i18n import messages, t

PREFIX = "said."


def in_language(sentence: str) -> str | None:
    """Return a sentence of the core in the language of the request; None for one that the locales do not hold."""
    for key, pattern in patterns().items():
        found = pattern.fullmatch(sentence)
        if found:
            return t(key, **found.groupdict())
    return None


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Return what the core says in English, by the key of its translation; the values stand in named groups."""
    return {
        key: re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(message)), re.DOTALL)
        for key, message in messages("en").items()
        if key.startswith(PREFIX) and isinstance(message, str)
    }
