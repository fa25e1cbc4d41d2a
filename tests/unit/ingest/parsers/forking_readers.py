"""Several processes read the pages of a long PDF: the blocks are those of one, and whatever ends a reader is told.

``test_pdf_readers`` has these tests run in a process of their own: a fork of one that has threads at work may crash.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pymupdf
import pytest

from core.errors import ParserFailed
from core.ingest.parsers import parse, pdf_readers
from core.ingest.parsers.pdf_mupdf import MuPdfDocument
from core.ingest.parsers.pdf_page import Page
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.model import Block

PAGES = 130
Told = list[tuple[int, int]]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("manual") / "manual.pdf", PAGES)


def written(target: Path, pages: int) -> Path:
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            page = document.new_page()
            page.insert_text((60, 40), "A manual of the quince press")
            page.insert_text((60, 100), f"{number} Pressing", fontsize=20)
            lines = [f"Page {number} has a line {line} about quinces that are pressed." for line in range(30)]
            page.insert_text((60, 140), lines)
        document.save(target)
    return target


def read(path: Path, processes: int) -> tuple[list[Block], dict[str, Any], Told]:
    told: Told = []
    reading = ParserInput(
        path, "pdf", ParserLimits(), processes=processes, told=lambda done, total: told.append((done, total))
    )
    return list(parse(reading)), reading.metadata, told


def children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def change(monkeypatch: pytest.MonkeyPatch, at: Callable[[int], bool], act: Callable[[], Page | None]) -> None:
    """Have something else happen at some pages, in whatever process they are read."""
    page = MuPdfDocument.page
    monkeypatch.setattr(MuPdfDocument, "page", lambda own, index: act() if at(index) else page(own, index))


@pytest.mark.parametrize("processes", [2, 3])
def test_the_blocks_are_those_of_one_process(manual: Path, processes: int) -> None:
    blocks, metadata, told = read(manual, 1)
    assert len(blocks) > PAGES and told == [(number, PAGES) for number in range(1, PAGES + 1)]
    assert read(manual, processes) == (blocks, metadata, told)


def test_a_short_document_is_read_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_readers, "_Reader", None)
    assert read(written(tmp_path / "short.pdf", pdf_readers.LONG - 1), 4)[0]


@pytest.mark.parametrize(("first", "last"), [(20, 21), (60, 130)])
def test_damaged_pages_cost_what_they_cost_one(
    manual: Path, monkeypatch: pytest.MonkeyPatch, first: int, last: int
) -> None:
    change(monkeypatch, lambda index: first <= index < last, lambda: None)
    found = read(manual, 1)
    # After more than fifty in a row nothing is read any more.
    assert found[1]["in_part"] == found[1]["losses"]["damaged"] == ("21" if last == 21 else f"61–{found[1]['pages']}")
    assert found == read(manual, 2)


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("deep"), ParserFailed("Broken."), KeyError("font")])
def test_what_a_reader_meets_is_met(manual: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    before = children()
    change(monkeypatch, lambda index: index == 77, fail)
    with pytest.raises(type(error)):
        read(manual, 2)
    assert children() == before


@pytest.mark.parametrize("name", ["SIGXCPU", "SIGKILL", "SIGSEGV"])
def test_a_signal_that_ends_a_reader_ends_the_parser(manual: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    sent: list[tuple[int, int]] = []
    number = signal.Signals[name]
    change(monkeypatch, lambda index: index == 77, lambda: signal.raise_signal(number))
    kill = os.kill
    monkeypatch.setattr(os, "kill", lambda *to: sent.append(to) if to[0] == os.getpid() else kill(*to))
    with pytest.raises(ParserFailed):
        read(manual, 2)
    assert sent == [(os.getpid(), number)]


def test_no_reader_is_left_when_nobody_reads_on(manual: Path) -> None:
    before = children()
    blocks = parse(ParserInput(manual, "pdf", ParserLimits(), processes=2))
    next(blocks)
    assert len(children() - before) == 2
    blocks.close()  # type: ignore[attr-defined]
    assert children() == before
