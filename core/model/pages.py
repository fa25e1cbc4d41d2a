"""Pages of a document as they look: their sizes, and where on them text stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageSize:
    """Width and height of a page as it is shown, in points; of a picture in pixels."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageArea:
    """A rectangle on a page: its sides as shares of the page's width and height, from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PageRun:
    """A word, or in scripts that set no blanks a stretch of a line, where it stands on its page."""

    text: str
    area: PageArea
    ends_line: bool = False


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page in the order in which the file holds it; ``marks`` cover the passage that was asked for."""

    runs: tuple[PageRun, ...]
    marks: tuple[PageArea, ...] = ()
