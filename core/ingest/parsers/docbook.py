"""DocBook: the elements of its books and manual pages as those of a page, which are read as these are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from core.ingest.parsers.html import blocks_of
from core.ingest.parsers.ooxml import local
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.wording import one_line
from core.ingest.parsers.xml import Element
from core.model import Block

ROOTS = frozenset({
    "set", "book", "article", "part", "chapter", "appendix", "preface", "reference", "refentry", "glossary", "section",
    "sect1", "topic", "qandaset",
})  # fmt: skip
_OF_ITS_OWN = "{*}para", "{*}simpara", "{*}refnamediv", "{*}programlisting", "{*}variablelist"
_DIVISIONS = frozenset({
    "part", "chapter", "appendix", "preface", "reference", "refentry", "section", "simplesect", "sect1", "sect2",
    "sect3", "sect4", "sect5", "refsection", "refsect1", "refsect2", "refsect3", "refsynopsisdiv", "glossary",
    "glossdiv", "bibliography", "dedication", "acknowledgements", "colophon", "qandadiv", "topic",
})  # fmt: skip
_NAMES = {"refsynopsisdiv": "Synopsis", "refnamediv": "Name"}
"""Headings that the stylesheets set where the source gives none."""
_TAGS = {
    "para": "p", "simpara": "p", "screen": "pre", "programlisting": "pre", "literallayout": "pre", "synopsis": "pre",
    "funcsynopsisinfo": "pre", "itemizedlist": "ul", "orderedlist": "ol", "procedure": "ol", "substeps": "ol",
    "step": "li", "variablelist": "dl", "glosslist": "dl", "term": "dt", "glossterm": "dt", "glossdef": "dd",
    "note": "div", "warning": "div", "tip": "div", "caution": "div", "important": "div", "thead": "thead",
    "informaltable": "table", "table": "table", "row": "tr", "example": "div", "informalexample": "div",
    "figure": "div", "blockquote": "blockquote", "cmdsynopsis": "p", "funcprototype": "p", "question": "h6",
    "answer": "div", "bridgehead": "h6", "formalpara": "div", "sidebar": "div", "calloutlist": "ul", "callout": "li",
    "segmentedlist": "div", "seglistitem": "p", "seg": "span", "equation": "div", "address": "pre", "member": "li",
    "productionset": "div", "classsynopsis": "pre", "refname": "span", "abstract": "div", "legalnotice": "div",
    "biblioentry": "p", "bibliomixed": "p", "attribution": "p", "epigraph": "div",
}  # fmt: skip
_LEFT_OUT = frozenset({
    "indexterm", "remark", "refmeta", "info", "articleinfo", "bookinfo", "refentryinfo", "chapterinfo", "sectioninfo",
    "sect1info", "sect2info", "partinfo", "appendixinfo", "prefaceinfo", "toc", "lot", "index", "imageobject",
    "videoobject", "audioobject", "titleabbrev", "refclass", "colspec", "spanspec", "areaspec", "beginpage",
})  # fmt: skip
_WITHIN_LINES = frozenset({
    "footnote", "quote", "citerefentry", "xref", "ulink", "link", "optional", "keycombo", "menuchoice",
})  # fmt: skip
_INFO = ("{*}info", "{*}articleinfo", "{*}bookinfo", "{*}refentryinfo", "{*}refmeta")
_SHOWN_OF_INFO = ("{*}abstract", "{*}legalnotice")
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_DEEPEST = 6
_DEEPEST_ELEMENT = 100
"""What stands deeper is read without its structure."""


def is_docbook(root: Element) -> bool:
    """Tell by the name of the root, and by an element that only DocBook has below it."""
    return local(root) in ROOTS and next(root.iter(*_OF_ITS_OWN), None) is not None


def blocks(root: Element, reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a document in DocBook, of version 4 or 5."""
    page = _Page(_titles_by_id(root))
    page.element(root, 1)
    titles = (*_titles(root), *root.iterfind("{*}refnamediv/{*}refname"))
    title = next(filter(None, map(_said, titles)), "")
    reading.note(title=title[:300])
    yield from blocks_of("".join(page.markup), Outline(), reading, is_whole=False)


def _titles(division: Element) -> Iterator[Element]:
    yield from division.iterchildren("{*}title")
    for info in division.iterchildren(*_INFO):
        yield from info.iterchildren("{*}title", "{*}refentrytitle")


def _said(element: Element) -> str:
    return one_line("".join(_texts(element)))


def _texts(element: Element) -> Iterator[str]:
    """Yield what an element says, without what is not shown there: a title may hold entries of the index."""
    yield element.text or ""
    for child in element:
        name = local(child) if isinstance(child.tag, str) else ""
        if name and name not in _LEFT_OUT:
            apart = " " if _TAGS.get(name, "span") != "span" else ""
            yield apart
            yield from _texts(child)
            yield apart
        yield child.tail or ""


class _Page:
    """Markup of a page that says what a document in DocBook says."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self.markup: list[str] = []
        self._titles = titles
        self._depth = 0

    def element(self, element: Element, level: int) -> None:
        """Write an element; ``level`` is that of the heading that a division has there."""
        name = local(element) if isinstance(element.tag, str) else ""
        if not name or name in _LEFT_OUT:
            return
        if self._depth > _DEEPEST_ELEMENT:
            self._inline(_said(element), "span")
            return
        self._depth += 1
        self._written(element, name, level)
        self._depth -= 1

    def _written(self, element: Element, name: str, level: int) -> None:
        if name in _DIVISIONS or self._depth == 1:
            self._division(element, level)
        elif name in ("title", "subtitle", "caption"):
            self._wrapped(element, "p", level)
        elif name == "simplelist" and element.get("type") == "inline":
            self._inline(", ".join(map(_said, element.iterchildren("{*}member"))))
        elif name == "simplelist":
            self._wrapped(element, "ul", level)
        elif name == "refnamediv":
            self._names(element)
        elif name in ("varlistentry", "glossentry"):
            self._entry(element, level)
        elif name == "listitem":
            self._wrapped(element, "dd" if local(element.getparent()) == "varlistentry" else "li", level)
        elif name == "entry":
            self._cell(element, level)
        elif name in ("arg", "group"):
            self._argument(element, level)
        elif name in ("sbr", "co"):
            self.markup.append("<br>" if name == "sbr" else "")
        elif name in _WITHIN_LINES:
            self._within(element, name, level)
        else:
            self._wrapped(element, _TAGS.get(name, "span"), level)

    def _division(self, element: Element, level: int) -> None:
        title = next(_titles(element), None)
        heading = _said(title) if title is not None else _NAMES.get(local(element), "")
        if heading:
            self.markup.append(f"<h{min(level, _DEEPEST)}>{escape(heading)}</h{min(level, _DEEPEST)}>")
        for info in element.iterchildren(*_INFO):
            for each in info.iterchildren(*_SHOWN_OF_INFO):
                self.element(each, level + 1)
        self._inline(element.text)
        for child in element:
            if child is not title:
                self.element(child, level + bool(heading))
            self._inline(child.tail)

    def _names(self, element: Element) -> None:
        """Write what a manual page is called and is for."""
        names = ", ".join(map(_said, element.iterchildren("{*}refname")))
        purpose = " ".join(map(_said, element.iterchildren("{*}refpurpose")))
        self._inline(" — ".join(filter(None, (names, purpose))), "p")

    def _entry(self, element: Element, level: int) -> None:
        for child in element:
            self.element(child, level)
        # The terms of one entry are told apart from those of the next by what explains them.
        if not any(local(child) in ("listitem", "glossdef") for child in element):
            self.markup.append("<dd></dd>")

    def _cell(self, element: Element, level: int) -> None:
        row = element.getparent()
        above = row.getparent() if row is not None else None
        tag = "th" if above is not None and local(above) == "thead" else "td"
        rows = element.get("morerows", "")
        span = f' rowspan="{int(rows) + 1}"' if rows.isdigit() and len(rows) < 4 else ""
        columns = _columns(element)
        self._wrapped(element, tag, level, span + (f' colspan="{columns}"' if columns > 1 else ""))

    def _argument(self, element: Element, level: int) -> None:
        """Write a part of a synopsis as manuals show it: ``[--all]``, ``{-x | -y}``, ``FILE...``."""
        choice = element.get("choice", "opt")
        opened, closed = {"opt": ("[", "]"), "req": ("{", "}")}.get(choice, ("", ""))
        self._inline(f" {opened}")
        parts = list(element) if local(element) == "group" else [element]
        for number, part in enumerate(parts):
            if part is element:
                self._children(element, level)
            else:
                self._inline(" | " if number else "")
                self._alternative(part, level)
        self._inline(closed + ("..." if element.get("rep") == "repeat" else "") + " ")

    def _alternative(self, part: Element, level: int) -> None:
        if local(part) == "group":
            self._argument(part, level)
            return
        self._children(part, level)
        self._inline("..." if part.get("rep") == "repeat" else "")

    def _within(self, element: Element, name: str, level: int) -> None:
        if name == "footnote":
            self._inline(f" ({_said(element)})")
        elif name == "quote":
            self._inline("“")
            self._children(element, level)
            self._inline("”")
        elif name == "optional":
            self._inline("[")
            self._children(element, level)
            self._inline("]")
        elif name == "citerefentry":
            volume = element.findtext("{*}manvolnum")
            self._inline((element.findtext("{*}refentrytitle") or "") + (f"({volume})" if volume else ""))
        elif name in ("keycombo", "menuchoice"):
            self._inline((" > " if name == "menuchoice" else "+").join(filter(None, map(_said, element))))
        else:
            address = element.get("url") or element.get("{http://www.w3.org/1999/xlink}href") or ""
            if not len(element) and not element.text:
                self._inline(address or element.get("endterm") or self._titles.get(element.get("linkend", ""), ""))
            else:
                self._wrapped(element, "a", level, f' href="{escape(address)}"' if address else "")

    def _wrapped(self, element: Element, tag: str, level: int, attributes: str = "") -> None:
        self.markup.append(f"<{tag}{attributes}>")
        self._children(element, level)
        self.markup.append(f"</{tag}>")

    def _children(self, element: Element, level: int) -> None:
        self._inline(element.text)
        for child in element:
            self.element(child, max(level, 2))
            self._inline(child.tail)

    def _inline(self, text: str | None, tag: str = "") -> None:
        if text:
            self.markup.append(f"<{tag}>{escape(text)}</{tag}>" if tag else escape(text))


def _columns(entry: Element) -> int:
    """Return over how many columns a cell goes, by the numbers that most writers end the names of columns with."""
    first, last = entry.get("namest", ""), entry.get("nameend", "")
    start, end = ("".join(filter(str.isdigit, name)) for name in (first, last))
    return min(max(int(end) - int(start) + 1, 1), 64) if start and end and len(start + end) < 8 else 1


def _titles_by_id(root: Element) -> dict[str, str]:
    """Return the titles of what cross references may lead to."""
    found: dict[str, str] = {}
    for each in root.iter("{*}title", "{*}refname"):
        above = each.getparent()
        above = above.getparent() if local(each) == "refname" and above is not None else above
        name = (above.get("id") or above.get(_XML_ID)) if above is not None else None
        if name:
            found.setdefault(name, _said(each))
    return found
