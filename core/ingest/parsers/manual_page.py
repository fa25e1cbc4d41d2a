"""Manual pages as text, as ``man`` renders them: their headings, which indentation alone tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from core.ingest.parsers.boxed_tables import text_blocks
from core.ingest.parsers.outline import Outline
from core.model import Block

_RUNNING_HEAD = re.compile(r"(\S+\(\d\w*\))(?:\s{2,}\S.*?)?\s{2,}\1\s*\Z")
_HEADING = re.compile(r"(?P<indent>|   )(?P<text>[^\s](?:(?!\s{3}).){0,99})\n?\Z")
_RUNNING_FOOT = re.compile(r"\s{2,}\S|\(\d\w*\)\s*\Z")


def is_manual_page(first_line: str) -> bool:
    """Tell by the first line that says something: the page's name and section at its beginning and at its end."""
    return _RUNNING_HEAD.match(first_line) is not None


@dataclass(slots=True)
class ManualPage:
    """Divides the paragraphs of a manual page: what is not indented is a heading, what is by three blanks one below."""

    _outline: Outline = field(default_factory=Outline)

    def blocks(self, paragraph: str) -> Iterator[Block]:
        """Yield the headings of a paragraph, and what stands under them."""
        body: list[str] = []
        for line in paragraph.splitlines(keepends=True):
            heading = _HEADING.match(line)
            if heading is None or _RUNNING_FOOT.search(heading["text"]):
                body.append(line)
                continue
            yield from self._placed("".join(body))
            body = []
            yield self._outline.heading(heading["text"], 2 if heading["indent"] else 1)
        yield from self._placed("".join(body))

    def _placed(self, text: str) -> Iterator[Block]:
        for block in text_blocks(text) if text else ():
            yield replace(block, locator=self._outline.locator())
