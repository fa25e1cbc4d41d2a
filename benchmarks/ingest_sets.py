"""Documents for measures of ingest, written from a seed: many small files, and a manual of many pages.

The text is that of ``benchmarks.corpus``, in English and Japanese. Each set holds one word that stands nowhere else, at
its end, by which a search can tell that all of it has arrived.
"""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus import Writer

LAST_WORD = "xylozephyrate"
"""Stands on the last page of the manual and in the last of the files."""
_LANGUAGES = ("en", "ja")
_FORMS = ("txt", "md", "html")
_LEAST_BYTES, _MOST_BYTES = 500, 4_000
_PAGE = (595, 842)
_BODY = (60, 100, 535, 790)
_PAGE_BYTES = 2_600
_JAPANESE_EVERY = 4


def write_files(folder: Path, count: int, seed: int) -> list[Path]:
    """Write text, Markdown and HTML files of half a kilobyte to four, by turns in both languages."""
    folder.mkdir(parents=True)
    draw = random.Random(seed)
    writers = {language: Writer(language, seed) for language in _LANGUAGES}
    written = []
    for number in range(count):
        writer = writers[_LANGUAGES[number % len(_LANGUAGES)]]
        form = _FORMS[number % len(_FORMS)]
        paragraphs = list(_paragraphs(writer, draw, draw.randint(_LEAST_BYTES, _MOST_BYTES)))
        if number == count - 1:
            paragraphs.append(f"The {LAST_WORD} ends here.")
        written.append(folder / f"note-{number:05}.{form}")
        written[-1].write_text(_formed(form, f"Note {number}", paragraphs), encoding="utf-8")
    return written


def write_zip(files: list[Path], target: Path) -> None:
    """Pack files by their bare names."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.name)


def write_manual(target: Path, pages: int, seed: int) -> None:
    """Write a PDF with a heading a page, paragraphs, and by turns a table or lines of code; a quarter is Japanese."""
    import pymupdf

    draw = random.Random(seed)
    writers = {language: Writer(language, seed) for language in _LANGUAGES}
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            language = "ja" if number % _JAPANESE_EVERY == 0 else "en"
            font = "japan" if language == "ja" else "helv"
            page = document.new_page(width=_PAGE[0], height=_PAGE[1])
            heading = f"{number}  " + writers[language].passage(4).text
            page.insert_text((_BODY[0], 70), heading[:60], fontname=font, fontsize=16)
            paragraphs = list(_paragraphs(writers[language], draw, _PAGE_BYTES))
            if number == pages:
                paragraphs.append(f"The {LAST_WORD} ends here.")
            text = "\n".join(paragraphs)
            left = page.insert_textbox((*_BODY[:3], 585), text, fontname=font, fontsize=9)
            assert left >= 0, f"page {number} is too full"
            if number % 2:
                _table(page, draw, writers["en"])
            else:
                _code(page, draw, writers["en"])
        document.save(target, deflate=True)


def _table(page: Any, draw: random.Random, writer: Writer) -> None:
    """Draw a ruled table of names and figures."""
    left, right, top, height = 60, 535, 590, 18
    for row in range(9):
        y = top + row * height
        page.draw_line((left, y), (right, y))
        if row < 8:
            cells = (writer.passage(2).text, f"{draw.uniform(0, 900):.2f} mm", f"{draw.randint(1, 99)} V")
            for column, cell in enumerate(cells):
                page.insert_text((left + 5 + column * 160, y + 13), cell[:26], fontsize=9)
    for column in range(4):
        x = min(left + column * 160, right)
        page.draw_line((x, top), (x, top + 8 * height))


def _code(page: Any, draw: random.Random, writer: Writer) -> None:
    """Write some lines of code."""
    lines = []
    for _ in range(8):
        name, call = (word.strip(".").lower() for word in writer.passage(2).text.split()[:2])
        lines.append(f"{name} = {call}({draw.randint(0, 999)}, limit={draw.random():.3f})")
    page.insert_textbox((60, 590, 535, 780), "\n".join(lines), fontname="cour", fontsize=9)


def _paragraphs(writer: Writer, draw: random.Random, size_bytes: int) -> Iterator[str]:
    written = 0
    while written < size_bytes:
        text = writer.passage(draw.randint(20, 60)).text
        written += len(text.encode())
        yield text


def _formed(form: str, title: str, paragraphs: list[str]) -> str:
    if form == "md":
        return "\n\n".join([f"# {title}", *paragraphs])
    if form == "html":
        body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        return f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1>\n{body}</body></html>"
    return "\n\n".join(paragraphs)
