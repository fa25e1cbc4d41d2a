"""Words around a claim that only say where it comes from: "According to the document, …"."""

from __future__ import annotations

import re

_SOURCES = "documents?|texts?|passages?|sources?|context|manuals?|article|page|information|provided text|given text"
_FRAME = re.compile(
    r"\s*(?:(?:according to|based on|as stated in|per|as per|in) (?:the|this|these)(?: \w+)? "
    rf"(?:{_SOURCES})(?: provided)?,\s*|(?:the|this) (?:{_SOURCES}) "
    r"(?:says?|states?|notes?|tells us|explains?|mentions?|specif(?:y|ies)|indicates?) that\s+"
    r"|(?:in short|in summary|in other words|to sum up|so|therefore|thus|yes|no)[,:]\s+"
    r"|(?:この|その|提供された)?(?:文書|資料|文章|本文|出典|マニュアル)(?:によると|によれば|では|には)、?"
    r"|(?:要するに|つまり|まとめると|はい|いいえ)、)",
    re.IGNORECASE,
)


def without_frame(sentence: str) -> str:
    """Return a sentence without what only names its source."""
    match = _FRAME.match(sentence)
    return sentence[match.end() :] if match and match.end() < len(sentence) else sentence
