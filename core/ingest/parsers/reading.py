"""What every parser is given: the document, what reading it may cost, and a place for what it learns on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.errors import EvoRAGError
from core.ingest.parsers.embedded import Embedded
from core.model import Block, Locator
from core.model.documents import SHEETS, SLIDES
from core.model.recognition import Pictures, RecognisedLine, RecognisedPicture

MEBIBYTE = 1024 * 1024
MAX_WARNINGS = 20
MOST_NAMED = 20
"""Sheets that are named where something of them is lost."""
PART_OF = {
    **dict.fromkeys(("pptx", "ppt", "odp"), SLIDES),
    **dict.fromkeys(("xlsx", "xls", "ods"), SHEETS),
}
"""What the parts of a document are called where they are no pages."""
_NO_TITLE = re.compile(
    r"\(?(?:anonymous|untitled(?:[- ]?(?:document|\d+))?|(?:no )?title|unbenannt|sans titre|無題|名称未設定)\)?\.?"
    r"|(?:microsoft )?(?:word|excel|powerpoint)(?: - .*|-(?:präsentation|dokument))?"
    r"|powerpoint (?:presentation|プレゼンテーション)"
    r"|(?:document|slide|presentation) ?\d*"
    r"|\S+\.(?:dvi|tex|ltx|ps|eps|indd|qxd|fm)",
    re.IGNORECASE,
)
"""What programs write as the title of a document that was given none."""


class Loss(StrEnum):
    """Why a page, or another part, is not in the blocks as it is in the document."""

    PICTURE = "picture"
    """It shows pictures and holds no text."""
    DAMAGED = "damaged"
    WORDS = "words"
    """A tenth of its words or more did not arrive."""
    REPEATED = "repeated"
    """Its words stand more than once."""
    SIGNS = "signs"
    """Which letters its signs are is not known: its font does not tell it, or it was written in another encoding."""
    CONTENTS = "contents"
    """Lines of a table of contents were left out on purpose, by an earlier reader: versions that it read say so."""
    CUT = "cut"
    """The document holds more than is read of one: cells, or text for its size."""
    NOTES = "notes"
    BOXES = "boxes"
    """Text boxes."""
    SHEET = "sheet"
    """A damaged sheet."""
    CHART = "chart"
    REMARKS = "remarks"
    FORMULAS = "formulas"
    """Cells whose values nobody has computed."""
    ATTACHMENT = "attachment"
    """A file that hangs on a mail and is of a type that is not read, or damaged."""
    OBJECT = "object"
    """A file or an object within the document that cannot be read, or only in part."""
    EMBEDDED = "embedded"
    """Pictures within the document that may show text: there are too many, or they are damaged."""


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """What reading one document may cost; a breach fails that document alone."""

    timeout_s: float = 300.0
    memory_bytes: int = 2048 * MEBIBYTE
    output_bytes: int = 2048 * MEBIBYTE
    table_cells: int = 2_000_000


@dataclass(slots=True)
class ParserInput:
    """One document being read; ``metadata`` is complete when the blocks have been taken."""

    path: Path
    extension: str
    limits: ParserLimits
    metadata: dict[str, Any] = field(default_factory=dict)
    processes: int = 1
    """How many processes may read parts of a long document at once."""
    losses: dict[Loss, list[int | str]] = field(default_factory=dict)
    """Pages, slides or sheets that did not arrive as they are; none where a part is lost that has no such place."""
    recognised_pictures: Pictures | None = None
    """What was recognised in pictures of the document, by their names; None where nothing is recognised at all."""
    pictures: list[str] = field(default_factory=list)
    """Names of the pictures that have yet to be recognised: numbers of pages."""
    embedded: Embedded | None = None
    """Pictures within a document that has text besides; None where these are not recognised."""
    places: dict[int, list[RecognisedLine]] = field(default_factory=dict)
    """The lines that were recognised on pages, which stand behind the blocks so that they can be marked there."""
    pictured: set[int | str] = field(default_factory=set)
    """Slides and sheets that show pictures."""
    within: int = 0
    """How many mails or documents the document hangs on, one within the other."""
    objects: int = 0
    """How many files within the document were read."""
    told: Callable[[int, int], None] | None = None
    """Hears how far the reading is, and of how much, where a parser knows it: pages, slides or bytes."""

    def tell(self, done: int, total: int) -> None:
        """Say how far the reading is; of a total that turns out too small no more is done than that."""
        if self.told is not None:
            self.told(min(done, total), total)

    @property
    def can_recognise(self) -> bool:
        return self.recognised_pictures is not None

    def recognised(self, name: str) -> RecognisedPicture | None:
        """Return what a picture shows, None where there are none to be had; where nobody looked, it is asked for."""
        if self.recognised_pictures is None:
            return None
        if name not in self.recognised_pictures and name not in self.pictures:
            self.pictures.append(name)
        return self.recognised_pictures.get(name)

    def within_picture(self, data: Callable[[], bytes], place: Locator) -> Iterator[Block]:
        """Yield what is recognised in a picture within the document; damaged ones cost what they show alone."""
        if on := place.slide or place.sheet:
            self.pictured.add(on)
        if self.embedded is None:
            return
        try:
            found = data()
        except EvoRAGError:
            self.miss_at(Loss.EMBEDDED, place)
            return
        yield from self.embedded.blocks(found, place)

    def counted(self, parts: Iterable[bytes], total: int, before: int = 0) -> Iterator[bytes]:
        """Pass parts on that are bytes of ``total``, and tell how many were taken."""
        for part in parts:
            before += len(part)
            self.tell(before, total)
            yield part

    def note(self, **values: Any) -> None:
        """Keep what is known of the document, times in ISO 8601, without empty values and titles that say nothing."""
        for key, value in values.items():
            if isinstance(value, datetime):
                value = (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
            if isinstance(value, str):
                value = " ".join(value.split())[:500]
            if value not in (None, "") and not (key == "title" and _NO_TITLE.fullmatch(str(value))):
                self.metadata[key] = value

    def miss(self, loss: Loss, place: int | str | None = None) -> None:
        """Note that a page, slide or sheet, or a part on none, is not in the blocks as it is in the document."""
        places = self.losses.setdefault(loss, [])
        if place is not None:
            places.append(place)

    def miss_at(self, loss: Loss, locator: Locator) -> None:
        """Note that what stands at a place of the document is not in the blocks as it is there."""
        self.miss(loss, locator.page or locator.slide or locator.sheet)

    def note_losses(self) -> None:
        """Keep which places were lost, ``losses`` by their reasons, ``in_part`` all; ``*`` stands for parts without."""
        if self.embedded is not None and self.embedded.left_out and not self.within:
            self.miss(Loss.EMBEDDED)
        unit = PART_OF.get(self.extension, "")
        found = {loss.value: places_of(places, unit) for loss, places in sorted(self.losses.items())}
        if found:
            self.metadata["losses"] = found
            every = (place for places in self.losses.values() for place in places)
            self.metadata["in_part"] = places_of(every, unit) or "*"

    def warn(self, message: str) -> None:
        """Tell the reader that something of the document is missing or doubtful."""
        warnings = self.metadata.setdefault("warnings", [])
        if message not in warnings and len(warnings) < MAX_WARNINGS:
            warnings.append(message)


def places_of(places: Iterable[int | str], unit: str = "") -> str:
    """Return where something was lost: pages as ``3, 7–9``, slides as ``slides 3, 7–9``, ``sheets Costs, Sales``."""
    numbers, names = set[int](), dict[str, None]()
    for place in places:
        if isinstance(place, int):
            numbers.add(place)
        else:
            names[place] = None
    told = page_ranges(numbers) if numbers else ", ".join([*names][:MOST_NAMED]) + ", …" * (len(names) > MOST_NAMED)
    return f"{unit} {told}" if told and unit else told


def page_ranges(pages: Iterable[int]) -> str:
    """Return numbers of pages as people write them: ``3, 7–9``."""
    runs: list[list[int]] = []
    for page in sorted(set(pages)):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


DocumentParser = Callable[[ParserInput], Iterator[Block]]
"""One parser a family of formats: a generator that never holds more of the document than its format forces it to."""
