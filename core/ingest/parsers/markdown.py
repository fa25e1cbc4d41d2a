"""Markdown: headings, paragraphs, lists, tables and code; raw HTML is read as the text that it would show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

from core.ingest.parsers import html
from core.ingest.parsers.definitions import DEFINITION_TAGS, Definitions
from core.ingest.parsers.links import beside
from core.ingest.parsers.markdown_boxes import add_boxes
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.tables import row_text, table_blocks
from core.ingest.parsers.text import lines
from core.ingest.parsers.wording import join_lines
from core.model import Block, BlockKind
from core.text.questions_and_answers import ASKS, answer_mark, is_marked_question, is_question
from core.text.sentences import split_sentences

SECTION_CHARS = 256 * 1024
"""A long document is rendered in sections of about this size, cut before headings, else at blank lines."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s")
_WHOLE = re.compile(r"<(/?)(table|dl|ul|ol)\b", re.IGNORECASE)
"""What falls apart when a part of it is read alone."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MOST_LOOKED_AT = 200_000
"""Tokens of a section behind raw markup that never closes: each of these would be looked for to the end."""
_FRONT_MATTER = re.compile(r"([A-Za-z_]+)\s*:\s*(.*)\Z")
_KNOWN = {"title": "title", "author": "author", "date": "created", "created": "created", "updated": "modified",
          "modified": "modified", "lang": "language", "language": "language"}  # fmt: skip


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a Markdown file. Raises: ``Undecodable``."""
    reading.note(parser="markdown")
    outline = Outline()
    source = _after_front_matter(lines(reading), reading)
    for section in _sections(source):
        yield from _Section(outline, reading).blocks(_markdown().parse(section))


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"maxNesting": 40}).enable(["table", "strikethrough"]).use(deflist_plugin)
    # What is no address of the web is dropped here; refused ones would stay in the text.
    markdown.validateLink = lambda _: True  # type: ignore[method-assign, assignment]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return add_boxes(markdown)


def _after_front_matter(source: Iterator[str], reading: ParserInput) -> Iterator[str]:
    first = next(source, "")
    if first.strip() != "---":
        yield first
        yield from source
        return
    held = [first]
    for line in source:
        held.append(line)
        if line.strip() in ("---", "..."):
            for entry in held[1:-1]:
                match = _FRONT_MATTER.match(entry.strip())
                if match and match[1].lower() in _KNOWN:
                    reading.note(**{_KNOWN[match[1].lower()]: match[2].strip(" '\"")})
            break
        if len(held) > 100:
            yield from held
            break
    else:
        yield from held
    yield from source


def _sections(source: Iterator[str]) -> Iterator[str]:
    held: list[str] = []
    length = 0
    fence = ""
    for line in source:
        match = _FENCE.match(line)
        if match:
            mark = match[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line.strip().strip(mark[0]):
                fence = ""
        boundary = not fence and not match and (_HEADING.match(line) or (length > 2 * SECTION_CHARS and line.isspace()))
        if length > SECTION_CHARS and (boundary or length > 8 * SECTION_CHARS):
            yield "".join(held)
            held, length = [], 0
        held.append(line)
        length += len(line)
    yield "".join(held)


class _Section:
    """The tokens of one section as blocks."""

    def __init__(self, outline: Outline, reading: ParserInput) -> None:
        self._outline = outline
        self._reading = reading
        self._definitions = Definitions(outline)
        self._lists: list[int | None] = []
        self._items: list[str] = []
        self._marker = ""
        self._rows: list[list[str]] | None = None

    def blocks(self, tokens: list[Token]) -> Iterator[Block]:
        heading = 0
        for token in _whole_markup(tokens):
            kind = token.type
            if kind == "heading_open":
                heading = int(token.tag[1])
            elif kind == "inline":
                text = _inline_text(token.children or [], names=not heading)
                if self._rows is not None:
                    self._rows[-1].append(text)
                elif heading and text:
                    if not self._lists:
                        yield self._outline.heading(text.replace("\n", " "), heading)
                        if (linked := _inline_text(token.children or [])) != text:
                            yield from self._text(linked, BlockKind.PARAGRAPH)
                    else:
                        self._item(text)
                    heading = 0
                else:
                    self._definitions.read(text)
                    yield from self._text(text, BlockKind.PARAGRAPH)
            elif kind in ("fence", "code_block"):
                yield from self._text(token.content.rstrip("\n"), BlockKind.CODE)
            elif kind == "html_block":
                yield from self._markup(token.content)
            else:
                yield from self._structure(token)

    def _markup(self, markup: str) -> Iterator[Block]:
        for block in html.blocks_of(markup, self._outline, self._reading, is_whole=False):
            if not self._lists:
                yield block
            elif not block.text.isspace():
                self._item(block.text)

    def _structure(self, token: Token) -> Iterator[Block]:
        kind = token.type
        if kind == "bullet_list_open":
            self._lists.append(None)
        elif kind == "ordered_list_open":
            start = token.attrGet("start")
            self._lists.append(int(start) if start is not None else 1)
        elif kind == "list_item_open":
            number = self._lists[-1]
            self._marker = "•" if number is None else f"{number}."
            if number is not None:
                self._lists[-1] = number + 1
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
            if not self._lists and self._items:
                yield self._outline.block("\n".join(self._items), BlockKind.LIST)
                self._items = []
        elif token.tag in DEFINITION_TAGS:
            (self._definitions.enter if token.nesting > 0 else self._definitions.leave)(token.tag)
        elif kind == "table_open":
            self._rows = []
        elif kind == "tr_open" and self._rows is not None:
            self._rows.append([])
        elif kind == "table_close" and self._rows is not None:
            rows = [line for line in map(row_text, self._rows) if line]
            self._rows = None
            if self._lists:
                self._items.extend(rows)
            else:
                yield from table_blocks(rows, self._outline.locator())

    def _text(self, text: str, kind: BlockKind) -> Iterator[Block]:
        if self._lists:
            self._item(text)
        elif text:
            yield self._outline.block(text, kind)

    def _item(self, text: str) -> None:
        indent = "  " * (len(self._lists) - 1)
        first = f"{indent}{self._marker} " if self._marker else f"{indent}  "
        self._items.append(first + text.replace("\n", f"\n{indent}  "))
        self._marker = ""


def _whole_markup(tokens: list[Token]) -> Iterator[Token]:
    """Yield tokens, what raw markup holds in pieces as one: blank lines part it, and what is between is Markdown."""
    at, left = 0, _MOST_LOOKED_AT
    while at < len(tokens):
        token = tokens[at]
        end, looked_at = _end_of_markup(tokens, at, left) if token.type == "html_block" else (at, 0)
        left -= looked_at
        if end > at:
            markdown = _markdown()
            markup = markdown.renderer.render(tokens[at : end + 1], markdown.options, {})
            token = replace(token, content=markup)
        yield token
        at = end + 1


def _end_of_markup(tokens: list[Token], start: int, most: int) -> tuple[int, int]:
    """Return where the table or the list closes that raw markup opens; the start itself if it never does.

    With it goes how many tokens were looked at in vain, ``most`` at most.
    """
    opened: Counter[str] = Counter()
    at = start
    for at in range(start, min(len(tokens), start + most)):
        token = tokens[at]
        if token.level < tokens[start].level:
            break
        if token.type == "html_block":
            for closing, name in _WHOLE.findall(_COMMENT.sub("", token.content)):
                opened[name.lower()] += -1 if closing else 1
            if not +opened and token.level == tokens[start].level:
                return at, 0
    return start, at - start


def _inline_text(children: list[Token], *, names: bool = True) -> str:
    """The text that a line of Markdown shows, with targets of links where it ``names`` them.

    Soft line breaks join as their script wants it.
    """
    text = line = shown = address = ""
    named: set[str] = set()
    for token in children:
        kind = token.type
        if kind == "link_open":
            address, shown = str(token.attrGet("href") or ""), ""
        elif kind == "link_close" and names and address not in named:
            named.add(address)
            line += beside(shown, address)
        if token.content and kind in ("text", "code_inline"):
            shown += token.content
        if kind in ("text", "code_inline"):
            line += token.content
        elif kind == "image":
            line += _inline_text(token.children or [])
        elif kind == "softbreak":
            text, line = _wrapped(text, line), ""
        elif kind == "hardbreak" or (kind == "html_inline" and token.content.lower().startswith("<br")):
            text, line = join_lines(text, line) + "\n", ""
    return _wrapped(text, line).strip()


def _wrapped(text: str, line: str) -> str:
    """Join a line to the text before it; a question and its answer keep lines of their own."""
    last = text.rpartition("\n")[2]
    is_asked = is_marked_question(last) and (last.endswith(ASKS) or answer_mark(line) != "")
    is_begun = last == text and is_question(text) and len(split_sentences(text)) == 1
    is_pair = is_marked_question(line) or is_asked or (is_begun and not is_marked_question(text))
    return f"{text}\n{line}" if text and is_pair else join_lines(text, line)
