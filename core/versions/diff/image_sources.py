"""The images inside a document's original bytes, in the order in which the document uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from core.errors import EvoRAGError
from core.ingest.parsers.ooxml import Package, attribute, local
from core.ingest.parsers.xml import tree
from core.model import Locator

_MOST_UNPACKED = 256 * 1024 * 1024
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")

Found = tuple[bytes, Locator]


def images_in(path: Path, extension: str) -> Iterator[Found]:
    """Yield each image once, as the bytes of an image file, with its page, slide, sheet or heading."""
    source = SOURCES.get(extension)
    if source is not None:
        yield from source(path)


def _pdf(path: Path) -> Iterator[Found]:
    import pymupdf

    seen: set[int] = set()
    with pymupdf.open(path, filetype="pdf") as document:  # type: ignore[no-untyped-call]
        if document.needs_pass:
            return
        for page in document:
            for entry in page.get_images(full=True):
                if entry[0] not in seen:
                    seen.add(entry[0])
                    with suppress(RuntimeError, ValueError):
                        yield document.extract_image(entry[0])["image"], Locator(page=page.number + 1)


def _docx(path: Path) -> Iterator[Found]:
    with Package(path, _MOST_UNPACKED) as package:
        main = package.main_part()
        relations = package.relations(main)
        seen: set[str] = set()
        heading = ""
        for paragraph in tree(package.read(main)).iter("{*}p"):
            style = next((attribute(element, "val") or "" for element in paragraph.iter("{*}pStyle")), "")
            if style.lower().startswith(("heading", "title")) or style.isdigit():
                heading = "".join(element.text or "" for element in paragraph.iter("{*}t"))[:200] or heading
            for element in paragraph.iter():
                if local(element) in ("blip", "imagedata"):
                    relation = relations.get(attribute(element, "embed") or attribute(element, "id") or "")
                    if relation is not None:
                        yield from _part(
                            package, relation.target, seen, Locator(heading_path=(heading,) * bool(heading))
                        )


def _pptx(path: Path) -> Iterator[Found]:
    with Package(path, _MOST_UNPACKED) as package:
        main = package.main_part()
        relations = package.relations(main)
        seen: set[str] = set()
        for number, element in enumerate(tree(package.read(main)).iter("{*}sldId"), 1):
            slide = next(
                (relations[value] for key, value in element.items() if key.endswith("}id") and value in relations), None
            )
            if slide is not None:
                for part in _drawn(package, slide.target):
                    yield from _part(package, part, seen, Locator(slide=number))


def _xlsx(path: Path) -> Iterator[Found]:
    with Package(path, _MOST_UNPACKED) as package:
        main = package.main_part()
        relations = package.relations(main)
        seen: set[str] = set()
        for element in tree(package.read(main)).iter("{*}sheet"):
            sheet = next(
                (relations[value] for key, value in element.items() if key.endswith("}id") and value in relations), None
            )
            if sheet is None:
                continue
            place = Locator(sheet=element.get("name"))
            for drawing in package.related(sheet.target, "drawing"):
                for part in _drawn(package, drawing):
                    yield from _part(package, part, seen, place)


def _drawn(package: Package, part: str) -> list[str]:
    """Return the image parts that a slide or a drawing shows, in their order in it."""
    relations = package.relations(part)
    used = [attribute(element, "embed") or "" for element in tree(package.read(part)).iter("{*}blip")]
    return [relations[name].target for name in used if name in relations]


def _part(package: Package, name: str, seen: set[str], place: Locator) -> Iterator[Found]:
    if name not in seen and name.lower().endswith(_PICTURES):
        seen.add(name)
        with suppress(EvoRAGError):
            yield package.read(name), place


SOURCES: dict[str, Callable[[Path], Iterator[Found]]] = {"pdf": _pdf, "docx": _docx, "pptx": _pptx, "xlsx": _xlsx}
