"""A disk that is really full: every write is 507 with a remedy, questions are answered, and room makes all well."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import core
from app.main import create_app
from core.errors import DiskFull
from tests import programs
from tests.builders import add, knowledge_base
from tests.waiting import until

SIZE_MB = 24
FILLER = "filler"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """An empty file system of a few megabytes; the test is left out where none can be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    if os.geteuid() != 0 or programs.find("mount") is None:
        pytest.skip("only root can mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(place)]
    if (done := subprocess.run(mount, capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> None:
    """Write until not a byte more fits."""
    with (place / FILLER).open("ab", buffering=0) as file, suppress(OSError):
        for size in (1 << 20, 4096, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
    assert shutil.disk_usage(place).free == 0


@pytest.fixture
def kb(small: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(small, min_free_bytes=0) as opened:
        add(opened, "fees", "The yearly fee is 12 euros.")
        add(opened, "fees", "The yearly fee is 14 euros.")
        # What the background would write later leaves room in the log that is written over.
        opened._projector.flush()
        opened.catalog.database.truncate_log()
        yield opened


@pytest.fixture
def client(kb: core.KnowledgeBase) -> FlaskClient:
    found: FlaskClient = create_app(kb).server.test_client()
    found.environ_base["HTTP_SEC_FETCH_SITE"] = "same-origin"
    return found


WRITES: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("POST", "/api/v1/texts", {"json": {"name": "more", "text": "More text, which has no room. " * 2_000}}),
    ("PUT", "/api/v1/documents/fees.txt/tags", {"json": {"tags": [f"tag {at}" for at in range(30)]}}),
    ("PATCH", "/api/v1/documents/fees.txt/versions/1", {"json": {"note": "n" * 2_000}}),
    ("POST", "/api/v1/conversations", {"json": {"title": "t" * 100}}),
    ("DELETE", "/api/v1/documents/fees.txt", {}),
    ("POST", "/api/v1/stores/repair", {"json": {"dry_run": True}}),
    ("POST", "/api/v1/stores/reindex", {"json": {}}),
)


def test_every_write_is_507_with_a_remedy_and_is_done_once_there_is_room(
    small: Path, kb: core.KnowledgeBase, client: FlaskClient
) -> None:
    fill(small)
    answers = [(method, path, client.open(path, method=method, **given)) for method, path, given in WRITES]
    file = {"file": (io.BytesIO(b"A file of its own. " * 5_000), "file.md")}
    upload = client.post("/api/v1/documents", data=file, content_type="multipart/form-data")
    for method, path, answer in (*answers, ("POST", "/api/v1/documents", upload)):
        assert answer.status_code == 507, (method, path, answer.status_code, answer.text[:300])
        assert answer.json["code"] == "disk_full"
        assert "Free space" in answer.json["remedy"]
    assert [each.name for each in kb.documents()] == ["fees.txt"]
    (small / FILLER).unlink()
    for method, path, given in WRITES:
        answer = client.open(path, method=method, **given)
        assert answer.status_code < 300, (method, path, answer.status_code, answer.text[:300])


def test_questions_are_answered_without_their_account_being_kept(small: Path, kb: core.KnowledgeBase) -> None:
    rag = core.EvoRAG(kb=kb)
    fill(small)
    trace = rag.ask("What is the yearly fee?")
    assert "14 euros" in trace.answer.text
    assert kb.history() == []
    assert rag.search("yearly fee").hits
    (small / FILLER).unlink()
    rag.ask("What is the yearly fee?")
    assert len(kb.history()) == 1


def test_reading_goes_on(small: Path, client: FlaskClient) -> None:
    fill(small)
    for path in ("documents", "documents/fees.txt", "documents/fees.txt/versions/1/original", "jobs", "counts"):
        assert client.get(f"/api/v1/{path}").status_code == 200, path
    assert client.get("/health/live").status_code == 200


RESERVE = 4 * 1024 * 1024


def disk(client: FlaskClient) -> tuple[str, str, int]:
    answer = client.get("/health")
    told = next(store for store in answer.json["stores"] if store["name"] == "disk")
    return str(answer.json["status"]), str(told["state"]), answer.status_code


def test_health_says_that_the_disk_is_nearly_full_before_it_is(small: Path) -> None:
    with knowledge_base(small, min_free_bytes=1 << 20, low_disk_bytes=8 << 20) as kb:
        client = create_app(kb).server.test_client()
        assert disk(client) == ("ok", "ok", 200)
        (small / FILLER).write_bytes(b"x" * (shutil.disk_usage(small).free - (4 << 20)))
        assert disk(client) == ("degraded", "low", 200)
        fill(small)
        assert disk(client) == ("degraded", "full", 200)
        told = next(store for store in kb.health().stores if store.name == "disk")
        assert told.detail.startswith("0 of 24 MiB")


def test_deleting_and_purging_work_on_a_full_disk_again_and_again(small: Path) -> None:
    with knowledge_base(small, min_free_bytes=0, disk_reserve_bytes=RESERVE) as kb:
        for name in ("one", "two", "three"):
            add(kb, name, f"The text of {name}. " * 40)
        kb.catalog.database.truncate_log()
        assert (small / "data" / "reserve").stat().st_blocks * 512 >= RESERVE
        fill(small)
        kb.delete("one.txt")
        fill(small)
        kb.purge("two.txt")
        fill(small)
        kb.purge("one.txt")
        assert kb.catalog.purges.pending() == []
        assert [each.doc_key for each in kb.documents(include_deleted=True) if each.state != "purged"] == ["three.txt"]
        assert (small / "data" / "reserve").stat().st_size < RESERVE
        (small / FILLER).unlink()
        kb.catalog.database.truncate_log()
    with knowledge_base(small, min_free_bytes=0, disk_reserve_bytes=RESERVE) as kb:
        assert (small / "data" / "reserve").stat().st_size == RESERVE
        # A store that met the full disk is tried again after a second.
        until(lambda: core.EvoRAG(kb=kb).search("three").hits)


def remounted(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


def test_start_on_a_read_only_disk_is_one_line(small: Path, kb: core.KnowledgeBase) -> None:
    kb.close()
    remounted(small, "ro")
    try:
        with pytest.raises(DiskFull, match="cannot be written to") as caught, knowledge_base(small):
            pass
        assert "mounted for writing" in caught.value.remedy
        said = subprocess.run(
            [sys.executable, "-m", "core.cli", "list", "--data-dir", str(small / "data")],
            capture_output=True,
            text=True,
            env={**os.environ, "EVOSPIKENET_TEST_MODE": "1"},
            check=False,
        )
        assert said.returncode == 1
        assert "cannot be written to" in said.stderr and "Traceback" not in said.stderr
    finally:
        remounted(small, "rw")


def test_start_on_a_full_disk_is_one_error_or_serves(small: Path, kb: core.KnowledgeBase) -> None:
    kb.close()
    fill(small)
    try:
        with knowledge_base(small, min_free_bytes=0) as again:
            assert "14 euros" in core.EvoRAG(kb=again).ask("What is the yearly fee?").answer.text
    except core.EvoRAGError as error:
        assert error.code == "disk_full"
        assert "Free space" in error.remedy
