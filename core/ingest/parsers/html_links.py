"""Links of a page: marks that only lead to their own place are taken away, targets outside are named beside their text.

Manuals set such a mark (``¶``, ``§``, ``#``) behind each heading, term and caption; nobody reads it as text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from core.ingest.parsers.html_main import BLOCKS, HEADINGS
from core.ingest.parsers.links import beside, target_of

_MARK = re.compile(r"[\s¶§#⚓🔗∞◆↩↵⏎\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff\ue000-\uf8ff]*")
_WORDS = re.compile(
    r"\W*(?:(?:perma(?:nent )?|direct |copy |copy the |anchor )?(?:link|anchor|permalink|headerlink)"
    r"(?: (?:to|for|of) (?:this|the) \w+)?|section titled\b.*)\W*",
    re.IGNORECASE | re.DOTALL,
)
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:perma-?links?|header-?(?:links?|anchors?)|heading-?(?:links?|anchors?)|anchor(?:-?links?|js-link)?|"
    r"hash-?links?|copiable-link|id_link|self-?links?|section-?(?:links?|anchors?)|direct-link|(?:foot|end)note-back\w*|"
    r"reversefootnote)(?=$|[\s_-])",
    re.IGNORECASE,
)
_SAID = re.compile(r"\s*(?:perma(?:nent )?-?link|(?:direct |copy )?link (?:to|for) |anchor\b)", re.IGNORECASE)
_MOST_NODES, _MOST_CHARS = 12, 120
_OFTEN, _MOST_SHARE = 20, 0.1
"""More targets at one host than these, which make more than this share of a page's text, hide what it says."""
_SILENT = frozenset({"pre", "button", "select", "textarea", "svg", "nav", "script", "style", "noscript", "template"})


def remove_permalinks(page: LexborHTMLParser) -> None:
    """Take the marks away that lead to the place where they stand."""
    for link in page.css("a[href]"):
        if _is_permalink(link):
            link.decompose()


def _is_permalink(link: LexborNode) -> bool:
    attributes = link.attributes
    if "#" not in (attributes.get("href") or ""):
        return False
    text = _short_text(link)
    if text is None:
        return False
    if _MARK.fullmatch(text):
        return link.css_first("img") is None
    if not _WORDS.fullmatch(text):
        return False
    said = attributes.get("aria-label") or attributes.get("title") or ""
    return _NAMES.search(attributes.get("class") or "") is not None or _SAID.match(said) is not None


def _short_text(node: LexborNode) -> str | None:
    """Return the text of a node, None where it holds more than a mark or a few words."""
    nodes = list(islice(node.traverse(include_text=True), _MOST_NODES + 1))
    text = "".join(each.text_content or "" for each in nodes if each.tag == "-text")
    return text if len(nodes) <= _MOST_NODES and len(text) <= _MOST_CHARS else None


def own_hosts(page: LexborHTMLParser) -> frozenset[str]:
    """Return where a page says that it stands itself: links to there lead about its site, not out of it."""
    said = [
        *(node.attributes.get("href") for node in page.css("base[href], link[rel=canonical]")[:4]),
        *(node.attributes.get("content") for node in page.css("meta[property='og:url']")[:2]),
    ]
    return frozenset(host for address in said if (host := _host(address or "")))


def _host(address: str) -> str:
    try:
        return (urlsplit(address.strip()).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def name_targets(root: LexborNode, left_out: Collection[int], own: frozenset[str]) -> None:
    """Write the targets that lead out of a page's site behind the texts of their links, once in a paragraph or cell.

    Nothing is named in headings, whose path stands over every passage, in code, and in what is ``left_out``; nor where
    a page leads to one host again and again, as references of manuals do, and little text stands beside.
    """
    said: dict[int, set[str]] = {}
    named: dict[str, list[tuple[LexborNode, str]]] = {}
    for link in root.css("a[href]"):
        target = target_of(link.attributes.get("href"))
        host = _host(target)
        if not target or host in own:
            continue
        block = _block_of(link, root, left_out)
        if block is None or target in (there := said.setdefault(block, set())):
            continue
        if behind := beside(link.text(deep=True), link.attributes.get("href")):
            there.add(target)
            named.setdefault(host, []).append((link, behind))
    most = _MOST_SHARE * sum(len(text) for text in _texts(root))
    for links in named.values():
        if len(links) <= _OFTEN or sum(len(behind) for _, behind in links) <= most:
            for link, behind in links:
                link.insert_after(behind)


def _texts(root: LexborNode) -> Iterator[str]:
    return (node.text_content or "" for node in root.traverse(include_text=True) if node.tag == "-text")


def _block_of(link: LexborNode, root: LexborNode, left_out: Collection[int]) -> int | None:
    """Return the block that a link stands in, None where its target is not named."""
    found: int | None = None
    node: LexborNode | None = link
    while node is not None:
        tag = node.tag or ""
        if tag in HEADINGS or tag in _SILENT or node.mem_id in left_out:
            return None
        if found is None and tag in BLOCKS:
            found = node.mem_id
        if node.mem_id == root.mem_id:
            break
        node = node.parent
    return found
