"""Web pages too large to be held as a tree, cut where one block ends and another begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

PIECE_CHARS = 1024 * 1024
MOST_CHARS = 4 * PIECE_CHARS
"""A list or table is not cut before it has so many characters; then it is, between two of its rows or entries."""
_LONGEST_TAG = 16 * 1024
_DEEPEST = 64
_LONGEST_ROW = 16 * 1024

_MARK = re.compile(
    r"<!--|<(?P<raw>script|style|template|svg|textarea)\b"
    r"|<(?P<close>/?)(?P<guard>table|ul|ol|dl|pre|nav|select)\b"
    r"|(?P<row><(?:tr|li|dt)\b)|(?P<block><(?:h[1-6]|p|div|section|article|blockquote|hr)\b)",
    re.I,
)
_ROW_END = re.compile(r"</tr\s*>", re.I)


class _Cutter:
    """The markup that is not given back yet, and what is open where it has been read up to."""

    def __init__(self) -> None:
        self._held = ""
        self._at = 0
        self._until: re.Pattern[str] | None = None
        self._hidden = ""
        self._guards: list[str] = []
        self._row = 0
        self._first_row = ""

    def add(self, text: str, *, last: bool) -> Iterator[str]:
        """Take more markup, and give back the pieces that are complete."""
        self._held += text
        while self._at < (edge := len(self._held) - (0 if last else _LONGEST_TAG)):
            if self._until is not None:
                self._skip(self._until, edge)
            elif (match := _MARK.search(self._held, self._at)) and match.start() < edge:
                yield from self._pass(match)
            else:
                self._at = edge
            if self._at > MOST_CHARS:
                yield self._give(self._at if self._until else self._row or self._between_tags())
        if last:
            yield self._held

    def _between_tags(self) -> int:
        lowest = self._at - _LONGEST_TAG
        cut = max(self._held.rfind("\n", lowest, self._at), self._held.rfind(">", lowest, self._at)) + 1
        return cut or self._at

    def _skip(self, until: re.Pattern[str], edge: int) -> None:
        """Pass over what no page shows, to its end, or as far as it has come."""
        found = until.search(self._held, self._at)
        if found is None:
            self._at = edge
        else:
            self._at, self._until = found.end(), None

    def _pass(self, match: re.Match[str]) -> Iterator[str]:
        """Go on behind a mark; the markup before it is a piece where a new block begins and enough is held."""
        self._at = match.end()
        if match["row"] is not None:
            self._row = match.start()
        elif match["block"] is not None:
            if not self._guards and match.start() >= PIECE_CHARS:
                yield self._give(match.start())
        elif match["guard"] is not None:
            self._nest(match["guard"].lower(), match)
        else:
            self._until = re.compile("-->" if match["raw"] is None else rf"</{match['raw']}\s*>", re.I)
            self._hidden = match.group() if match["raw"] is None else f"<{match['raw']}>"

    def _nest(self, name: str, match: re.Match[str]) -> None:
        if not match["close"]:
            if len(self._guards) < _DEEPEST:
                self._guards.append(name)
            if name == "table":
                end = _ROW_END.search(self._held, match.end(), match.end() + _LONGEST_ROW)
                start = self._held.find("<tr", match.end(), end.start()) if end else -1
                self._first_row = self._held[start : end.end()] if end and start >= 0 else ""
        elif name in self._guards:
            while self._guards.pop() != name:
                pass

    def _give(self, cut: int) -> str:
        """Return the markup before a place; what is open there is opened again, a table with its first row."""
        piece, rest = self._held[:cut], self._held[cut:]
        opened = "".join(f"<{name}>" for name in self._guards)
        if self._guards and self._guards[-1] == "table":
            opened += self._first_row
        if self._until is not None:
            opened += self._hidden
        self._held = opened + rest
        self._at += len(opened) - cut
        self._row = 0
        return piece


def pieces_of(texts: Iterator[str]) -> Iterator[str]:
    """Yield a page, which comes in texts of any length, in pieces that can each be read as a page."""
    cutter = _Cutter()
    for text in texts:
        yield from cutter.add(text, last=False)
    yield from cutter.add("", last=True)
