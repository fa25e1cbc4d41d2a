"""Whether Elasticsearch ranks as tantivy does, and its analyser as ours.

Both index the passages of a question set and are asked the same questions. Told are the share of questions with the
same ten best passages, as a set and in order, and the reasons of the others; the share of the tokens of
``core.text.analysis`` that the server's own analyser of the field ``content`` gives too, with the differences by kind;
and the time of a search. Without ``--url`` the node of the tests is started.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import note
from core.adapters.keyword.elastic import ElasticKeywordIndex
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.evaluation.measure_folder import QuestionSetPassage, read_passages, read_questions
from core.evaluation.metrics import percentile
from core.model import IndexHit, Part
from core.ports import KeywordIndex, KeywordRow
from core.text.analysis import analyse

DEPTH = 10
EXAMPLES = 12
_BATCH = 500
_JAPANESE = re.compile("[\u3005-\u30ff\u3400-\u9fff]")


def rows_of(passages: Sequence[QuestionSetPassage]) -> list[KeywordRow]:
    """Return one row a passage, with its title before its text as EvoRAG indexes it."""
    return [
        KeywordRow(n, n, Part.HEAD, f"{passage.title}\n{passage.text}", f"{passage.id}#v1")
        for n, passage in enumerate(passages, 1)
    ]


def kind_of(token: str) -> str:
    """Tell what a token is made of."""
    if _JAPANESE.search(token):
        return "japanese"
    if token.isalpha():
        return "letters"
    return "digits" if token.isdigit() else "code"


def tokens_of(client: Elasticsearch, alias: str, text: str) -> list[str]:
    """Return what the server's analyser of the text makes of it."""
    reply = client.indices.analyze(index=alias, field="content", text=text)
    return [token["token"] for token in reply["tokens"]]


def compare_tokens(client: Elasticsearch, alias: str, passages: Sequence[QuestionSetPassage]) -> dict[str, Any]:
    """Compare the tokens of the texts, each as often as it stands there."""
    ours: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    added: Counter[str] = Counter()
    for passage in passages:
        here = Counter(analyse(passage.text))
        there = Counter(tokens_of(client, alias, passage.text))
        ours += here
        missed += here - there
        added += there - here
    kinds = {kind_of(token) for token in ours}
    totals = {kind: sum(count for token, count in ours.items() if kind_of(token) == kind) for kind in kinds}
    lacking = {kind: sum(count for token, count in missed.items() if kind_of(token) == kind) for kind in kinds}
    return {
        "tokens": ours.total(),
        "shared": 1 - missed.total() / max(ours.total(), 1),
        "added": added.total() / max(ours.total(), 1),
        "kinds": {kind: {"tokens": totals[kind], "shared": 1 - lacking[kind] / totals[kind]} for kind in sorted(kinds)},
        "ours_only": dict(missed.most_common(EXAMPLES)),
        "theirs_only": dict(added.most_common(EXAMPLES)),
    }


def why_different(first: Sequence[IndexHit], second: Sequence[IndexHit]) -> str:
    """Say why the ten best differ: by rows that score alike at the end, or by scores."""
    scores = {hit.chunk_id: hit.score for hit in second}
    last = min(hit.score for hit in second) if second else 0.0
    others = [hit for hit in first if hit.chunk_id not in scores]
    return "near the tenth score" if all(abs(hit.score - last) < 0.01 * last for hit in others) else "other scores"


def compare_ranks(first: KeywordIndex, second: KeywordIndex, questions: Sequence[str]) -> dict[str, Any]:
    """Ask both every question."""
    same = ordered = 0
    reasons: Counter[str] = Counter()
    largest = 0.0
    examples: list[dict[str, Any]] = []
    times: dict[str, list[float]] = {first.engine: [], second.engine: []}

    def asked(index: KeywordIndex, text: str) -> list[IndexHit]:
        started = time.perf_counter()
        hits = index.search(text, DEPTH, [Part.HEAD])
        times[index.engine].append((time.perf_counter() - started) * 1000)
        return hits

    for text in questions:
        one, two = asked(first, text), asked(second, text)
        ids, other_ids = [hit.chunk_id for hit in one], [hit.chunk_id for hit in two]
        scores = {hit.chunk_id: hit.score for hit in two}
        differences = [abs(hit.score - scores[hit.chunk_id]) / hit.score for hit in one if hit.chunk_id in scores]
        largest = max([largest, *differences])
        ordered += ids == other_ids
        if set(ids) == set(other_ids):
            same += 1
            continue
        reasons[why_different(one, two)] += 1
        examples.append({"question": text, first.engine: ids, second.engine: other_ids})
    return {
        "questions": len(questions),
        "same_ten": same / len(questions),
        "same_order": ordered / len(questions),
        "largest_difference_of_a_score": largest,
        "reasons": dict(reasons),
        "examples": examples[:EXAMPLES],
        "p50_ms": {engine: percentile(found, 0.5) for engine, found in times.items()},
        "p95_ms": {engine: percentile(found, 0.95) for engine, found in times.items()},
    }


def compare(url: str, folder: Path, count: int, work: Path) -> dict[str, Any]:
    """Compare the two engines on one set."""
    passages = read_passages(folder)
    questions = [question.text for question in read_questions(folder)]
    chosen = questions[:: max(1, len(questions) // count)][:count]
    name = f"agreement-{folder.name}"
    server = ElasticKeywordIndex(url, name=name, timeout_s=60.0)
    client = Elasticsearch(url, request_timeout=60.0)
    local = TantivyKeywordIndex(work / folder.name)
    seconds: dict[str, float] = {}
    server.clear()
    for index in (local, server):
        started = time.perf_counter()
        rows = rows_of(passages)
        for at in range(0, len(rows), _BATCH):
            index.upsert(rows[at : at + _BATCH])
        seconds[index.engine] = time.perf_counter() - started
        note(f"{folder.name}: {len(rows)} passages in {index.engine}, {seconds[index.engine]:.1f} s")
    report = {
        "passages": len(passages),
        "index_s": seconds,
        "ranks": compare_ranks(local, server, chosen),
        "tokens": compare_tokens(client, f"{name}-{Part.HEAD.value}", passages),
    }
    client.close()
    local.close()
    server.close()
    return report


@contextmanager
def _server(url: str, work: Path) -> Iterator[str]:
    if url:
        yield url
        return
    from tests.servers import elastic

    if reason := elastic.missing():
        raise SystemExit(reason)
    with elastic.running(work / "elastic") as started:
        yield started.url


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    with _server(options.url, context.workspace) as url:
        return {folder.name: compare(url, folder, options.questions, context.workspace) for folder in options.folders}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=500, help="questions of each set, evenly spread")
    parser.add_argument("--url", default="", help="Elasticsearch; empty starts the node of the tests")


BENCHMARK = Benchmark(
    "agreement",
    figures,
    add_options,
    smallest={"questions": 5},
    small={"questions": 100},
    scale="questions",
    takes_folders=True,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
