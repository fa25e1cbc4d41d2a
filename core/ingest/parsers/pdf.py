"""PDF documents: text in reading order with pages, headings, lists and tables; running headers and footers once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.errors import EmptyDocument
from core.ingest.parsers.links import MOST_CHARS, beside
from core.ingest.parsers.objects import Found, object_blocks
from core.ingest.parsers.pdf_check import SelfCheck
from core.ingest.parsers.pdf_flow import Flow
from core.ingest.parsers.pdf_margins import RunningLines, without_running_lines
from core.ingest.parsers.pdf_page import Page
from core.ingest.parsers.pdf_pictures import PagePictures
from core.ingest.parsers.pdf_readers import pages
from core.ingest.parsers.pdf_style import Typography
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.recognised import Recognised
from core.model import Block, BlockKind, Locator

if TYPE_CHECKING:
    from core.ingest.parsers.pdf_mupdf import MuPdfDocument
    from core.ingest.parsers.pdf_pdfium import PdfiumDocument

SAMPLED_PAGES = 24


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a PDF. Raises: ``Encrypted``, ``ParserFailed``, ``EmptyDocument`` for scans."""
    document = _opened(reading)
    try:
        reading.note(parser=document.name)
        document.note_properties(reading)
        places = range(0, document.page_count, max(1, document.page_count // SAMPLED_PAGES))
        recognised = Recognised(reading)
        sampled = [recognised.page(page) for page in map(document.page, places) if page is not None]
        style = Typography.of(without_running_lines(sampled), document.outline())
        flow = Flow(style)
        check = SelfCheck(reading)
        pictures, running = PagePictures(reading, document), RunningLines()
        found, beside_text, named = False, list[Block](), set[str]()
        files = [(name, data, Locator()) for name, data in document.files()]
        for page in without_running_lines(map(recognised.page, pages(document, _opened, reading))):
            found = found or bool(page.lines)
            check.expect(page)
            running.take(page)
            yield from pictures.among(running.heard(check.checked(recognised.marked(flow.page(page)))))
            pictures.take(page, flow.outline.locator(page=page.number))
            beside_text.extend(_links(page, named))
            beside_text.extend(Block(remark, locator=Locator(page=page.number)) for remark in page.remarks)
            files.extend((name, data, Locator(page=page.number)) for name, data in page.files)
        yield from pictures.among(check.checked(recognised.marked(flow.finish())))
        yield from pictures.due
        if not found and not files:
            is_scan = any(map(document.images, range(document.page_count)))
            empty = "The PDF holds pictures of pages but no text." if is_scan else "No text was found in the document."
            raise EmptyDocument(empty)
        check.finish()
        yield from recognised.marked(running.blocks())
        yield from beside_text
        for name, data, place in files:
            yield from object_blocks(Found(name, data, is_named=True), reading, place)
    finally:
        document.close()


def _links(page: Page, named: set[str]) -> Iterator[Block]:
    """Yield the links of a page whose text does not say where they lead, each once in the document."""
    lines = []
    for text, address in page.links:
        if (target := beside(text, address)) and text + target not in named:
            named.add(text + target)
            lines.append(f"{text[:MOST_CHARS]}{target}")
    if lines:
        yield Block("\n".join(lines), BlockKind.LIST, Locator(page=page.number))


def _opened(reading: ParserInput) -> MuPdfDocument | PdfiumDocument:
    try:
        from core.ingest.parsers.pdf_mupdf import MuPdfDocument

        return MuPdfDocument(reading.path)
    except ImportError:
        from core.ingest.parsers.pdf_pdfium import PdfiumDocument

        return PdfiumDocument(reading.path)
