"""A walk over the tree of a page, without recursion, that turns it into blocks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from core.ingest.parsers.definitions import DEFINITION_TAGS, Definitions
from core.ingest.parsers.drawing import MOST_TEXTS
from core.ingest.parsers.embedded import FEW_SIGNS, signs
from core.ingest.parsers.html_main import BLOCKS, HEADINGS
from core.ingest.parsers.html_pictures import Shown, word_within
from core.ingest.parsers.html_tables import is_data_table, rows_of
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.tables import table_blocks
from core.ingest.parsers.wording import join_lines
from core.model import Block, BlockKind
from core.text.questions_and_answers import is_question

_SKIPPED = frozenset({
    "script", "style", "noscript", "template", "svg", "head", "iframe", "object", "embed", "canvas", "audio", "video",
    "select", "button", "input", "textarea", "nav", "dialog", "datalist", "map", "rt", "rp", "-comment", "title",
})  # fmt: skip
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar"})
_REMARKS = frozenset({
    "note", "warning", "tip", "caution", "important", "hint", "danger", "attention", "admonition",
})  # fmt: skip
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_UNFOLDS = re.compile(r"aria-(?:expanded|controls)=|data-(?:bs-)?toggle=|accordion|collaps|toggle|faq", re.I)
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_LONGEST_NUMBER = 7
_NO_LIST = ""
"""The list of an item that stands in none."""
_BLANKS = re.compile(r"[ \t\r\n\f]+")


def is_hidden(node: LexborNode) -> bool:
    """Whether a page never shows this element, or only leads to other pages with it."""
    attributes = node.attributes
    if not attributes:
        return False
    # A tab that is not the chosen one is shown when it is.
    is_tab = (attributes.get("role") or "").lower() == "tabpanel"
    return not is_tab and (
        "hidden" in attributes
        or (attributes.get("role") or "").lower() in _ROLES
        or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None
    )


def _unfolds_answer(button: LexborNode) -> bool:
    """Whether a button shows a question and unfolds the answer below it, as in the FAQs of many pages."""
    if not is_question(" ".join(button.text().split())):
        return False
    attributes = button.attributes
    if _UNFOLDS.search(" ".join(f"{name}={value or ''}" for name, value in attributes.items())):
        return True
    return button.parent is not None and (button.parent.tag or "") in HEADINGS


@dataclass(slots=True)
class HtmlBlocks:
    """What is open at one moment of the walk: inline text, a list, a stretch of code."""

    outline: Outline
    left_out: Collection[int] = ()
    """Elements that are not read, by ``mem_id``."""
    pictures: Shown | None = None
    _inline: list[str] = field(default_factory=list)
    _items: list[str] = field(default_factory=list)
    _lists: list[tuple[str, int]] = field(default_factory=list)
    _around: list[list[tuple[str, int]]] = field(default_factory=list)
    """The lists that are open around each list of definitions."""
    _marker: str = ""
    _code: int = 0
    _in_heading: bool = False
    """A button there is the heading's text, elsewhere a paragraph of its own."""
    _heads_remark: bool = False
    """What follows a boxed note or warning belongs to the section around it, not to the word above the note."""
    _definitions: Definitions = field(init=False)
    _articles: int = 0
    _skips: int = 0
    """Elements that have been left out so far."""

    def __post_init__(self) -> None:
        self._definitions = Definitions(self.outline)

    def blocks(self, root: LexborNode) -> Iterator[Block]:
        """Yield the blocks below ``root`` in reading order, without headings of what is left out."""
        headings: list[tuple[Block, int]] = []
        self._articles += _is_within_text(root)
        for block in self._walk(root):
            if block.kind is BlockKind.HEADING:
                while headings and headings[-1][0].level >= block.level and headings[-1][1] < self._skips:
                    headings.pop()
                if headings and headings[-1][0].level >= block.level:
                    yield from (heading for heading, _ in headings)
                    headings.clear()
                headings.append((block, self._skips))
            else:
                yield from (heading for heading, _ in headings)
                headings.clear()
                yield block
        while headings and headings[-1][1] < self._skips:
            headings.pop()
        yield from (heading for heading, _ in headings)

    def _walk(self, root: LexborNode) -> Iterator[Block]:
        node = root.child
        while node is not None:
            below = None
            tag = node.tag or ""
            if tag == "-text":
                self._inline.append(node.text_content or "")
            elif tag == "br":
                self._inline.append("\0")
            elif tag == "svg":
                yield from self._drawing(node)
            elif not self._is_skipped(node, tag):
                if tag == "table" and is_data_table(node):
                    yield from self._flush()
                    yield from self._flush_list()
                    yield from self._table(node)
                elif tag == "img":
                    self._inline.append(word_within(node))
                    yield from self._picture(node)
                else:
                    yield from self._enter(tag, node)
                    if tag in HEADINGS:
                        self._heads_remark = _is_remark(node.parent)
                    below = node.child
                    if below is None:
                        yield from self._leave(tag)
            if below is not None:
                node = below
                continue
            while node is not None and node.next is None:
                node = node.parent
                if node is None or node.mem_id == root.mem_id:
                    node = None
                    break
                yield from self._leave(node.tag or "")
            node = node.next if node is not None else None
        yield from self._flush()
        yield from self._flush_list()

    def _picture(self, node: LexborNode) -> Iterator[Block]:
        address = node.attributes.get("src") if self.pictures is not None else None
        if self.pictures is not None and address:
            blocks = list(self.pictures.blocks(address, self.outline))
            if blocks:
                yield from self._flush()
                yield from blocks

    def _drawing(self, node: LexborNode) -> Iterator[Block]:
        """Yield what a drawing within the page says, where that is more than a name."""
        if node.mem_id in self.left_out or is_hidden(node):
            return
        lines = [" ".join(each.text(deep=True).split()) for each in node.css("text")[:MOST_TEXTS]]
        text = "\n".join(filter(None, lines))
        if signs(text) >= FEW_SIGNS:
            yield from self._flush()
            yield self.outline.block(text)

    def _is_skipped(self, node: LexborNode, tag: str) -> bool:
        if node.mem_id in self.left_out:
            self._skips += 1
            return True
        if tag == "button" and _unfolds_answer(node):
            return False
        if tag in _SKIPPED or tag.startswith("-") or is_hidden(node):
            return True
        if self._articles or tag not in ("header", "footer"):
            return False
        return tag == "footer" or node.css_first("h1") is None

    def _enter(self, tag: str, node: LexborNode) -> Iterator[Block]:
        if tag == "button" and not self._in_heading:
            yield from self._flush()
        if tag not in BLOCKS:
            return
        yield from self._flush()
        self._in_heading = tag in HEADINGS
        if tag in _LISTS:
            self._lists.append((tag, _number(node, "start", 1) - 1))
        elif tag == "li":
            kind, count = self._lists.pop() if self._lists else (_NO_LIST, 0)
            count = _number(node, "value", count + 1) - 1
            self._lists.append((kind, count + 1))
            self._marker = f"{count + 1}." if kind == "ol" else "•"
        elif tag == "pre":
            self._code += 1
        elif tag in ("article", "main"):
            self._articles += 1
        elif tag in DEFINITION_TAGS:
            if tag == "dl":
                # An explanation within an item stands under its term, not under the item's first line.
                yield from self._flush_list()
                self._around.append(self._lists)
                self._lists = []
            self._definitions.enter(tag)

    def _leave(self, tag: str) -> Iterator[Block]:
        if tag == "button" and not self._in_heading:
            yield from self._flush()
        if tag not in BLOCKS:
            return
        if tag in HEADINGS:
            self._in_heading = False
            text = self._taken().replace("\n", " ")
            if text:
                yield from self._flush_list()
                if self._heads_remark:
                    yield self.outline.block(text)
                else:
                    yield self.outline.heading(text, HEADINGS[tag])
            return
        yield from self._flush()
        is_lone = tag == "li" and self._lists[-1:] and self._lists[-1][0] == _NO_LIST
        if (tag in _LISTS and self._lists) or is_lone:
            self._lists.pop()
            if not self._lists:
                yield from self._flush_list()
        elif tag == "pre":
            self._code -= 1
        elif tag in ("article", "main"):
            self._articles -= 1
        elif tag in DEFINITION_TAGS:
            if tag == "dl":
                yield from self._flush_list()
                self._lists = self._around.pop() if self._around else []
            self._definitions.leave(tag)

    def _taken(self) -> str:
        raw = "".join(self._inline)
        self._inline.clear()
        if self._code:
            return raw.replace("\0", "\n").strip("\n")
        lines = [_BLANKS.sub(" ", line).strip(" ") for line in raw.split("\0")]
        return "\n".join(line for line in lines if line)

    def _flush(self) -> Iterator[Block]:
        if not self._inline:
            return
        text = self._taken()
        if not text or text.isspace():
            return
        self._definitions.read(text)
        if self._lists:
            indent = "  " * (len(self._lists) - 1)
            text = text.replace("\n", f"\n{indent}  ")
            if self._marker or not (self._items or self._lists[-1][1]):
                self._items.append(f"{indent}{self._marker or '•'} {text}")
            else:
                self._items.append(f"{indent}  {text}")
            self._marker = ""
        else:
            yield self.outline.block(text, BlockKind.CODE if self._code else BlockKind.PARAGRAPH)

    def _flush_list(self) -> Iterator[Block]:
        if self._items:
            yield self.outline.block("\n".join(self._items), BlockKind.LIST)
            self._items = []
            self._marker = ""

    def _table(self, node: LexborNode) -> Iterator[Block]:
        caption = node.css_first("caption")
        if caption is not None:
            yield self.outline.block(join_lines("", " ".join(caption.text().split())))
        rows = rows_of(node)
        if rows.title:
            yield self.outline.block(rows.title)
        yield from table_blocks(rows.lines, self.outline.locator(), rows.has_header)


def _number(node: LexborNode, name: str, otherwise: int) -> int:
    """Return what a list says to count from, or an item to be."""
    value = (node.attributes.get(name) or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < _LONGEST_NUMBER else otherwise


def _is_within_text(node: LexborNode | None) -> bool:
    """Tell whether an element is, or is in, what the page calls its main text: a header there heads a section."""
    while node is not None:
        if node.tag in ("main", "article"):
            return True
        node = node.parent
    return False


def _is_remark(node: LexborNode | None) -> bool:
    """Tell whether an element is a boxed note, as DocBook, Sphinx and Asciidoctor name these."""
    classes = (node.attributes.get("class") or "").casefold().split() if node is not None else ()
    return not _REMARKS.isdisjoint(classes)
