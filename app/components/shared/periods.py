"""When each version was shown, read from the publications of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.model import Publication


@dataclass(frozen=True, slots=True)
class Period:
    """A version was shown from ``start`` on; ``end`` is None while it still is."""

    start: datetime
    end: datetime | None = None


def periods(publications: Sequence[Publication]) -> dict[int, tuple[Period, ...]]:
    """Return, for every version that was ever shown, its periods, newest first. ``publications`` are newest first."""
    found: dict[int, tuple[Period, ...]] = {}
    end: datetime | None = None
    for index, publication in enumerate(publications):
        older = publications[index + 1] if index + 1 < len(publications) else None
        if older is not None and older.version == publication.version:
            continue
        if publication.version is not None:
            known = found.get(publication.version, ())
            found[publication.version] = (*known, Period(publication.at, end))
        end = publication.at
    return found


def shown_before(publications: Sequence[Publication], openable: Sequence[int]) -> int | None:
    """Return the version that a rollback shows again: the last one shown that is another than the present one."""
    present = publications[0].version if publications else None
    for publication in publications:
        if publication.version is not None and publication.version != present and publication.version in openable:
            return publication.version
    return None
