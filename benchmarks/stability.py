"""What an edit leaves as it was: the share of chunks that are embedded again, from file to chunks.

An edit is of 1 % of the text, made in several ways (``benchmarks.edits``). Chunks count as the index counts them: by
the text that is indexed, title and headings included. Where the edit touches a chunk, that chunk has to be embedded
again; ``per_touched`` tells how many are for each one that was touched.
"""

from __future__ import annotations

import csv
import io
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook

from benchmarks import edits, machine
from core.catalog.documents.chunk_rows import content_hash
from core.ingest.chunk import chunk_text_auto
from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.model import Chunk

SHARE = 0.01
DRAWS = 4

Rows = Sequence[tuple[str, ...]]


def _lines(taken: list[str]) -> str:
    """Return paragraphs as lines without a blank one between them, as novels and exports come."""
    return "\n".join(" ".join(paragraph.split()) for paragraph in taken)


TEXTS: Mapping[str, tuple[str, Callable[[list[str]], str]]] = {
    "plain": ("txt", edits.plain),
    "markdown": ("md", edits.marked),
    "lines": ("txt", _lines),
}


def text_shares(pages: int, seed: int) -> dict[str, Any]:
    """Return, for each form of the text and each kind of edit, the share of its chunks that is embedded again."""
    taken = edits.paragraphs(pages)
    report: dict[str, Any] = {}
    for name, (extension, form) in TEXTS.items():
        before = _indexed(extension, form(taken).encode())
        report[name] = {"chunks": len(before), "tokens": _sizes(before)}
        for kind, edit in edits.EDITS.items():
            found = [
                _compared(before, _indexed(extension, form(edit(taken, SHARE, random.Random(drawn))).encode()))
                for drawn in range(seed, seed + DRAWS)
            ]
            report[name][kind] = {
                "share": statistics.fmean(again / chunks for again, chunks, _ in found),
                "worst_share": max(again / chunks for again, chunks, _ in found),
                "per_touched": sum(again for again, *_ in found) / max(sum(touched for *_, touched in found), 1),
            }
        machine.note(f"shares of {name}: {len(before)} chunks")
    return report


def table_shares(rows: int, seed: int) -> dict[str, Any]:
    """Return how many chunks of a table are embedded again after one row came in, and after 1 % of rows changed."""
    table = edits.table(rows)
    new = ("0", edits.MARK, "1", "1.00", "")
    picked = set(random.Random(seed).sample(range(1, rows + 1), rows // 100))
    edited = {
        "row_inserted_at_top": [table[0], new, *table[1:]],
        "rows_changed_at_random": [
            (*row[:4], edits.MARK) if place in picked else row for place, row in enumerate(table)
        ],
        "rows_removed_at_random": [row for place, row in enumerate(table) if place not in picked],
    }
    report: dict[str, Any] = {}
    for extension, form in {"txt": _tabbed, "csv": _csv, "xlsx": _xlsx}.items():
        before = _indexed(extension, form(table))
        report[extension] = {"chunks": len(before)}
        for kind, changed in edited.items():
            again, _, touched = _compared(before, _indexed(extension, form(changed)))
            report[extension][kind] = {"chunks": again, "touched": touched}
    return report


def _indexed(extension: str, content: bytes) -> list[Chunk]:
    with tempfile.TemporaryDirectory(prefix="evorag-edit-") as folder:
        path = Path(folder) / f"document.{extension}"
        path.write_bytes(content)
        return list(chunk_text_auto(parse(ParserInput(path, extension, ParserLimits()))))


def _compared(before: Sequence[Chunk], after: Sequence[Chunk]) -> tuple[int, int, int]:
    """Return the contents that are new, all chunks, and the new ones that hold an edit."""
    known = {_hash(chunk) for chunk in before}
    again = {digest: chunk for chunk in after if (digest := _hash(chunk)) not in known}
    return len(again), len(after), sum(edits.MARK in chunk.text for chunk in again.values())


def _hash(chunk: Chunk) -> bytes:
    return content_hash(chunk.indexed_text("title"))


def _sizes(chunks: Sequence[Chunk]) -> dict[str, float]:
    sizes = sorted(chunk.token_count for chunk in chunks)
    return {
        "mean": statistics.fmean(sizes),
        "p5": sizes[len(sizes) // 20],
        "p95": sizes[len(sizes) * 19 // 20],
        "largest": sizes[-1],
    }


def _tabbed(rows: Rows) -> bytes:
    return "\n".join("\t".join(row) for row in rows).encode()


def _csv(rows: Rows) -> bytes:
    target = io.StringIO()
    csv.writer(target).writerows(rows)
    return target.getvalue().encode()


def _xlsx(rows: Rows) -> bytes:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Stock")
    for row in _numbers(rows):
        sheet.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def _numbers(rows: Rows) -> Iterator[list[str | float]]:
    for row in rows:
        yield [float(cell) if cell.replace(".", "", 1).isdigit() else cell for cell in row]
