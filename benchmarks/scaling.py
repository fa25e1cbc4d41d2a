"""Shards as processes: what a search over several of them finds and takes, beside one index of all passages.

Passages of ``benchmarks.corpus`` with drawn vectors are dealt out to ``--shards`` processes by their numbers, each with
vectors in memory and tantivy. Each question goes to all of them at once, and what they return is merged: vectors by
distance, keywords by BM25 anew, with the document frequencies and the mean length of all shards together, and both by
reciprocal rank fusion. Told is how often the first ten are those of one index, keywords also as the shards scored them,
and the median and 95th percentile of a search in ms; ``slowest_shard`` is what a search takes where each shard has a
machine of its own. The arithmetic of docs/scaling.md rests on that.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.stores import BATCHES, HEAD, share, written
from benchmarks.vectors import DEPTH, DIMENSION, ROWS_PER_CENTRE, around_centres
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.adapters.vector.hot_vectors import HotVectors
from core.adapters.vector.memory import MemoryVectorIndex
from core.model import IndexHit, Part, TermScore
from core.ports import KeywordRow, Vector, VectorRow
from core.query.search.fuse import fuse
from core.text import bm25
from core.text.analysis import analyse
from core.text.language import detect_language
from core.text.vocabulary import PLAIN

FIRST = 10
ALIKE = 4
_WARM_UP = 5

Question = tuple[Vector, str]


@dataclass(frozen=True)
class Rows:
    """Passages with their numbers and vectors."""

    numbers: range
    vectors: Vector
    texts: Sequence[str]


@dataclass(frozen=True)
class Found:
    """What one index found, and the milliseconds that it took."""

    rows: int
    vector: list[IndexHit]
    keyword: list[IndexHit]
    frequencies: dict[str, int]
    """How many of the rows hold each term of the question that any does."""
    terms: int
    """Terms of all rows together."""
    within: dict[int, Counter[str]]
    """How often each term of the question stands in each row that words found."""
    ms: float


class Index:
    """Both legs over some passages."""

    def __init__(self, folder: Path, rows: Rows) -> None:
        self._count = len(rows.numbers)
        self._vectors = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION, limit=self._count, folder=folder)
        self._vectors.load([])
        self._terms = {
            number: Counter(PLAIN.analyse(text)) for number, text in zip(rows.numbers, rows.texts, strict=True)
        }
        self._length = sum(terms.total() for terms in self._terms.values())
        self._keywords = TantivyKeywordIndex(folder / "keywords")
        vectors = [
            VectorRow(number, number // 20, Part.HEAD, vector, "", "a.txt#v1", number + 1)
            for number, vector in zip(rows.numbers, rows.vectors, strict=True)
        ]
        keywords = [
            KeywordRow(number, number // 20, Part.HEAD, text, "a.txt#v1", number + 1)
            for number, text in zip(rows.numbers, rows.texts, strict=True)
        ]
        self._vectors.upsert(vectors)
        for first in range(0, len(keywords), BATCHES["keyword"]):
            self._keywords.upsert(keywords[first : first + BATCHES["keyword"]])

    def search(self, question: Question) -> Found:
        began = time.perf_counter()
        near = self._vectors.search(question[0], DEPTH, HEAD)
        worded = self._keywords.search(question[1], DEPTH, HEAD)
        frequencies = _frequencies(worded)
        # What no hit holds can still be in rows that were not among the first.
        for term in {*analyse(question[1], detect_language(question[1]))} - frequencies.keys():
            frequencies |= _frequencies(self._keywords.search(term, 1, HEAD))
        ms = (time.perf_counter() - began) * 1000
        within = {
            hit.chunk_id: Counter({each.term: self._terms[hit.chunk_id][each.term] for each in hit.terms})
            for hit in worded
        }
        return Found(self._count, near, worded, frequencies, self._length, within, ms)

    def close(self) -> None:
        self._vectors.close()
        self._keywords.close()


def _frequencies(hits: Sequence[IndexHit]) -> dict[str, int]:
    return {term.term: term.document_frequency for hit in hits for term in hit.terms}


def serve_shard(asked: Connection, rows: Rows) -> None:
    """Answer the questions that come until there is none."""
    with tempfile.TemporaryDirectory() as folder, closing(Index(Path(folder), rows)) as index:
        asked.send(len(rows.numbers))
        while (question := asked.recv()) is not None:
            asked.send(index.search(question))


@contextmanager
def shards(rows: Rows, count: int) -> Iterator[Callable[[Question], list[Found]]]:
    """Give what asks all of so many processes, each of which has every so-manieth passage."""
    context = multiprocessing.get_context("spawn")
    ends = []
    for number in range(count):
        some = Rows(rows.numbers[number::count], rows.vectors[number::count], rows.texts[number::count])
        here, there = context.Pipe()
        context.Process(target=serve_shard, args=(there, some), daemon=True).start()
        ends.append(here)
    for end in ends:
        end.recv()

    def ask(question: Question) -> list[Found]:
        for end in ends:
            end.send(question)
        return [end.recv() for end in ends]

    try:
        yield ask
    finally:
        for end in ends:
            end.send(None)


def merged_vectors(found: Sequence[Found]) -> list[IndexHit]:
    return sorted((hit for one in found for hit in one.vector), key=lambda hit: (hit.score, hit.chunk_id))[:DEPTH]


def merged_keywords(found: Sequence[Found], *, anew: bool = True) -> list[IndexHit]:
    """Return the best hits, scored ``anew`` with what all shards hold, or as they came."""
    held: dict[str, int] = defaultdict(int)
    for one in found:
        for term, frequency in one.frequencies.items():
            held[term] += frequency
    count = sum(one.rows for one in found)
    idfs = {term: bm25.idf(count, frequency) for term, frequency in held.items()}
    mean = sum(one.terms for one in found) / count
    scored = [
        (
            sum(idfs[each.term] * _tf_among(one, hit.chunk_id, each, mean) for each in hit.terms)
            if anew
            else hit.score,
            hit,
        )
        for one in found
        for hit in one.keyword
    ]
    # An index sums in 32 bits: what differs behind that scores alike.
    scored.sort(key=lambda each: (-round(each[0], ALIKE), each[1].chunk_id))
    return [IndexHit(hit.chunk_id, score, hit.terms) for score, hit in scored[:DEPTH]]


def _tf_among(shard: Found, number: int, term: TermScore, mean: float) -> float:
    """Return what a term is worth in a row where rows have that ``mean`` length, from what it is worth in its shard."""
    frequency = shard.within[number][term.term]
    # The index keeps lengths rounded, so the length is taken from the score.
    share = (frequency * (bm25.K1 + 1) / term.tf - frequency - bm25.K1 * (1 - bm25.B)) / (bm25.K1 * bm25.B)
    return bm25.tf_part(frequency, share * shard.terms / shard.rows, mean)


def first_of(hits: Sequence[Any]) -> list[int]:
    return [hit.chunk_id for hit in hits[:FIRST]]


def measured(context: Context) -> dict[str, Any]:
    options = context.options
    centres = max(1, options.chunks // ROWS_PER_CENTRE)
    vectors = around_centres(options.chunks, 1, centres, context.seed)
    texts, worded = written(options.chunks, options.questions, context.seed)
    near = around_centres(len(worded), 2, centres, context.seed)
    rows = Rows(range(options.chunks), vectors, texts)
    questions: list[Question] = list(zip(near, worded, strict=True))
    with closing(Index(context.workspace, rows)) as index:
        whole = [index.search(question) for question in [*questions[:_WARM_UP], *questions]][-len(questions) :]
    same: dict[str, list[float]] = defaultdict(list)
    times: dict[str, list[float]] = {"one_index": [one.ms for one in whole], "merged": [], "slowest_shard": []}
    with shards(rows, options.shards) as ask:
        for question in questions[:_WARM_UP]:
            ask(question)
        for question, one in zip(questions, whole, strict=True):
            began = time.perf_counter()
            found = ask(question)
            vector, keyword = merged_vectors(found), merged_keywords(found)
            fused = fuse(vector, keyword)
            times["merged"].append((time.perf_counter() - began) * 1000)
            times["slowest_shard"].append(max(each.ms for each in found))
            for name, hits, true in (
                ("vector", vector, one.vector),
                ("keyword", keyword, one.keyword),
                ("keyword_as_scored", merged_keywords(found, anew=False), one.keyword),
                ("fused", fused, fuse(one.vector, one.keyword)),
            ):
                same[name].append(share(first_of(hits), first_of(true)))
    return {
        "chunks": options.chunks,
        "shards": options.shards,
        "questions": len(questions),
        "same_10": {name: round(statistics.mean(shares), 4) for name, shares in same.items()},
        **{
            name: {"p50_ms": round(statistics.median(of), 2), "p95_ms": round(float(np.percentile(of, 95)), 2)}
            for name, of in times.items()
        },
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=40_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--questions", type=int, default=100)


BENCHMARK = Benchmark(
    "scaling",
    measured,
    add_options,
    smallest={"chunks": 80, "shards": 2, "questions": 2},
    small={"chunks": 4_000, "shards": 4, "questions": 50},
    scale="chunks",
    seed=1,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
