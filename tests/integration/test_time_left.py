"""What a real job says of its share and its time left while a slow embedder works."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Sequence

from core.model import JobState
from core.ports import Progress, Vector
from tests.builders import knowledge_base

TEXT_S = 0.04
LONG = "\n\n".join(f"# Gate {number}\n\n" + f"turquoise{number} " * 120 for number in range(160)).encode()


def test_a_bar_moves_every_second_and_knows_the_time(tmp_path) -> None:
    kb = knowledge_base(tmp_path / "data")
    embed = kb._embedder.embed_passages

    def slow(texts: Sequence[str], progress: Progress | None = None) -> Vector:
        for done in range(1, len(texts) + 1):
            time.sleep(TEXT_S)
            if progress is not None:
                progress(done, len(texts))
        return embed(texts)

    kb._embedder.embed_passages = slow  # type: ignore[method-assign]
    job_id = str(kb.add_file("a.md", io.BytesIO(LONG)).job_id)
    working = threading.Thread(target=kb.work_off)
    began = time.monotonic()
    working.start()
    said: list[tuple[float, float, float | None]] = []
    while (job := kb.job(job_id)).state in (JobState.QUEUED, JobState.RUNNING):
        said.append((time.monotonic() - began, job.share, job.seconds_left))
        time.sleep(0.1)
    whole = time.monotonic() - began
    working.join()
    assert (job.state, job.share, job.seconds_left) == (JobState.DONE, 1.0, 0.0)
    shares = [share for _, share, _ in said]
    assert shares == sorted(shares)
    moved = [0.0, *(at for (at, share, _), before in zip(said[1:], shares, strict=False) if share > before), whole]
    assert max(after - before for before, after in itertools.pairwise(moved)) < 1.5
    later = [(left, whole - at) for at, _, left in said if 0.1 <= at / whole <= 0.8]
    errors = sorted(abs((left or 0.0) - true) / true for left, true in later)
    assert errors[len(errors) // 2] < 1 / 3
    kb.close()
