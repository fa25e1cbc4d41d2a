"""The libraries under EvoRAG called directly: what its own layers cost is the difference to these."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import tantivy

from benchmarks.corpus import Floats, Vectors, Writer, passages
from benchmarks.machine import resident_mb
from core.evaluation.measure_folder import Question, QuestionSetPassage
from core.evaluation.metrics import ndcg_at, percentile, recall_at, reciprocal_rank_at
from core.model import IndexHit

DEPTH = 50
DIMENSION = 384
SHOWN = 10
WARM_UP = 20
_RRF = 60
_INSERT_BATCH = 1_000
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々]+")
_WORD = re.compile(r"\w+")

Search = Callable[[Any], list[IndexHit]]


class Keywords:
    """A tantivy index of texts: stemmed English, and Japanese by pairs of signs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", stored=False, tokenizer_name="en_stem", index_option="freq")
        builder.add_bytes_field("source", stored=True, indexed=False)
        builder.add_integer_field("number", stored=True, indexed=True, fast=True)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, str(folder))
        self._writer = self._index.writer(heap_size=256_000_000, num_threads=1)

    def add(self, number: int, text: str) -> None:
        self._writer.add_document(tantivy.Document(body=_paired(text), source=text.encode(), number=number))

    def remove(self, number: int) -> None:
        self._writer.delete_documents("number", number)

    def commit(self) -> None:
        self._writer.commit()

    def settle(self) -> None:
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._index.reload()

    def search(self, question: str, depth: int) -> list[int]:
        searcher = self._index.searcher()
        words = sorted(set(_WORD.findall(_paired(question).lower())))
        query = self._index.parse_query(" ".join(words), ["body"])
        found = searcher.search(query, depth, count=False).hits
        return [int(searcher.doc(address)["number"][0]) for _, address in found]

    def text(self, number: int) -> bytes:
        searcher = self._index.searcher()
        [(_, address)] = searcher.search(tantivy.Query.term_query(self._schema, "number", number), 1, count=False).hits
        return bytes(searcher.doc(address)["source"][0])


def run(count: int, seed: int, folder: Path, questions: int) -> dict[str, Any]:
    """Write the collection of ``benchmarks.latency``, and fuse the ranks of both indexes for its questions."""
    faiss.omp_set_num_threads(1)
    writers, vectors = (Writer("en", seed), Writer("ja", seed)), Vectors(DIMENSION, seed)
    texts, keywords = passages(writers, count), Keywords(folder / "keywords")
    index = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    asked: list[tuple[str, Floats]] = []
    every = max(1, count // 200)
    number, started = 0, time.perf_counter()
    while few := list(islice(texts, 50)):
        drawn = vectors.draw(len(few))
        if not index.is_trained:
            index.train(drawn)
        index.add(drawn)
        for passage, vector in zip(few, drawn, strict=True):
            keywords.add(number, passage.text)
            if number % every == 0:
                asked.append((writers[number % 2].question(passage), vectors.near(vector)))
            number += 1
    keywords.settle()
    writing_s = time.perf_counter() - started
    asked = asked[:: max(1, len(asked) // questions)][:questions]
    for text, vector in asked[:WARM_UP]:
        _fused(keywords, index, text, vector)
    times = []
    for text, vector in asked:
        started = time.perf_counter()
        _fused(keywords, index, text, vector)
        times.append((time.perf_counter() - started) * 1000)
    measured = {
        "p50_ms": float(np.percentile(times, 50)),
        "p95_ms": float(np.percentile(times, 95)),
        "mean_ms": float(np.mean(times)),
    }
    return {"chunks": count, "without_embedding": measured, "writing_s": writing_s, "resident_mb": resident_mb()}


def write(count: int, edited: float, folder: Path, rows: Iterator[tuple[str, Floats]]) -> dict[str, Any]:
    """Write texts with their vectors durably, then a share of them anew: the rows of ``benchmarks.writing``."""
    faiss.omp_set_num_threads(1)
    keywords = Keywords(folder / "keywords")
    flat = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index, file = faiss.IndexIDMap2(flat), str(folder / "vectors")
    again: list[tuple[str, Floats]] = []
    number, used, spent = 0, 0.0, 0.0
    # What makes the texts takes longer than writing them, and is not counted.
    while some := list(islice(rows, _INSERT_BATCH)):
        before, started = time.process_time(), time.perf_counter()
        vectors = np.stack([vector for _, vector in some])
        if not number:
            index.train(vectors)
        again += some[: max(1, round(count * edited)) - len(again)]
        index.add_with_ids(vectors, np.arange(number, number + len(some)))
        for at, (text, _) in enumerate(some):
            keywords.add(number + at, text)
        number += len(some)
        used, spent = used + time.process_time() - before, spent + time.perf_counter() - started
    before, started = time.process_time(), time.perf_counter()
    keywords.commit()
    faiss.write_index(index, file)
    used, spent = used + time.process_time() - before, spent + time.perf_counter() - started
    before, started = time.process_time(), time.perf_counter()
    ids = np.arange(len(again))
    index.remove_ids(ids)
    index.add_with_ids(np.stack([vector for _, vector in again]), ids)
    for at, (text, _) in enumerate(again):
        keywords.remove(at)
        keywords.add(at, f"{text} revised")
    keywords.commit()
    faiss.write_index(index, file)
    return {
        "chunks": count,
        "chunks_a_second": count / spent,
        "chunks_a_processor_second": count / used,
        "writing_s": spent,
        "edit": {"seconds": time.perf_counter() - started, "processor_s": time.process_time() - before},
        "resident_mb": resident_mb(),
    }


def _fused(keywords: Keywords, index: Any, text: str, vector: Floats) -> list[tuple[int, bytes]]:
    _, [near] = index.search(vector.reshape(1, -1), DEPTH)
    scores: dict[int, float] = {}
    for found in (near.tolist(), keywords.search(text, DEPTH)):
        for rank, number in enumerate(found, 1):
            if number >= 0:
                scores[number] = scores.get(number, 0.0) + 1 / (_RRF + rank)
    best = sorted(scores, key=lambda number: scores[number], reverse=True)[:SHOWN]
    return [(number, keywords.text(number)) for number in best]


def bm25(passages: Sequence[QuestionSetPassage], questions: Sequence[Question], folder: Path) -> dict[str, Any]:
    """Rank the passages by tantivy alone."""
    keywords = Keywords(folder / f"bm25-{len(list(folder.iterdir()))}")
    for number, passage in enumerate(passages):
        keywords.add(number, f"{passage.title}\n{passage.text}")
    keywords.settle()
    times, ranked = [], []
    for question in questions:
        started = time.perf_counter()
        ranked.append([passages[number].id for number in keywords.search(question.text, DEPTH)])
        times.append((time.perf_counter() - started) * 1000)
    judged = [(ids, q.passage_ids) for ids, q in zip(ranked, questions, strict=True) if q.passage_ids]
    means = {"recall@10": recall_at, "ndcg@10": ndcg_at, "mrr@10": reciprocal_rank_at}
    return {
        **{name: float(np.mean([mean(ids, right, 10) for ids, right in judged])) for name, mean in means.items()},
        "ask_p50_ms": percentile(times, 0.5),
    }


@contextmanager
def faiss_index(vectors: Floats) -> Iterator[Search]:
    """Give a search of the vectors in half precision, all of them looked at."""
    faiss.omp_set_num_threads(1)
    index = faiss.IndexScalarQuantizer(DIMENSION, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)

    def search(query: Floats) -> list[IndexHit]:
        [scores], [ids] = index.search(query.reshape(1, -1), DEPTH)
        return _hits((int(number), float(score)) for number, score in zip(ids, scores, strict=True) if number >= 0)

    yield search


@contextmanager
def milvus_lite(vectors: Floats, folder: Path) -> Iterator[Search]:
    """Give a search of the vectors in a Milvus Lite file."""
    from pymilvus import MilvusClient

    client = MilvusClient(str(folder / "direct.db"))
    try:
        client.create_collection("direct", dimension=DIMENSION, metric_type="IP")
        for first in range(0, len(vectors), _INSERT_BATCH):
            some = enumerate(vectors[first : first + _INSERT_BATCH], start=first)
            client.insert("direct", [{"id": number, "vector": vector.tolist()} for number, vector in some])

        def search(query: Floats) -> list[IndexHit]:
            [found] = client.search("direct", data=[query.tolist()], limit=DEPTH)
            return _hits((int(hit["id"]), float(hit["distance"])) for hit in found)

        yield search
    finally:
        client.close()


def _hits(found: Iterator[tuple[int, float]]) -> list[IndexHit]:
    return [IndexHit(number, score) for number, score in found]


def _paired(text: str) -> str:
    """Return a text in which a run of Japanese stands as its pairs of signs."""

    def pairs(match: re.Match[str]) -> str:
        signs = match[0]
        return f" {' '.join(signs[at : at + 2] for at in range(len(signs) - 1)) or signs} "

    return _JAPANESE.sub(pairs, text)
