"""The process that parses has a long PDF read by several others: they end with it, and it says how far they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from core.errors import Cancelled, ParserFailed, ParserLimit
from core.ingest.sandbox import ParserSandbox
from tests.unit.ingest.parsers.forking_readers import Told, children, written

ROOT = Path(__file__).parents[4]


def test_several_processes_read_what_one_does() -> None:
    alone = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    path = Path(__file__).with_name("forking_readers.py")
    done = subprocess.run(
        [*alone, "-c", str(ROOT / "pyproject.toml"), "--noconftest", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.fixture(scope="module")
def long_manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("long") / "long.pdf", 2_500)


def readers_of(sandbox: ParserSandbox) -> list[psutil.Process]:
    return [reader for child in sandbox._children._busy for reader in psutil.Process(child._process.pid).children()]


@pytest.mark.long
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor: nothing is read by several")
@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (signal.SIGKILL, ParserLimit, "memory"),
        (signal.SIGXCPU, ParserLimit, "processor"),
        (signal.SIGSEGV, ParserFailed, "crash"),
    ],
)
def test_a_reader_that_is_killed_fails_the_document_alone(
    tmp_path: Path, long_manual: Path, number: int, kind: type[Exception], words: str
) -> None:
    sandbox = ParserSandbox()
    seen: list[psutil.Process] = []

    def kill(_done: int, _total: int) -> None:
        if not seen:
            seen.extend(readers_of(sandbox))
            seen[0].send_signal(number)

    with pytest.raises(kind, match=words):
        sandbox.parse(long_manual, "pdf", tmp_path / "out", kill)
    gone, alive = psutil.wait_procs(seen, timeout=10)
    assert len(gone) >= 2 and not alive
    (tmp_path / "a.txt").write_text("Some words.")
    assert sandbox.parse(tmp_path / "a.txt", "txt", tmp_path / "out")["blocks"] == 1
    sandbox.close()


@pytest.mark.long
def test_progress_is_told_while_a_long_document_is_read_and_can_end_it(tmp_path: Path, long_manual: Path) -> None:
    before, sandbox = children(), ParserSandbox()
    told: Told = []
    moments: list[float] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))
        moments.append(time.monotonic())

    metadata = sandbox.parse(long_manual, "pdf", tmp_path / "out", tell)
    assert told and told == sorted(told) and {total for _, total in told} == {2_500}
    assert all(after - before > 0.3 for before, after in pairwise(moments))
    assert metadata["cpu_s"] > 0

    def cancel(_done: int, _total: int) -> None:
        raise Cancelled("The job was cancelled.")

    with pytest.raises(Cancelled):
        sandbox.parse(long_manual, "pdf", tmp_path / "again", cancel)
    assert not list(tmp_path.glob("again*"))
    sandbox.close()
    assert children() == before
