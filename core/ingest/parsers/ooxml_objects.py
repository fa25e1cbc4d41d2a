"""Objects of docx, xlsx and pptx: documents, sheets and files that were set into them, and parts in other formats."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from core.ingest.parsers.objects import read_object
from core.ingest.parsers.ooxml import Package, attribute
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.xml import Element
from core.model import Block, Locator

KINDS = ("package", "oleObject", "aFChunk")
"""Relations to documents within: as they are, wrapped by a program, and other formats that Word shows in its place."""
_SHOWN = ("OLEObject", "oleObj")


@dataclass(slots=True)
class PackageObjects:
    """The objects of one package; each is read once, however many places show it."""

    package: Package
    reading: ParserInput
    _told: set[str] = field(default_factory=set)
    _silent: set[str] = field(default_factory=set)
    """Those that said nothing, so that the pictures that stand for them are looked at."""

    def shown_by(self, elements: Iterable[Element], part: str, place: Locator) -> Iterator[Block]:
        """Yield what the objects say that elements of a part show."""
        shown = [each for element in elements for each in element.iter(*(f"{{*}}{name}" for name in _SHOWN))]
        relations = self.package.relations(part) if shown else {}
        for each in shown:
            relation = relations.get(_relation_id(each))
            if relation is not None and relation.kind in KINDS:
                name = attribute(each, "ProgID") or attribute(each, "progId") or ""
                yield from self._of(relation.target, name, place)

    def rest_of(self, part: str, place: Locator) -> Iterator[Block]:
        """Yield what the objects of a part say that no element has shown before."""
        for relation in self.package.relations(part).values():
            if relation.kind in KINDS:
                yield from self._of(relation.target, "", place)

    def _of(self, target: str, name: str, place: Locator) -> Iterator[Block]:
        if target in self._told:
            return
        self._told.add(target)
        name = name or posixpath.basename(target)
        if not (yield from read_object(partial(self.package.read, target), name, self.reading, place)):
            self._silent.add(target)

    def pictured(self, elements: Iterable[Element], part: str) -> Collection[str]:
        """Return the relations of pictures that only repeat what an object of ``elements`` has said."""
        frames = [each for element in elements for each in element.iter("{*}object", "{*}oleObj")]
        relations = self.package.relations(part) if frames else {}
        found = set[str]()
        for frame in frames:
            ids = map(_relation_id, frame.iter(*(f"{{*}}{name}" for name in _SHOWN)))
            targets = {relation.target for relation in map(relations.get, ids) if relation is not None}
            if targets and targets <= self._told - self._silent:
                found.update(_picture_id(each) for each in frame.iter("{*}blip", "{*}imagedata"))
        return found


def _relation_id(element: Element) -> str:
    return next((str(value) for key, value in element.items() if key.endswith("}id")), "")


def _picture_id(element: Element) -> str:
    return attribute(element, "embed") or attribute(element, "id") or ""
