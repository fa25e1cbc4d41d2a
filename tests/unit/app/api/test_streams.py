"""Progress and answers as they come: events, WebSockets, and what happens to clients that misbehave."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import websocket
from flask.testing import FlaskClient

import core
from app.api.events.progress import AllFollower, Event, JobFollower, share_of, shown, written
from core.access import acting
from core.catalog.jobs.job_scheduler import Choice
from core.catalog.jobs.stage_run import StageRun
from core.errors import NotFound
from core.jobs.pace import Pace, Recent
from core.model import Job, JobState, Principal, Query, Role, Stage
from tests.builders import add, knowledge_base
from tests.doubles import SilentGenerator, use
from tests.live import served

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TEXT = "Leave is 14 days a year. Invoices are due in 30 days."


@pytest.fixture
def url(kb: core.KnowledgeBase) -> Iterator[str]:
    with served(kb) as address:
        yield address


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


def streams_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "evorag-streams"]


@contextmanager
def connected(url: str, path: str, **options: Any) -> Iterator[websocket.WebSocket]:
    ws = websocket.create_connection(f"ws{url[4:]}{path}", timeout=20, **options)
    try:
        yield ws
    finally:
        with suppress(OSError, websocket.WebSocketException):
            ws.close()


def close_code(ws: websocket.WebSocket) -> int:
    """Read until the server closes, and return its code."""
    while True:
        opcode, data = ws.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            return int.from_bytes(data[:2], "big")


# ---- events


def test_a_job_is_followed_to_its_end(kb: core.KnowledgeBase, url: str) -> None:
    upload = kb.add_text("a.txt", TEXT)
    found = []
    with httpx.stream("GET", f"{url}/api/v1/jobs/{upload.job_id}/events", timeout=60) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        for name, data in events(response.iter_lines()):
            if not found:
                threading.Thread(target=kb.work_off).start()
            found.append((name, data))
    assert found[0][1]["state"] == "queued"
    assert found[-2][1]["state"] == "done"
    assert found[-1] == ("end", {"id": upload.job_id, "state": "done"})
    changes = [data["change"] for name, data in found if name == "job"]
    assert changes == sorted(changes)
    # A change is told again only where the share or the time left has moved.
    told = [json.dumps(data) for name, data in found if name == "job"]
    assert len(told) == len(set(told))


def test_many_followers_hold_one_thread(kb: core.KnowledgeBase, url: str) -> None:
    upload = kb.add_text("a.txt", TEXT)
    address = httpx.URL(url)
    clients = []
    for _ in range(40):
        client = socket.create_connection((address.host, address.port))
        client.sendall(f"GET /api/v1/jobs/{upload.job_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        clients.append(client)
    heads = [client.recv(20) for client in clients]
    assert all(head.startswith(b"HTTP/1.1 200") for head in heads)
    deadline = time.monotonic() + 30
    while any("process_request" in thread.name for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [thread for thread in threading.enumerate() if "process_request" in thread.name]
    assert len(streams_threads()) == 1
    kb.work_off()
    for client in clients:
        said = b""
        while part := client.recv(65_536):
            said += part
        assert b"event: end" in said
        client.close()


def test_there_is_no_room_for_more_followers_than_the_setting_allows(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, stream_limit=1) as kb, served(kb) as url:
        upload = kb.add_text("a.txt", TEXT)
        path = f"{url}/api/v1/jobs/{upload.job_id}/events"
        with httpx.stream("GET", path, timeout=60) as first:
            lines = first.iter_lines()
            next(lines)
            refused = httpx.get(path)
            assert refused.status_code == 503
            assert refused.headers["Retry-After"] == "5"
            assert refused.json()["code"] == "busy"


def test_who_has_seen_the_end_is_told_not_to_come_back(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    upload = add(kb, "a.txt", TEXT)
    path = f"/api/v1/jobs/{upload.job_id}/events"
    job = kb.job(str(upload.job_id))
    assert client.get(path, headers={"Last-Event-ID": str(job.change)}).status_code == 204
    again = client.get(path, headers={"Last-Event-ID": "0"})
    assert [name for name, _ in events(iter(again.text.splitlines()))] == ["job", "end"]


def test_a_job_that_nobody_has_is_not_found(client: FlaskClient) -> None:
    answer = client.get("/api/v1/jobs/nothing/events")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")


def test_all_jobs_are_told_that_changed_since(kb: core.KnowledgeBase) -> None:
    follower = AllFollower(kb)
    assert follower.news() == []
    first, second = kb.add_text("a.txt", TEXT), kb.add_text("b.txt", TEXT + " b")
    assert [event.data["id"] for event in follower.news()] == [first.job_id, second.job_id]
    assert follower.news() == []
    kb.work_off()
    assert {event.data["state"] for event in follower.news()} == {"done"}


def parsing(kb: core.KnowledgeBase) -> str:
    """Bring a job into a stage that says nothing of how far it is."""
    job_id = str(kb.add_text("a.txt", TEXT * 1_000).job_id)
    [job] = kb.catalog.jobs.take(Choice(1, 1))
    run = StageRun(kb.catalog.jobs, job, threading.Event())
    run.begin(Stage.PARSING, 1)
    run.write()
    return job_id


def told_slowly(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have reading count for most of the work, and nothing be learnt meanwhile."""
    monkeypatch.setattr(kb._jobs._estimates, "_pace", Pace(small={"": 60.0}))
    monkeypatch.setattr(kb._jobs._estimates, "_learn", lambda now: None)
    monkeypatch.setattr(kb._jobs._estimates, "_embedding", Recent(0.0001))


def test_a_job_that_runs_is_told_again_though_nothing_is_written(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_slowly(kb, monkeypatch)
    job_id = parsing(kb)
    for follower in (JobFollower(kb, job_id), AllFollower(kb)):
        told = []
        for _ in range(20):
            told += [event.data["progress"] for event in follower.news()]
            assert follower.is_moving
            time.sleep(0.05)
        assert len(told) > 2
        assert told == sorted(set(told))
    kb.cancel(job_id)
    follower = AllFollower(kb)
    assert follower.news() == [] and not follower.is_moving


def test_whoever_follows_hears_of_a_silent_stage_every_second(
    kb: core.KnowledgeBase, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_slowly(kb, monkeypatch)
    job_id = parsing(kb)
    for path in (f"/api/v1/jobs/{job_id}/events", "/api/v1/jobs/events"):
        heard = []
        with httpx.stream("GET", f"{url}{path}", timeout=60) as response:
            for name, data in events(response.iter_lines()):
                assert name == "job"
                heard.append((time.monotonic(), data["progress"]))
                if len(heard) == 4:
                    break
        assert heard[-1][0] - heard[0][0] < 6 and heard[-1][1] > heard[0][1]
    with connected(url, f"/ws/progress/{job_id}") as ws:
        told = [json.loads(ws.recv())["progress"] for _ in range(3)]
    assert told == sorted(set(told))


def test_too_many_changes_at_once_say_to_read_the_list_again(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.api.events.progress.MOST_AT_ONCE", 2)
    follower = AllFollower(kb)
    kb.add_texts([(f"{number}.txt", "", f"{TEXT} {number}") for number in range(3)])
    assert [event.name for event in follower.news()] == ["reload"]
    assert follower.news() == []


def test_another_ones_private_job_is_followed_by_nobody(kb: core.KnowledgeBase) -> None:
    kb.accounts.create_user("root", "correct horse battery", Role.ADMIN)
    owner = kb.accounts.create_user("ada", "correct horse battery", Role.EDITOR)
    other = kb.accounts.create_user("bob", "correct horse battery", Role.EDITOR)
    ada, bob = (Principal(user.name, user.role, user.id) for user in (owner, other))
    with acting(ada):
        upload = kb.add_text("mine.txt", TEXT, private=True)
        assert JobFollower(kb, str(upload.job_id)).news()
    with acting(bob):
        with pytest.raises(NotFound):
            JobFollower(kb, str(upload.job_id)).news()
        assert AllFollower(kb, 0).news() == []


def test_an_event_is_one_line_of_data() -> None:
    job = Job("i", "ingest", JobState.DONE, Stage.PUBLISHED, 1, 1, "a", 1, "a\nb", 1, *(NOW, NOW))
    assert written([Event(7, "job", shown(job))]).count(b"\n") == 4


# ---- sockets


def test_a_socket_tells_progress_to_the_end(kb: core.KnowledgeBase, url: str) -> None:
    upload = kb.add_text("a.txt", TEXT)
    with connected(url, f"/ws/progress/{upload.job_id}") as ws:
        first = json.loads(ws.recv())
        assert (first["type"], first["progress"], first["job_id"]) == ("progress", 0.0, upload.job_id)
        kb.work_off()
        told = []
        while not told or told[-1]["type"] != "end":
            told.append(json.loads(ws.recv()))
        assert told[-2]["progress"] == 1.0
        assert close_code(ws) == 1000


def test_a_socket_follows_more_jobs(kb: core.KnowledgeBase, url: str) -> None:
    first, second = kb.add_text("a.txt", TEXT), kb.add_text("b.txt", TEXT + " b")
    with connected(url, f"/api/v1/ws/progress/{first.job_id}") as ws:
        ws.recv()
        ws.send(json.dumps({"subscribe": [second.job_id]}))
        assert json.loads(ws.recv())["job_id"] == second.job_id


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("no json", 4400),
        ("[]", 4400),
        ('{"subscribe": "x"}', 4400),
        ("[" * 10_000, 4400),
        (json.dumps({"subscribe": ["nothing"]}), 4404),
        (json.dumps({"subscribe": [str(number) for number in range(500)]}), 1008),
        (json.dumps({"subscribe": [f"{number:032d}" for number in range(100_000)]}), 1009),
        ("x" * 20_000_000, 1009),
    ],
    ids=["text", "list", "wrong", "deep", "unknown", "many", "far-too-many", "long"],
)
def test_a_message_that_is_none_closes_the_socket(kb: core.KnowledgeBase, url: str, said: str, code: int) -> None:
    upload = kb.add_text("a.txt", TEXT)
    with connected(url, f"/ws/progress/{upload.job_id}") as ws:
        ws.recv()
        with suppress(OSError):
            ws.send(said)
        with suppress(ConnectionError):
            assert close_code(ws) == code
    assert httpx.get(f"{url}/health/live").status_code == 200


def test_a_flood_of_messages_closes_the_socket(kb: core.KnowledgeBase, url: str) -> None:
    upload = kb.add_text("a.txt", TEXT)
    with connected(url, f"/ws/progress/{upload.job_id}") as ws:
        ws.recv()
        with suppress(OSError):
            for _ in range(10_000):
                ws.send('{"ping": 1}')
        with suppress(ConnectionError):
            assert close_code(ws) == 1008
    assert httpx.get(f"{url}/health/live").status_code == 200


def test_an_unknown_job_closes_the_socket(url: str) -> None:
    with connected(url, "/ws/progress/nothing") as ws:
        assert close_code(ws) == 4404


def test_sockets_leave_threads_for_the_pages(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, server_threads=8) as kb, served(kb) as url:
        upload = kb.add_text("a.txt", TEXT)
        path = f"/ws/progress/{upload.job_id}"
        with connected(url, path) as one:
            assert one.recv()
            with connected(url, path) as two:
                assert two.recv()
                with connected(url, path) as three:
                    assert close_code(three) == 1013


def test_a_foreign_page_opens_no_socket(kb: core.KnowledgeBase, url: str) -> None:
    upload = kb.add_text("a.txt", TEXT)
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        websocket.create_connection(f"ws{url[4:]}/ws/progress/{upload.job_id}", origin="http://evil.example")
    assert refused.value.status_code == 403


def test_nobody_known_opens_no_socket(kb: core.KnowledgeBase, url: str) -> None:
    upload = kb.add_text("a.txt", TEXT)
    kb.accounts.create_user("ada", "correct horse battery", Role.ADMIN)
    with connected(url, f"/ws/progress/{upload.job_id}") as ws:
        assert close_code(ws) == 4401
    assert httpx.get(f"{url}/api/v1/jobs/{upload.job_id}/events").status_code == 401


# ---- answers


def asked(client: FlaskClient, question: str, **more: Any) -> Any:
    return client.post("/api/v1/ask", json={"question": question, **more}, headers={"Accept": "text/event-stream"})


@pytest.mark.long
def test_an_answer_comes_step_by_step(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "a.txt", TEXT)
    found = list(events(iter(asked(client, "How many days of leave are there?").text.splitlines())))
    names = [name for name, _ in found]
    assert names[:2] == ["analysis", "passages"]
    assert names[-1] == "done"
    pieces = "".join(data["text"] for name, data in found if name == "answer")
    trace = found[-1][1]
    assert pieces == trace["answer"]["text"]
    assert kb.trace(trace["id"]).answer.text == pieces


def test_an_answer_that_is_not_to_be_kept_is_not(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "a.txt", TEXT)
    assert "event: done" in asked(client, "How many days of leave?", keep=False).text
    assert kb.history() == []


def test_a_wrong_question_is_a_problem_and_no_stream(client: FlaskClient) -> None:
    answer = asked(client, "x" * 5_000)
    assert (answer.status_code, answer.get_json()["code"]) == (400, "query_too_long")


def test_what_fails_on_the_way_is_an_event(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "a.txt", TEXT)
    answer = asked(client, "How many days of leave?")
    parts = answer.iter_encoded()
    assert b"event: analysis" in next(parts)
    with kb.catalog.database.engine.begin() as tx:
        tx.exec_driver_sql("DROP TABLE questions")
    told = list(events(iter(b"".join(parts).decode().splitlines())))
    assert told[-1][0] == "error"
    assert told[-1][1]["status"] == 500
    assert "questions" not in told[-1][1]["detail"]


@pytest.mark.parametrize("task", ["answer", "standalone"])
def test_a_client_that_leaves_a_silent_generator_stops_it(tmp_path: Path, task: str) -> None:
    generator = SilentGenerator()
    with knowledge_base(tmp_path, generator_standalone="queued" if task == "standalone" else "") as kb:
        use(kb, generator)
        add(kb, "a.txt", TEXT)
        rag = core.EvoRAG(kb=kb)
        conversation = kb.conversations.create().id
        rag.ask(Query("How many days of leave?", conversation_id=conversation))
        before = len(kb.history())
        body = {"question": "And invoices?", "conversation_id": conversation, "fresh": True}
        body |= {"generator": "queued"} if task == "answer" else {}
        wanted = {"Accept": "text/event-stream"}
        with (
            served(kb) as url,
            httpx.stream("POST", f"{url}/api/v1/ask", json=body, headers=wanted, timeout=30) as response,
        ):
            assert any(line == ": " for line in response.iter_lines())
            assert not generator.closed.is_set()
            response.close()
            assert generator.closed.wait(60)
        assert len(kb.history()) == before


def test_without_the_wish_the_answer_is_json(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "a.txt", TEXT)
    for accept in ("application/json", "*/*"):
        answer = client.post("/api/v1/ask", json={"question": "How many days?"}, headers={"Accept": accept})
        assert answer.mimetype == "application/json"


# ---- how much is done


@pytest.mark.parametrize(
    ("state", "share", "told"),
    [
        (JobState.QUEUED, 0.0, 0.0),
        (JobState.RUNNING, 0.4, 0.4),
        (JobState.RUNNING, 1.0, 0.99),
        (JobState.FAILED, 1.0, 0.99),
        (JobState.DONE, 0.0, 1.0),
    ],
)
def test_share_is_whole_only_when_done(state: JobState, share: float, told: float) -> None:
    job = Job("i", "ingest", state, Stage.EMBEDDING, 0, 0, "a", 1, "a", 1, NOW, NOW, share=share)
    assert share_of(job) == told
