"""Workers on PostgreSQL and Redis are killed at points of their work again and again; nothing is lost or done twice."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import select

import core
from core.catalog.schema import publications
from core.model import JobState
from tests.servers.test_celery import shared, text_of, workers

KILLS = int(os.environ.get("EVORAG_KILLS", "0")) * 60 // 400 or 2
SEED = int(os.environ.get("EVORAG_SEED", "8"))
AT_ONCE = 3
FURTHEST = 40
LIFE_S = 120.0


def test_whatever_workers_are_killed_at_each_version_is_published_once(
    postgres: Any, redis: Any, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    settings = shared(tmp_path, postgres.database(), redis.url)
    jobs: list[str] = []
    killed = lived = 0
    with core.build(settings) as kb:
        while killed < KILLS and lived <= KILLS:
            points = [chance.randint(1, FURTHEST) for _ in range(min(AT_ONCE, KILLS - killed))]
            with workers(settings, *points) as processes:
                deadline = time.monotonic() + LIFE_S
                while any(each.poll() is None for each in processes) and time.monotonic() < deadline:
                    jobs += [str(kb.add_text(f"doc {len(jobs)}", text_of(len(jobs))).job_id)]
                    kb.wait(jobs[-1:], timeout_s=2.0)
                dead = [each.poll() for each in processes].count(-9)
            killed, lived = killed + dead, lived + len(points) - dead
            # A job at which the process has ended five times is given up, as it should be; here none comes to that.
            with workers(settings, 0):
                ended = kb.wait(jobs, timeout_s=900)
            assert {job.state for job in ended} == {JobState.DONE}, points
        with kb.catalog.database.read() as tx:
            shown = Counter(tx.scalars(select(publications.c.version_id)))
        assert len(shown) == len(kb.documents()) == len(jobs) and set(shown.values()) == {1}
    print(f"{killed} of {KILLS} workers were killed at their work on {len(jobs)} documents")
    assert killed >= KILLS
