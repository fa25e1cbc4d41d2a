"""Sentences of errors in the language of the request.

The locales hold the sentences that people meet under ``said.``, and under ``within.`` the words that fill them:
reasons, states and things. A field that is named in ``WORDED`` holds such words, or another sentence.
"""

from __future__ import annotations

import re
from functools import cache

from app.i18n import messages, t

SENTENCES, PARTS = "said.", "within."
WORDED = frozenset({"reason", "state", "what"})


def in_language(sentence: str) -> str | None:
    """Return a sentence of the core in the language of the request; None for one that the locales do not hold."""
    return _said(sentence, SENTENCES)


def as_said(sentence: str) -> str:
    """Return a sentence of the core in the language of the request, as it is where the locales do not hold it."""
    return in_language(sentence) or sentence


@cache
def patterns(prefix: str = SENTENCES) -> dict[str, re.Pattern[str]]:
    """Return what the core says in English, by the key of its translation; the values stand in named groups."""
    return {
        key: re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(message)), re.DOTALL)
        for key, message in messages("en").items()
        if key.startswith(prefix) and isinstance(message, str)
    }


def _said(text: str, *prefixes: str) -> str | None:
    for prefix in prefixes:
        for key, pattern in patterns(prefix).items():
            found = pattern.fullmatch(text)
            if found:
                values = {name: _value(name, value) for name, value in found.groupdict().items()}
                return t(key, **values)
    return None


def _value(name: str, value: str) -> str:
    return (_said(value, PARTS, SENTENCES) if name in WORDED else None) or value
