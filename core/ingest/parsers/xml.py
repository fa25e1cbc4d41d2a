"""XML of office documents as a stream of elements: no document types, no entities, no network, bounded depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from xml.parsers import expat

from lxml import etree

from core.errors import ArchiveLimit, EvoRAGError, ParserFailed, XmlForbidden

Element = Any
"""An element of lxml, which ships without types."""

Event = tuple[str, Element]

MAX_PROLOG_BYTES = 16 * 1024 * 1024
"""Most that may come before the root of an XML file, comments for example, in bytes."""
_TOO_LONG = "The file holds a piece of text that is larger than any document needs."


class _RootReached(Exception):
    pass


class _Prolog:
    """Holds the start of an XML file back until its root is reached: a document type before it is refused.

    Expat 2.6, and 2.5 as distributions mend it, may look at a long token only when more has come: what lxml is given
    has been looked at to the end.
    """

    def __init__(self) -> None:
        self._parser: expat.XMLParserType | None = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = _refuse
        self._parser.StartElementHandler = _root
        self._held: list[bytes] = []
        self._held_bytes = 0

    def passed(self, data: bytes, *, is_last: bool = False) -> bytes:
        """Return what may be read of all that has come; nothing before the root is reached."""
        if self._parser is None:
            return data
        self._held.append(data)
        self._held_bytes += len(data)
        try:
            self._parser.Parse(data, is_last)
        except _RootReached:
            self._parser = None
            held, self._held = b"".join(self._held), []
            return held
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise ParserFailed("The XML inside the file is damaged.") from error
        if self._held_bytes > MAX_PROLOG_BYTES:
            raise ArchiveLimit(_TOO_LONG)
        return b""


def _refuse(*_: object) -> None:
    raise XmlForbidden("The XML inside the file declares a document type.")


def _root(*_: object) -> None:
    raise _RootReached


def events(parts: Iterable[bytes], tags: Iterable[str], kinds: tuple[str, ...] = ("end",)) -> Iterator[Event]:
    """Yield ``(event, element)`` of the wanted tags; who takes an element clears it.

    Raises: ``XmlForbidden`` for document types and for nesting beyond 256 levels, ``ParserFailed`` for damaged XML.
    """
    prolog = _Prolog()
    parser = etree.XMLPullParser(
        kinds, tag=list(tags), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        for part in parts:
            if data := prolog.passed(part):
                parser.feed(data)
                yield from parser.read_events()
        if data := prolog.passed(b"", is_last=True):
            parser.feed(data)
            yield from parser.read_events()
        parser.close()
        yield from parser.read_events()
    except etree.XMLSyntaxError as error:
        raise _meaning(error) from error


def _meaning(error: etree.XMLSyntaxError) -> EvoRAGError:
    message = str(error).lower()
    if "depth" in message:
        return XmlForbidden("The XML inside the file is nested too deeply.")
    if "huge" in message or "too long" in message:
        return ArchiveLimit(_TOO_LONG)
    return ParserFailed("The XML inside the file is damaged.")


def tree(data: bytes) -> Element:
    """Return the root of a small XML part. Raises as ``events``."""
    _Prolog().passed(data, is_last=True)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _meaning(error) from error


def forget(element: Element) -> None:
    """Free an element that has been read, and those before it, so that the tree stays small."""
    element.clear()
    parent = element.getparent()
    while parent is not None and (before := element.getprevious()) is not None:
        parent.remove(before)
