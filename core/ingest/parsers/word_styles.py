"""What the styles of a Word document make of its paragraphs: headings, lists, code, tables of contents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from core.ingest.parsers.ooxml import attribute, local
from core.ingest.parsers.xml import Element

_HEADING_NAME = re.compile(r"(?:heading|見出し|überschrift|titre)\s*([1-9])\Z")
_CODE_NAMES = re.compile(r"code|preformatted|source|コード|整形済み")


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph is by its style and its own properties; ``heading`` is 0 for ordinary text."""

    heading: int = 0
    list_id: str = ""
    list_level: int = 0
    is_list: bool = False
    is_code: bool = False
    is_title: bool = False
    is_contents: bool = False


@dataclass(slots=True)
class Styles:
    """The paragraph styles of one document, each with what it is based on already applied."""

    _styles: dict[str, Style] = field(default_factory=dict)
    _default: Style = Style()

    @classmethod
    def of(cls, root: Element) -> Styles:
        """Read ``styles.xml``."""
        elements = {
            attribute(element, "styleId") or "": element
            for element in root.iterchildren("{*}style")
            if attribute(element, "type") in (None, "paragraph")
        }
        styles = cls()
        for style_id in elements:
            styles._styles[style_id] = _resolved(style_id, elements)
        return styles

    def of_paragraph(self, paragraph: Element) -> Style:
        """The style of a paragraph with the properties that it sets itself."""
        properties = paragraph.find("{*}pPr")
        if properties is None:
            return self._default
        style = self._default
        for child in properties:
            if local(child) == "pStyle":
                style = self._styles.get(attribute(child, "val") or "", self._default)
        return _with_properties(style, properties)


def _resolved(style_id: str, elements: dict[str, Element]) -> Style:
    chain: list[str] = []
    while style_id in elements and style_id not in chain and len(chain) < 32:
        chain.append(style_id)
        based = elements[style_id].find("{*}basedOn")
        style_id = (attribute(based, "val") or "") if based is not None else ""
    style = Style()
    for each in reversed(chain):
        style = _with_name(style, elements[each])
        properties = elements[each].find("{*}pPr")
        if properties is not None:
            style = _with_properties(style, properties)
    return style


def _with_name(style: Style, element: Element) -> Style:
    named = element.find("{*}name")
    name = ((attribute(named, "val") or "") if named is not None else "").lower()
    heading = _HEADING_NAME.match(name)
    if heading:
        style = replace(style, heading=min(int(heading[1]), 6))
    elif name in ("title", "表題"):
        style = replace(style, heading=1, is_title=True)
    elif name.startswith(("toc ", "目次 ", "contents ")) and not name.endswith("heading"):
        style = replace(style, is_contents=True)
    elif name.startswith("list ") or name in ("箇条書き", "リスト段落"):
        style = replace(style, is_list=name != "list paragraph")
    elif _CODE_NAMES.search(name):
        style = replace(style, is_code=True)
    return style


def _with_properties(style: Style, properties: Element) -> Style:
    for child in properties:
        name = local(child)
        if name == "outlineLvl":
            value = attribute(child, "val") or "9"
            level = int(value) + 1 if value.isdigit() and len(value) == 1 else 10
            style = replace(style, heading=min(level, 6) if level < 10 else 0)
        elif name == "numPr":
            values = {local(part): attribute(part, "val") or "" for part in child}
            list_id = values.get("numId", style.list_id)
            level_text = values.get("ilvl", "")
            level = int(level_text) if level_text.isdigit() and len(level_text) == 1 else style.list_level
            style = replace(style, list_id="" if list_id == "0" else list_id, list_level=level)
    return style
