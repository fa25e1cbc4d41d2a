"""The first step of a question: its length is checked, its language told, its keywords taken; all of it is literal."""

from __future__ import annotations

import unicodedata

from core.errors import InvalidInput, QueryTooLong
from core.model import Analysis
from core.text.analysis import keywords
from core.text.languages import language_asked


def check_length(text: str, max_chars: int) -> None:
    """Raises: ``QueryTooLong``."""
    if len(text) > max_chars:
        raise QueryTooLong(f"The question has {len(text):,} characters; at most {max_chars:,} are read.")


def analyse(text: str, max_chars: int) -> Analysis:
    """Return what the question is understood as. Raises: ``InvalidInput`` for no text, ``QueryTooLong``."""
    check_length(text, max_chars)
    normalised = " ".join(unicodedata.normalize("NFKC", text.replace("\0", " ")).split())
    if not normalised:
        raise InvalidInput("There is no question.", remedy="Type a question and send it again.")
    language = language_asked(normalised)
    return Analysis(language, normalised, tuple(keywords(normalised, language)), f"answer-{language}")
