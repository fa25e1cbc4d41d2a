"""Electronic books (EPUB 2 and 3): the chapters in the order in which they are read."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import unquote

from core.errors import Encrypted, EvoRAGError, ParserFailed
from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.html import blocks_of
from core.ingest.parsers.ooxml import local
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.xml import Element, tree
from core.model import Block

_CONTAINER = "META-INF/container.xml"
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an epub file, chapter by chapter. Raises: ``UnreadableDocument`` and its kinds."""
    reading.note(parser="epub")
    with SafeArchive(reading.path, 2 * reading.limits.output_bytes) as archive:
        _refuse_protected(archive)
        place = _package(archive)
        package = tree(archive.read(place))
        said = list(package.iter("{*}title", "{*}creator", "{*}date"))
        known = {local(element): element.text for element in reversed(said)}
        chapters = _chapters(package, posixpath.dirname(place), archive)
        if not chapters:
            raise ParserFailed("The book names no chapters.")
        outline = Outline()
        for number, chapter in enumerate(chapters, 1):
            reading.tell(number, len(chapters))
            try:
                markup = _decoded(archive.read(chapter))
            except EvoRAGError:
                reading.miss(Loss.DAMAGED)
                continue
            pictures = partial(_picture, archive, posixpath.dirname(chapter))
            yield from blocks_of(markup, outline, reading, is_whole=False, pictures=pictures)
        reading.note(title=known.get("title"), author=known.get("creator"), created=known.get("date"))


def _picture(archive: SafeArchive, folder: str, address: str) -> Callable[[], bytes] | None:
    place = posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))
    return partial(archive.read, place) if place in archive else None


def _refuse_protected(archive: SafeArchive) -> None:
    """Raises: ``Encrypted`` where more than the fonts is encrypted."""
    if "META-INF/encryption.xml" not in archive:
        return
    methods = tree(archive.read("META-INF/encryption.xml")).iter("{*}EncryptionMethod")
    if any(method.get("Algorithm") not in _FONTS_ONLY for method in methods):
        raise Encrypted("The book is protected against copying.")


def _package(archive: SafeArchive) -> str:
    if _CONTAINER in archive:
        for root in tree(archive.read(_CONTAINER)).iter("{*}rootfile"):
            place: str = root.get("full-path", "")
            if place in archive:
                return place
    raise ParserFailed("The file holds no book.")


def _chapters(package: Element, folder: str, archive: SafeArchive) -> list[str]:
    """Return the parts that hold the text in reading order, without the table of contents that programs use."""
    parts: dict[str, str] = {}
    for item in package.iter("{*}item"):
        place = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "").partition("#")[0])))
        if item.get("media-type") in _PAGES and place in archive and "nav" not in item.get("properties", "").split():
            parts[item.get("id", "")] = place
    order = [parts[ref] for item in package.iter("{*}itemref") if (ref := item.get("idref", "")) in parts]
    return list(dict.fromkeys(order)) or list(parts.values())


def _decoded(data: bytes) -> str:
    for encoding in ("utf-16",) if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except ValueError:
            continue
    return data.decode("utf-8", "replace")
