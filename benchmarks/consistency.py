"""How fast a store is compared with the catalogue, and in how much memory.

A catalogue and a tantivy index are filled with N chunks of N / 100 documents, some of which are spoilt, and checked by
ids and fingerprints, every version as well. On a busy machine ``chunks_per_cpu_second`` tells more than what a clock
says.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import time
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import insert

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from core.adapters.keyword.memory import MemoryKeywordIndex
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.catalog import KEYWORD, Catalog
from core.catalog.consistency import Making
from core.catalog.documents.chunk_rows import chunk_id
from core.catalog.schema import chunks, documents, publications, version_chunks, versions
from core.indexes.consistency import ConsistencyChecker, Watched
from core.model import Part
from core.model.fingerprint import fingerprint
from core.ports import KeywordRow
from core.text.analysis import ANALYSER_ID

A_DOCUMENT = 100
SPOILT = 97
"""One chunk of so many has no row."""
BATCH = 20_000


def fill(catalog: Catalog, index: TantivyKeywordIndex | MemoryKeywordIndex, count: int, seed: int) -> int:
    """Write chunks into the catalogue and rows into the index; return how many rows were left out."""
    now, chance = datetime.now(UTC), random.Random(seed)
    missing, rows = 0, []
    with catalog.database.write() as tx:
        for doc_id in range(1, count // A_DOCUMENT + 1):
            key = f"doc-{doc_id}.txt"
            tx.execute(insert(documents).values(id=doc_id, doc_key=key, name=key, created_at=now, updated_at=now))
            version = {"id": doc_id, "doc_id": doc_id, "number": 1, "file_name": key, "extension": "txt"}
            kept = {"sha256": "", "sha1": "", "size_bytes": 0, "state": "ready", "claimed_seq": 0, "created_at": now}
            tx.execute(insert(versions).values(**version, **kept, chunk_count=A_DOCUMENT))
            tx.execute(insert(publications).values(doc_id=doc_id, version_id=doc_id, action="publish", at=now))
            hashes = [hashlib.sha256(b"%d %d" % (doc_id, at)).digest() for at in range(A_DOCUMENT)]
            ids = [chunk_id(doc_id, digest) for digest in hashes]
            text = " ".join(chance.choices(("harbour", "ferry", "lighthouse", "pier", "tide"), k=60))
            filler = {"title": key, "heading_path": [], "header": "", "kind": "text", "text": text, "token_count": 60}
            places = [
                {"version_id": doc_id, "position": at, "chunk_id": id, "start": 0, "end": 1, "locator": {}}
                for at, id in enumerate(ids)
            ]
            kept_chunks = [
                {"id": id, "doc_id": doc_id, "content_hash": digest, **filler}
                for id, digest in zip(ids, hashes, strict=True)
            ]
            tx.execute(insert(chunks), kept_chunks)
            tx.execute(insert(version_chunks), places)
            for id, digest in zip(ids, hashes, strict=True):
                if id % SPOILT:
                    rows.append(KeywordRow(id, doc_id, Part.HEAD, "harbour", key, fingerprint(digest, ANALYSER_ID)))
                else:
                    missing += 1
            if len(rows) >= BATCH:
                index.upsert(rows)
                rows.clear()
    index.upsert(rows)
    return missing


def measure(count: int, folder: Path, seed: int) -> dict[str, object]:
    catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}")
    index = TantivyKeywordIndex(folder / "keywords")
    try:
        missing = fill(catalog, index, count, seed)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, worked = time.perf_counter(), time.process_time()
        found, _ = ConsistencyChecker(catalog).check(KEYWORD, Watched(index, lambda: Making(ANALYSER_ID)))
        seconds, cpu_s = time.perf_counter() - started, time.process_time() - worked
        assert (found.missing, found.faults) == (missing, missing)
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return {
            "chunks": count,
            "seconds": round(seconds, 2),
            "chunks_per_second": round(count / seconds),
            "cpu_seconds": round(cpu_s, 2),
            "chunks_per_cpu_second": round(count / cpu_s),
            "memory_mb": round(more / 1024, 1),
            "found_missing": found.missing,
            "versions_checked": found.versions_checked,
        }
    finally:
        index.close()
        catalog.close()


def figures(context: Context) -> dict[str, object]:
    return measure(context.options.chunks, context.workspace, context.seed)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=100_000)


BENCHMARK = Benchmark(
    "consistency", figures, add_options, smallest={"chunks": 200}, small={"chunks": 10_000}, scale="chunks", seed=8
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
