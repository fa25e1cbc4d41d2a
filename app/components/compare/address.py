"""What the address of the Compare page says: which two versions, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app import links
from core.model import Document, Version

VIEWS = ("text", "table", "images", "metadata", "answers")
MODES = ("side", "inline")
Given = str | list[str] | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions: ``old`` of the document ``doc``, and ``new`` of ``other``, or of the same document."""

    doc: str
    old: int
    new: int
    other: str | None = None

    @property
    def new_doc(self) -> str:
        return self.other or self.doc

    def swapped(self) -> Pair:
        """The same two the other way round."""
        return pair(self.new_doc, self.new, self.doc, self.old)

    def href(self, **state: object) -> str:
        return links.compare(self.doc, self.old, self.new, other=self.other, **state)

    def download(self, form: str) -> str:
        return links.comparison(form, self.doc, self.old, self.new, self.other)

    def as_dict(self) -> dict[str, Any]:
        return {"doc": self.doc, "old": self.old, "new": self.new, "other": self.other}


@dataclass(frozen=True, slots=True)
class Shown:
    """How a comparison is shown; an empty ``mode`` leaves the choice to the width of the window."""

    view: str = "text"
    mode: str = ""
    folded: bool = True
    find: str = ""


def pair(doc: str, old: int, other: str, new: int) -> Pair:
    """Two versions of two documents, which may be the same one."""
    return Pair(doc, old, new, None if other == doc else other)


def shown_by(view: Given, mode: Given, folded: Given, find: Given) -> Shown:
    """Read how an address wants a comparison shown; what cannot be read takes its default."""
    named = one(view)
    wanted = one(mode)
    return Shown(
        view=named if named in VIEWS else VIEWS[0],
        mode=wanted if wanted in MODES else "",
        folded=one(folded) != "0",
        find=one(find)[:200],
    )


def chosen(document: Document, versions: list[Version], old: Given, new: Given) -> Pair | None:
    """The versions of one document to compare; None where it has no two that hold text.

    Without numbers: the newest one, and before it the one that is published, else the newest older one.
    """
    first, last = whole(old), whole(new)
    usable = [version.number for version in versions if version.state == "ready"]
    if last is None:
        last = next((number for number in usable if number != first), None)
    if first is None and last is not None:
        published = document.published_version
        below = [number for number in usable if number < last] or [number for number in usable if number != last]
        first = published if published is not None and published != last else next(iter(below), None)
    return None if first is None or last is None else Pair(document.doc_key, first, last)


def across(document: Document, other: Document, old: Given, new: Given) -> Pair:
    """A version of each of two documents; without numbers what each shows, else its newest."""
    first = whole(old) or document.published_version or document.latest_version
    last = whole(new) or other.published_version or other.latest_version
    return pair(document.doc_key, first, other.doc_key, last)


def one(value: Given) -> str:
    return (value[0] if value else "") if isinstance(value, list) else (value or "")


def whole(value: Given) -> int | None:
    text = one(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0 else None
