"""What stands beside the text of docx, xlsx and pptx: charts, remarks of readers, descriptions of pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any

from core.errors import EvoRAGError
from core.ingest.parsers.number_format import shown
from core.ingest.parsers.objects import read_object
from core.ingest.parsers.ooxml import Package, attribute, local
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.tables import row_text, table_blocks
from core.ingest.parsers.xml import Element, tree
from core.model import Block, BlockKind
from core.model.documents import LABEL_JOINT

MOST_POINTS = 5_000
_NO_DESCRIPTION = re.compile(
    r"(?:[\w\-\[\]()&]+ ?\d*|https?://\S+|\S+\.\w{3,4}|(?:図|画像|写真|グラフ|オブジェクト) ?\d+)\Z",
    re.ASCII,
)
"""Names of files and the like, which programs put where nobody described a picture."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader noted in a document; ``place`` is a cell or the number of the note."""

    place: str
    author: str
    text: str

    def __str__(self) -> str:
        return f"[{self.author}: {self.text}]" if self.author else f"[{self.text}]"


def description(element: Element) -> str:
    """Return the alternative text of a picture, empty where it is only a name."""
    return told_of(element.get("descr") or "")


def told_of(text: str) -> str:
    """Return an alternative text on one line, empty where it is only a name."""
    text = " ".join(text.split())
    return "" if len(text) < 4 or _NO_DESCRIPTION.match(text) else text


def chart_blocks(
    package: Package, part: str, outline: Outline, reading: ParserInput, without: Collection[str] = (), **place: Any
) -> Iterator[Block]:
    """Yield the charts of a part, but for some, each as its title and a table of its series."""
    for kind, read in _CHARTS.items():
        parts = [each for each in package.related(part, kind) if each not in without]
        yield from _charts(package, parts, read, outline, reading, place)


def charts_shown(
    package: Package, part: str, element: Element, outline: Outline, reading: ParserInput, told: set[str]
) -> Iterator[Block]:
    """Yield the charts that an element of a part shows, and that were not ``told`` before."""
    shown = [attribute(each, "id") or "" for each in element.iter("{*}chart")]
    relations = package.relations(part) if shown else {}
    for relation in filter(None, map(relations.get, shown)):
        if relation.kind in _CHARTS and relation.target not in told:
            told.add(relation.target)
            yield from _charts(package, [relation.target], _CHARTS[relation.kind], outline, reading, {})


def _charts(
    package: Package,
    parts: Sequence[str],
    read: Callable[[Element], _Chart],
    outline: Outline,
    reading: ParserInput,
    place: dict[str, Any],
) -> Iterator[Block]:
    for name in parts:
        try:
            chart = read(tree(package.read(name)))
        except EvoRAGError:
            reading.miss_at(Loss.CHART, outline.locator(**place))
            continue
        if chart.title:
            yield outline.block(chart.title, **place)
        if chart.has_values:
            yield from table_blocks(chart.rows(), outline.locator(**place))
        else:
            # What it shows stands only in the workbook that it keeps.
            for workbook in package.related(name, "package"):
                yield from read_object(partial(package.read, workbook), "", reading, outline.locator(**place))


@dataclass(slots=True)
class _Chart:
    title: str = ""
    series: list[tuple[str, list[str]]] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, root: Element) -> _Chart:
        found = cls()
        for title in root.iter("{*}title"):
            if local(title.getparent()) == "chart":
                found.title = " ".join("".join(text.text or "" for text in title.iter("{*}t")).split())
        for series in root.iter("{*}ser"):
            name = next((_points(each) for each in series.iterchildren("{*}tx")), [])
            values = next((_points(each) for each in series.iterchildren("{*}val", "{*}yVal")), [])
            found.series.append((" ".join(name), values))
            own = next((_points(each) for each in series.iterchildren("{*}cat", "{*}xVal")), [])
            found.categories = max(found.categories, own, key=len)
        return found

    @classmethod
    def of_newer(cls, root: Element) -> _Chart:
        """Read a waterfall, treemap, sunburst, histogram, box or funnel, the kinds of 2016 ([MS-ODRAWXML] 2.24)."""
        found = cls()
        data = {each.get("id", ""): each for each in root.iter("{*}data")}
        for title in root.iter("{*}title"):
            if local(title.getparent()) == "chart":
                found.title = _newer_text(title)
        for series in root.iter("{*}series"):
            name = " ".join(filter(None, map(_newer_text, series.iterchildren("{*}tx"))))
            own = next((data.get(each.get("val", "")) for each in series.iterchildren("{*}dataId")), None)
            if own is None:
                continue
            values = [_newer_points(each) for each in own.iterchildren("{*}numDim")]
            found.series.extend((name, each) for each in values[:1])
            texts = next((_newer_points(each) for each in own.iterchildren("{*}strDim")), [])
            found.categories = max(found.categories, texts, key=len)
        return found

    @property
    def has_values(self) -> bool:
        return any(any(values) for _, values in self.series)

    def rows(self) -> Iterator[str]:
        if not any(values for _, values in self.series):
            return
        yield row_text(["", *(name for name, _ in self.series)])
        columns = [self.categories, *(values for _, values in self.series)]
        for cells in zip_longest(*columns, fillvalue=""):
            if line := row_text(cells):
                yield line


_CHARTS: dict[str, Callable[[Element], _Chart]] = {"chart": _Chart.of, "chartEx": _Chart.of_newer}


def _points(element: Element) -> list[str]:
    """Return the kept values of a reference as they are shown, those between them empty."""
    code = next((each.text or "" for each in element.iter("{*}formatCode")), "General")
    is_number = next(element.iter("{*}numCache", "{*}numLit"), None) is not None
    found: dict[int, str] = {}
    for point in element.iter("{*}pt"):
        at = point.get("idx", "0")
        value = " ".join(each.text or "" for each in point.iter("{*}v"))
        if at.isdigit() and int(at) < MOST_POINTS:
            found[int(at)] = _number(value, code) if is_number else " ".join(value.split())
    if not found:
        return [" ".join(each.text.split()) for each in element.iterchildren("{*}v") if each.text]
    return [found.get(at, "") for at in range(max(found) + 1)]


def _newer_text(element: Element) -> str:
    """Return a title as it was typed, else as it was taken from a cell."""
    typed = ["".join(each.text or "" for each in paragraph.iter("{*}t")) for paragraph in element.iter("{*}p")]
    kept = [each.text or "" for each in element.iter("{*}v")]
    return " ".join(" ".join(filter(None, typed) if any(typed) else kept).split())


def _newer_points(dimension: Element) -> list[str]:
    """Return the kept values of a dimension; those of several levels with what each stands under before it."""
    levels = [_level(each) for each in dimension.iterchildren("{*}lvl")]
    most = max((max(level, default=-1) for level in levels), default=-1)
    above = [""] * (most + 1)
    for level in reversed(levels[1:]):
        # A point of an upper level holds for those after it that have none.
        last = ""
        for at in range(most + 1):
            last = level.get(at, last)
            above[at] = LABEL_JOINT.join(filter(None, (above[at], last)))
    own = levels[0] if levels else {}
    return [LABEL_JOINT.join(filter(None, (above[at], own.get(at, "")))) for at in range(most + 1)]


def _level(level: Element) -> dict[int, str]:
    code, found = level.get("formatCode", ""), dict[int, str]()
    for point in level.iterchildren("{*}pt"):
        at, value = point.get("idx", ""), " ".join((point.text or "").split())
        if at.isdigit() and int(at) < MOST_POINTS and value:
            found[int(at)] = _number(value, code) if code else value
    return found


def _number(value: str, code: str) -> str:
    try:
        return shown(float(value), code or "General", False)
    except ValueError:
        return value


def described(root: Element) -> Iterator[str]:
    """Yield the alternative texts of what is drawn in a part."""
    for properties in root.iter("{*}cNvPr"):
        if told := description(properties):
            yield f"[{told}]"


def diagram_blocks(
    package: Package, part: str, outline: Outline, reading: ParserInput, without: Collection[str] = (), **place: Any
) -> Iterator[Block]:
    """Yield the text of the diagrams (SmartArt) of a part, but for some."""
    parts = [each for each in package.related(part, "diagramData") if each not in without]
    yield from _diagrams(package, parts, outline, reading, place)


def diagrams_shown(
    package: Package, part: str, element: Element, outline: Outline, reading: ParserInput, told: set[str]
) -> Iterator[Block]:
    """Yield the text of the diagrams that an element of a part shows, and that were not ``told`` before."""
    shown = [attribute(each, "dm") or "" for each in element.iter("{*}relIds")]
    relations = package.relations(part) if shown else {}
    for relation in filter(None, map(relations.get, shown)):
        if relation.kind == "diagramData" and relation.target not in told:
            told.add(relation.target)
            yield from _diagrams(package, [relation.target], outline, reading, {})


def _diagrams(
    package: Package, parts: Sequence[str], outline: Outline, reading: ParserInput, place: dict[str, Any]
) -> Iterator[Block]:
    for name in parts:
        try:
            paragraphs = list(tree(package.read(name)).iter("{*}p"))
        except EvoRAGError:
            reading.miss_at(Loss.BOXES, outline.locator(**place))
            continue
        lines = ("".join(each.text or "" for each in paragraph.iter("{*}t")).strip() for paragraph in paragraphs)
        yield outline.block("\n".join(filter(None, lines)), BlockKind.LIST, **place)


def people(package: Package, main: str) -> dict[str, str]:
    """Return who takes part in threads of remarks, by their ids. Raises: ``EvoRAGError`` for damaged XML."""
    found: dict[str, str] = {}
    for kind in ("person", "authors"):
        for name in package.related(main, kind):
            for each in tree(package.read(name)).iter("{*}person", "{*}author"):
                found[each.get("id", "")] = each.get("displayName") or each.get("name") or ""
    return found


def remarks(
    package: Package, part: str, authors: Sequence[str] = (), known: Mapping[str, str] | None = None
) -> list[Remark]:
    """Return the remarks on a document's part, a sheet or a slide. Raises: ``EvoRAGError`` for damaged XML.

    ``authors`` are those whom remarks name by their numbers, ``known`` those of threads, by their ids.
    """
    known = known or {}
    found: list[Remark] = []
    for name in package.related(part, "comments"):
        root = tree(package.read(name))
        names = [" ".join((each.text or "").split()) for each in root.iter("{*}author")] or list(authors)
        for element in root.iter("{*}comment", "{*}cm"):
            texts = (each.text or "" for each in element.iter("{*}t", "{*}text") if not len(each))
            text = " ".join(" ".join(texts).split())
            who = attribute(element, "authorId") or ""
            by = attribute(element, "author") or known.get(who) or _at(names, who)
            # Where there is a thread, its copy for older programs says so in the language of who wrote it.
            if text and not by.startswith("tc={"):
                found.append(Remark(attribute(element, "ref") or attribute(element, "id") or "", by, text))
    for name in package.related(part, "threadedComment"):
        for element in tree(package.read(name)).iter("{*}threadedComment"):
            text = " ".join(" ".join(each.text or "" for each in element.iterchildren("{*}text")).split())
            if text:
                found.append(Remark(element.get("ref", ""), known.get(element.get("personId", ""), ""), text))
    return found


def _at(names: Sequence[str], index: str | None) -> str:
    return names[int(index)] if index and index.isdigit() and int(index) < len(names) else ""
