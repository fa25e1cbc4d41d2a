"""A long text from real manuals, and edits of it as people make them: what the measures of versions are taken on.

The text is that of Debian's reference manuals, English and Japanese by turns (package ``debian-reference``), or of
``benchmarks.corpus`` where they are not installed. A manual is used again with every tenth word replaced by another of
its words, and by others each time, so that few paragraphs occur twice.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

from benchmarks.corpus import Writer

PAGE_CHARACTERS = 2_800
"""A page of the manuals as PDF: 3,100 characters in English, 2,540 in Japanese."""

_MANUALS = tuple(Path(f"/usr/share/debian-reference/debian-reference.{language}.txt.gz") for language in ("en", "ja"))
_WORD = re.compile(r"[A-Za-z]{4,}|[\u3400-\u9fff]{2}")
_HEADING = re.compile(r"(?:Chapter\s|第)?(\d+(?:\.\d+)*)[.章]?\s\S.{0,80}\Z")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|\Z)|[。！？]+")

Edit = Callable[[list[str], float, random.Random], list[str]]
"""Makes new paragraphs of the old ones; each place that it touches holds ``MARK``."""
MARK = "revised"


def paragraphs(pages: int) -> list[str]:
    """Return the paragraphs of so many pages; headings stand at the margin and begin with their number."""
    wanted, length = pages * PAGE_CHARACTERS, 0
    taken: list[str] = []
    for paragraph in _endless():
        taken.append(paragraph)
        length += len(paragraph) + 2
        if length >= wanted:
            break
    return taken


def source() -> str:
    """Say what ``paragraphs`` takes its text from."""
    found = all(path.exists() for path in _MANUALS)
    return "Debian reference manuals, English and Japanese" if found else "made text, English and Japanese"


def _endless() -> Iterator[str]:
    if not all(path.exists() for path in _MANUALS):
        writers = (Writer("en", seed=1), Writer("ja", seed=2))
        while True:
            yield from (writer.passage(60).text for writer in writers)
    manuals = [gzip.decompress(path.read_bytes()).decode().split("\n\n") for path in _MANUALS]
    copy = 0
    while True:
        for manual in manuals:
            words = sorted(set(_WORD.findall(" ".join(manual))))
            yield from (_varied(paragraph, words, copy) for paragraph in manual if not paragraph.isspace())
        copy += 1


def _varied(paragraph: str, words: list[str], copy: int) -> str:
    if not copy:
        return paragraph

    def other(match: re.Match[str]) -> str:
        draw = crc32(f"{match.group()} {copy}".encode())
        return words[draw // 10 % len(words)] if draw % 10 == 0 else match.group()

    return _WORD.sub(other, paragraph)


def plain(taken: list[str]) -> str:
    """Return paragraphs as plain text, which has no headings."""
    return "\n\n".join(taken) + "\n"


def marked(taken: list[str]) -> str:
    """Return paragraphs as Markdown; a heading is as deep as its number has parts."""

    def line(paragraph: str) -> str:
        match = _HEADING.match(paragraph)
        return f"{'#' * min(match[1].count('.') + 1, 6)} {paragraph}" if match else paragraph

    return "\n\n".join(map(line, taken)) + "\n"


def _sentences(paragraph: str) -> int:
    return 0 if _HEADING.match(paragraph) else max(len(_SENTENCE_END.findall(paragraph)), 1)


def _rewritten(paragraph: str) -> str:
    """Return a paragraph with a word more in each of its sentences, or a heading as it is."""
    if _HEADING.match(paragraph):
        return paragraph
    changed, count = _SENTENCE_END.subn(lambda end: f" {MARK}{end.group()}", paragraph)
    return changed if count else f"{paragraph} {MARK}"


def in_one_place(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Change every sentence of one stretch that has ``share`` of all sentences."""
    return _in_places(taken, share, chance, 1)


def in_ten_places(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Change every sentence of ten stretches that together have ``share`` of all sentences."""
    return _in_places(taken, share, chance, 10)


def _in_places(taken: list[str], share: float, chance: random.Random, places: int) -> list[str]:
    wanted = share * sum(map(_sentences, taken)) / places
    edited = list(taken)
    for place in range(places):
        span = len(taken) // places
        at = place * span + chance.randrange(max(span // 2, 1))
        done = 0.0
        while done < wanted and at < len(taken):
            edited[at] = _rewritten(taken[at])
            done += _sentences(taken[at])
            at += 1
    return edited


def scattered(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Change one word in ``share`` of the paragraphs, drawn by chance."""
    edited = list(taken)
    texts = [at for at, each in enumerate(taken) if not _HEADING.match(each)]
    for at in chance.sample(texts, max(int(share * len(texts)), 1)):
        edited[at] = f"{taken[at]} {MARK} {at}"
    return edited


def inserted_at_top(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Insert one paragraph before all others."""
    return [f"What is {MARK} in this edition is told in the last chapter.", *taken]


def short_lines(size: int, chance: random.Random) -> list[str]:
    """Return a text of so many bytes as lines of some 30 characters, most of which occur many times."""
    words = (
        "alarm",
        "belt",
        "check",
        "deck",
        "fan",
        "gate",
        "level",
        "motor",
        "north",
        "pump",
        "shift",
        "tide",
        "unit",
    )
    known = [" ".join(chance.choices(words, k=chance.randint(4, 8))) for _ in range(20_000)]
    lines, length = [], 0
    while length < size:
        lines.append(known[chance.randrange(len(known))])
        length += len(lines[-1]) + 1
    return lines


def chapter_inserted(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Insert ``share`` of new paragraphs in one place."""
    count = max(int(share * len(taken)), 1)
    at = chance.randrange(len(taken))
    return [*taken[:at], *map(_rewritten, taken[-count:]), *taken[at:]]


def part_removed(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Remove ``share`` of the paragraphs in one place."""
    at = chance.randrange(len(taken))
    return [*taken[:at], *taken[at + max(int(share * len(taken)), 1) :]]


def heading_renamed(taken: list[str], share: float, chance: random.Random) -> list[str]:
    """Rename one heading of the second level."""
    headings = [at for at, each in enumerate(taken) if (match := _HEADING.match(each)) and match[1].count(".") == 1]
    edited = list(taken)
    if headings:
        at = chance.choice(headings)
        edited[at] += f" {MARK}"
    return edited


EDITS: dict[str, Edit] = {
    edit.__name__: edit
    for edit in (
        in_one_place,
        in_ten_places,
        scattered,
        inserted_at_top,
        chapter_inserted,
        part_removed,
        heading_renamed,
    )
}


def table(rows: int) -> list[tuple[str, ...]]:
    """Return a header and rows of five cells."""
    chance = random.Random(4)
    goods = ("valve", "pump", "lamp", "弁", "ポンプ", "cable", "spring", "軸受", "gasket", "filter")
    header = ("No", "Article", "Quantity", "Price", "Remark")
    made = (
        (
            str(number),
            f"{chance.choice(goods)} {chance.randint(100, 999)}",
            str(chance.randint(1, 500)),
            f"{chance.randint(1, 90_000) / 100:.2f}",
            chance.choice(("", "on order", "在庫あり", f"shelf {chance.randint(1, 40)}")),
        )
        for number in range(1, rows + 1)
    )
    return [header, *made]
