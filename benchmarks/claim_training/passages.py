"""The passages that claims were written over: of the training sets, and of pages of help and manuals of Debian 12."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lxml import etree

from benchmarks.reader_training import pages
from benchmarks.reader_training.pages import Entry, Page

ARTICLES = ("articles", "articles_ja")
"""Sheets of whole articles; the others are of single passages."""
PACKAGES = ("gnome-user-docs", "evolution-common", "orca", "manpages", "libreoffice-help-ja", "gimp-help-ja")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage under its id, which is its own in its sheet."""

    id: str
    title: str
    text: str


def sheets(training: Path, packages: Path) -> dict[str, list[Source]]:
    """Return the sheets by name; the same every time, and only as far as the texts are there."""
    rng = random.Random(5)
    wiki = _drawn(training / "en-wiki", 260, 500, 1400, rng)
    mixed = [
        *_drawn(training / "en-reddit", 50, 300, 1200, rng),
        *_drawn(training / "en-amazon", 30, 300, 1200, rng),
        *_drawn(training / "en-policy", 50, 300, 1400, rng),
    ]
    ja = _drawn(training / "ja-jaquad", 260, 180, 700, rng)
    found = {"wiki1": wiki[:130], "wiki2": wiki[130:], "mixed": mixed, "ja1": ja[:130], "ja2": ja[130:]}
    found["articles"] = _articles(training / "en-wiki", 130, 3000, 6500)
    found["articles_ja"] = _articles(training / "ja-jaquad", 80, 1500, 3000)
    if not packages.is_dir():
        return found
    manual = _shuffled(pages.manual_pages(packages), rng)
    gnome = _shuffled(_desktop(packages, "C"), rng)
    gnome_ja = _shuffled((page for page in _desktop(packages, "ja") if _kana(page) > 40), rng)
    found["manuals_en"] = _cut(islice(gnome, 150), 65, 300, 1200, rng) + _cut(manual, 65, 350, 1200, rng)
    office_root = packages / "libreoffice-help-ja/usr/share/libreoffice/help/ja/text"
    office = _shuffled(_html(office_root, pages.office_entries), rng)
    image_root = packages / "gimp-help-ja/usr/share/gimp/2.0/help/ja"
    image = [page for page in _shuffled(_html(image_root, pages.image_entries), rng) if _kana(page)]
    parts = (gnome_ja, office, image)
    found["manuals_ja"] = [source for part in parts for source in _cut(part, 45, 150, 700, rng)]
    return found


def _drawn(folder: Path, count: int, shortest: int, longest: int, rng: random.Random) -> list[Source]:
    """Return passages of as many articles as there are, one of each, then a second of each, and so on."""
    by_title: dict[str, list[Source]] = {}
    with (folder / "passages.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if shortest <= len(row["text"]) <= longest:
                by_title.setdefault(row["title"], []).append(Source(row["id"], row["title"], row["text"]))
    titles = list(by_title)
    rng.shuffle(titles)
    drawn: list[Source] = []
    while len(drawn) < count and titles:
        for title in list(titles):
            if not by_title[title]:
                titles.remove(title)
                continue
            drawn.append(by_title[title].pop(rng.randrange(len(by_title[title]))))
            if len(drawn) >= count:
                break
    return drawn


def _articles(folder: Path, count: int, shortest: int, longest: int) -> list[Source]:
    """Return articles under their titles: of their passages those that fit, in their order.

    They are drawn by themselves, so that what the other sheets draw stays as it was.
    """
    by_title: dict[str, list[str]] = {}
    with (folder / "passages.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            texts = by_title.setdefault(row["title"], [])
            if sum(map(len, texts)) + len(row["text"]) <= longest:
                texts.append(row["text"])
    long = [Source(title, title, "\n".join(texts)) for title, texts in sorted(by_title.items())]
    long = [source for source in long if len(source.text) >= shortest]
    return random.Random(6).sample(long, min(count, len(long)))


def _desktop(folder: Path, language: str) -> Iterator[Page]:
    for path in sorted(folder.glob(f"*/usr/share/help/{language}/**/*.page")):
        try:
            title, entries = pages.desktop_entries(path)
        except etree.XMLSyntaxError:
            continue
        if entries:
            yield Page(path.stem, language, title, list(entries.values()))


def _html(root: Path, read: pages.ReadEntries) -> Iterator[Page]:
    for path in sorted(root.rglob("*.html")):
        title, entries = read(path)
        if entries:
            yield Page(path.stem, "ja", title, list(entries.values()))


def _shuffled(found: Iterable[Page], rng: random.Random) -> list[Page]:
    every = list(found)
    rng.shuffle(every)
    return every


def _kana(page: Page) -> int:
    return sum("ぁ" <= letter <= "ん" for entry in page.entries for letter in entry.text)


def _cut(found: Iterable[Page], count: int, shortest: int, longest: int, rng: random.Random) -> list[Source]:
    """Return stretches of pages, at most two of a page."""
    cut: list[tuple[str, str, str]] = []
    for page in found:
        text = ""
        for entry in page.entries:
            line = _line(entry)
            if len(text) + len(line) > longest:
                if len(text) >= shortest:
                    cut.append((page.name, page.title, text))
                text = ""
            text += line + "\n"
        if len(text) >= shortest:
            cut.append((page.name, page.title, text))
    rng.shuffle(cut)
    seen: dict[str, int] = {}
    sources: list[Source] = []
    for name, title, text in cut:
        if seen.get(name, 0) >= 2 or len(text) > longest + 900:
            continue
        seen[name] = seen.get(name, 0) + 1
        sources.append(Source(f"{name}#{seen[name]}", title, text.strip()))
        if len(sources) >= count:
            break
    return sources


def _line(entry: Entry) -> str:
    if not entry.term:
        return entry.text.strip()
    return (f"{entry.term}\n{entry.text}" if entry.is_heading else f"{entry.term}: {entry.text}").strip()
