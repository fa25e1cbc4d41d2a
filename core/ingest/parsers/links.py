"""Targets of links, named beside the text that leads to them where that text does not say them itself.

Only what leads out of the document is named: addresses of the web and of mail. In one paragraph or cell each is named
once, so that whatever cites the text can show where it leads, and a search for an address finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from core.ingest.parsers.xml import Element

MOST_CHARS = 300
"""Longer targets hold more of a session than of a place."""
_OUTSIDE = re.compile(r"(?:https?|ftp)://[^\s<>\"]+|mailto:[\w.+%'&-]+@[\w.%-]+", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:(?:https?|ftp)://)?(?:www\.)?", re.IGNORECASE)
_FIELD = re.compile(r"\s*HYPERLINK\s+\"([^\"]+)\"", re.IGNORECASE)
FORMULA = re.compile(r"\s*(?:_xlfn\.)?HYPERLINK\(\s*\"([^\"]+)\"", re.IGNORECASE)


def target_of(address: str | None) -> str:
    """Return the target of a link as it is named, empty where it leads nowhere outside, or is too long to be read."""
    found = _OUTSIDE.match(" ".join((address or "").split()))
    if found is None or len(found[0]) > MOST_CHARS:
        return ""
    return unquote(found[0][7:]) if found[0][:7].lower() == "mailto:" else found[0]


def beside(text: str, address: str | None) -> str:
    """Return what is to stand behind the text of a link: its target in brackets, nothing where the text says it."""
    target = target_of(address)
    core = _core(target)
    said = _core(text)
    is_said = core in said or unquote(core) in said
    return f" ({target})" if core and said and not is_said else ""


def _core(address: str) -> str:
    """Return an address as people write it."""
    return _PREFIX.sub("", " ".join(address.split()), count=1).rstrip("/").lower()


def without(text: str, named: Iterable[str]) -> str:
    """Return a text without the targets that were named in it, as it stands in a path of headings."""
    for each in named:
        text = text.replace(each, "", 1)
    return text


def name_in_paragraph(paragraph: Element, links: Mapping[str, str]) -> list[str]:
    """Name the targets in a paragraph of a docx file: of its links, whose relations are ``links``, and of its fields.

    Return what was written for it. A paragraph may come again as a part of another one: what is named is no link any
    more.
    """
    named: dict[str, str] = {}
    for link in paragraph.iter("{*}hyperlink"):
        address = next((links.get(str(value), "") for key, value in link.items() if key.endswith("}id")), "")
        link.attrib.clear()
        _name(link.iter("{*}t"), address, named)
    for field in paragraph.iter("{*}fldSimple"):
        instruction = next((str(value) for key, value in field.items() if key.endswith("}instr")), "")
        field.attrib.clear()
        if match := _FIELD.match(instruction):
            _name(field.iter("{*}t"), match[1], named)
    _name_fields(paragraph, named)
    return list(named.values())


def _name_fields(paragraph: Element, named: dict[str, str]) -> None:
    fields: list[tuple[list[str], list[Element]]] = []
    for element in paragraph.iter("{*}fldChar", "{*}instrText", "{*}t"):
        tag = element.tag.rpartition("}")[2]
        if tag == "fldChar":
            kind = next((value for key, value in element.items() if key.endswith("}fldCharType")), "")
            if kind == "begin":
                fields.append(([], []))
            elif kind == "end" and fields:
                _end_field(*fields.pop(), named)
        elif tag == "instrText":
            if fields:
                fields[-1][0].append(element.text or "")
                element.text = ""
        else:
            for _, shown in fields:
                shown.append(element)
    while fields:
        _end_field(*fields.pop(), named)


def _end_field(instruction: list[str], shown: list[Element], named: dict[str, str]) -> None:
    if match := _FIELD.match("".join(instruction)):
        _name(shown, match[1], named)


def name_in_slide(root: Element, links: Mapping[str, str]) -> list[str]:
    """Name the targets in a part of a pptx file, of the relations ``links``; return what was written for it."""
    written: list[str] = []
    for paragraph in root.iter("{*}p"):
        named: dict[str, str] = {}
        shown: list[Element] = []
        address = ""
        for run in paragraph.iterchildren():
            link = next(run.iter("{*}hlinkClick"), None)
            found = "" if link is None else _address(link, links)
            if found != address:
                _name(shown, address, named)
                shown, address = [], found
            shown.extend(run.iter("{*}t"))
        _name(shown, address, named)
        written.extend(named.values())
    for shape in root.iter("{*}sp"):
        for properties in shape.iter("{*}cNvPr"):
            for link in properties.iterchildren("{*}hlinkClick"):
                named = {}
                _name(shape.iter("{*}t"), _address(link, links), named)
                written.extend(named.values())
    return written


def _address(link: Element, links: Mapping[str, str]) -> str:
    return next((links.get(str(value), "") for key, value in link.items() if key.endswith("}id")), "")


def _name(texts: Iterable[Element], address: str, named: dict[str, str]) -> None:
    """Write a target behind the last one of the texts that lead to it."""
    if not address or address in named:
        return
    shown: list[Element] = [each for each in texts if each.text and each.text.strip()]
    if shown and (target := beside("".join(each.text for each in shown), address)):
        shown[-1].text = shown[-1].text.rstrip() + target
        named[address] = target
