"""How much of a page's structure is found: reading order, tables and headings, of PDFs whose truth is known.

The PDFs are rendered here (``benchmarks/rendered.py``), in English and Japanese, one and two columns, with tables that
are ruled or not. ``order`` is how alike the text is to the truth in its order (normalised Indel similarity),
``tables`` how alike rows and cells are (tree edit distance as in TEDS, Zhong et al. 2020), ``headings`` the share of
headings that are found as such, ``false_headings`` the share of found ones that are none, ``notes`` the share of
footnotes that stand in no paragraph. ``--scans`` judges so many of the PDFs as a scanner sees them, ``--reference
pymupdf4llm`` the Markdown that PyMuPDF's own layout models make of the same PDFs.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pypdfium2
from PIL import ImageFilter
from rapidfuzz.distance import Indel, Levenshtein

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.documents import Reader
from benchmarks.ocr import CONDITIONS
from benchmarks.rendered import PROGRAMS, Element, Kind, Rendered, rendered
from core.adapters.ocr import ocr_engine
from core.blobs.block_file import read_blocks
from core.errors import EvoRAGError
from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.ingest.parsers.tables import CELL_JOINT
from core.ingest.recognition.kept_pictures import Recognition
from core.ingest.recognition.pictures import DPI
from core.ingest.sandbox import ParserSandbox
from core.model import Block, BlockKind

ALIKE = 0.85
MOST_PAGES = 40
_MARKS = re.compile(r"^[\s•·▪–*\-]+")

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Found:
    """What was found of one document."""

    blocks: Sequence[Block]
    seconds: float
    pages: int


def plain(text: str) -> str:
    """Return a text without blanks and bars, its signs in their usual forms."""
    return re.sub(r"[\s|]+", "", unicodedata.normalize("NFKC", text)).casefold()


def order(elements: Iterable[Element], blocks: Iterable[Block]) -> float:
    """Return how alike the texts are in their order; footnotes that stand for themselves may stand anywhere."""
    elements = list(elements)
    notes = [plain(each.note) for each in elements if each.note]
    wanted = "".join(
        plain(part)
        for each in elements
        for part in (each.text, *each.items, *(cell for row in each.rows for cell in row))
    )
    there = []
    for block in blocks:
        text = "".join(plain(_MARKS.sub("", line)) for line in block.text.split("\n"))
        if not any(_alike(re.sub(r"^\d+", "", text), note) for note in notes):
            there.append(text)
    return float(Indel.normalized_similarity(wanted, "".join(there)))


def headings(elements: Iterable[Element], blocks: Iterable[Block]) -> tuple[float, float]:
    """Return the share of headings that were found, and the share of the found ones that are none."""
    wanted = [plain(each.text) for each in elements if each.kind is Kind.HEADING]
    there = [plain(block.text) for block in blocks if block.kind is BlockKind.HEADING]
    left = list(there)
    hits = 0
    for text in wanted:
        best = max(left, key=lambda other: Indel.normalized_similarity(text, other), default=None)
        if best is not None and _alike(text, best):
            hits += 1
            left.remove(best)
    return hits / len(wanted), len(left) / max(len(there), 1)


def notes_apart(elements: Iterable[Element], blocks: Sequence[Block]) -> float | None:
    """Return the share of footnotes that are blocks of their own; None where there are none."""
    wanted = [plain(each.note) for each in elements if each.note]
    if not wanted:
        return None
    there = [re.sub(r"^\d+", "", plain(block.text)) for block in blocks]
    return sum(any(_alike(note, text) for text in there) for note in wanted) / len(wanted)


def tables(elements: Iterable[Element], blocks: Iterable[Block]) -> list[float]:
    """Return how alike each table is to what was found of it."""
    found = list(_tables_of(blocks))
    scores = []
    for each in elements:
        if each.kind is Kind.TABLE:
            best = max(found, key=lambda rows: _shared(each.rows, rows), default=None)
            scores.append(0.0 if best is None else similarity(each.rows, best))
            if best is not None and scores[-1] > 0:
                found.remove(best)
    return scores


def _tables_of(blocks: Iterable[Block]) -> Iterator[Rows]:
    """Blocks of a table are one as long as nothing stands between them and they name their header."""
    rows: list[list[str]] = []
    header = ""
    for block in blocks:
        if block.kind is not BlockKind.TABLE:
            if rows:
                yield rows
            rows = []
            continue
        cells = [line.split(CELL_JOINT) for line in block.text.split("\n")]
        if rows and (not block.header or block.header != header):
            yield rows
            rows = []
        header = block.header or block.text.split("\n")[0]
        rows += cells
    if rows:
        yield rows


def _shared(wanted: Rows, there: Rows) -> float:
    one = {plain(cell) for row in wanted for cell in row} - {""}
    other = {plain(cell) for row in there for cell in row} - {""}
    return len(one & other) / max(len(one | other), 1)


def similarity(wanted: Rows, there: Rows) -> float:
    """Return 1 less the edit distance of the two trees of rows and cells, as a share of the larger tree's nodes."""
    one, other = ([[plain(cell) for cell in row] for row in rows] for rows in (wanted, there))
    gone = [1 + len(row) for row in one]
    come = [1 + len(row) for row in other]
    costs = [float(sum(come[:at])) for at in range(len(other) + 1)]
    for place, row in enumerate(one):
        before, costs = costs, [costs[0] + gone[place]]
        for at, found in enumerate(other):
            change = before[at] + _changed(row, found)
            costs.append(min(change, before[at + 1] + gone[place], costs[at] + come[at]))
    return 1 - costs[-1] / (1 + max(sum(gone), sum(come)))


def _changed(row: Sequence[str], found: Sequence[str]) -> float:
    costs = [float(at) for at in range(len(found) + 1)]
    for place, cell in enumerate(row):
        before, costs = costs, [place + 1.0]
        for at, other in enumerate(found):
            change = before[at] + Levenshtein.normalized_distance(cell, other)
            costs.append(min(change, before[at + 1] + 1, costs[at] + 1))
    return costs[-1]


def _alike(one: str, other: str) -> bool:
    return float(Indel.normalized_similarity(one, other)) >= ALIKE


def judged(document: Rendered, found: Found) -> dict[str, float]:
    """Return the figures of one document."""
    scores = tables(document.elements, found.blocks)
    hits, false = headings(document.elements, found.blocks)
    apart = notes_apart(document.elements, found.blocks)
    figures = {
        "order": order(document.elements, found.blocks),
        "tables": fmean(scores),
        "headings": hits,
        "false_headings": false,
        "s_a_page": found.seconds / found.pages,
    }
    return figures if apart is None else {**figures, "notes": apart}


def measure(context: Context) -> dict[str, Any]:
    """Judge the pipeline, on the PDFs and on what a scanner would make of some of them."""
    given = context.options
    recognition = Recognition(ocr_engine("auto"), context.workspace / "recognised", context.workspace)
    reader = Reader(ParserSandbox(scratch=context.workspace), recognition, MOST_PAGES)
    by_group: dict[str, list[dict[str, float]]] = defaultdict(list)
    try:
        for number, document in enumerate(_documents(context)):
            figures = judged(document, _read(reader, document.path, context.workspace / "blocks"))
            _noted(by_group, document, figures, given.each)
            if number < given.scans:
                for condition, (degrees, blur) in CONDITIONS.items():
                    scan = _scanned(document.path, degrees, blur)
                    group = f"scans/{condition}"
                    try:
                        found = _read(reader, scan, context.workspace / "blocks")
                    except EvoRAGError as error:
                        # Where recognition finds no time, or nothing, that is a figure, too.
                        machine.note(f"{document.name}, {condition}: {error.message}")
                        by_group[group].append({"unread": 1.0})
                        continue
                    by_group[group].append({**judged(document, found), "unread": 0.0})
    finally:
        reader.close()
    return {group: _means(found) for group, found in by_group.items()}


def by_pymupdf(context: Context) -> dict[str, Any]:
    """Judge the Markdown of PyMuPDF's layout models, which a process of its own makes."""
    documents = list(_documents(context))
    order = [sys.executable, "-c", _MARKDOWN, *(str(each.path) for each in documents)]
    printed = subprocess.run(order, check=True, capture_output=True, text=True).stdout.splitlines()
    by_group: dict[str, list[dict[str, float]]] = defaultdict(list)
    for document, line in zip(documents, (line for line in printed if line.startswith('{"took"')), strict=True):
        result = json.loads(line)
        source = document.path.with_suffix(".md")
        source.write_text(result["text"], encoding="utf-8")
        found = Found(
            list(parse(ParserInput(source, "md", ParserLimits()))), result["took"], _page_count(document.path)
        )
        _noted(by_group, document, judged(document, found), context.options.each)
    return {group: _means(found) for group, found in by_group.items()}


_MARKDOWN = """
import json, sys, time
import pymupdf.layout, pymupdf4llm
for path in sys.argv[1:]:
    began = time.perf_counter()
    text = pymupdf4llm.to_markdown(path, header=False, footer=False, use_ocr=False)
    print("\\n" + json.dumps({"took": time.perf_counter() - began, "text": text}))
"""


def _documents(context: Context) -> Iterator[Rendered]:
    writers = [name for name in context.options.writers if shutil.which(PROGRAMS[name])]
    if not writers:
        raise SystemExit("Neither Chromium nor LibreOffice is installed: there is nothing to render with.")
    return rendered(context.workspace, context.options.count, context.seed, writers)


def _noted(
    by_group: dict[str, list[dict[str, float]]], document: Rendered, figures: dict[str, float], each: bool
) -> None:
    if each:
        shown = " ".join(f"{name} {value:.3f}" for name, value in figures.items())
        look = document.look
        machine.note(f"{document.name}: {shown} ({look.columns} columns, {look.ruling}, {look.heading_growth})")
    for group in ("all", document.language, document.look.writer, f"columns_{document.look.columns}"):
        by_group[group].append(figures)
    by_group[f"tables_{document.look.ruling}"].append({"tables": figures["tables"]})


def _means(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for each in found for name in each)
    return {name: round(fmean(each[name] for each in found if name in each), 4) for name in names}


def _read(reader: Reader, path: Path, target: Path) -> Found:
    began = time.perf_counter()
    reader.parse(path, "pdf", target)
    return Found(list(read_blocks(target)), time.perf_counter() - began, _page_count(path))


def _page_count(path: Path) -> int:
    with pypdfium2.PdfDocument(path) as document:
        return len(document)


def _scanned(path: Path, degrees: float, blur: float) -> Path:
    target = path.with_suffix(".scan.pdf")
    pictures = []
    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            picture = page.render(scale=DPI / 72).to_pil().convert("L")
            picture = picture.filter(ImageFilter.GaussianBlur(blur)) if blur else picture
            pictures.append(picture.rotate(degrees, fillcolor=255, resample=3) if degrees else picture)
    pictures[0].save(target, save_all=True, append_images=pictures[1:], resolution=DPI)
    return target


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--count", type=int, default=10, help="documents of each language by each program (%(default)s)"
    )
    parser.add_argument("--writers", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--scans", type=int, default=0, help="documents that are also judged as scans (%(default)s)")
    parser.add_argument("--each", action="store_true", help="tell the figures of each document")


BENCHMARK = Benchmark(
    "layout",
    measure,
    add_options,
    smallest={"count": 1},
    small={"count": 2},
    scale="count",
    seed=1,
    references={"pymupdf4llm": by_pymupdf},
    units={
        "(order|tables|headings|notes)$": ("share", "higher"),
        "(false_headings|unread)$": ("share", "lower"),
        "s_a_page$": ("s", "lower"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
