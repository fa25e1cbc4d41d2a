"""What of a web page is its text, and what is furniture around it: navigation, banners, teasers, forms, comments.

Of every element it is measured how much it says in running text and how much of it only leads elsewhere. The main
element is the smallest that holds nearly all running text; within it, parts are left out that are named as furniture
or consist of links. Where little running text is found, a page is taken to be a list and is read whole.

Source: Kohlschütter, Fankhauser and Nejdl, "Boilerplate detection using shallow text features", WSDM 2010.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hr", "main", "p", "section", "summary", "table", "tbody",
    "thead", "tfoot", "tr", "td", "th", "caption", "li", "ul", "ol", "menu", "dir", "pre", "h1", "h2", "h3", "h4", "h5",
    "h6", "legend", "hgroup",
})  # fmt: skip
_UNREAD = frozenset({"script", "style", "noscript", "template", "svg", "select", "button", "nav", "iframe", "textarea"})
_NEVER_SHOWN = frozenset({"script", "style", "noscript", "template", "svg", "iframe"})
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_RUNNING, _LINKED = 50, 0.5
"""Characters from which inline text is a sentence, and the share of links up to which it says something itself."""
_LEAST_RUNNING = 250
_NEARLY_ALL = 0.85
_LARGE_PART, _SMALL_PART = 0.5, 0.3
_ONLY_LINKS, _MANY_LINKS = 0.75, 0.3
_SHORT_LINK = 90
_FEW_WORDS = 200
_FEW_ENTRIES = 3
"""Lines of links to the page's own sections from which these are a table of contents."""
_ENTRY = re.compile(r"(?:^|\s)(?:hentry|h-entry|type-post|type-page)(?=$|\s)")
"""Names of a whole entry of a blog, beside which stand those of its categories."""
_FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:share|sharing|sharedaddy|social|cookies?|consent|gdpr|newsletter|subscri\w*|breadcrumbs?|"
    r"advert\w*|ads?|adsense|sponsor\w*|banner|promo\w*|comments?|commentlist|respond|disqus|reply|login|signin|"
    r"register|popup|modal|overlay|pagination|pager|pagenav|skip-?link\w*|jp-relatedposts|related\w*|"
    r"recommend\w*|outbrain|taboola|most-?read|popular|trending|rating|votes?|toolbar|print-?only|"
    r"post-?nav\w*|nav-?links|navigation|navbar|mega-?menu|site-?footer|page-?footer|sitemap|wp-block-latest\w*|"
    r"follow-?us|donat\w*)(?=$|[\s_-])",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"(?:^|[\s_-])(?:note|admonition|alert|warning|caution|danger|tip|hint|important|\S*caption)(?=$|[\s_-])",
    re.IGNORECASE,
)
"""Names of a boxed note or of what stands above a listing or a table: short as they are, they belong to the text."""
_PERHAPS = re.compile(
    r"(?:^|[\s_-])(?:sidebar\w*|side|widgets?|menu\w*|nav\w*|footer|foot|meta|tags?|tagcloud|categor\w*|author\w*|bio|"
    r"byline|more|further|links|linklist|topics|archive|aside|rail|marginal\w*|infobox|service|contact\w*|search\w*|"
    r"box|teasers?|slider|carousel|gallery|galerie|stream|latest|news|also|next|prev\w*|tools?|actions?|info|shop|product\w*|"
    r"caption|credits?|copyright|kommentar\w*|werbung|anzeigen?|teilen|weiter\w*|mehr|empfehl\w*)(?=$|[\s_-])",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Measure:
    """Characters of an element: all, those of links, and those of running text."""

    text: int = 0
    linked: int = 0
    running: int = 0
    links: int = 0

    @property
    def share_of_links(self) -> float:
        return self.linked / self.text if self.text else 0.0

    @property
    def is_only_links(self) -> bool:
        if self.links < 2 or self.running > _FEW_WORDS:
            return False
        return self.share_of_links > _ONLY_LINKS and self.linked < _SHORT_LINK * self.links


@dataclass(slots=True)
class MainText:
    """The element that holds a page's text, and the parts of it that are left out, by ``mem_id``."""

    root: LexborNode
    left_out: dict[int, LexborNode] = field(default_factory=dict)

    @classmethod
    def of(cls, body: LexborNode, marked: LexborNode | None) -> MainText:
        """Find the text of a page; ``marked`` is the element that it says to be its main one."""
        measures = _measured(body)
        root = marked or body
        whole = measures[root.mem_id].running
        if whole < _LEAST_RUNNING:
            return cls(root)
        if marked is None:
            root = _smallest(body, measures)
        found = cls(root)
        if marked is None and (title := body.css_first("h1")) is not None:
            found._begin_with(title, measures, body)
        found.left_out.update((node.mem_id, node) for node in _furniture(root, measures, is_marked=marked is not None))
        found.left_out.update((node.mem_id, node) for node in _bare_contents(root))
        return found

    def around(self, body: LexborNode) -> Iterator[str]:
        """Yield what the elements say that are not read: those within the text, then those beside it."""
        inside = {self.root.mem_id, *(node.mem_id for node in _ancestors(self.root, body))}
        waiting = [body] if self.root.mem_id != body.mem_id else []
        beside: list[LexborNode] = []
        while waiting:
            for node in _elements(waiting.pop()):
                if node.mem_id == self.root.mem_id:
                    continue
                (waiting if node.mem_id in inside else beside).append(node)
        for node in (*self.left_out.values(), *beside):
            if text := " ".join(_shown(node).split()):
                yield text

    def _begin_with(self, title: LexborNode, measures: dict[int, _Measure], body: LexborNode) -> None:
        """Read what stands between the page's heading and its text as well: leads and summaries."""
        text, above = self.root, _ancestors(title, body)
        inside = {node.mem_id for node in above}
        if any(node.mem_id == text.mem_id for node in above) or title.mem_id not in measures:
            return
        path = [text, *_ancestors(text, body)]
        self.root = next((node for node in path if node.mem_id in inside), body)
        kept = {node.mem_id for node in path} | inside | {title.mem_id}
        between = False
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.mem_id == text.mem_id:
                break
            if node.mem_id == title.mem_id:
                between = True
            elif node.mem_id in kept:
                waiting.extend(reversed(list(_elements(node))))
            elif not between:
                self.left_out[node.mem_id] = node
        # What stands after the text is none of it.
        self.left_out.update((node.mem_id, node) for node in waiting if node.mem_id not in kept)


def _ancestors(node: LexborNode, root: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    above = node.parent
    while above is not None:
        found.append(above)
        if above.mem_id == root.mem_id:
            break
        above = above.parent
    return found


def _smallest(body: LexborNode, measures: dict[int, _Measure]) -> LexborNode:
    """Return the deepest element that holds nearly all running text."""
    enough = _NEARLY_ALL * measures[body.mem_id].running
    root = body
    while True:
        below = (node for node in _elements(root) if (each := measures.get(node.mem_id)) and each.running >= enough)
        inner = next(below, None)
        if inner is None or inner.tag in ("p", "pre", "blockquote", "table", "ul", "ol", "dl", "td", "tr", "tbody"):
            return root
        root = inner


def _furniture(root: LexborNode, measures: dict[int, _Measure], *, is_marked: bool) -> Iterator[LexborNode]:
    whole = measures[root.mem_id].running
    waiting = list(_elements(root))
    while waiting:
        node = waiting.pop()
        measure = measures.get(node.mem_id)
        if measure is None or node.tag not in BLOCKS or node.tag in ("tr", "td", "th", "tbody", "thead", "pre"):
            if measure is not None and node.tag in ("tr", "td", "tbody"):
                waiting.extend(_elements(node))
            continue
        if _is_furniture(node, measure, whole, is_marked=is_marked):
            yield node
        else:
            waiting.extend(_elements(node))


def _is_furniture(node: LexborNode, measure: _Measure, whole: int, *, is_marked: bool) -> bool:
    tag = node.tag or ""
    if tag in HEADINGS or tag in ("dt", "dd") or measure.running > _LARGE_PART * whole:
        return False
    if measure.is_only_links and tag not in ("dl", "section"):
        return not (is_marked and measure.linked > whole)
    is_small = measure.running < _SMALL_PART * whole
    if tag in ("form", "footer"):
        return is_small
    leads_away = measure.share_of_links > _MANY_LINKS
    if tag == "aside":
        return is_small and (leads_away or not is_marked)
    names, mark = _names(node)
    if _ENTRY.search(names):
        return False
    if _FURNITURE.search(names):
        return is_small or measure.share_of_links > _LINKED
    if _FURNITURE.search(mark) and leads_away:
        return True
    if leads_away:
        return is_small and _PERHAPS.search(f"{names} {mark}") is not None
    # What a section of a manual is about, its id, names no furniture: "build-info".
    says_little = measure.running == 0 and measure.text < 2 * _RUNNING
    return is_small and says_little and _PERHAPS.search(names) is not None and not _REMARK.search(names)


def _bare_contents(root: LexborNode) -> list[LexborNode]:
    """Return the links of tables of contents that are no lists: lines of nothing but links to sections of the page.

    The sections' headings say the same, with what stands below them.
    """
    runs: list[list[LexborNode]] = []
    for link in root.css('a[href^="#"]'):
        if runs and _stands_below(link, runs[-1][-1]):
            runs[-1].append(link)
        else:
            runs.append([link])
    return [link for run in runs if len(run) >= _FEW_ENTRIES for link in run]


def _stands_below(link: LexborNode, before: LexborNode) -> bool:
    """Whether nothing but the end of a line parts a link from the one before it."""
    is_next_line = False
    node = before.next
    while node is not None and node.mem_id != link.mem_id:
        if node.tag == "br":
            is_next_line = True
        elif node.tag != "-text" or (node.text_content or "").strip():
            return False
        node = node.next
    return node is not None and is_next_line


def _names(node: LexborNode) -> tuple[str, str]:
    """Return the classes of an element, and its id, which in a manual names what a section is about."""
    attributes = node.attributes
    return (attributes.get("class") or "", attributes.get("id") or "") if attributes else ("", "")


def _shown(node: LexborNode) -> str:
    if node.tag in _NEVER_SHOWN:
        return ""
    parts: list[str] = []
    for each in node.traverse(include_text=True):
        parent = each.parent
        if each.tag == "-text" and parent is not None and parent.tag not in _NEVER_SHOWN:
            parts.append(each.text_content or "")
    return " ".join(parts)


def _elements(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        if not (child.tag or "-").startswith("-"):
            yield child
        child = child.next


def _measured(body: LexborNode) -> dict[int, _Measure]:
    """Measure every element below the body, without recursion."""
    found: dict[int, _Measure] = {}
    inline: dict[int, tuple[int, int]] = {}
    node, is_down = body, True
    while True:
        below = node.child if is_down and node.tag not in _UNREAD and not (node.tag or "-").startswith("-") else None
        if below is not None:
            node = below
            continue
        _measure(node, found, inline)
        if node.mem_id == body.mem_id:
            return found
        if node.next is not None:
            node, is_down = node.next, True
        else:
            parent = node.parent
            if parent is None:
                return found
            node, is_down = parent, False


def _measure(node: LexborNode, found: dict[int, _Measure], inline: dict[int, tuple[int, int]]) -> None:
    """Measure an element whose children have been measured."""
    tag = node.tag or ""
    if tag.startswith("-") or tag in _UNREAD:
        return
    whole = _Measure()
    said = linked = 0
    child = node.child
    while child is not None:
        if child.tag == "-text":
            length = len(" ".join((child.text_content or "").split()))
            said += length
        elif (measure := found.get(child.mem_id)) is not None:
            whole.links += measure.links
            if child.tag in BLOCKS:
                whole.text += measure.text
                whole.linked += measure.linked
                whole.running += measure.running
            else:
                inner, of_links = inline[child.mem_id]
                said += inner
                linked += of_links
                whole.running += measure.running
                whole.text += measure.text - inner
                whole.linked += measure.linked - of_links
        child = child.next
    if tag == "a" and "href" in node.attributes:
        linked = said
        whole.links += 1
        whole.linked = whole.text
    whole.text += said
    whole.linked += linked
    if tag in BLOCKS and tag not in HEADINGS and said >= _RUNNING and linked < _LINKED * said:
        whole.running += said - linked
    found[node.mem_id] = whole
    inline[node.mem_id] = (said, linked)
