"""Text as blocks may carry it: clean characters, bounded length, lines joined as their script wants it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from core.model import Block, BlockKind
from core.text.content_defined import checksum

MAX_BLOCK_CHARS = 64 * 1024
MAX_TITLE_CHARS = 300

_LINE_ENDS = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_END = re.compile(r"[。！？｡]+[」』）]?|[.!?]+[\"')\]]*\s")
_LINE_END, _BLANK = re.compile("\n"), re.compile(" ")
_BESIDE = 24

_WIDE = "\u2e80-\u30ff\u3130-\u318f\u31c0-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_WIDE_END = re.compile(f"[{_WIDE}]\\Z")
_WIDE_START = re.compile(f"[{_WIDE}]")
_PARTED = re.compile("[a-zà-ÿ][-\u2010]\\Z")
_SPACE_RUN = re.compile(r"[^\S\n\u3000]+")
_SPACE_BETWEEN_WIDE = re.compile(f"(?<=[{_WIDE}]) +(?=[{_WIDE}])")
_SPACE_BESIDE_WIDE = re.compile(f"(?<=[{_WIDE}]) (?=[0-9A-Za-z%(¥$])|(?<=[0-9A-Za-z%)]) (?=[{_WIDE}])")
_LEADING_NUMBER = re.compile(r"(?:\d[\d.．]*|[A-Z]|[a-z\d]{1,3}\)|\([a-z\d]{1,3}\)) ")
LETTER_SPACED = 0.15
"""Share of blanks between Japanese characters above which they come from the typesetting and not from the author."""


def clean(text: str) -> str:
    """Return ``text`` with one kind of line end and without controls, byte-order marks and lone surrogates."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _FORBIDDEN.sub("", text)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return ``text`` on one line, runs of white space as one space."""
    return " ".join(clean(text).split())


def join_lines(left: str, right: str) -> str:
    """Join two lines of one paragraph: Japanese without a space, other scripts with one."""
    if not left or not right:
        return left + right
    if _WIDE_END.search(left[-1]) and _WIDE_START.match(right):
        return left + right
    return left + ("" if left[-1].isspace() or right[0].isspace() else " ") + right


def join_typeset(left: str, right: str) -> str:
    """Join two lines as ``join_lines`` does, and the parts of a word that a hyphen parts at the end of a line."""
    if _PARTED.search(left[-3:]) and right:
        return (left[:-1] if right[0].islower() else left) + right
    return join_lines(left, right)


def is_wide(text: str) -> bool:
    """Whether ``text`` begins in a script that sets no spaces between words."""
    return _WIDE_START.match(text) is not None


def first_word_width(text: str, width: float, size: float) -> float:
    """How much room the first word of a line takes; in Japanese two letters, as a line may end between any others."""
    text = text.strip()
    if is_wide(text):
        return 2 * size
    return width / len(text) * len(text.split(None, 1)[0]) if text else 0.0


def squeeze(text: str) -> str:
    """Return typeset ``text`` with runs of blanks as one space and without those that only the typesetting made.

    Word processors part Japanese from Latin letters and figures by a narrow gap that reads as a space.
    """
    text = _SPACE_RUN.sub(" ", text)
    if text.isascii():
        return text
    number = _LEADING_NUMBER.match(text)
    start = number.end() if number else 0
    text = text[:start] + _SPACE_BESIDE_WIDE.sub("", text[start:])
    if len(_SPACE_BETWEEN_WIDE.findall(text)) > LETTER_SPACED * len(text):
        text = _SPACE_BETWEEN_WIDE.sub("", text)
    return text


def pieces(text: str, limit: int = MAX_BLOCK_CHARS) -> Iterator[str]:
    """Cut ``text`` into pieces of at most ``limit`` characters whose concatenation is ``text``.

    A cut falls after a line, else after a sentence, else after a blank, wherever one lies in the last half; of several
    the text beside them chooses, so that an edit moves few of the cuts after it.
    """
    start = 0
    while len(text) - start > limit:
        end = start + limit
        cuts: list[int] = []
        for mark in (_LINE_END, _SENTENCE_END, _BLANK):
            cuts = cuts or [match.end() for match in mark.finditer(text, end - limit // 2, end)]
        cut = min(
            cuts, key=lambda at: (checksum(text[max(at - _BESIDE, 0) : at], text[at : at + _BESIDE]), -at), default=end
        )
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def finished(block: Block) -> Iterator[Block]:
    """Yield ``block`` as it may leave the parser: cleaned, never empty, never longer than ``MAX_BLOCK_CHARS``."""
    text = clean(block.text).strip("\n")
    if not text or text.isspace():
        return
    path = tuple(heading[:MAX_TITLE_CHARS] for heading in map(one_line, block.locator.heading_path) if heading)
    locator = block.locator if path == block.locator.heading_path else replace(block.locator, heading_path=path)
    header = one_line(block.header)[:MAX_BLOCK_CHARS] if block.header else ""
    if text == block.text and locator is block.locator and header == block.header and len(text) <= MAX_BLOCK_CHARS:
        yield block
        return
    kind, level = block.kind, block.level
    if kind is BlockKind.HEADING:
        text = one_line(text)
        if len(text) > MAX_TITLE_CHARS:
            kind, level = BlockKind.PARAGRAPH, 0
    for piece in pieces(text):
        yield Block(piece, kind, locator, level, header, block.is_headless)
