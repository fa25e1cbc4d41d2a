"""How well and how fast characters are recognised, of pages of PDFs that are drawn, spoilt and held against their text.

Each page is drawn as a scanner would see it: clean, turned by .6 degrees, and turned and blurred as well. ``errors`` is
the share of the page's characters that are wrong, without blanks and whatever the order of the lines; quotation marks
and dashes of all shapes count as the same.
"""

from __future__ import annotations

import argparse
import random
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from core.adapters.ocr import ocr_engine
from core.adapters.ocr.rapid import RapidOcr
from core.adapters.ocr.tesseract import Tesseract
from core.errors import EvoRAGError
from core.ingest.recognition.pictures import DPI
from core.platform.processors import usable_processors
from core.ports import Ocr
from core.sample import documents

FEW_CHARS = 200
CONDITIONS = {"clean": (0.0, 0.0), "turned": (0.6, 0.0), "turned_blurred": (0.6, 1.0)}
"""Degrees, and the radius of the blur in pixels."""
_LIKE = str.maketrans(
    {"”": '"', "“": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "−": "-", "•": "", "・": "", "·": ""}
)


Page = tuple[Image.Image, str]


def measure(context: Context) -> dict[str, Any]:
    given = context.options
    sources = sorted(given.folder.rglob("*.pdf")) if given.folder else _samples()
    pages = [page for source in sources for page in _pages(source, given.pages, random.Random(context.seed))]
    if not pages:
        raise SystemExit("No PDF there has a page with text.")
    found: dict[str, Any] = {"pages": len(pages)}
    for name in given.engines:
        try:
            engine = _engine(name)
        except EvoRAGError as error:
            found[name] = {"skipped": error.message}
            continue
        found[name] = {condition: _judged(engine, pages, condition) for condition in given.conditions}
    return found


def _samples() -> list[Path]:
    return [each.path for each in documents() if each.path.suffix == ".pdf"]


def _engine(name: str) -> Ocr:
    """Raises: ``ParserFailed`` where the engine is not installed."""
    kind = RapidOcr if ocr_engine(name).endswith("RapidOcr") else Tesseract
    return kind(usable_processors())


def _pages(source: Path, most: int, chance: random.Random) -> Iterator[Page]:
    """Draw some pages that have text to be judged by."""
    document = pypdfium2.PdfDocument(source)
    numbers = list(range(len(document)))
    chance.shuffle(numbers)
    for number in numbers:
        text = document[number].get_textpage().get_text_range()
        if most and len(plain(text)) >= FEW_CHARS:
            most -= 1
            yield document[number].render(scale=DPI / 72).to_pil().convert("RGB"), text


def _judged(engine: Ocr, pages: Sequence[Page], condition: str) -> dict[str, float]:
    degrees, blur = CONDITIONS[condition]
    shares, seconds = [], []
    for picture, text in pages:
        if blur:
            picture = picture.filter(ImageFilter.GaussianBlur(blur))
        if degrees:
            picture = picture.rotate(degrees, resample=Image.Resampling.BICUBIC, fillcolor="white")
        began = time.perf_counter()
        lines = engine.lines(np.asarray(picture))
        seconds.append(time.perf_counter() - began)
        wanted, there = Counter(plain(text)), Counter(plain("".join(line.text for line in lines)))
        shares.append(sum((wanted - there).values()) / sum(wanted.values()))
    return {
        "errors": round(fmean(shares), 4),
        "median_errors": round(median(shares), 4),
        "worst": round(max(shares), 4),
        "s_a_page": round(fmean(seconds), 2),
    }


def plain(text: str) -> str:
    """Return a text without what recognition need not tell apart."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).translate(_LIKE)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, help="PDFs to draw pages of (the sample's)")
    parser.add_argument("--pages", type=int, default=8, help="pages of each PDF (%(default)s)")
    parser.add_argument("--engines", nargs="+", default=["rapidocr", "tesseract"])
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=list(CONDITIONS))


BENCHMARK = Benchmark(
    "ocr",
    measure,
    add_options,
    smallest={"pages": 1, "engines": ["rapidocr"], "conditions": ["clean"]},
    small={"pages": 2},
    scale="pages",
    seed=4,
    units={"errors$|worst$": ("share", "lower"), "s_a_page$": ("s", "lower")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
