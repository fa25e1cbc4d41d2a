"""Tables of a page: which of them hold data, and their rows with spanned cells repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest

from selectolax.lexbor import LexborNode

from core.ingest.parsers.html_main import BLOCKS
from core.ingest.parsers.html_pictures import word_for, word_within
from core.ingest.parsers.tables import join_items, row_text

MAX_SPAN = 64
_ENDS_SENTENCE = (".", "。", "．", "!", "！")
_SHORTEST_SENTENCE = 8
_MOST_HEADS = 3
_STRUCTURE = "table, h1, h2, h3, h4, article, form"
_FEW_LINES = 3
_ITEM = "\x01"
_CODE = re.compile(r"\s*([%$/\\<@#.-])([\w-])")


def is_data_table(table: LexborNode) -> bool:
    """Whether a table holds data: two columns with text or more, and nothing that only a page layout would hold."""
    if (table.attributes.get("role") or "") in ("presentation", "none") or len(table.css(_STRUCTURE)) > 1:
        return False
    # A listing keeps its lines, a command or two is what a cell says.
    longest = _FEW_LINES if table.css_first("th") is not None else 1
    if any(len(code.text(deep=True).strip().splitlines()) > longest for code in table.css("pre")):
        return False
    return any(sum(map(_says_something, _cells(row))) > 1 for row in table.css("tr"))


def _cells(row: LexborNode) -> list[LexborNode]:
    cells = []
    node = row.child
    while node is not None:
        if node.tag in ("td", "th"):
            cells.append(node)
        node = node.next
    return cells


def _says_something(cell: LexborNode) -> bool:
    return bool(cell.text(deep=True).strip())


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attributes.get(name) or "").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() and len(value) < 9 else 1


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a table as lines; ``title`` is what stood above all columns, and the first line may be a header."""

    lines: list[str]
    has_header: bool
    title: str = ""


def rows_of(table: LexborNode) -> TableRows:
    """Return the rows of a table, a header of several rows as one.

    A cell that spans rows is repeated in each of them; one that spans columns leaves the others empty.
    """
    lines: list[str] = []
    heads: list[list[str]] = []
    names: list[str] = []
    above: dict[int, tuple[int, str]] = {}
    says = any_header_cell = False
    has_head = table.css_first("thead tr") is not None
    for row in table.css("tr"):
        cells = _cells(row)
        texts: list[str] = []
        spread: list[str] = []
        for cell in cells:
            _repeat(texts, above)
            spread += texts[len(spread) :]
            text = _cell_text(cell)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for at in range(len(texts), len(texts) + width):
                if height > 1:
                    above[at] = (height - 1, text if at == len(texts) else "")
            texts.extend([text, *[""] * (width - 1)])
            spread += [text] * width
        _repeat(texts, above)
        spread += texts[len(spread) :]
        line = row_text(texts)
        if not line:
            continue
        goes_on = not lines or (len(cells) > 1 and (_in_head(row) or not has_head))
        if len(heads) == len(lines) < _MOST_HEADS and goes_on and _is_head(row, cells):
            heads.append(spread)
        if not lines:
            says = any(map(_is_sentence, texts))
        any_header_cell = any_header_cell or any(cell.tag == "th" for cell in cells)
        lines.append(line)
        names.append(texts[0])
    # A row that says a sentence names no columns, nor does one that begins with an option as the others do.
    has_header = bool(heads) or not (any_header_cell or says or _are_codes(names))
    if len(heads) < 2 or len(heads) == len(lines):
        return TableRows(lines, has_header)
    title = ""
    if len({text for text in heads[0] if text}) == 1:
        title = next(text for text in heads[0] if text)
        heads = heads[1:]
    return TableRows([row_text(_folded(heads)), *lines[len(heads) + bool(title) :]], has_header, title)


def _are_codes(names: list[str]) -> bool:
    """Tell whether the first name and most others begin alike with a sign, as ``-d`` or ``%D`` do."""
    match = _CODE.match(names[0]) if len(names) > 1 else None
    if match is None:
        return False
    others = [_CODE.match(name) for name in names[1:]]
    alike = [other for other in others if other and other[1] == match[1] and other[2].isdigit() == match[2].isdigit()]
    return 2 * len(alike) > len(others)


def _is_sentence(text: str) -> bool:
    said = text.strip()
    return len(said) >= _SHORTEST_SENTENCE and said.endswith(_ENDS_SENTENCE)


def _is_head(row: LexborNode, cells: list[LexborNode]) -> bool:
    return _in_head(row) or (bool(cells) and all(cell.tag == "th" for cell in cells))


def _folded(heads: list[list[str]]) -> list[str]:
    """Return rows of a header as one: "Voltage" above "min" and "max" gives "Voltage min" and "Voltage max"."""
    columns = zip_longest(*heads, fillvalue="")
    return [" ".join(dict.fromkeys(text for text in column if text)) for column in columns]


def _repeat(texts: list[str], above: dict[int, tuple[int, str]]) -> None:
    while len(texts) in above:
        left, text = above.pop(len(texts))
        if left > 1:
            above[len(texts)] = (left - 1, text)
        texts.append(text)


def _in_head(row: LexborNode) -> bool:
    parent = row.parent
    return parent is not None and parent.tag == "thead"


def _cell_text(cell: LexborNode) -> str:
    only = cell.child
    if only is None or (only.next is None and only.tag == "-text"):
        return "" if only is None else only.text_content or ""
    for hidden in cell.css("script, style, template, svg, rt, rp"):
        hidden.decompose()
    if not _says_something(cell):
        return " ".join(filter(None, map(word_for, cell.css("img"))))
    return reduce(join_items, (" ".join(part.split()) for part in "".join(_pieces(cell)).split(_ITEM)))


def _follows_item(item: LexborNode) -> bool:
    before = item.prev
    while before is not None and before.tag != "li":
        before = before.prev
    return before is not None


def _pieces(node: LexborNode) -> Iterator[str]:
    """Yield what an element says, with a blank around what stands by itself: ``--out=FILE`` stays one word.

    ``_ITEM`` stands between the entries of a list, and behind them.
    """
    below = node.child
    while below is not None:
        tag = below.tag or "-"
        if tag == "-text":
            yield below.text_content or ""
        elif tag == "img":
            yield word_within(below)
        elif tag == "br" or tag in BLOCKS:
            yield _ITEM if tag == "li" and _follows_item(below) else " "
        if not tag.startswith("-") and below.child is not None:
            below = below.child
            continue
        while below is not None and below.next is None:
            below = below.parent
            if below is None or below.mem_id == node.mem_id:
                return
            if below.tag in BLOCKS:
                yield _ITEM if below.tag in ("ul", "ol") else " "
        below = below.next if below is not None else None
