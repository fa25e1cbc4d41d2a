"""One attempt at a job: how its stages end, what it waits for, and what it keeps of them."""

from __future__ import annotations

import errno
import io
import threading
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import core
from core.catalog.jobs.ledger import Choice
from core.catalog.jobs.stage_run import StageResult, StageRun, run_stage, run_together, wait_together
from core.errors import Cancelled, EvoRAGError, InvalidInput, StoreUnavailable
from core.model import Stage
from core.platform import retrying
from core.platform.retrying import Stopped

pytestmark = pytest.mark.usefixtures("no_pause")


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "_PAUSE_S", 0.0)


@pytest.fixture
def run(kb: core.KnowledgeBase) -> StageRun:
    return a_run(kb, "a.txt")


def a_run(kb: core.KnowledgeBase, name: str) -> StageRun:
    kb.add_file(name, io.BytesIO(f"The text of {name}.".encode()))
    (job,) = kb.catalog.jobs.take(Choice(1, 1))
    return StageRun(kb.catalog.jobs, job, threading.Event())


class Ends:
    def __init__(self, work: str = "this test") -> None:
        self.work = work
        self.seen: list[str] = []

    def cancelled(self, run: StageRun) -> None:
        self.seen.append("cancelled")

    def failed(self, run: StageRun, error: EvoRAGError) -> None:
        self.seen.append(error.code)


def raising(error: Exception) -> Callable[[StageRun], StageResult]:
    def stage(_: StageRun) -> StageResult:
        raise error

    return stage


def failing(times: int, meanwhile: Callable[[], object] = lambda: None) -> Callable[[], str]:
    """Return what fails for want of a store so many times."""
    left = [times]

    def act() -> str:
        if left[0]:
            left[0] -= 1
            meanwhile()
            raise StoreUnavailable("The store is down.")
        return "done"

    return act


@dataclass(frozen=True, slots=True)
class Counted(StageResult):
    word: str = ""


def test_the_result_of_a_stage_is_kept_for_those_after_it(run: StageRun) -> None:
    run.begin(Stage.PARSING)
    assert run_stage(lambda _: Counted(7, {"cpu_s": 1.5, "peak_bytes": 9}, "seen"), run, Ends())
    found = run.result(Counted)
    assert found is not None
    assert found.word == "seen"
    assert run.step().counts[Stage.PARSING] == 7
    run.keep(StageResult(used={"cpu_s": 0.5, "peak_bytes": 4}))
    assert run.step().resources == {"cpu_s": 2.0, "peak_bytes": 9}


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (Stopped(), []),
        (Cancelled("It was cancelled."), ["cancelled"]),
        (InvalidInput("It is wrong."), ["invalid_input"]),
        (OSError(errno.ENOSPC, "full"), ["disk_full"]),
        (RuntimeError("nobody foresaw it"), ["parser_failed"]),
    ],
)
def test_a_stage_that_ends_early_ends_its_job_once(run: StageRun, error: Exception, seen: list[str]) -> None:
    ends = Ends()
    assert not run_stage(raising(error), run, ends)
    assert ends.seen == seen


def test_what_nobody_foresaw_is_the_queues_where_the_job_says_nothing_of_it(run: StageRun) -> None:
    with pytest.raises(RuntimeError):
        run_stage(raising(RuntimeError("nobody foresaw it")), run, Ends(work=""))


def test_several_stay_where_they_are_once_the_process_ends(run: StageRun) -> None:
    def stop(_: object) -> list[StageRun]:
        raise Stopped

    assert run_together(stop, [run]) == []
    assert run_together(list, [run]) == [run]


def test_a_store_is_waited_for_and_noted_once(kb: core.KnowledgeBase, run: StageRun) -> None:
    run.begin(Stage.PARSING)
    assert run.wait_for_store(failing(3)) == "done"
    notes = [event for event in kb.job_log(run.job.id) if event.code == "waiting_store"]
    assert [(event.stage, event.values) for event in notes] == [(Stage.PARSING, {"store": "store_unavailable"})]


def test_nobody_waits_for_a_store_once_the_job_or_the_process_ends(kb: core.KnowledgeBase, run: StageRun) -> None:
    with pytest.raises(Cancelled):
        run.wait_for_store(failing(99, lambda: kb.cancel(run.job.id)))
    other = a_run(kb, "b.txt")
    with pytest.raises(Stopped):
        other.wait_for_store(failing(99, other.stop.set))


def test_one_that_is_cancelled_keeps_no_other_from_waiting(kb: core.KnowledgeBase, run: StageRun) -> None:
    runs = [run, a_run(kb, "b.txt")]
    kb.cancel(run.job.id)
    assert wait_together(kb.catalog.jobs, runs, failing(2)) == "done"
    assert all("waiting_store" in {event.code for event in kb.job_log(each.job.id)} for each in runs)
    runs[0].stop = runs[1].stop
    with pytest.raises(Stopped):
        wait_together(kb.catalog.jobs, runs, failing(99, runs[0].stop.set))


def test_an_outage_of_the_ledger_itself_is_waited_out(
    kb: core.KnowledgeBase, run: StageRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_running, asked = kb.catalog.jobs.is_running, []

    def failing_once(attempt: object) -> bool:
        asked.append(attempt)
        if len(asked) == 1:
            raise StoreUnavailable("The server of the catalogue does not answer.")
        return is_running(attempt)  # type: ignore[arg-type]

    monkeypatch.setattr(kb.catalog.jobs, "is_running", failing_once)
    assert run.wait_for_store(failing(1)) == "done"
    assert len(asked) == 2
