"""What processes leave that are killed while others go on is cleared away by those."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import core
from core.model import EvaluationRun, JobState
from core.platform import failpoints
from core.platform.poller import Poller
from core.versions import history
from tests.builders import add, begin, knowledge_base


class Killed(BaseException):
    """The process ends here, as far as a thread can."""


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> list[Poller]:
    """What looks again and again, which here does so when it is told to."""
    started: list[Poller] = []
    monkeypatch.setattr(Poller, "start", lambda following: started.append(following))
    return started


def shared(folder: Path) -> core.KnowledgeBase:
    begin(folder / "data")
    return knowledge_base(folder, catalog_url=f"sqlite:///{folder / 'data' / 'catalog.db'}")


def run_of(kb: core.KnowledgeBase, run_id: str, set_id: str) -> EvaluationRun:
    return EvaluationRun(run_id, set_id, "few", datetime.now(UTC), 1, total=1, state="running")


def test_it_is_cleared_away_while_they_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looking: list[Poller]
) -> None:
    with shared(tmp_path) as gone, shared(tmp_path) as other:
        add(gone, "shown", "The gate is green.")
        add(gone, "shown", "The gate is blue.")
        doc_id = gone.catalog.documents.id_of("shown.txt")
        gone.catalog.publications.prepare(doc_id, gone.version("shown.txt", 1).id)
        asked = gone.evaluations.import_set("few", b"question\nWhich colour?\n", "csv")
        other._pins.take("b" * 32)
        for run_id in ("a" * 32, "b" * 32):
            gone.catalog.evaluations.begin(run_of(gone, run_id, asked.id))
        job_id = str(gone.add_text("new", "The door is red.").job_id)

        def die(reached: str) -> None:
            if reached == "ingest.keywords.flushed":
                failpoints.on_failpoint(None)
                other.cancel(job_id)
                raise Killed

        failpoints.on_failpoint(die)
        try:
            with pytest.raises(Killed):
                gone.work_off()
        finally:
            failpoints.on_failpoint(None)
        for each in looking:
            each.look()
        assert other.catalog.publications.prepared()
        monkeypatch.setattr(history, "_LONGEST_S", 0.0)
        for each in looking:
            each.look()
        assert other.evaluations.run_of("a" * 32).state == "failed"
        assert other.evaluations.run_of("b" * 32).state == "running"
        assert not other.catalog.publications.prepared()
        assert (other.job(job_id).state, other.version("new.txt", 1).state) == (JobState.CANCELLED,) * 2
        assert other.preview("new.txt", 1).total_chunks == 0
