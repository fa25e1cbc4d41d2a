"""Originals on a server that speaks S3: the contract of every store of blobs, and a whole run with failures of it."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

import core
from core.adapters.blobs.urls import UrlBlobStore
from core.errors import InvalidInput, NotFound, StoreUnavailable
from core.model import JobState
from core.platform import retrying
from core.ports import BlobStore
from tests.builders import add, knowledge_base
from tests.contracts.blob_store import BlobStoreContract, name_of, put
from tests.integration.test_blobs_elsewhere import LINES, MARK, wait_until_it_waits
from tests.servers.s3 import S3Server
from tests.unit.versions.test_purge import files_with


def client() -> Any:
    import s3fs

    return s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of its own, with the settings in the environment where S3's own tools look for them."""
    told = {"ACCESS_KEY_ID": "ada", "SECRET_ACCESS_KEY": "hunter2", "DEFAULT_REGION": "us-east-1"}
    for name, value in {**told, "ENDPOINT_URL": s3.url, "MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    name = f"b{token_hex(8)}"
    client().mkdir(name)
    return name


def at(bucket: str, folder: Path) -> UrlBlobStore:
    folder.mkdir(exist_ok=True)
    return UrlBlobStore(f"s3://{bucket}/place", folder / "blob-cache", 64 * 1024 * 1024, folder / "blob-owner")


def uncache(folder: Path) -> None:
    for copy in (folder / "blob-cache").glob("??/*"):
        copy.unlink()


class TestS3(BlobStoreContract):
    @pytest.fixture
    def store(self, bucket: str, tmp_path: Path) -> BlobStore:
        return at(bucket, tmp_path / "data")


def test_object_that_is_sent_in_parts_is_fetched_where_no_copy_is_left(bucket: str, tmp_path: Path) -> None:
    store = at(bucket, tmp_path / "data")
    content = bytes(range(256)) * 65_536
    name = put(store, content, tmp_path)
    assert client().cat_file(f"{bucket}/place/{name[:2]}/{name}") == content
    uncache(tmp_path / "data")
    assert at(bucket, tmp_path / "data").path(name).read_bytes() == content


def test_what_another_process_has_deleted_is_not_found(bucket: str, tmp_path: Path) -> None:
    store = at(bucket, tmp_path / "data")
    name = put(store, b"words", tmp_path)
    at(bucket, tmp_path / "data").delete(name)
    with pytest.raises(NotFound):
        store.path(name)
    assert list(store.names()) == []


def test_server_that_is_killed_is_said_to_be_away_and_keeps_what_it_had(
    s3: S3Server, bucket: str, tmp_path: Path
) -> None:
    store = at(bucket, tmp_path / "data")
    name = put(store, b"words", tmp_path)
    uncache(tmp_path / "data")
    s3.kill()
    try:
        for each in (store, at(bucket, tmp_path / "data")):
            with pytest.raises(StoreUnavailable) as caught:
                each.path(name)
            assert "hunter2" not in f"{caught.value.as_dict()}" and bucket not in f"{caught.value.as_dict()}"
        with pytest.raises(StoreUnavailable):
            put(store, b"others", tmp_path)
        with pytest.raises(StoreUnavailable):
            list(store.names())
    finally:
        s3.restart()
    assert set(store.names()) == {name}
    assert put(store, b"others", tmp_path) == name_of(b"others")


def test_bucket_that_is_none_is_told(bucket: str, tmp_path: Path) -> None:
    for act in (lambda store: put(store, b"words", tmp_path), lambda store: store.path(name_of(b"words"))):
        with pytest.raises(StoreUnavailable):
            act(at(f"{bucket}-none", tmp_path / "data"))
    with pytest.raises(InvalidInput):
        UrlBlobStore("s3://", tmp_path / "cache", 1, tmp_path / "owner")
    assert not client().exists(f"{bucket}-none")


def test_documents_from_upload_to_purge_while_the_server_comes_and_goes(
    s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying, "_PAUSE_S", 0.1)
    with knowledge_base(tmp_path, blob_url=f"s3://{bucket}/kb") as kb:
        add(kb, "a.txt", f"{MARK} is the password.")
        add(kb, "a.txt", "There is no password.")
        job_id = str(kb.add_file("b.md", io.BytesIO(LINES.encode())).job_id)
        uncache(tmp_path / "data")
        s3.kill()
        try:
            with pytest.raises(StoreUnavailable):
                kb.add_text("c.txt", MARK)
            worker = threading.Thread(target=kb.work_off, daemon=True)
            worker.start()
            wait_until_it_waits(kb, job_id)
        finally:
            s3.restart()
        worker.join()
        assert kb.job(job_id).state is JobState.DONE
        assert [document.doc_key for document in kb.documents()] == ["a.txt", "b.md"]
        trace = core.EvoRAG(kb=kb).search(core.Query("handbook of note"))
        assert "b.md" in {hit.placed.doc_key for hit in trace.candidates}
        assert kb.original("a.txt", 1)[0].read_bytes().startswith(MARK.encode())
        assert len(client().find(f"{bucket}/kb")) == 7
        kb.purge("a.txt", 1)
        assert len(client().find(f"{bucket}/kb")) == 5
        assert files_with(tmp_path / "data" / "blob-cache", MARK.encode()) == []
        assert kb.text_of("b.md").startswith("Passage 0")
