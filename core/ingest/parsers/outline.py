"""The path of headings above each block, kept while a document is read from its start to its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.ingest.parsers.wording import MAX_TITLE_CHARS, one_line
from core.model import Block, BlockKind, Locator


@dataclass(slots=True)
class Outline:
    """A stack of open headings; a heading closes those of its level and deeper ones."""

    label: str = ""
    """The term or option that the blocks explain, until the next heading."""
    _open: list[tuple[int, str]] = field(default_factory=list)

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)

    def heading(self, text: str, level: int, **place: object) -> Block:
        """Open a heading and return its block, whose path is that of the headings above it."""
        level = min(max(level, 1), 6)
        text = one_line(text)
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        block = Block(text, BlockKind.HEADING, self.locator(**place), level)
        self._open.append((level, text[:MAX_TITLE_CHARS]))
        self.label = ""
        return block

    def block(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH, **place: object) -> Block:
        """Return a block that stands under the open headings and the label."""
        return Block(text, kind, self.locator(**place), header=self.label)

    def locator(self, **place: object) -> Locator:
        return Locator(heading_path=self.path, **place)  # type: ignore[arg-type]
