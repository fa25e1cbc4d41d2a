"""Web pages: the main text with its headings, lists, code and tables; nothing is executed, fetched or shown hidden."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from core.errors import Undecodable
from core.ingest.parsers import text as plain
from core.ingest.parsers.encoding import MAX_REPLACED, decoded, detect, is_certainly_utf8, replaced_share, sample
from core.ingest.parsers.html_blocks import HtmlBlocks, is_hidden
from core.ingest.parsers.html_links import name_targets, own_hosts, remove_permalinks
from core.ingest.parsers.html_main import MainText
from core.ingest.parsers.html_pictures import PictureOf, Shown
from core.ingest.parsers.html_pieces import pieces_of
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.wording import clean, one_line
from core.model import Block

LARGE_BYTES = 16 * 1024 * 1024
"""Larger pages are read in pieces: the tree of a page takes many times its size."""
MAX_DEPTH = 2_000
"""Deeper pages are read as bare text: building their tree would take time that grows with the square of the depth."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)[^<>]*?(/?)>")
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "p", "li", "td", "tr", "th", "dd", "dt", "option", "tbody", "thead", "tfoot", "html", "body", "head",
})  # fmt: skip
_SHAPES = frozenset({"path", "rect", "circle", "line", "g", "use", "polygon", "polyline", "ellipse", "stop", "image"})
_DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{3,20})", re.I)
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html)[\s>]",
    re.I | re.S,
)
"""How a page begins: with its document type, or with ``html`` as its first element."""
_BARE = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style|template|svg)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.S | re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
MAIN_SHARE = 0.4
MOST_LINES, MOST_LINE = 40, 200
"""How much is kept of what is left out of a page."""


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the main text of a page. Raises: ``Undecodable``."""
    reading.note(parser="html")
    texts, outline = decoded(reading.path, _encoding(reading)), Outline()
    if reading.path.stat().st_size <= LARGE_BYTES:
        yield from blocks_of("".join(texts), outline, reading)
        return
    reading.warn("The page is very large: it was read in pieces, with all that stands around its main text.")
    for piece in pieces_of(texts):
        yield from blocks_of(piece, outline, reading, is_whole=False)


def parse_export(reading: ParserInput) -> Iterator[Block]:
    """Yield a document that was exported from Google Docs as a page or as plain text. Raises: ``Undecodable``."""
    with reading.path.open("rb") as file:
        head = file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    yield from (parse if head.startswith(b"<") else plain.parse)(reading)


def parse_text(reading: ParserInput) -> Iterator[Block]:
    """Yield a text file, or the page that was saved under the name of one. Raises: ``Undecodable``."""
    with reading.path.open("rb") as file:
        head = file.read(1024)
    yield from (parse if _PAGE.match(head) else plain.parse)(reading)


def blocks_of(
    markup: str, outline: Outline, reading: ParserInput, *, is_whole: bool = True, pictures: PictureOf | None = None
) -> Iterator[Block]:
    """Yield the blocks of a page, or of a piece of one that stands in another document, whose pictures it may show."""
    if _depth(markup) > MAX_DEPTH:
        reading.warn("The page is nested too deeply; its text was read without its structure.")
        for paragraph in clean(bare_text(markup)).split("\n\n"):
            yield outline.block(paragraph.strip())
        return
    try:
        page = LexborHTMLParser(markup)
    except SelectolaxError as error:
        # Markup of any form is read; what fails is that there is no more memory.
        raise MemoryError from error
    remove_permalinks(page)
    own = own_hosts(page)
    shown = None if reading.embedded is None else Shown(reading, pictures)
    _note_head(page, reading)
    body = page.body
    if body is not None:
        if not is_whole:
            name_targets(body, (), own)
            yield from HtmlBlocks(outline, (), shown).blocks(body)
            return
        main = MainText.of(body, _marked(body))
        name_targets(main.root, main.left_out, own)
        yield from HtmlBlocks(outline, main.left_out, shown).blocks(main.root)
        _note_around(main, body, reading)


def _depth(markup: str) -> int:
    """How deep the elements of a page may nest, at most: an element that is never closed counts as open to the end."""
    opened: Counter[str] = Counter()
    depth = deepest = 0
    for closing, name, closed in _TAG.findall(markup):
        name = name.lower()
        if closing:
            if opened[name]:
                opened[name] -= 1
                depth -= 1
        elif name not in _VOID and not (closed and name in _SHAPES):
            opened[name] += 1
            depth += 1
            deepest = max(deepest, depth)
    return deepest


def bare_text(markup: str) -> str:
    text = _BARE.sub(lambda match: " " if match[1] is None else "\n\n", markup)
    return _ENTITY.sub(lambda match: unescape(match[0]), text)


def _encoding(reading: ParserInput) -> str:
    data = sample(reading.path)
    with reading.path.open("rb") as file:
        declared = _DECLARED.search(file.read(4096))
    is_marked = data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"))
    if declared and not is_marked and not is_certainly_utf8(data):
        name = declared[1].decode("ascii").lower()
        name = {"shift_jis": "cp932", "x-sjis": "cp932", "sjis": "cp932", "iso-8859-1": "cp1252"}.get(name, name)
        try:
            if replaced_share(data.decode(name, "replace")) <= MAX_REPLACED / 2 and "16" not in name:
                reading.note(encoding=name)
                return name
        except (LookupError, ValueError, Undecodable):
            reading.warn("The page names an encoding that does not exist.")
    found = detect(data)
    reading.note(encoding=found)
    return found


def _note_head(page: LexborHTMLParser, reading: ParserInput) -> None:
    head = page.head
    if head is None:
        return
    title = head.css_first("title")
    if title is not None:
        reading.note(title=one_line(title.text()))
    wanted = {
        "author": "author",
        "article:published_time": "created",
        "article:modified_time": "modified",
        "date": "created",
        "dcterms.created": "created",
        "dcterms.modified": "modified",
    }
    for meta in head.css("meta"):
        values = meta.attributes
        key = wanted.get((values.get("name") or values.get("property") or "").lower())
        if key and key not in reading.metadata:
            reading.note(**{key: values.get("content") or ""})


def _note_around(main: MainText, body: LexborNode, reading: ParserInput) -> None:
    """Keep the beginnings of what was left out of a page, so that people can see it."""
    lines = list(islice((text[:MOST_LINE] for text in main.around(body)), MOST_LINES))
    if lines:
        reading.metadata["left_out"] = clean("\n".join(lines))


def _marked(body: LexborNode) -> LexborNode | None:
    """The element that holds the text a reader came for, where the page marks one."""
    total = len(body.text(deep=True)) or 1
    for selector in ("main", "[role=main]", "article"):
        found = [node for node in body.css(selector)[:2] if not is_hidden(node)]
        if len(found) == 1 and len(found[0].text(deep=True)) >= MAIN_SHARE * total:
            return found[0]
    return None
