"""What docx, xlsx and pptx have in common: parts, their relations, and the document's properties."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import EvoRAGError, ParserFailed
from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.xml import Element, tree
from core.model import Block, Locator


@dataclass(frozen=True, slots=True)
class Relation:
    """A link from one part to another; ``target`` is a part's name, never an address outside the file."""

    kind: str
    target: str


def local(element: Element) -> str:
    """The name of an element without its namespace, which differs between the strict and the usual form."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """An attribute by its local name, whatever its namespace."""
    value: str | None = element.get(name)
    if value is not None:
        return value
    suffix = "}" + name
    return next((found for key, found in element.items() if key.endswith(suffix)), None)


class Package(SafeArchive):
    """An office document of the XML kind."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._by_lower_name = {name.lower(): name for name in self.names()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def part(self, name: str) -> str | None:
        """The stored name of a part, found whatever its case."""
        return self._by_lower_name.get(name.lstrip("/").lower())

    def _relations(self, part: str) -> Iterable[Element]:
        folder, base = posixpath.split(part)
        name = self.part(posixpath.join(folder, "_rels", base + ".rels"))
        return () if name is None else tree(self.read(name))

    def links(self, part: str) -> dict[str, str]:
        """The addresses that links of a part lead to, by the ids of their relations."""
        outside = [each for each in self._relations(part) if each.get("TargetMode") == "External"]
        links = [each for each in outside if each.get("Type", "").endswith("/hyperlink")]
        return {each.get("Id", ""): each.get("Target", "") for each in links}

    def relations(self, part: str) -> dict[str, Relation]:
        """The relations of a part by id; those that point outside of the file are left out."""
        folder = posixpath.dirname(part)
        found = {}
        for element in self._relations(part):
            target = element.get("Target", "")
            if element.get("TargetMode") == "External" or not target:
                continue
            path = target if target.startswith("/") else posixpath.join(folder, target)
            stored = self.part(posixpath.normpath(path))
            if stored is not None:
                kind = element.get("Type", "").rpartition("/")[2]
                found[element.get("Id", "")] = Relation(kind, stored)
        return found

    def pictures(
        self,
        elements: Iterable[Element],
        part: str,
        reading: ParserInput,
        place: Locator,
        without: Collection[str] = (),
    ) -> Iterator[Block]:
        """Yield what is recognised in the pictures that elements of a part show, but for some of its relations."""
        found = [each for element in elements for each in element.iter("{*}blip", "{*}imagedata")]
        if found and (on := place.slide or place.sheet):
            reading.pictured.add(on)
        if reading.embedded is None:
            return
        shown = [attribute(each, "embed") or attribute(each, "id") or "" for each in found]
        shown = [each for each in shown if each not in without]
        relations = self.relations(part) if any(shown) else {}
        for relation in filter(None, map(relations.get, dict.fromkeys(shown))):
            yield from reading.within_picture(partial(self.read, relation.target), place)

    def related(self, part: str, kind: str) -> list[str]:
        """The parts that ``part`` relates to in one way, in the order of the file."""
        return [relation.target for relation in self.relations(part).values() if relation.kind == kind]

    def main_part(self) -> str:
        """The part that holds the document itself. Raises: ``ParserFailed``."""
        for name in self.related("", "officeDocument"):
            return name
        raise ParserFailed("The file holds no document.")

    def note_properties(self, reading: ParserInput) -> None:
        """Keep title, author and dates; a damaged property part costs a warning only."""
        found: dict[str, str] = {}
        for name in ("docProps/core.xml", "docProps/app.xml"):
            stored = self.part(name)
            if stored is None:
                continue
            try:
                for element in tree(self.read(stored)):
                    if element.text and not len(element):
                        found.setdefault(local(element), element.text)
            except EvoRAGError:
                reading.warn("The document's properties could not be read.")
        reading.note(
            title=found.get("title"),
            author=found.get("creator"),
            created=found.get("created"),
            modified=found.get("modified"),
        )
