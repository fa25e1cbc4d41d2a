"""Tables of a page: which of them hold data, and their rows with spanned cells repeated."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from core.ingest.parsers.tables import row_text

MAX_SPAN = 64
_SENTENCE = re.compile(r"\S.{6,}[.。．!！]\s*\Z", re.DOTALL)
_STRUCTURE = "table, h1, h2, h3, h4, pre, article, form"


def is_data_table(table: LexborNode) -> bool:
    """Whether a table holds data: two columns with text or more, and nothing that only a page layout would hold."""
    if (table.attributes.get("role") or "") in ("presentation", "none") or len(table.css(_STRUCTURE)) > 1:
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


def rows_of(table: LexborNode) -> tuple[list[str], bool]:
    """Return the rows as lines and whether the first one is a header.

    A cell that spans rows is repeated in each of them; one that spans columns leaves the others empty.
    """
    lines: list[str] = []
    above: dict[int, tuple[int, str]] = {}
    first_is_header = says = False
    any_header_cell = False
    for row in table.css("tr"):
        cells = _cells(row)
        texts: list[str] = []
        for cell in cells:
            _repeat(texts, above)
            text = _cell_text(cell)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for at in range(len(texts), len(texts) + width):
                if height > 1:
                    above[at] = (height - 1, text if at == len(texts) else "")
            texts.extend([text, *[""] * (width - 1)])
        _repeat(texts, above)
        line = row_text(texts)
        if not line:
            continue
        if not lines:
            says = any(_SENTENCE.search(text) for text in texts)
            first_is_header = _in_head(row) or (bool(cells) and all(cell.tag == "th" for cell in cells))
        any_header_cell = any_header_cell or any(cell.tag == "th" for cell in cells)
        lines.append(line)
    # A row that says a sentence names no columns.
    return lines, first_is_header or not (any_header_cell or says)


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
    return cell.text(separator=" ", strip=True) if cell.css_first("br, p, li, div") else cell.text()
