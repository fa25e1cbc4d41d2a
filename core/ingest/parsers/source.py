"""Source code, configuration and logs: lines as they stand, parted where a definition or a stretch of lines ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.text import lines
from core.ingest.parsers.wording import MAX_BLOCK_CHARS, pieces
from core.model import Block, BlockKind, Locator
from core.text.content_defined import ContentRun, checksum

_LARGEST = 1600
_SMALLEST = 0.4 * _LARGEST
_MOST_NAME = 100
_RANK = 1 << 24
_DEFINITION = re.compile(
    r"""(?P<indent>[ \t]*)
    (?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|async|pub(?:\([a-z]+\))?|
         unsafe|extern|virtual|override|inline|open|data|suspend|partial)\s+)*
    (?:(?:class|struct|interface|trait|impl|enum|union|record|object|module|namespace|package|def|defp|defmodule|fn|fun|
          func|function|sub|procedure|type|protocol|extension|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|FUNCTION))\b
      |\[(?=[^\[\]"']+\]\s*$))
    \s*(?P<name>[^\s({:;=\]<][^({:;=\]]*)""",
    re.VERBOSE | re.IGNORECASE,
)
"""A line that opens something with a name, where a language has a word for it, or a section of a configuration."""


Path = tuple[str, ...]
_Ranked = tuple[str, Path, int | None]
"""A line, the names of what it stands in, and how good a border is before it, the lower the better; None: as any."""


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield stretches of lines, each under the names of the definitions that it begins in. Raises: ``Undecodable``."""
    reading.note(parser="source")
    yield from _stretches(_defined(lines(reading)))


def parse_log(reading: ParserInput) -> Iterator[Block]:
    """Yield stretches of the lines of a log. Raises: ``Undecodable``."""
    reading.note(parser="log")
    yield from _stretches((line, (), None) for line in lines(reading))


def _defined(source: Iterable[str]) -> Iterator[_Ranked]:
    """Yield lines with the names of the definitions around them; one makes the best border, an empty line the next."""
    open_names: list[tuple[int, str]] = []
    is_blank = True
    for line in source:
        match = _DEFINITION.match(line) if len(line) < 1000 else None
        if match is not None:
            indent = len(match["indent"].expandtabs(4))
            while open_names and open_names[-1][0] >= indent:
                open_names.pop()
            open_names.append((indent, match["name"].strip()[:_MOST_NAME]))
        yield line, tuple(name for _, name in open_names[-4:]), 0 if match else 1 if is_blank else 2
        is_blank = not line.strip()


def _stretches(ranked: Iterable[_Ranked]) -> Iterator[Block]:
    """Cut lines where the best of borders are, of several where the text beside them says."""
    run: ContentRun[tuple[str, Path]] = ContentRun(_SMALLEST, _LARGEST)
    before = ""
    for line, path, rank in ranked:
        beside = checksum(before, line)
        border = beside if rank is None else beside % _RANK + rank * _RANK
        for group in run.add((line, path), len(line.encode("utf-8", "replace")), border):
            yield from _blocks(group)
        before = line
    for group in run.finish():
        yield from _blocks(group)


def _blocks(group: Sequence[tuple[str, Path]]) -> Iterator[Block]:
    text = "".join(line for line, _ in group).rstrip()
    path = next((path for line, path in group if line.strip()), ())
    for piece in pieces(text, MAX_BLOCK_CHARS):
        yield Block(piece, BlockKind.CODE, Locator(heading_path=path))
