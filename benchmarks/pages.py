"""What the server spends on drawing each page, and on each list of the interface, of many documents.

The documents are short text entries, every tenth with a second version, embedded by hashing, indexes in memory: what
is measured is the catalogue and the page. ``--documents`` go through the whole of ingest; ``--listed`` are then in the
catalogue in all: rows like theirs of documents, versions, publications, jobs, tags and questions, under names of their
own, without text. Each page is drawn once to warm up and then ``--draws`` times, encoded as the browser gets it; told
are the median of the processor time in ms and the size of the answer in kB. ``window`` is what a browser without
a cache asks for before its first callback: files, and kB as they are sent. ``opened`` are pages as headless Chromium
opens them, where it is installed, ``--looks`` times each: all files and kB without a cache, and ms until the first
content and until the page can be used, without and with what the browser kept, over loopback and at 10 Mbit/s.
"""

from __future__ import annotations

import argparse
import logging
import re
import statistics
import time
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from dash import Dash
from plotly.io.json import to_json_plotly
from sqlalchemy import Connection, func, insert, select

import core
from app.main import create_app
from app.static_files import BESIDE
from benchmarks import opening, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import note
from core.catalog.schema import document_tags, documents, jobs, publications, questions, versions
from core.settings import Settings
from core.snn.recording import save
from tests.unit.app.drawn import open_page
from tests.unit.snn.recorded import population, recording

BATCH = 500
QUESTION = "Which part does supplier 7 deliver?"
RARE, COMMON, JAPANESE = "00042", "part", "部品"
NEURONS, NEURONS_SEED = (8, 60, 192), 7
TAGS = ("machine", "pump", "supplier", "調達")


def filled(folder: Path, count: int) -> core.KnowledgeBase:
    """Open a knowledge base of ``count`` documents."""
    kb = core.build(Settings(data_dir=folder, test_mode=True, embedder="hash", job_workers=0))
    for version, every in ((1, 1), (2, 10)):
        names = [f"part {number:06}.txt" for number in range(0, count, every)]
        for first in range(0, len(names), BATCH):
            some = names[first : first + BATCH]
            kb.add_texts([(name, "", f"Version {version}. Supplier {name[5:11]} delivers {name}.") for name in some])
            kb.work_off()
    return kb


def multiply(kb: core.KnowledgeBase, count: int) -> None:
    """Bring the catalogue to ``count`` documents whose rows are like those of the first one that has two versions."""
    with kb.catalog.database.read() as tx:
        model = _Model(tx)
    with kb.catalog.database.read() as tx:
        begin = int(tx.scalar(select(func.count()).select_from(documents)) or 0)
    for first in range(begin, count, BATCH):
        with kb.catalog.database.write() as tx:
            model.copy(tx, range(first, min(first + BATCH, count)))


class _Model:
    """The rows of one document, and of one question, to be written again for others."""

    def __init__(self, tx: Connection) -> None:
        twice = select(versions.c.doc_id).where(versions.c.number == 2).limit(1).scalar_subquery()
        self.document = dict(tx.execute(select(documents).where(documents.c.id == twice)).mappings().one())
        of = self.document["id"]
        self.versions = [dict(row) for row in tx.execute(select(versions).where(versions.c.doc_id == of)).mappings()]
        shown = select(publications).where(publications.c.doc_id == of).order_by(publications.c.seq)
        self.publications = [dict(row) for row in tx.execute(shown).mappings()]
        self.jobs = [dict(row) for row in tx.execute(select(jobs).where(jobs.c.doc_id == of)).mappings()]
        question = dict(tx.execute(select(questions).limit(1)).mappings().one())
        # As it is kept from a moment after it was asked on, an eighth of its first size.
        self.question = {**question, "trace": zlib.compress(zlib.decompress(question["trace"]))}
        self.free = 1 + max(int(tx.scalar(select(func.max(table.c.id))) or 0) for table in (documents, versions))

    def copy(self, tx: Connection, numbers: range) -> None:
        """Write the rows of documents with these numbers, every tenth with two versions."""
        rows: dict[Any, list[dict[str, Any]]] = {
            table: [] for table in (documents, versions, publications, jobs, document_tags, questions)
        }
        for number in numbers:
            at = self.document["updated_at"] - timedelta(seconds=number)
            doc_id = self.free + 2 * number
            name = f"{JAPANESE} {number:06} 仕様書.txt" if number % 2 else f"part {number:06}.txt"
            own = {"id": doc_id, "doc_key": name, "name": name, "updated_at": at}
            rows[documents].append({**self.document, **own})
            rows[document_tags] += [{"doc_id": doc_id, "tag": TAGS[number % len(TAGS)]}]
            for turn in range(1 if number % 10 else 2):
                told = {"id": doc_id + turn, "doc_id": doc_id, "file_name": name, "created_at": at}
                rows[versions].append({**self.versions[turn], **told, "base_id": None, "title": f"{name} {JAPANESE}"})
                shown = {key: value for key, value in self.publications[turn].items() if key != "seq"}
                rows[publications].append({**shown, "doc_id": doc_id, "version_id": doc_id + turn, "at": at})
                work = {"id": f"{doc_id + turn:032x}", "doc_id": doc_id, "version_id": doc_id + turn, "created_at": at}
                rows[jobs].append({**self.jobs[turn], **work, "name": name, "change": doc_id + turn})
            asked = {"id": f"{doc_id:032x}", "asked_at": at, "question": f"{QUESTION} {name}"}
            rows[questions].append({**self.question, **asked})
        for table, added in rows.items():
            tx.execute(insert(table), added)


def addresses(kb: core.KnowledgeBase) -> dict[str, str]:
    """The pages that are drawn, by their names."""
    trace = core.EvoRAG(kb=kb).ask(QUESTION)
    key = "part 000010.txt"
    return {
        "start": "/",
        "ask": "/ask",
        "answer": f"/ask?q=x&trace={trace.id}",
        "documents": "/documents",
        "documents_last_page": "/documents?sort=size&order=asc&page=1000000",
        "documents_rare_word": f"/documents?q={RARE}",
        "documents_common_word": f"/documents?q={COMMON}&sort=name&page=100",
        "documents_japanese": f"/documents?q={JAPANESE}",
        "documents_one_tag": "/documents?tag=pump",
        "document": f"/documents/{key}",
        "compare_start": "/compare",
        "compare_start_word": f"/compare?q={RARE}",
        "compare": f"/compare?doc={key}&old=1&new=2",
        "history": "/history",
        "history_word": f"/history?q={RARE}",
        "jobs": "/jobs",
        "audit": "/audit",
        "evaluate": "/evaluate",
        "stores": "/stores",
        "conversations": "/conversations",
        "rest_documents": "/api/v1/documents?limit=100",
        "rest_documents_word": f"/api/v1/documents?limit=100&search={RARE}",
        "rest_jobs": "/api/v1/jobs?limit=100",
        "rest_jobs_word": f"/api/v1/jobs?limit=100&search={RARE}",
        "rest_audit": "/api/v1/audit?limit=100",
    }


def recorded(kb: core.KnowledgeBase, folder: Path) -> str:
    """Keep a recording of as many neurons as a small model has in one kind, and return its id."""
    signs = np.random.default_rng(NEURONS_SEED).integers(-1, 2, NEURONS).astype(np.int8)
    path = folder / "spikes.pt"
    save(recording({"layers.0.query": population(signs)}), path)
    return kb.recordings.import_file("spikes", path).id


def _drawing(window: Dash, address: str) -> Callable[[], int]:
    """Return what draws a page, or asks the interface, and tells the size of the answer."""
    if not address.startswith("/api/"):
        return lambda: len(to_json_plotly(open_page(window, address)))
    client = window.server.test_client()

    def ask() -> int:
        answer = client.get(address)
        assert answer.status_code == 200, answer.text
        return len(answer.data)

    return ask


def weight(window: Dash) -> dict[str, int]:
    """Ask for the start page and for what it names, as a browser does."""
    client = window.server.test_client()
    html = client.get("/").text
    asked = ["/", *re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css|svg)[^"]*)"', html), *BESIDE]
    sent = [len(client.get(path, headers={"Accept-Encoding": "gzip, br"}).data) for path in asked]
    return {"files": len(asked), "kB": round(sum(sent) / 1000)}


def measure(folder: Path, count: int, listed: int, draws: int) -> tuple[dict[str, Any], str]:
    """Return the figures of each page, and the id of a recording that is there."""
    began = time.perf_counter()
    with filled(folder, count) as kb:
        recording_id = recorded(kb, folder.parent)
        places = addresses(kb)
        multiply(kb, listed)
        note(f"{count} documents, {max(count, listed)} listed, in {time.perf_counter() - began:.0f} s")
        window = create_app(kb)
        report: dict[str, Any] = {"window": weight(window)}
        note(f"window: {report['window']}")
        for name, address in places.items():
            draw = _drawing(window, address)
            size = draw()
            times = []
            for _ in range(draws):
                started = time.process_time()
                draw()
                times.append((time.process_time() - started) * 1000)
            report[name] = {"ms": round(statistics.median(times), 1), "kB": round(size / 1000)}
            note(f"{name}: {report[name]}")
    return report, recording_id


def opened(folder: Path, recording_id: str, looks: int) -> dict[str, Any]:
    """Open the pages that people see first in a browser; nothing where there is none."""
    key = "part 000010.txt"
    row = ".ag-center-cols-container .ag-row"
    report = opening.opened(
        folder,
        {
            "start": ("/", "#ask-question"),
            "documents": ("/documents", row),
            "document": (f"/documents/{key}", ".document-text"),
            "compare_start": ("/compare", ".compare-start li"),
            "compare": (f"/compare?doc={key}&old=1&new=2", ".diff-line .line-text"),
            "neurons": (f"/neurons?recording={recording_id}", "#neurons-raster .main-svg"),
        },
        looks,
    )
    for name, told in report.items():
        note(f"opened {name}: {told}")
    return report


def figures(context: Context) -> dict[str, Any]:
    logging.disable(logging.WARNING)
    options = context.options
    pages, recording_id = measure(context.workspace / "data", options.documents, options.listed, options.draws)
    looks = options.looks if opening.has_browser() else 0
    seen = opened(context.workspace, recording_id, looks) if looks else {}
    return {"documents": options.documents, "listed": options.listed, "pages": pages, "opened": seen}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--listed", type=int, default=100_000, help="documents in the catalogue in all")
    parser.add_argument("--draws", type=int, default=5, help="how often each page is drawn in a round")
    parser.add_argument("--looks", type=int, default=3, help="how often a browser opens each page; 0: not at all")


BENCHMARK = Benchmark(
    "pages",
    figures,
    add_options,
    smallest={"documents": 20, "listed": 40, "draws": 1, "looks": 0},
    small={"documents": 200, "listed": 10_000, "draws": 3, "looks": 1},
    scale="documents",
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
