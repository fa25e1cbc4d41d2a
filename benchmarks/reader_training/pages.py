"""Reads pages that explain terms, in English and Japanese: manual pages, help of desktops and of office programs.

``FOLDER`` of each reader is one into which packages of Debian were unpacked, a folder a package. A page that exists in
both languages gives its entries in pairs.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from benchmarks.manuals_documents import manuals

_SPACES = re.compile(r"\s+")
_INDENT, _DEEPER = 7, 10
_LONGEST_TERM, _LONGEST_TEXT = 90, 900
_UNTRANSLATED = re.compile(r"[ぁ-んァ-ン]")
_MALLARD = "{http://projectmallard.org/1.0/}"


@dataclass(frozen=True)
class Entry:
    """A term or heading with its text, or a stretch of running text, which has no term."""

    term: str
    text: str
    is_heading: bool = False


@dataclass(frozen=True)
class Page:
    """The entries of a page; ``twin`` holds the same entries in the other language, None where there is none.

    ``name`` is the same in both languages.
    """

    name: str
    language: str
    title: str
    entries: Sequence[Entry]
    twin: Sequence[Entry | None] = ()


ReadEntries = Callable[[Path], tuple[str, dict[str, Entry]]]
"""Returns the title of a page and its entries by their ids."""


def manual_pages(folder: Path, names: Container[str] | None = None) -> Iterator[Page]:
    """Yield the English manual pages of commands and files, of these names or all, read from what groff prints.

    Packages whose manuals ``benchmarks.manuals`` asks about are left out.
    """
    judged = {manual.package for manual in manuals()}
    for path in sorted(folder.glob("*/usr/share/man/man[158]/*.gz")):
        package = path.relative_to(folder).parts[0]
        if package in judged or path.is_symlink() or path.stat().st_size < 600:
            continue
        if names is not None and path.name.split(".")[0] not in names:
            continue
        command = f"zcat -- '{path}' | groff -K utf8 -mandoc -Tutf8 -P-cbou -rLL=400n"
        printed = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60).stdout.decode(
            "utf-8", "replace"
        )
        entries = _printed_entries(printed.replace("‐", "-").replace("−", "-").split("\n"))
        if sum(bool(entry.term) for entry in entries) >= 3:
            yield Page(path.name, "en", path.name.split(".")[0], entries)


def _printed_entries(lines: Sequence[str]) -> list[Entry]:
    entries: list[Entry] = []
    term, text = "", ""

    def close() -> None:
        nonlocal term, text
        if text:
            entries.append(Entry(term, text[:_LONGEST_TEXT]))
        term, text = "", ""

    for number, line in enumerate(lines):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if not bare:
            if not term:
                close()
            continue
        if indent < 4:
            close()
            continue
        if indent < _DEEPER:
            close()
            following = next((each for each in lines[number + 1 : number + 3] if each.strip()), "")
            is_over = len(following) - len(following.lstrip()) >= _DEEPER
            beside = re.match(r"(\S.{0,40}?)\s{2,}(\S.*)", bare)
            if beside and len(bare) - len(beside[2]) + indent >= _DEEPER:
                term, text = beside[1], _SPACES.sub(" ", beside[2])
            elif is_over and len(bare) <= _LONGEST_TERM:
                term = _SPACES.sub(" ", bare)
            else:
                text = _SPACES.sub(" ", bare)
        else:
            text = f"{text} {_SPACES.sub(' ', bare)}".strip()
    close()
    return entries


def office_help(folder: Path) -> Iterator[Page]:
    """Yield the pages of LibreOffice's help in both languages; headings pair by their ids."""
    roots = {name: next(folder.glob(f"*/usr/share/libreoffice/help/{name}/text"), None) for name in ("en-US", "ja")}
    if not roots["en-US"] or not roots["ja"]:
        return
    for path in sorted(roots["en-US"].rglob("*.html")):
        other = roots["ja"] / path.relative_to(roots["en-US"])
        if other.exists():
            yield from _paired(path.stem, office_entries(path), office_entries(other))


def office_entries(path: Path) -> tuple[str, dict[str, Entry]]:
    """Return the title of a page of LibreOffice's help and its entries."""
    tree = LexborHTMLParser(path.read_text("utf-8", "replace"))
    title = _said(tree.css_first("title")).split(" - ")[0]
    entries: dict[str, Entry] = {}
    name, heading, text = "", "", ""
    for node in tree.css("h1[id], h2[id], h3[id], h4[id], h5[id], h6[id], p[id]"):
        said = _said(node)
        if (node.tag or "").startswith("h"):
            if heading and text:
                entries[name] = Entry(heading, text[:_LONGEST_TEXT], True)
            name, heading, text = node.attributes.get("id") or "", said, ""
        elif said and len(text) < _LONGEST_TEXT:
            text = f"{text} {said}".strip()
    if heading and text:
        entries[name] = Entry(heading, text[:_LONGEST_TEXT], True)
    return title, entries


def image_help(folder: Path) -> Iterator[Page]:
    """Yield the pages of GIMP's help in both languages; their terms pair where there are as many in both."""
    roots = {name: next(folder.glob(f"*/usr/share/gimp/2.0/help/{name}"), None) for name in ("en", "ja")}
    if not roots["en"] or not roots["ja"]:
        return
    for path in sorted(roots["en"].glob("*.html")):
        if (roots["ja"] / path.name).exists():
            both = [image_entries(root / path.name) for root in (roots["en"], roots["ja"])]
            if len(both[0][1]) == len(both[1][1]):
                yield from _paired(path.stem, *both)


def image_entries(path: Path) -> tuple[str, dict[str, Entry]]:
    """Return the title of a page of GIMP's help and its entries."""
    tree = LexborHTMLParser(path.read_text("utf-8", "replace"))
    title = re.sub(r"^[\d.]+\s*", "", _said(tree.css_first("title")))
    entries: dict[str, Entry] = {}
    for number, term in enumerate(tree.css("dt")):
        under = term.next
        while under is not None and under.tag in ("-text", "dt"):
            under = under.next
        text = " ".join(_said(node) for node in under.css("p")) if under is not None and under.tag == "dd" else ""
        if _said(term) and text:
            entries[str(number)] = Entry(_said(term)[:_LONGEST_TERM], text[:_LONGEST_TEXT])
    return title, entries


def desktop_help(folder: Path) -> Iterator[Page]:
    """Yield the pages of GNOME's help in both languages; their parts pair where there are as many in both."""
    for path in sorted(folder.glob("*/usr/share/help/C/**/*.page")):
        other = Path(str(path).replace("/help/C/", "/help/ja/"))
        if other.exists():
            try:
                both = [desktop_entries(each) for each in (path, other)]
            except etree.XMLSyntaxError:
                continue
            if len(both[0][1]) == len(both[1][1]):
                yield from _paired(path.stem, *both)


def desktop_entries(path: Path) -> tuple[str, dict[str, Entry]]:
    """Return the title of a page of GNOME's help and its entries."""
    root = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
    title = _inner(root.find(f"{_MALLARD}title"))
    entries: dict[str, Entry] = {}
    for number, node in enumerate(root.iter(f"{_MALLARD}page", f"{_MALLARD}section", f"{_MALLARD}item")):
        heading = _inner(node.find(f"{_MALLARD}title"))
        paths = ("p", "steps/item/p", "list/item/p", "note/p") if not node.tag.endswith("item") else ("p",)
        each = "|".join("./" + "/".join(f"m:{part}" for part in way.split("/")) for way in paths)
        said = [_inner(p) for p in node.xpath(each, namespaces={"m": _MALLARD[1:-1]})]
        text = " ".join(part for part in said if part)
        if heading and text:
            entries[str(number)] = Entry(heading, text[:_LONGEST_TEXT], not node.tag.endswith("item"))
    return title, entries


def _paired(name: str, english: tuple[str, dict[str, Entry]], japanese: tuple[str, dict[str, Entry]]) -> Iterator[Page]:
    """Yield a page of each language; what was left untranslated belongs to English alone."""
    (title, entries), (other_title, others) = english, japanese
    others = {key: entry for key, entry in others.items() if _UNTRANSLATED.search(entry.text)}
    if entries:
        yield Page(name, "en", title or name, list(entries.values()), [others.get(key) for key in entries])
    if others:
        yield Page(name, "ja", other_title or name, list(others.values()), [entries.get(key) for key in others])


def _said(node: LexborNode | None) -> str:
    return _SPACES.sub(" ", node.text()).strip() if node is not None else ""


def _inner(node: object) -> str:
    if node is None:
        return ""
    return _SPACES.sub(" ", "".join(node.itertext())).strip()  # type: ignore[attr-defined]
