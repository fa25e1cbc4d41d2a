"""Two web processes behind a proxy, a worker, PostgreSQL, Redis, Elasticsearch and Milvus: one knowledge base."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.client import RagClient
from core.errors import EvoRAGError
from core.model import JobState, Query
from tests.servers import composed
from tests.servers.composed import Composed

FIRST = "The ferry to Zennor leaves at nine and costs four euros."
SECOND = "The ferry to Zennor leaves at ten and costs five euros."
QUESTION = "ferry to Zennor"
PASSWORD = "a ferry that leaves at nine\n"
_LATEST_S = 60


@pytest.fixture(scope="module")
def scaled(
    tmp_path_factory: pytest.TempPathFactory, postgres: Any, redis: Any, elastic: Any, milvus: Any
) -> Iterator[Composed]:
    if reason := composed.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("scaled")
    with composed.running(folder, postgres=postgres, redis=redis, elastic=elastic, milvus=milvus) as processes:
        processes.run("web", "evorag", "user", "add", "ada", "--role", "admin", "--password-stdin", given=PASSWORD)
        processes.start()
        yield processes


@pytest.fixture(scope="module")
def key(scaled: Composed) -> str:
    secret = scaled.key("ada")
    for url in scaled.urls:
        with RagClient(url, secret) as one:
            # The client asks again while the process says that it is not ready.
            one._http.get("/health/ready")
    return secret


@pytest.fixture
def client(scaled: Composed, key: str) -> Iterator[RagClient]:
    """A client of the proxy."""
    with RagClient(scaled.url, key) as client:
        yield client


def eventually(holds: Callable[[], bool], scaled: Composed) -> None:
    deadline = time.monotonic() + _LATEST_S
    while True:
        try:
            if holds():
                return
        except EvoRAGError:
            pass
        assert time.monotonic() < deadline, scaled.logs()
        time.sleep(0.1)


def shown(client: RagClient) -> list[tuple[str, int, str]]:
    """What a question finds by both legs: document, version and the engines."""
    trace = client.search(Query(QUESTION))
    assert not trace.degraded
    hits = [hit for hit in trace.candidates if hit.vector and hit.keyword]
    return [(hit.placed.doc_key, hit.placed.version, f"{trace.vector.engine}, {trace.keyword.engine}") for hit in hits]


def test_an_upload_is_worked_on_by_the_worker_and_found_by_every_web_process(
    scaled: Composed, key: str, client: RagClient
) -> None:
    indexed = client.rag_upload_file_async(_file(scaled, "ferry.txt", FIRST)).result(_LATEST_S)
    assert indexed.version == 1
    for url in scaled.urls:
        with RagClient(url, key) as one:
            [(doc_key, version, engines)] = shown(one)
            assert (doc_key, version) == ("ferry.txt", 1)
            assert "Milvus" in engines
            assert "Elasticsearch" in engines


def test_a_new_version_and_a_rollback_are_seen_by_the_other_process_at_once(
    scaled: Composed, key: str, client: RagClient
) -> None:
    assert client.rag_upload_file(_file(scaled, "ferry.txt", SECOND), timeout_s=_LATEST_S).version == 2
    with RagClient(scaled.urls[0], key) as one, RagClient(scaled.urls[1], key) as other:
        assert {found[:2] for found in shown(one)} == {found[:2] for found in shown(other)} == {("ferry.txt", 2)}
        one.rollback("ferry.txt", 1)
        assert other.document("ferry.txt").published_version == 1
        trace = other.search(Query(QUESTION))
        assert {hit.placed.version for hit in trace.candidates} == {1}


def test_both_stores_hold_what_the_catalogue_says(client: RagClient, scaled: Composed) -> None:
    eventually(lambda: all(not each.waiting for each in client.check()), scaled)
    checks = client.check()
    assert {check.store for check in checks} == {"vector", "keyword"}
    assert all(check.is_sound and check.stored == check.expected > 0 for check in checks), checks


def test_while_elasticsearch_is_down_questions_go_on_and_uploads_wait(
    scaled: Composed, client: RagClient, elastic: Any
) -> None:
    elastic.kill()
    try:
        trace = client.search(Query(QUESTION))
        assert trace.degraded == ("keyword",)
        assert [hit.placed.doc_key for hit in trace.candidates] == ["ferry.txt"]
        health = client._http.call("GET", "health", accept=(503,)).json()
        assert {store["name"]: store["state"] for store in health["stores"]}["keyword"] == "down"
        waiting = client.rag_upload_file_async(_file(scaled, "mill.txt", "The mill of Zennor grinds on Mondays."))
        assert not waiting.done()
    finally:
        elastic.restart()
    assert waiting.result(_LATEST_S).version == 1
    eventually(lambda: {found[0] for found in shown(client)} == {"ferry.txt", "mill.txt"}, scaled)
    eventually(lambda: all(check.is_sound and not check.waiting for check in client.check()), scaled)


def test_a_web_process_that_is_killed_is_not_missed(scaled: Composed, client: RagClient) -> None:
    scaled.kill("web0")
    for _ in range(4):
        assert shown(client)


def test_what_a_killed_worker_had_begun_is_not_lost(scaled: Composed, client: RagClient) -> None:
    receipts = [client.add_text(f"note {number}", f"Note {number} about {QUESTION}.") for number in range(3)]
    scaled.kill("worker")
    scaled.start_program("worker", "worker")
    jobs = client.wait([str(receipt.job_id) for receipt in receipts], _LATEST_S)
    assert {job.state for job in jobs} == {JobState.DONE}
    assert {client.document(f"note {number}.txt").version_count for number in range(3)} == {1}


def _file(scaled: Composed, name: str, text: str) -> Any:
    path = scaled.folder / name
    path.write_text(text)
    return path
