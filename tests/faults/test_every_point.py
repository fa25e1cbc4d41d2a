"""The process is killed at every named point, again and again, and takes up its work each time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.settings import Settings
from tests.shards import SHARDS

ROOT = Path(__file__).parent.parent.parent
KILLS = int(os.environ.get("EVORAG_KILLS", "0"))
"""How often to kill in all parts together, and at least once at every point.

``make faults`` kills four hundred times, 60 of them with the default embedder and 60 workers of several processes
(``tests/servers/test_killed_workers.py``).
"""
WITH_THE_EMBEDDER = KILLS * 60 // 400
WITH_HASHES = KILLS - 2 * WITH_THE_EMBEDDER
MOST_OF_ONE_POINT = 4
TRIES = 6
"""Not every batch of work reaches every point; four in a row do, where none was cut short."""
SPARED = 5
"""One in so many deaths may not come about: a life that takes up the work of another has less of its own."""
KILLS_OF_ONE_FOLDER = 20
KILLS_IN_A_ROW = 3
"""A job under which the process has ended five times is given up, as it should be; here none comes to that."""
SEED = int(os.environ.get("EVORAG_SEED", "8"))
"""Says which points are killed more often than once, and in what order."""
RARE = frozenset({"jobs.requeued"})
"""Reached only where a former process had died in the middle of a job."""


class Nursery:
    """Forks lives from a process that has imported everything."""

    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.life"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def live(self, **order: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        ended: dict[str, Any] = json.loads(self._process.stdout.readline())
        return ended

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    opened = Nursery()
    yield opened
    opened.close()


def report(ended: dict[str, Any]) -> dict[str, Any]:
    assert ended["code"] == 0, ended["said"]
    said: dict[str, Any] = json.loads(ended["said"])
    return said


def plan(reached: dict[str, int], kills: int, chance: random.Random) -> list[tuple[str, int]]:
    """Choose at which times of which points to kill: every point once, and then as often as is wanted."""
    times = {name: chance.sample(range(1, count + 1), min(count, MOST_OF_ONE_POINT)) for name, count in reached.items()}
    chosen = [(name, 1) for name in times]
    more = [(name, at) for name, some in times.items() for at in some if at > 1]
    chance.shuffle(more)
    chosen += more[: max(0, kills - len(chosen))]
    while len(chosen) < kills:
        chosen.append((chance.choice(list(reached)), 1))
    chance.shuffle(chosen)
    return chosen


@pytest.mark.shard
@pytest.mark.parametrize("part", range(SHARDS))
def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice_wherever_the_process_is_killed(
    part: int, tmp_path: Path, nursery: Nursery
) -> None:
    chance = random.Random(SEED)
    reached: dict[str, int] = {}
    for batch in range(4):
        for name, count in report(nursery.live(folder=folder_of(tmp_path, 0), batch=batch))["reached"].items():
            reached[name] = max(reached.get(name, 0), count)
    reached = {name: reached[name] for name in sorted(reached)[part::SHARDS]}
    planned = plan(reached, WITH_HASHES // SHARDS, chance)
    killed = kill_at(planned, tmp_path, nursery)
    assert not KILLS or not set(reached) - RARE - set(killed)
    assert killed.total() >= len(planned) - len(planned) // SPARED


@pytest.mark.skipif(not WITH_THE_EMBEDDER, reason="killed as often as is wished: make faults")
def test_nothing_acknowledged_is_lost_with_the_default_embedder(tmp_path: Path, nursery: Nursery) -> None:
    chance = random.Random(SEED)
    embedder = Settings().embedder
    reached = report(nursery.live(folder=folder_of(tmp_path, 0), batch=0, embedder=embedder))["reached"]
    every = plan({name: reached[name] for name in sorted(reached)}, 0, chance)
    planned = (every * (WITH_THE_EMBEDDER // len(every) + 1))[:WITH_THE_EMBEDDER]
    killed = kill_at(planned, tmp_path, nursery, embedder=embedder)
    assert killed.total() >= len(planned) - len(planned) // SPARED


def kill_at(planned: Sequence[tuple[str, int]], tmp_path: Path, nursery: Nursery, **settings: str) -> Counter[str]:
    """Live and be killed as it is planned, and check again and again that all is there; return what was reached."""
    killed: Counter[str] = Counter()
    starts: list[float] = []
    batch = 4
    for number, (name, occurrence) in enumerate(planned):
        folder = folder_of(tmp_path, number // KILLS_OF_ONE_FOLDER)
        if number % KILLS_IN_A_ROW == 0:
            starts.append(report(nursery.live(folder=folder, **settings))["start_s"])
        for _ in range(TRIES):
            ended = nursery.live(folder=folder, batch=batch, point=name, occurrence=occurrence, **settings)
            if ended["code"] == -9:
                killed[name] += 1
                break
            starts.append(report(ended)["start_s"])
            batch += 1
    for folder in sorted(tmp_path.iterdir()):
        starts.append(report(nursery.live(folder=str(folder), **settings))["start_s"])
    print(f"{killed.total()} of {len(planned)} kills at {len(killed)} points; longest start {max(starts):.2f} s")
    return killed


def folder_of(tmp_path: Path, number: int) -> str:
    folder = tmp_path / str(number)
    folder.mkdir(exist_ok=True)
    return str(folder)
