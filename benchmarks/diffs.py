"""How long comparing two versions takes, and how much memory the child process that does it needs.

The texts are parsed as plain text and kept as versions of a document; neither is chunked or indexed, for a comparison
needs neither. What is timed is ``kb.compare``: parsed blobs to a kept comparison with its summary.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import secrets
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks import edits, machine
from core import KnowledgeBase, Settings, build
from core.blobs.block_file import write_blocks
from core.catalog import NewVersion
from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.model import JobState

MB = 1_000_000
_POLL_S = 0.01
_WORKER = b"core.versions.worker"


def run(sizes_mb: tuple[float, ...] = (10, 100), identical_lines: int = 1_000_000, *, seed: int) -> dict[str, Any]:
    """Measure ordinary texts and texts of short lines, each of these sizes, and one of identical lines."""
    report: dict[str, Any] = {}
    for size_mb in sizes_mb:
        old = _ordinary(int(size_mb * MB))
        for edit in (edits.in_ten_places, edits.scattered):
            new = edit(old, 0.01, random.Random(seed))
            report[f"{size_mb}_mb_{edit.__name__}"] = measure(edits.plain(old).encode(), edits.plain(new).encode())
        lines = edits.short_lines(int(size_mb * MB), random.Random(seed))
        changed_lines = edits.scattered(lines, 0.01, random.Random(seed))
        report[f"{size_mb}_mb_short_lines_scattered"] = measure(
            *("\n".join(each).encode() for each in (lines, changed_lines))
        )
    line = b"The same line again and again.\n"
    middle = identical_lines // 2
    changed = line * middle + b"Another line.\n" + line * (identical_lines - middle - 1)
    report[f"{identical_lines}_identical_lines"] = measure(line * identical_lines, changed)
    return report


def measure(old: bytes, new: bytes) -> dict[str, Any]:
    """Return what comparing two texts costs, in a fresh knowledge base with its own child process."""
    with tempfile.TemporaryDirectory(prefix="evorag-diff-") as folder:
        settings = Settings(data_dir=Path(folder), test_mode=True, embedder="hash", job_workers=0)
        with build(settings) as kb:
            for text in (old, new):
                add_parsed(kb, text)
            # The child is there already when a person asks: it is started with a small comparison.
            kb.compare("document.txt", 1, 1)
            with Watch() as watch:
                started = time.perf_counter()
                comparison = kb.compare("document.txt", 1, 2)
                seconds = time.perf_counter() - started
            assert comparison is not None
            summary = comparison.summary
            measured = {
                "bytes": len(old),
                "lines": summary.old.lines,
                "seconds": seconds,
                "child_cpu_s": watch.cpu_s,
                "child_peak_mb": watch.peak_mb,
                "rows": summary.rows,
                "rows_changed": summary.tally.changed + summary.tally.added + summary.tally.removed,
                "notices": list(summary.notices),
                "steps_ms": dict(summary.timings_ms),
            }
    machine.note(f"compared {len(old) / MB:.0f} MB in {measured['seconds']:.2f} s, {measured['child_peak_mb']:.0f} MB")
    return measured


def add_parsed(kb: KnowledgeBase, content: bytes, name: str = "document.txt") -> None:
    """Keep a plain text as the next version of a document: stored and parsed, without chunks."""
    with tempfile.TemporaryDirectory(prefix="evorag-parse-", dir=kb.settings.data_dir) as folder:
        source, parsed = Path(folder) / "source", Path(folder) / "parsed"
        source.write_bytes(content)
        with gzip.GzipFile(parsed, "wb", compresslevel=3, mtime=0) as target:
            write_blocks(parse(ParserInput(source, "txt", ParserLimits())), target, 2**40)
        parsed_sha256 = hashlib.sha256(parsed.read_bytes()).hexdigest()
        kb._blobs.put(parsed, parsed_sha256)
    new = NewVersion(name, name, "txt", secrets.token_hex(32), secrets.token_hex(20), len(content))
    claim = kb.catalog.documents.claim(new)
    kb.catalog.documents.update_version(claim.version_id, parsed_sha256=parsed_sha256, metadata={"title": name})
    kb.catalog.jobs.end(str(claim.job_id), JobState.DONE, version_state="ready")


def _ordinary(size: int) -> list[str]:
    """Return the paragraphs of a text of so many bytes."""
    a_page = len(edits.plain(edits.paragraphs(600)).encode()) / 600
    return edits.paragraphs(int(size / a_page))


class Watch:
    """Watches the processes that compare while a ``with`` block runs: highest resident memory, and processor time."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._spent: dict[str, tuple[float, float]] = {}
        self._began = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def cpu_s(self) -> float:
        return sum(last - first for first, last in self._spent.values())

    def __enter__(self) -> Watch:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(_POLL_S):
            self._look()

    def _look(self) -> None:
        own = str(os.getpid())
        for process in Path("/proc").glob("[0-9]*"):
            try:
                status = (process / "status").read_text()
                if f"\nPPid:\t{own}\n" not in status or _WORKER not in (process / "cmdline").read_bytes():
                    continue
                self.peak_mb = max(self.peak_mb, int(status.split("VmHWM:")[1].split()[0]) / 1024)
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except (OSError, IndexError):
                continue
            spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            # A child that came during the watch has spent everything in it.
            first = self._spent[process.name][0] if process.name in self._spent else 0.0 if self._began else spent
            self._spent[process.name] = (first, spent)
        self._began = True
