"""What the styles of an OpenDocument text make of its lists and paragraphs: numbers, titles, lines of code."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.ooxml import attribute
from core.ingest.parsers.word_styles import CODE_NAMES
from core.ingest.parsers.xml import Element, tree


@dataclass(slots=True)
class TextStyles:
    """Which levels of which lists are numbered, and from which number; which styles are those of titles and of code."""

    numbered: dict[tuple[str, int], int] = field(default_factory=dict)
    titles: set[str] = field(default_factory=lambda: {"Title"})
    """Styles of paragraphs that are the title of the document."""
    codes: set[str] = field(default_factory=set)
    """Styles of lines of code."""

    @classmethod
    def of(cls, root: Element, archive: SafeArchive) -> TextStyles:
        found = cls()
        roots = [root]
        if "styles.xml" in archive:
            roots.insert(0, tree(archive.read("styles.xml")))
        for each in roots:
            for style in each.iter("{*}style"):
                name, above = attribute(style, "name") or "", attribute(style, "parent-style-name")
                if above in found.titles:
                    found.titles.add(name)
                shown = (attribute(style, "display-name") or name).replace("_20_", " ").lower()
                if attribute(style, "family") == "paragraph" and (above in found.codes or CODE_NAMES.search(shown)):
                    found.codes.add(name)
            for style in each.iter("{*}list-style"):
                for level in style.iter("{*}list-level-style-number"):
                    at = attribute(level, "level") or ""
                    start = attribute(level, "start-value") or "1"
                    if at.isdigit() and attribute(level, "num-format"):
                        numbered = int(start) if start.isdigit() else 1
                        found.numbered[attribute(style, "name") or "", int(at)] = numbered
        return found
