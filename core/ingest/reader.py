"""What reads and cuts documents, by its number: whoever changes what comes of the same bytes raises it.

Versions keep what read them (``versions.reader``); those of another reader can be read anew.
"""

from __future__ import annotations

PARSERS = 17
"""Raised when a parser gives another text, other places or another structure."""
CHUNKING = 7
"""Raised when the same text is cut, headed or labelled otherwise, or other text of a chunk is indexed."""


WITHOUT_PICTURES = "-words"
"""Ends the name of what has read a document whose pictures come in another reading."""


def reader_of(chunk_tokens: int, *, with_pictures: bool = True) -> str:
    """Return what reads documents now, with chunks of about so many tokens, and perhaps not yet their pictures."""
    return f"{PARSERS}.{CHUNKING}.{chunk_tokens}{'' if with_pictures else WITHOUT_PICTURES}"
