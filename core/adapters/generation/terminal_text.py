"""Turns what a program writes to a terminal into plain text, piece by piece."""

from __future__ import annotations

import codecs
import re

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, the cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-Z\\`-~]"
)
_BEGUN = re.compile(
    r"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*\x1b?|\x1b[ -/]*|\r)\Z"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
LONGEST_SEQUENCE = 4096
"""What has begun like a sequence and goes on for longer is none."""


class PlainText:
    """Decodes UTF-8, with signs for what is none, and drops terminal sequences and control characters.

    However the bytes are cut into pieces, the text is the same, but for sequences longer than ``LONGEST_SEQUENCE``.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Return the text that is certain now."""
        text = self._held + self._decoder.decode(data, final)
        self._held = ""
        if not final and (begun := _begun(text)) is not None:
            text, self._held = text[:begun], text[begun:]
        text = _SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
        return _CONTROL.sub("", text)


def _begun(text: str) -> int | None:
    """Return where a sequence begins that may go on in the next piece."""
    tail = max(0, len(text) - LONGEST_SEQUENCE)
    found = _BEGUN.search(text, tail)
    return found.start() if found else None
