"""The time left of jobs, on a clock and a machine that are simulated: what is said is held against what comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, cast

import pytest

from core.jobs.estimates import BESIDE, Estimates
from core.jobs.pace import JobCost, Pace, pace_of, work_of
from core.jobs.time_left import QueuedWork, ends, in_turns, smoothed, task_of
from core.model import Job, JobFilter, JobState, Stage
from core.model.jobs import together

START = datetime(2026, 1, 1, tzinfo=UTC)
MEGABYTE = 1024 * 1024
STEP_S = 0.25
TOKENS = 250.0
"""Of a text."""


def job(name: str = "a.txt", **values: Any) -> Job:
    given = {"state": JobState.QUEUED, "stage": Stage.STORED, "size_bytes": MEGABYTE, "done": 0, "total": 0, **values}
    return Job(
        id=name,
        kind="ingest",
        doc_key=name,
        version=1,
        name=name,
        attempts=1,
        created_at=START,
        updated_at=START,
        **given,
    )


@dataclass
class Machine:
    """A ledger whose documents are worked on as time goes by: one is prepared at a time, all are embedded in turns."""

    jobs: list[Job]
    texts: dict[str, int]
    text_s: Callable[[float], float] = lambda now: 0.05
    parsing_s: float = 4.0
    now: float = START.timestamp()
    ended: dict[str, float] = field(default_factory=dict)
    embedded: dict[str, float] = field(default_factory=dict)

    def recent(
        self, filters: JobFilter | None = None, *, active: bool = False, changed_since: int = 0, limit: int = 0
    ) -> list[Job]:
        unfinished = (JobState.QUEUED, JobState.RUNNING)
        if active:
            return [each for each in reversed(self.jobs) if each.state in unfinished]
        if changed_since:
            return [each for each in self.jobs if each.state is JobState.DONE and each.change > changed_since]
        return []

    def newest_change(self) -> int:
        return max([1, *(each.change for each in self.jobs)])

    def pass_time(self) -> None:
        self.now += STEP_S
        self._prepare()
        inside = [each for each in self.jobs if each.stage is Stage.EMBEDDING and each.state is JobState.RUNNING]
        part = BESIDE if any(each.stage is Stage.PARSING for each in self.jobs) else 1.0
        for each in inside:
            self._embed(each, STEP_S / len(inside), part)

    def _prepare(self) -> None:
        before = (Stage.PARSING,)
        running = next((each for each in self.jobs if each.stage in before), None)
        if running is None:
            queued = next((each for each in self.jobs if each.state is JobState.QUEUED), None)
            if queued is not None:
                started = datetime.fromtimestamp(self.now, UTC)
                self._change(queued, state=JobState.RUNNING, stage=Stage.PARSING, total=1, started_at=started)
            return
        assert running.started_at is not None
        took = self.now - running.started_at.timestamp()
        if took >= self.parsing_s:
            counts = {"parsing": running.size_bytes, "chunking": self.texts[running.id]}
            seconds = {"stored": 0.0, "parsing": took, "chunking": 0.0, "keywords": 0.0}
            total = self.texts[running.id]
            self._change(running, stage=Stage.EMBEDDING, total=total, stage_counts=counts, stage_seconds=seconds)

    def _embed(self, each: Job, seconds: float, part: float) -> None:
        done = self.embedded.get(each.id, 0.0) + part * seconds / self.text_s(self.now)
        self.embedded[each.id] = done
        spent = each.resources.get("embedding_s", 0.0) + seconds
        texts = float(int(done))
        used = {"tokens": TOKENS * each.total, "embedding_s": spent}
        used |= {"embedded_texts": texts, "embedded_tokens": texts * TOKENS}
        self._change(each, done=int(done), resources=used)
        if done >= each.total:
            self.ended[each.id] = self.now
            self._change(each, state=JobState.DONE, stage=Stage.PUBLISHED)

    def _change(self, each: Job, **values: Any) -> None:
        at = next(at for at, known in enumerate(self.jobs) if known.id == each.id)
        self.jobs[at] = replace(self.jobs[at], change=self.newest_change() + 1, **values)


@dataclass
class Ledger:
    jobs: Machine


@dataclass(frozen=True)
class Said:
    at: float
    share: float
    left: float | None


def watch(machine: Machine, end: Callable[[Machine], bool]) -> dict[str, list[Said]]:
    """Read the jobs four times a second until the end, and return what was said of each."""
    estimates = Estimates(cast(Any, Ledger(machine)), workers=1, clock=lambda: machine.now)
    said: dict[str, list[Said]] = {each.id: [] for each in machine.jobs}
    while not end(machine):
        machine.pass_time()
        for each in estimates.told(machine.jobs):
            if each.state in (JobState.QUEUED, JobState.RUNNING):
                said[each.id].append(Said(machine.now, each.share, each.seconds_left))
        assert machine.now < START.timestamp() + 3_600
    return said


def errors(said: Sequence[Said], begun: float, end: float, *, until: float = 0.9) -> list[float]:
    """Return how wrong the time left was from a tenth of the time on; what is left at the end says nothing."""
    found = [each for each in said if 0.1 <= (each.at - begun) / (end - begun) <= until]
    assert found
    return [abs((each.left if each.left is not None else 0.0) - (end - each.at)) / (end - each.at) for each in found]


def all_ended(machine: Machine) -> bool:
    return len(machine.ended) == len(machine.jobs)


def begun(machine: Machine) -> float:
    return START.timestamp()


@pytest.mark.parametrize("text_s", [0.03, 0.05, 0.4])
def test_one_document_at_an_even_speed(text_s: float) -> None:
    machine = Machine([job()], {"a.txt": 1_000}, lambda _: text_s)
    said = watch(machine, all_ended)["a.txt"]
    assert max(errors(said, begun(machine), machine.ended["a.txt"])) < 1 / 3


def test_share_never_falls_and_moves_every_second() -> None:
    machine = Machine([job()], {"a.txt": 600}, lambda _: 0.05)
    said = watch(machine, all_ended)["a.txt"]
    shares = [each.share for each in said]
    assert shares == sorted(shares)
    assert all(after > before for before, after in zip(shares[1:], shares[5:], strict=False) if after < 0.99)


def test_a_machine_that_gets_slower_is_believed_within_ten_seconds() -> None:
    change = START.timestamp() + 24
    machine = Machine([job()], {"a.txt": 1_000}, lambda now: 0.05 if now < change else 0.15)
    said = watch(machine, all_ended)["a.txt"]
    end = machine.ended["a.txt"]
    later = [each for each in said if each.at >= change + 12 and end - each.at > 3]
    assert max(errors(later, later[0].at - 1e9, end, until=1.0)) < 1 / 3


def test_two_documents_in_turns() -> None:
    machine = Machine([job("a.txt"), job("b.txt")], {"a.txt": 800, "b.txt": 800})
    said = watch(machine, all_ended)
    for name in said:
        assert median(errors(said[name], begun(machine), machine.ended[name])) < 1 / 3


def test_what_waits_counts_what_is_before_it() -> None:
    machine = Machine([job("a.txt"), job("b.txt"), job("c.txt")], dict.fromkeys(("a.txt", "b.txt", "c.txt"), 873))
    said = watch(machine, all_ended)
    assert max(errors(said["c.txt"], begun(machine), machine.ended["c.txt"])) < 1 / 3


def test_lanes_are_shared_between_users_and_by_priority() -> None:
    def task(name: str, user: str, priority: int = 0) -> QueuedWork:
        return QueuedWork(name, user, priority, is_large=False, is_running=True, work=JobCost(embedding=10.0))

    assert ends([task("a", "ann"), task("b", "ann"), task("c", "bob")], 1) == pytest.approx({"a": 30, "b": 30, "c": 20})
    assert ends([task("a", "ann"), task("b", "ann", 1)], 1) == pytest.approx({"a": 20, "b": 10})


def test_a_file_that_has_stepped_aside_keeps_no_short_one_waiting() -> None:
    slow = job("slow.pdf", state=JobState.RUNNING, stage=Stage.PARSING, resources={"peak_aside_s": 10.0})
    tasks = [task_of(slow, JobCost(preparing=60.0)), task_of(job("short.txt"), JobCost(preparing=1.0))]
    assert ends(tasks, 1) == pytest.approx({"slow.pdf": 60.0, "short.txt": 1.0})


@pytest.mark.parametrize(("done", "total", "left"), [(0, 0, 60.0), (3, 12, 180.0)])
def test_a_file_that_has_stepped_aside_is_told_by_its_own_progress(done: int, total: int, left: float) -> None:
    used = {"peak_aside_s": 10.0}
    slow = job(
        "a.pdf",
        state=JobState.RUNNING,
        stage=Stage.PARSING,
        size_bytes=2_000,
        done=done,
        total=total,
        resources=used,
    )
    assert work_of(slow, Pace(), 60.0).preparing == pytest.approx(left, rel=0.05)


def test_thousands_of_jobs_are_estimated_at_once() -> None:
    tasks = [QueuedWork(str(at), "ann", 0, False, False, JobCost(0.0, 0.5, 1.0, 0.0)) for at in range(5_000)]
    assert max(ends(tasks, 2).values()) == pytest.approx(5_000, rel=0.05)


def test_queue_gives_users_turns_and_takes_the_urgent_first() -> None:
    def task(name: str, user: str, priority: int = 0) -> QueuedWork:
        return QueuedWork(name, user, priority, is_large=False, is_running=name == "r", work=JobCost())

    found = in_turns([task("a", "ann"), task("b", "ann", 5), task("c", "bob"), task("r", "bob")])
    assert [each.id for each in found] == ["r", "b", "c", "a"]


def test_costs_are_learnt_from_what_has_ended() -> None:
    done = job(
        "old.pdf",
        state=JobState.DONE,
        stage=Stage.PUBLISHED,
        stage_counts={"parsing": MEGABYTE, "chunking": 2_000, "keywords": 2_000},
        stage_seconds={"parsing": 8.0, "chunking": 1.0, "keywords": 2.0},
        resources={
            "preparing_s": 11.0,
            "tokens": 2_000 * TOKENS,
            "embedded_texts": 2_000,
            "embedded_tokens": 2_000 * TOKENS,
            "embedding_s": 500.0,
        },
    )
    pace = pace_of([done])
    assert pace.seconds[Stage.KEYWORDS] == 0.001
    assert work_of(job("new.pdf"), pace, 0.0).left == pytest.approx(511, rel=0.02)


def small(name: str, **values: Any) -> Job:
    return replace(job(name), size_bytes=2_000, **values)


def test_many_small_files_are_said_to_take_what_those_before_them_took() -> None:
    ended = [
        small(
            f"{at}.md",
            state=JobState.DONE,
            stage=Stage.PUBLISHED,
            stage_counts={"chunking": 1},
            # Of a group: each of its files was eight seconds in its stages.
            stage_seconds={"parsing": 5.0, "chunking": 1.0, "keywords": 2.0},
            resources={
                "preparing_s": 2.0 if at == 0 else 0.05,
                "tokens": 400.0,
                "embedded_texts": 1.0,
                "embedded_tokens": 400.0,
                "embedding_s": 0.1,
            },
        )
        for at in range(50)
    ]
    work = work_of(small("new.md"), pace_of(ended), 0.0)
    assert work.preparing == pytest.approx(0.05)
    assert work.embedding == pytest.approx(0.1, rel=0.25)


def test_first_small_file_says_little_of_the_others() -> None:
    first = small("a.md", state=JobState.DONE, stage=Stage.PUBLISHED, resources={"preparing_s": 3.0})
    assert work_of(small("b.md"), pace_of([first]), 0.0).preparing < 0.1


def test_time_of_a_group_is_not_that_of_each_of_its_small_files() -> None:
    running = small("a.md", state=JobState.RUNNING, stage=Stage.PARSING)
    assert work_of(running, Pace(), 4.0).preparing < 0.1
    assert work_of(running, Pace(), 30.0).share > 0.5, "a file that hangs"
    shares = [work_of(running, Pace(), at).share for at in range(1, 20)]
    assert shares == sorted(set(shares)), "the bar moves"


def test_embedding_is_slower_while_documents_are_prepared() -> None:
    prepared = QueuedWork("a", "ann", 0, False, True, JobCost(embedding=10.0))
    waiting = QueuedWork("b", "ann", 0, False, False, JobCost(preparing=10.0, embedding=10.0))
    assert ends([prepared, waiting], 1, beside=0.5) == pytest.approx({"a": 20.0, "b": 25.0})
    assert ends([prepared, waiting], 1) == pytest.approx({"a": 10.0, "b": 20.0})


def test_a_job_that_only_counts_goes_on_as_it_went() -> None:
    counting = replace(job(), kind="repair", state=JobState.RUNNING, done=25, total=100)
    work = work_of(counting, Pace(), 10.0)
    assert (work.share, work.left) == pytest.approx((0.25, 30.0))


def test_shown_time_counts_down_and_follows_a_new_estimate() -> None:
    assert smoothed(100.0, 1.0, 99.0) == pytest.approx(99.0)
    assert 99.0 < smoothed(100.0, 1.0, 200.0) < 150.0
    assert smoothed(100.0, 30.0, 200.0) == pytest.approx(200.0, rel=0.01)


def test_several_jobs_count_by_their_sizes_and_end_with_the_last() -> None:
    done = replace(job("a"), state=JobState.DONE, share=1.0)
    running = replace(job("b"), state=JobState.RUNNING, share=0.5, seconds_left=10.0)
    assert together([done, running]) == pytest.approx((0.75, 10.0))
    assert together([running, job("c")])[1] is None


def test_what_began_long_ago_is_measured_from_its_beginning() -> None:
    started = datetime.fromtimestamp(START.timestamp(), UTC) - timedelta(seconds=60)
    late = job(state=JobState.RUNNING, stage=Stage.PARSING, done=30, total=100, started_at=started)
    assert work_of(late, Pace(), 60.0).preparing >= 140
