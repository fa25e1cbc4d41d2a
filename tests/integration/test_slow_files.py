"""A file that takes its parser long steps aside: short ones go first, and it goes on beside them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from core.model import JobState, Stage
from core.platform import failpoints
from core.platform.child_pool import Order
from tests.builders import knowledge_base
from tests.indexes import assert_nothing_is_left_to_do
from tests.unit.ingest.documents import slow_pdf
from tests.waiting import until

SHORT = 20
PATIENCE_S = 0.5
TEXT = "Lantern of the slow drawing"


def add_slow(kb: core.KnowledgeBase, name: str = "drawing.pdf", pages: int = 8) -> str:
    return str(kb.add_file(name, io.BytesIO(slow_pdf(pages, 30_000) + name.encode())).job_id)


def add_short(kb: core.KnowledgeBase, count: int = SHORT) -> list[str]:
    data = [f"Record {number} tells of lantern{number}.".encode() for number in range(count)]
    return [str(kb.add_file(f"record-{at}.txt", io.BytesIO(each)).job_id) for at, each in enumerate(data)]


def said(kb: core.KnowledgeBase, job_id: str) -> list[str]:
    return [event.code for event in kb.job_log(job_id)]


def assert_read(kb: core.KnowledgeBase, name: str = "drawing.pdf") -> None:
    assert kb.version(name, 1).state == "ready"
    assert TEXT in kb.text_of(name, 1)


@pytest.fixture
def passed() -> Iterator[list[str]]:
    """The failpoints that were passed."""
    names: list[str] = []
    failpoints.on_failpoint(names.append)
    yield names
    failpoints.on_failpoint(None)


def test_twenty_short_files_are_done_while_a_long_one_is_parsed(tmp_path: Path, passed: list[str]) -> None:
    with knowledge_base(tmp_path, parser_patience_s=PATIENCE_S) as kb:
        slow, short = add_slow(kb, pages=16), add_short(kb)
    began = time.monotonic()
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S) as kb:
        assert {job.state for job in kb.wait(short, timeout_s=300)} == {JobState.DONE}
        short_s, job = time.monotonic() - began, kb.job(slow)
        assert (job.state, job.stage, "aside" in said(kb, slow)) == (JobState.RUNNING, Stage.PARSING, True)
        assert job.resources["peak_aside_s"] >= PATIENCE_S
        assert kb.wait([slow], timeout_s=300)[0].state is JobState.DONE
        print(f"{SHORT} short files after {short_s:.1f} s, the long one after {time.monotonic() - began:.1f} s")
        assert_read(kb)
        assert_nothing_is_left_to_do(kb)
    # Once for each file, and once to take up what had begun: nothing was parsed twice.
    assert passed.count("ingest.parsing.begun") == SHORT + 2
    assert not list((tmp_path / "data" / "incoming").iterdir())


def test_of_several_long_files_one_at_a_time_goes_on_and_all_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["one.pdf", "two.pdf", "three.pdf"]
    open_orders: set[Order] = set()
    most = []
    reply = Order.reply

    def counted(order: Order, *values: object, **named: object) -> object:
        open_orders.add(order)
        most.append(sum(each.is_open for each in open_orders))
        return reply(order, *values, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Order, "reply", counted)
    with knowledge_base(tmp_path, parser_patience_s=PATIENCE_S) as kb:
        slow = [add_slow(kb, name, pages=6) for name in names]
        short = add_short(kb)
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S) as kb:
        kb.wait(short, timeout_s=300)
        assert {kb.job(job_id).state for job_id in slow[1:]} == {JobState.RUNNING}
        assert {job.state for job in kb.wait([*slow, *short], timeout_s=300)} == {JobState.DONE}
        for name in names:
            assert_read(kb, name)
    assert max(most) == 2


def test_a_long_file_that_keeps_nobody_waiting_is_not_begun_anew(kb: core.KnowledgeBase, passed: list[str]) -> None:
    kb._worker._pipeline.slow._patience_s = PATIENCE_S
    slow = add_slow(kb, pages=4)
    kb.work_off()
    assert kb.job(slow).state is JobState.DONE
    assert passed.count("ingest.aside.begun") == 1
    assert_read(kb)


def test_a_long_file_that_is_cancelled_leaves_its_lane_at_once(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S) as kb:
        slow = add_slow(kb, pages=200)
        until(lambda: "aside" in said(kb, slow))
        kb.cancel(slow)
        until(lambda: not list((tmp_path / "data" / "incoming").glob("*.part")), 60)
        next_slow = add_slow(kb, "next.pdf", pages=4)
        assert kb.wait([next_slow], timeout_s=120)[0].state is JobState.DONE
        assert kb.job(slow).state is JobState.CANCELLED
        assert_read(kb, "next.pdf")


def test_a_long_file_that_waits_for_the_lane_is_cancelled_like_any_other(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S) as kb:
        first = add_slow(kb, pages=200)
        until(lambda: "aside" in said(kb, first))
        waiting = add_slow(kb, "waiting.pdf", pages=200)
        short = add_short(kb)
        until(lambda: "aside" in said(kb, waiting))
        kb.cancel(waiting)
        kb.cancel(first)
        assert {job.state for job in kb.wait(short, timeout_s=120)} == {JobState.DONE}
        until(lambda: kb._worker._pipeline.slow._holder is None)
        assert {kb.job(first).state, kb.job(waiting).state} == {JobState.CANCELLED}


def test_closing_does_not_wait_for_the_slow_lane_and_the_next_start_goes_on(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S) as kb:
        slow = add_slow(kb, pages=6)
        until(lambda: "aside" in said(kb, slow))
        closing = threading.Thread(target=kb.close)
        closing.start()
        closing.join(30)
        assert not closing.is_alive()
    with knowledge_base(tmp_path, parser_patience_s=PATIENCE_S) as kb:
        assert kb.job(slow).state is JobState.QUEUED
        assert not list((tmp_path / "data" / "incoming").iterdir())
        kb.work_off()
        assert_read(kb)


def test_purging_a_long_file_leaves_no_text(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S) as kb:
        slow = add_slow(kb, pages=200)
        until(lambda: "aside" in said(kb, slow))
        kb.purge("drawing.pdf")
        until(lambda: kb._worker._pipeline.slow._holder is None)
        assert kb.job(slow).state is JobState.CANCELLED
        assert kb.version("drawing.pdf", 1).state == "purged"
        until(lambda: not list((tmp_path / "data" / "incoming").glob("*.part")), 60)


POINTS = ("ingest.aside.begun", "ingest.aside.resumed", "ingest.parsing.answered", "ingest.parsed.kept", "")
KILLED = """
import os, pathlib, signal, sys, time
from core.platform import failpoints as points
from tests.builders import knowledge_base
from tests.integration import test_slow_files as tests
from tests.waiting import until

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def live(folder, point):
    passed = []

    def reached(name):
        passed.append(name)
        if name == point and "ingest.aside.begun" in passed:
            die()

    points.on_failpoint(reached)
    kb = knowledge_base(folder, job_workers=1, parser_patience_s=tests.PATIENCE_S)
    slow, short = tests.add_slow(kb, pages=6), tests.add_short(kb)
    if not point:
        # In the middle of its time in the lane.
        until(lambda: "ingest.aside.resumed" in passed)
        kb.wait(short, timeout_s=120)
        die()
    kb.wait([slow], timeout_s=120)

for point in sys.argv[2:]:
    folder = pathlib.Path(sys.argv[1]) / (point or "middle")
    folder.mkdir()
    if not os.fork():
        live(folder, point)
        os._exit(0)
    assert os.WTERMSIG(os.wait()[1]) == signal.SIGKILL, point
"""


def test_a_process_that_is_killed_with_a_file_in_the_slow_lane_loses_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": ".", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), *POINTS], env=environment, check=True)
    for point in POINTS:
        with knowledge_base(tmp_path / (point or "middle"), parser_patience_s=PATIENCE_S) as kb:
            kb.work_off()
            jobs = kb.jobs(limit=100)
            assert {job.state for job in jobs} == {JobState.DONE}, point
            assert len(jobs) == len(kb.documents()), point
            assert [version.number for version in kb.versions("drawing.pdf")] == [1]
            assert_read(kb)
            assert_nothing_is_left_to_do(kb)
            assert not list((tmp_path / (point or "middle") / "data" / "incoming").iterdir()), point


def test_a_parser_that_is_stopped_in_the_slow_lane_fails_by_its_limit_of_time(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1, parser_patience_s=PATIENCE_S, parser_timeout_s=8.0) as kb:
        slow = add_slow(kb, pages=200)
        until(lambda: "aside" in said(kb, slow))
        (child,) = kb._parser._children._busy
        os.kill(child._process.pid, signal.SIGSTOP)
        job = kb.wait([slow], timeout_s=60)[0]
        assert job.error is not None
        assert (job.state, job.error["code"]) == (JobState.FAILED, "parser_limit")
