"""Office documents are held against what LibreOffice shows of them, in the background, once nothing else is to be done.

Only what comes in from the first start with this check on is looked at, each version once and one at a time; where
many come together, a part of them. The layout is the one that the document page shows, and is kept for it.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.errors import EvoRAGError
from core.ingest.parsers import legacy
from core.ingest.parsers.reading import PART_OF, Loss, page_ranges, places_of
from core.model import Version
from core.model.documents import SHEETS, SLIDES
from core.ports import BlobStore
from core.versions.pages.kept import KeptPages
from core.versions.pages.layout_words import LayoutFindings

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

EXTENSIONS = frozenset({"docx", "odt", "rtf", "pptx", "odp", "ppt", "xlsx", "ods", "xls"})
"""Not ``doc``: which of its words are deleted is not told by its pages, and LibreOffice reads it anyway."""
MOST_BYTES = 32 * 1024 * 1024
MANY = 20
"""Documents that wait from which on one in eight is looked at."""
_ONE_IN = 8
_SHARE = 0.25
"""Of the time in which checks run."""
_LONGEST_REST_S = 60.0
_RANGE = re.compile(r"(\d+)(?:–(\d+))?")


class OfficeCheck:
    """Looks at one version after the other; ``is_idle`` says that no document waits to be taken in."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        pages: KeptPages,
        is_idle: Callable[[], bool],
        closing: threading.Event,
        *,
        is_on: bool,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._pages = pages
        self._is_idle = is_idle
        self._closing = closing
        self._is_on = is_on

    def go_on(self) -> None:
        """Check what waits, and return once there is nothing, something else is to be done, or the process ends."""
        if not self._is_on or legacy.converter() is None:
            return
        with self._catalog.database.if_free("office-check") as is_free:
            while is_free and not self._closing.is_set() and self._is_idle():
                began = time.monotonic()
                if not self.check_next():
                    return
                took = time.monotonic() - began
                self._closing.wait(min(took / _SHARE - took, _LONGEST_REST_S))

    def check_next(self) -> bool:
        """Check the next version, or pass over it; tell whether there was one."""
        turn = self._catalog.office_checks.next(EXTENSIONS, MOST_BYTES)
        if turn is None:
            return False
        found = self._catalog.documents.versions(turn.doc_id)
        version = next((each for each in found if each.id == turn.id), None)
        if version is not None and (turn.waiting <= MANY or int(version.sha256[:8], 16) % _ONE_IN == 0):
            try:
                findings = self._findings(version)
            except EvoRAGError as error:
                # LibreOffice cannot open it, or it is gone: nothing is to be said of it.
                log.debug("a document was not held against its layout (%s)", error.code)
            else:
                told = told_of(version, findings)
                if told:
                    self._catalog.office_checks.note(version.id, told, told["in_part"])
                    return True
            finally:
                if self._catalog.purges.is_purged([version.id]):
                    # What was laid out meanwhile goes as well.
                    self._pages.forget([version.id])
        self._catalog.office_checks.pass_over(turn.id)
        return True

    def _findings(self, version: Version) -> LayoutFindings:
        parsed = self._catalog.documents.parsed_sha256(version.id)
        if parsed is None:
            return LayoutFindings(0, (), is_repeated=False)
        return self._pages.held_against(version, self._blobs.path(parsed))


def told_of(version: Version, findings: LayoutFindings) -> dict[str, Any]:
    """Return the metadata of a version that change by what was found; nothing where all of it arrived.

    Pages of a workbook's layout are no places in it, nor are those of slides where some are hidden.
    """
    unit = PART_OF.get(version.extension, "")
    has_places = unit != SHEETS and (unit != SLIDES or findings.pages == version.metadata.get("slides"))
    losses: dict[str, str] = dict(version.metadata.get("losses", {}))
    if findings.lost:
        losses[Loss.WORDS] = places_of(findings.lost, unit) if has_places else ""
    if findings.is_repeated and not unit:
        # Notes of slides are on no page of a layout, nor are values that their columns are too narrow for.
        losses.setdefault(Loss.REPEATED, "")
    if losses == version.metadata.get("losses", {}):
        return {}
    return {"losses": dict(sorted(losses.items())), "in_part": _in_part(losses, unit)}


def _in_part(losses: Mapping[str, str], unit: str) -> str:
    places = [each for reason, each in losses.items() if reason != Loss.CONTENTS and each]
    if unit == SHEETS:
        names = dict.fromkeys(each.removeprefix(f"{SHEETS} ") for each in places)
        return f"{SHEETS} {', '.join(names)}" if names else "*"
    numbers = [
        number
        for each in places
        for first, last in _RANGE.findall(each)
        for number in range(int(first), int(last or first) + 1)
    ]
    told = page_ranges(numbers)
    return f"{unit} {told}".strip() if told else "*"
