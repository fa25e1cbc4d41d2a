"""What the styles of a Word document make of its paragraphs: headings, lists, code, tables of contents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from core.ingest.parsers.ooxml import attribute, local
from core.ingest.parsers.xml import Element

_HEADING_NAME = re.compile(r"(?:heading|見出し|überschrift|titre)\s*([1-9])\Z")
_NO_LISTS = ("list paragraph", "list heading", "list contents")
"""The latter are the terms of LibreOffice's lists of definitions, and what explains them."""
CODE_NAMES = re.compile(r"code\b(?! caption)|sourcecode|preformatted|source text|コード|整形済み")
_FIXED_PITCH = re.compile(
    r"courier|consolas|menlo|monaco|\bmono(?:space)?\b|lucida (?:console|sans typewriter)|source code|inconsolata|"
    r"(?:fira|cascadia) code",
    re.IGNORECASE,
)
"""Typefaces in which people set code. Those of typewriters in Japan are left out: whole documents are set in them."""
_LONGEST_LINE = 120
_ENDS_AS_PROSE = (".", "!", "?", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph is by its style and its own properties; ``heading`` is 0 for ordinary text."""

    heading: int = 0
    list_id: str = ""
    list_level: int = 0
    is_list: bool = False
    is_code: bool = False
    is_fixed: bool = False
    """Its letters are all of one width."""
    is_title: bool = False
    is_contents: bool = False


@dataclass(slots=True)
class Styles:
    """The paragraph styles of one document, each with what it is based on already applied."""

    _styles: dict[str, Style] = field(default_factory=dict)
    _default: Style = Style()
    _letters: dict[str, Style] = field(default_factory=dict)
    """Styles of letters, not of paragraphs."""
    _is_fixed: bool = False
    """All letters of the document are of one width unless it says otherwise: that tells nothing of code."""

    @classmethod
    def of(cls, root: Element) -> Styles:
        """Read ``styles.xml``."""
        styles = cls()
        for kinds, found in (((None, "paragraph"), styles._styles), (("character",), styles._letters)):
            elements = {
                attribute(element, "styleId") or "": element
                for element in root.iterchildren("{*}style")
                if attribute(element, "type") in kinds
            }
            for style_id, element in elements.items():
                found[style_id] = _resolved(style_id, elements)
                if found is styles._styles and attribute(element, "default") in ("1", "true"):
                    styles._is_fixed = found[style_id].is_fixed
        for each in root.iterfind("{*}docDefaults/{*}rPrDefault/{*}rPr/{*}rFonts"):
            styles._is_fixed = styles._is_fixed or _FIXED_PITCH.search(attribute(each, "ascii") or "") is not None
        return styles

    def is_code(self, paragraph: Element, text: str, style: Style) -> bool:
        """Tell whether a paragraph is a line of code: by the name of its style, else by the typeface of its letters."""
        if style.is_code or self._is_fixed:
            return style.is_code
        if len(text) > _LONGEST_LINE or text.endswith(_ENDS_AS_PROSE):
            return False
        runs = [run for run in paragraph.iter("{*}r") if any((each.text or "").strip() for each in run.iter("{*}t"))]
        if not runs:
            return _with_letters(style, paragraph.find("{*}pPr/{*}rPr")).is_fixed
        return all(self._is_run_fixed(run, style) for run in runs)

    def _is_run_fixed(self, run: Element, style: Style) -> bool:
        properties = run.find("{*}rPr")
        is_fixed = style.is_fixed
        for child in properties if properties is not None else ():
            if local(child) == "rStyle":
                named = self._letters.get(attribute(child, "val") or "", Style())
                is_fixed = is_fixed or named.is_fixed or named.is_code
        return _with_letters(replace(style, is_fixed=is_fixed), properties).is_fixed

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
        style = _with_letters(style, elements[each].find("{*}rPr"))
    return style


def _with_letters(style: Style, properties: Element | None) -> Style:
    fonts = properties.find("{*}rFonts") if properties is not None else None
    name = attribute(fonts, "ascii") if fonts is not None else None
    return style if name is None else replace(style, is_fixed=_FIXED_PITCH.search(name) is not None)


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
        style = replace(style, is_list=name not in _NO_LISTS)
    elif CODE_NAMES.search(name):
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
