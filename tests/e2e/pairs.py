"""Pairs of real documents: a chapter of Debian's manual with a figure and a term sheet, and the same after edits.

LibreOffice writes both as Word documents, so that text, tables and figures come from where people's come from.
"""

from __future__ import annotations

import base64
import io
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from tests import programs

MANUAL = programs.place("/usr/share/debian-reference")
CHAPTER = "ch08"
OFFICE = programs.find("soffice")


@dataclass(frozen=True, slots=True)
class Terms:
    """Sentences that stand before the chapter, in both versions."""

    heading: str
    old: str
    new: str
    question: str
    old_answer: str
    new_answer: str


TERMS = {
    "en": Terms(
        "Terms of support",
        "The support fee is 1,200 euros a year. Support ends on 31 March 2027.",
        "The support fee is 1,450 euros a year. Support ends on 30 September 2027.",
        "What is the support fee a year?",
        "1,200",
        "1,450",
    ),
    "ja": Terms(
        "保守の条件",
        "保守料金は年額12万円である。保守期間は2027年3月31日に終了する。",
        "保守料金は年額15万円である。保守期間は2027年9月30日に終了する。",
        "保守料金は年額いくらですか。",
        "12万円",
        "15万円",
    ),
}


def available() -> bool:
    return OFFICE is not None and (MANUAL / f"{CHAPTER}.en.html").exists() and (MANUAL / f"{CHAPTER}.ja.html").exists()


def word_pair(folder: Path, language: str) -> tuple[Path, Path]:
    """Return two versions of one Word document with the same file name, each in a folder of its own."""
    terms = TERMS[language]
    chapter = _chapter(language)
    old = _written(folder / "old", f"terms-{language}", language, terms.heading, terms.old, chapter, bars=(40, 70, 55))
    new = _written(
        folder / "new", f"terms-{language}", language, terms.heading, terms.new, _edited(chapter), bars=(40, 70, 90)
    )
    return old, new


def _chapter(language: str) -> list[str]:
    """Return the paragraphs, headings and tables of the chapter as HTML, each on its own."""
    text = (MANUAL / f"{CHAPTER}.{language}.html").read_text(encoding="utf-8")
    body = text[text.index("<h1") :]
    pieces = re.findall(r"<(?:h1|h2|h3)\b.*?</(?:h1|h2|h3)>|<p>.*?</p>|<table\b.*?</table>", body, re.S)
    plain = [re.sub(r"<a\b[^>]*>|</a>|<img\b[^>]*>", "", piece) for piece in pieces]
    return [piece for piece in plain if re.sub(r"<[^>]+>|\s", "", piece)]


def _edited(pieces: list[str]) -> list[str]:
    """Return the chapter with a paragraph moved, one removed, one added, and one cell of a table changed."""
    edited = list(pieces)
    paragraphs = [at for at, piece in enumerate(edited) if piece.startswith("<p>") and len(piece) > 150]
    tables = [at for at, piece in enumerate(edited) if piece.startswith("<table")]
    table = max(tables, key=lambda at: edited[at].count("<tr"))
    cells = re.findall(r"<td\b.*?</td>", edited[table], re.S)
    size = next(cell for cell in cells[len(cells) // 2 :] if re.sub(r"<[^>]+>", "", cell).strip().isdigit())
    edited[table] = edited[table].replace(size, "<td>4711</td>", 1)
    moved, removed = paragraphs[1], paragraphs[3]
    text = edited[moved]
    edited[paragraphs[5]] += "<p>Zeppelin maintenance takes place every second Tuesday.</p>"
    edited.insert(paragraphs[-2], text)
    for at in sorted((moved, removed), reverse=True):
        del edited[at]
    return edited


def _written(
    folder: Path, name: str, language: str, heading: str, terms: str, pieces: list[str], *, bars: tuple[int, ...]
) -> Path:
    folder.mkdir(parents=True)
    figure = base64.b64encode(_figure(bars)).decode("ascii")
    page = "\n".join(
        [
            f'<html lang="{language}"><head><meta charset="utf-8"><title>{heading}</title></head><body>',
            f"<h1>{heading}</h1><p>{terms}</p>",
            f'<p><img src="data:image/png;base64,{figure}" width="400" height="240"></p>',
            *pieces,
            "</body></html>",
        ]
    )
    source = folder / f"{name}.html"
    source.write_text(page, encoding="utf-8")
    subprocess.run(
        [
            str(OFFICE),
            f"-env:UserInstallation=file://{folder}/profile",
            "--headless",
            "--infilter=HTML (StarWriter)",
            "--convert-to",
            "docx:MS Word 2007 XML",
            "--outdir",
            str(folder),
            str(source),
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )
    return folder / f"{name}.docx"


def _figure(bars: tuple[int, ...]) -> bytes:
    image = Image.new("RGB", (400, 240), "white")
    draw = ImageDraw.Draw(image)
    for at, height in enumerate(bars):
        draw.rectangle((40 + at * 110, 220 - 2 * height, 120 + at * 110, 220), fill=(60, 80, 190))
    draw.line((20, 220, 380, 220), fill="black", width=2)
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
