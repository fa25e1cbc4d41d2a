"""The pages of a PDF in order; those of a long one are read by several processes, each of which has its share.

The readers are forked from the process that parses. They open the file anew, have its limits each for itself and its
lack of a network, and end with it. Each takes every so many runs of pages, and is held up while nobody takes them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import TYPE_CHECKING

from core.errors import ParserFailed
from core.ingest.parsers.pdf_page import Page
from core.ingest.parsers.reading import Loss, ParserInput

if TYPE_CHECKING:
    from core.ingest.parsers.pdf_mupdf import MuPdfDocument
    from core.ingest.parsers.pdf_pdfium import PdfiumDocument

    Document = MuPdfDocument | PdfiumDocument
    Open = Callable[[ParserInput], Document]

MAX_BAD_PAGES = 50
LONG = 48
"""Pages from which on several processes read: starting them takes as long as reading a few pages."""
RUN = 4
"""Pages that a reader takes at a time."""
_PIPE_BYTES = 1024 * 1024
_SET_PIPE_SIZE = 1031
_END_WITH_PARENT = 1


def pages(document: Document, opened: Open, reading: ParserInput) -> Iterator[Page]:
    """Yield the pages one by one; damaged ones are noted, and too many in a row cost the rest of the document."""
    bad = 0
    with contextlib.closing(_all(document, opened, reading)) as found:
        for number, page in enumerate(found, start=1):
            reading.tell(number, document.page_count)
            if page is not None:
                bad = 0
                yield page
                continue
            reading.miss(Loss.DAMAGED, number)
            bad += 1
            if bad > MAX_BAD_PAGES:
                for left in range(number + 1, document.page_count + 1):
                    reading.miss(Loss.DAMAGED, left)
                break


def _all(document: Document, opened: Open, reading: ParserInput) -> Generator[Page | None, None, None]:
    count = document.page_count
    if count < LONG or reading.processes < 2 or not sys.platform.startswith("linux"):
        yield from map(document.page, range(count))
        return
    runs = [range(at, min(at + RUN, count)) for at in range(0, count, RUN)]
    with ExitStack() as ends:
        readers = [_Reader(opened, reading, runs[first :: reading.processes]) for first in range(reading.processes)]
        for reader in readers:
            ends.callback(reader.end)
        for turn, run in enumerate(runs):
            for _ in run:
                yield readers[turn % len(readers)].next()


class _Reader:
    """A process that reads pages; a signal that ends it ends the process that reads the whole document."""

    def __init__(self, opened: Open, reading: ParserInput, runs: Sequence[range]) -> None:
        context = get_context("fork")
        self._pages, sink = context.Pipe(duplex=False)
        with contextlib.suppress(OSError):
            _widen(sink)
        self._process: ForkProcess = context.Process(
            target=_read, args=(opened, reading, runs, sink, os.getpid()), daemon=True
        )
        self._process.start()
        sink.close()

    def next(self) -> Page | None:
        try:
            found: Page | Exception | None = self._pages.recv()
        except EOFError:
            self._process.join()
            if (status := self._process.exitcode or 0) < 0:
                # Whoever waits for this document tells by the signal what it broke.
                os.kill(os.getpid(), -status)
            raise ParserFailed("The document made its parser crash.") from None
        if isinstance(found, Exception):
            raise found
        return found

    def end(self) -> None:
        self._pages.close()
        self._process.kill()
        self._process.join()


def _widen(sink: Connection) -> None:
    """Let a reader be some hundred pages ahead of who takes them."""
    import fcntl

    fcntl.fcntl(sink.fileno(), _SET_PIPE_SIZE, _PIPE_BYTES)


def _read(opened: Open, reading: ParserInput, runs: Sequence[range], sink: Connection, parent: int) -> None:
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        return
    try:
        document = opened(reading)
        for run in runs:
            for index in run:
                sink.send(document.page(index))
    except Exception as error:
        sink.send(error)
