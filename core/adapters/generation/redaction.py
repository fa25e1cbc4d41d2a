"""Shortens what a server or a program says of its failure, and takes out what looks like a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 200
_LOOKED_AT = 4_000
_LEAST = 6
_SECRET = re.compile(
    r"(?i)(?:bearer|basic)\s+\S+"
    r"|(?:api[_-]?key|token|secret|password|passwd|authorization)\w*[\"']?\s*[=:]\s*(?:(?:bearer|basic)\s+)?\S+"
    r"|\b(?:sk|pk|ghp|gho|hf|xox[abp]|evo|AKIA)[-_]?[A-Za-z0-9_-]{12,}"
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def shortened(text: str, secrets: Iterable[str] = ()) -> str:
    """Return one short line without the ``secrets`` and without what has the form of one."""
    for secret in sorted((each for each in secrets if len(each) >= _LEAST), key=len, reverse=True):
        text = text.replace(secret, "…")
    line = _SECRET.sub("…", _UNSEEN.sub(" ", text[:_LOOKED_AT])).strip()
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
