"""Who waits for an answer leaves threads for everybody else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import core
from app.api.system.waiting import Waiting
from app.main import create_app
from tests.builders import add, knowledge_base
from tests.doubles import QueuedGenerator, use
from tests.waiting import until


def test_nobody_takes_more_than_half_and_all_together_no_more_than_there_are() -> None:
    waiting = Waiting(4)
    with waiting.place("ann") as first, waiting.place("ann") as second, waiting.place("ann") as third:
        assert (first, second, third) == (True, True, False)
        with waiting.place("bob") as fourth, waiting.place("cy") as fifth, waiting.place("dan") as sixth:
            assert (fourth, fifth, sixth) == (True, True, False)
    with waiting.place("ann") as again:
        assert again
    assert not waiting._taken


@pytest.fixture
def waits(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each request would have waited for a change."""
    found: list[float] = []
    changed = kb.jobs_changed
    monkeypatch.setattr(kb, "jobs_changed", lambda seen, wait_s: found.append(wait_s) or changed(seen, 0))
    return found


def test_a_change_is_not_waited_for_where_others_wait_already(client: FlaskClient, waits: list[float]) -> None:
    assert client.get("/api/v1/jobs?changed_since=0&wait_s=25").status_code == 200
    client.application.extensions["evorag-waiting"] = Waiting(0)
    assert client.get("/api/v1/jobs?changed_since=0&wait_s=25").status_code == 200
    assert waits == [25, 0]


def test_requests_that_wait_hold_a_share_of_the_threads(tmp_path) -> None:
    with knowledge_base(tmp_path, server_threads=16) as kb:
        server = create_app(kb).server
        waiting, go_on = [], threading.Event()

        def changed(seen: int, wait_s: float) -> int:
            waiting.append(wait_s)
            if wait_s:
                go_on.wait(60)
            return seen

        kb.jobs_changed = changed  # type: ignore[method-assign]
        asked = [
            threading.Thread(target=server.test_client().get, args=("/api/v1/jobs?changed_since=0&wait_s=25",))
            for _ in range(9)
        ]
        for thread in asked:
            thread.start()
        until(lambda: len(waiting) == 9)
        go_on.set()
        for thread in asked:
            thread.join(60)
        assert sorted(waiting) == [0] * 7 + [25] * 2


def test_requests_that_come_first_together_are_all_answered(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        server = create_app(kb).server
        starting = threading.Barrier(8)

        def ask() -> int:
            starting.wait(60)
            return server.test_client().get("/ask").status_code

        with ThreadPoolExecutor(8) as threads, switching_often():
            assert [each.result(60) for each in [threads.submit(ask) for _ in range(8)]] == [200] * 8


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_written_answers_are_refused_where_all_places_are_taken(
    kb: core.KnowledgeBase, client: FlaskClient, accept: str
) -> None:
    add(kb, "hours", "The museum opens at nine.")
    use(kb, QueuedGenerator(*["The museum opens at nine. [1]"] * 4))

    def ask(generator: str):
        asked = {"question": "When does the museum open?", "generator": generator, "keep": False}
        return client.post("/api/v1/ask", json=asked, headers={"Accept": accept})

    places = client.application.extensions["evorag-writing"] = Waiting(2)
    with places.place("somebody"), places.place("somebody else"):
        answered = ask("none")
        assert answered.status_code == 200 and answered.get_data()
        refused = ask("queued")
        assert (refused.status_code, refused.get_json()["code"]) == (503, "busy")
        assert refused.headers["Retry-After"] == "5"
    for _ in range(3):
        answered = ask("queued")
        assert answered.status_code == 200 and answered.get_data()
    assert not places._taken
