"""What is set into OpenDocument files: charts with title and values, descriptions of pictures, and their words."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from core.errors import EvoRAGError
from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.objects import Found, object_blocks, read_object
from core.ingest.parsers.ooxml import attribute, local
from core.ingest.parsers.ooxml_extras import Remark, told_of
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.tables import row_text, table_blocks
from core.ingest.parsers.xml import Element, tree
from core.model import Block, Locator

MOST_ROWS = 5_000
_KINDS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a file, by the frames that show them."""

    archive: SafeArchive
    reading: ParserInput

    def among(self, element: Element, locator: Locator) -> Iterator[Block]:
        """Yield what the frames within an element show."""
        for frame in element.iter("{*}frame"):
            yield from self.of(frame, locator)

    def of(self, frame: Element, locator: Locator) -> Iterator[Block]:
        """Yield the description of a frame, and the chart that it shows."""
        said = [" ".join("".join(each.itertext()).split()) for each in frame.iterchildren("{*}title", "{*}desc")]
        if told := told_of(" ".join(filter(None, said))):
            yield Block(f"[{told}]", locator=locator)
        for each in frame.iterchildren("{*}object", "{*}object-ole"):
            folder = posixpath.normpath(attribute(each, "href") or "")
            if local(each) == "object-ole":
                if folder in self.archive:
                    yield from read_object(partial(self.archive.read, folder), "", self.reading, locator)
            elif f"{folder}/content.xml" in self.archive:
                try:
                    yield from self._document(folder, locator)
                except EvoRAGError:
                    self.reading.miss(Loss.CHART)

    def _document(self, folder: str, locator: Locator) -> Iterator[Block]:
        """Yield what a chart, a formula or another document within says. Raises: ``EvoRAGError``."""
        root = tree(self.archive.read(f"{folder}/content.xml"))
        if local(root) == "math":
            notes = [" ".join((each.text or "").split()) for each in root.iter("{*}annotation")]
            if formula := " ".join(notes) or " ".join("".join(root.itertext()).split()):
                yield Block(formula, locator=locator)
            return
        kind = next(
            (_KINDS[local(each)] for body in root.iter("{*}body") for each in body if local(each) in _KINDS), ""
        )
        if not kind:
            yield from _chart(root, locator)
            return
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as inner:
            for part in ("content.xml", "styles.xml"):
                if f"{folder}/{part}" in self.archive:
                    inner.writestr(part, self.archive.read(f"{folder}/{part}"))
        yield from object_blocks(Found("", packed.getvalue(), kind), self.reading, locator)


def _chart(root: Element, locator: Locator) -> Iterator[Block]:
    for chart in root.iter("{*}chart"):
        if local(chart.getparent()) != "chart":
            continue
        for title in chart.iterchildren("{*}title", "{*}subtitle"):
            if text := " ".join("".join(title.itertext()).split()):
                yield Block(text, locator=locator)
        yield from table_blocks(_rows(chart), locator)


def _shown(cell: Element) -> str:
    """Return the text of a cell; beside it may be noted where it comes from."""
    return " ".join(" ".join("".join(each.itertext()) for each in cell.iterchildren("{*}p")).split())


def _rows(chart: Element) -> Iterator[str]:
    """Yield the rows of the table that a chart keeps of what it shows."""
    for table in chart.iterchildren("{*}table"):
        for number, row in enumerate(table.iter("{*}table-row")):
            cells = [_shown(each) for each in row.iterchildren("{*}table-cell")]
            if number < MOST_ROWS and (line := row_text(cells)):
                yield line


def pictures_of(element: Element, archive: SafeArchive, reading: ParserInput, place: Locator) -> Iterator[Block]:
    """Yield what is recognised in the pictures that frames show, but for those that stand for charts."""
    for image in element.iter("{*}image"):
        name = (attribute(image, "href") or "").removeprefix("./")
        if name.endswith(".svg") and len(list(image.itersiblings(image.tag))):
            # The same picture follows in pixels.
            continue
        if name in archive and not name.startswith("ObjectReplacements/"):
            yield from reading.within_picture(partial(archive.read, name), place)


def remark_of(annotation: Element) -> str:
    """Return a remark on a document with the name of who made it."""
    who = "".join(element.text or "" for element in annotation.iter("{*}creator"))
    said = " ".join("".join(element.itertext()) for element in annotation.iter("{*}p"))
    return str(Remark("", who, said.strip()))
