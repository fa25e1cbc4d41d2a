"""Blocks to chunks: the step between parsing and embedding.

Blocks are first cut into atoms that no border divides: a sentence, a row of a table, a line of code, a heading. Atoms
are then gathered into chunks. Headings are natural borders; inside a long run the border is chosen by its content, so
that an insertion near the top of a document moves a few borders and not all that follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from zlib import crc32

from core.ingest.atoms import Atom, cut_into_atoms
from core.model import Block, BlockKind, Chunk, Label, Locator
from core.platform.precedence import give_way
from core.text.language import estimate_tokens

_LEADS = 3
"""How deep a border lies behind what leads on to the next piece."""
_TINY = 0.25
_WINDOW = (0.6, 1.2)
_LARGEST = 1.3
_LARGEST_ATOM = 1.2
_LONE_SLIDE = 0.1
_LONGEST_GAP = 400
_LONGEST_CHUNK_CHARS = 16_000


def chunk_text_auto(blocks: Iterable[Block], *, target_chunk_tokens: int = 400) -> Iterator[Chunk]:
    """Yield the chunks of a version, in order, while its blocks come in.

    With the parsed text ``BLOCK_JOINT.join(block.text for block in blocks)``, ``parsed_text[start:end] == text`` holds
    for every chunk, and only white space lies outside of all chunks. A chunk has at most 1.5 times the tokens aimed at,
    unless a single table row has more.
    """
    target = max(target_chunk_tokens, 8)
    gathered = _Gathered(target)
    position = 0
    for atom in cut_into_atoms(blocks, longest_tokens=int(_LARGEST_ATOM * target), cut_tokens=target):
        for atoms in gathered.add(atom):
            give_way()
            yield _chunk(position, atoms)
            position += 1
    if gathered.atoms:
        yield _chunk(position, gathered.atoms)


class _Gathered:
    """The atoms of the chunk in the making; what ``add`` returns is complete."""

    def __init__(self, target: int) -> None:
        self.atoms: list[Atom] = []
        self._target = target
        self._tokens = 0.0
        self._rows: set[str] = set()

    def add(self, atom: Atom) -> Iterator[list[Atom]]:
        if self.atoms and self._is_border(atom):
            yield self._take(len(self.atoms))
        while self.atoms and self._tokens + atom.tokens > _LARGEST * self._target:
            border = self._best_border(atom)
            if border is None:
                break
            yield self._take(border)
        self._append(atom)

    def _take(self, count: int) -> list[Atom]:
        taken, kept = self.atoms[:count], self.atoms[count:]
        self.atoms, self._tokens, self._rows = [], 0.0, set()
        for atom in kept:
            self._append(atom)
        return taken

    def _append(self, atom: Atom) -> None:
        self.atoms.append(atom)
        self._tokens += atom.tokens
        if atom.kind is BlockKind.TABLE:
            self._rows.update((atom.header, atom.text))

    def _is_border(self, atom: Atom) -> bool:
        """Whether the text itself asks for a new chunk before ``atom``."""
        first, last = self.atoms[0], self.atoms[-1]
        if len(atom.gap) > _LONGEST_GAP or atom.end - first.start > _LONGEST_CHUNK_CHARS:
            return True
        here, there = last.locator, atom.locator
        if here.sheet != there.sheet or (here.confidence is None) != (there.confidence is None):
            return True
        if here.slide != there.slide and self._tokens >= _LONE_SLIDE * self._target:
            return True
        if atom.kind is BlockKind.TABLE and atom.header and self._rows and atom.header not in self._rows:
            return True
        if not atom.is_heading or self._leads_to(atom):
            return False
        related = atom.section[:-1] in (first.section, first.section[:-1])
        if not related or self._tokens >= 2 * _TINY * self._target:
            return True
        return self._tokens >= _TINY * self._target and not self._joins(atom)

    def _joins(self, heading: Atom) -> bool:
        """Whether one more section joins the tiny ones: by its heading, or those of like size would keep step forever.

        Then one section more at the top would shift all chunks after it.
        """
        own = takewhile(lambda atom: atom.is_heading, self.atoms)
        several = any(atom.is_heading for atom in self.atoms[len(list(own)) :])
        return several and _checksum(heading.text) % 2 == 0

    def _leads_to(self, heading: Atom) -> bool:
        """Whether there is nothing but a few headings yet."""
        few = self._tokens + heading.tokens <= _TINY * self._target
        return few and all(atom.is_heading for atom in self.atoms)

    def _best_border(self, following: Atom) -> int | None:
        """Return how many atoms the next chunk takes: to a border of the window that its content marks.

        Between blocks rather than inside one, between lines rather than inside one; then where the sentence after the
        border has the lowest checksum.
        """
        best: tuple[int, int, float] | None = None
        chosen = latest = None
        tokens = 0.0
        for count, atom in enumerate(self.atoms, 1):
            tokens += atom.tokens
            after = self.atoms[count] if count < len(self.atoms) else following
            if atom.is_heading:
                continue
            if tokens > _WINDOW[1] * self._target and latest is not None:
                break
            latest = count
            if tokens >= _WINDOW[0] * self._target:
                depth = 0 if after.starts_block else 1 if "\n" in after.gap else 2
                depth = _LEADS if _leads(atom, after) else depth
                rank = (depth, _checksum(after.text), -tokens)
                if best is None or rank < best:
                    best, chosen = rank, count
        return chosen or latest


def _leads(atom: Atom, after: Atom) -> bool:
    """Tell whether a piece says nothing without the next: what ends with a colon, and a term over its explanation."""
    if atom.text.rstrip().endswith((":", "：")):
        return True
    is_under_it = after.header != atom.header and after.header.endswith(atom.text) and bool(atom.text)
    return is_under_it and after.kind is not BlockKind.TABLE


def _checksum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _chunk(position: int, atoms: list[Atom]) -> Chunk:
    first, last = atoms[0], atoms[-1]
    text = first.text + "".join(atom.gap + atom.text for atom in atoms[1:])
    content = next((atom for atom in atoms if not atom.is_heading), first)
    return Chunk(
        position=position,
        text=text,
        start=first.start,
        end=last.end,
        kind=content.kind,
        locator=_locator(first.locator, last.locator, content.locator.heading_path),
        header=_repeated_header(atoms) or _label_above(first),
        token_count=estimate_tokens(text),
        labels=tuple(_labels(atoms)),
    )


def _locator(first: Locator, last: Locator, heading_path: tuple[str, ...]) -> Locator:
    page_end = last.page_end or last.page
    cells = first.cells
    if cells and last.cells and cells != last.cells:
        cells = f"{cells.split(':')[0]}:{last.cells.split(':')[-1]}"
    return replace(
        first, page_end=page_end if page_end != first.page else first.page_end, cells=cells, heading_path=heading_path
    )


def _repeated_header(atoms: list[Atom]) -> str:
    """Return the header that the rows of the chunk stand under, if none of them is that header."""
    rows = [atom for atom in atoms if atom.kind is BlockKind.TABLE]
    shown = {atom.text for atom in rows}
    return next((atom.header for atom in rows if atom.header and atom.header not in shown), "")


def _label_above(first: Atom) -> str:
    """Return what the chunk's beginning stands under; whatever that is, it stands before the chunk."""
    return "" if first.kind is BlockKind.TABLE else first.header


def _labels(atoms: list[Atom]) -> Iterator[Label]:
    """Yield what the atoms stand under, where it changes; for a table also that it has no header row."""
    last = None if any(atom.kind is BlockKind.TABLE for atom in atoms) else ""
    for atom in atoms:
        if atom.header != last:
            yield Label(atom.start - atoms[0].start, atom.header)
        last = atom.header
