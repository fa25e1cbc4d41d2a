"""Blobs of a folder and of URLs keep one contract; a URL has a cache, an owner, and errors that keep its secrets."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.adapters.blobs.cache import BlobCache
from core.adapters.blobs.files import FileBlobStore
from core.adapters.blobs.urls import UrlBlobStore, blobs_at
from core.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from core.ports import BlobStore
from tests.contracts.blob_store import BlobStoreContract, name_of, put

MEBIBYTE = 1024 * 1024


def at(url: str, folder: Path, limit_bytes: int = 64 * MEBIBYTE) -> UrlBlobStore:
    folder.mkdir(exist_ok=True)
    return UrlBlobStore(url, folder / "blob-cache", limit_bytes, folder / "blob-owner")


def local(tmp_path: Path, folder: str = "data") -> UrlBlobStore:
    return at(f"file://{tmp_path / 'far'}", tmp_path / folder)


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


class TestFiles(BlobStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> BlobStore:
        return FileBlobStore(tmp_path / "blobs")


class TestMemory(BlobStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> BlobStore:
        return at(f"memory://{secrets.token_hex(8)}", tmp_path / "data")


class TestLocalUrl(BlobStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> BlobStore:
        return local(tmp_path)


class TestUncached(BlobStoreContract):
    """Everything is fetched anew whenever it is read."""

    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BlobStore:
        monkeypatch.setattr(BlobCache, "find", lambda self, sha256: None)
        return local(tmp_path)


# ---- copies


def test_places_are_those_of_the_data_folder(tmp_path: Path) -> None:
    name = put(local(tmp_path), b"words", tmp_path)
    assert (tmp_path / "far" / name[:2] / name).read_bytes() == b"words"
    assert FileBlobStore(tmp_path / "far").path(name).read_bytes() == b"words"


def test_copy_is_read_while_the_place_is_away(tmp_path: Path) -> None:
    store = local(tmp_path)
    name = put(store, b"words", tmp_path)
    (tmp_path / "far").rename(tmp_path / "away")
    assert store.path(name).read_bytes() == b"words"


def test_damaged_object_is_never_handed_out(tmp_path: Path) -> None:
    store = local(tmp_path)
    name = put(store, b"words", tmp_path)
    (tmp_path / "far" / name[:2] / name).write_bytes(b"swore")
    (tmp_path / "data" / "blob-cache" / name[:2] / name).unlink()
    with pytest.raises(NotFound, match="damaged"):
        store.path(name)
    assert contents(tmp_path / "data" / "blob-cache") == []


def test_shorter_object_is_sent_again(tmp_path: Path) -> None:
    store = local(tmp_path)
    name = put(store, b"words", tmp_path)
    (tmp_path / "far" / name[:2] / name).write_bytes(b"wo")
    put(store, b"words", tmp_path)
    assert (tmp_path / "far" / name[:2] / name).read_bytes() == b"words"


def test_files_unused_for_longest_leave_the_cache_first(tmp_path: Path) -> None:
    store = at(f"file://{tmp_path / 'far'}", tmp_path / "data", limit_bytes=3_000)
    names = [put(store, bytes([number]) * 1_000, tmp_path) for number in range(3)]
    long_ago = time.time() - 3_600
    for number, name in enumerate(names):
        os.utime(tmp_path / "data" / "blob-cache" / name[:2] / name, (long_ago + number, long_ago + number))
    store.path(names[0])
    put(store, b"new" * 500, tmp_path)
    cached = {path.name for path in (tmp_path / "data" / "blob-cache").glob("??/*")}
    assert names[0] in cached and not cached & set(names[1:])
    assert [store.path(name).read_bytes() for name in names] == [bytes([number]) * 1_000 for number in range(3)]


def test_files_that_were_just_used_stay_whatever_the_limit(tmp_path: Path) -> None:
    store = at(f"file://{tmp_path / 'far'}", tmp_path / "data", limit_bytes=1)
    paths = [store.path(put(store, bytes([number]), tmp_path)) for number in range(20)]
    assert all(path.exists() for path in paths)


def test_what_is_deleted_while_another_process_fetches_it_stays_in_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = local(tmp_path), local(tmp_path)
    name = put(one, b"secret", tmp_path)
    (tmp_path / "data" / "blob-cache" / name[:2] / name).unlink()
    keep = BlobCache.keep

    def kept_late(self: BlobCache, source: Path, sha256: str) -> Path:
        other._cache.forget = lambda sha256: None  # type: ignore[method-assign]
        other.delete(sha256)
        return keep(self, source, sha256)

    monkeypatch.setattr(BlobCache, "keep", kept_late)
    with pytest.raises(NotFound):
        one.path(name)
    assert b"secret" not in contents(tmp_path / "data") + contents(tmp_path / "far")


def test_what_a_killed_process_left_is_named_and_deleted(tmp_path: Path) -> None:
    store = local(tmp_path)
    put(store, b"kept", tmp_path)
    name = name_of(b"secret")
    for top in (tmp_path / "far", tmp_path / "data" / "blob-cache"):
        (top / name[:2]).mkdir(exist_ok=True)
        (top / name[:2] / f"{name}.0123456789abcdef").write_bytes(b"secr")
    assert set(store.names()) == {name, name_of(b"kept")}
    store.delete(name)
    assert b"secr" not in contents(tmp_path / "data") + contents(tmp_path / "far")


# ---- whose it is


def test_place_of_another_knowledge_base_is_refused(tmp_path: Path) -> None:
    name = put(local(tmp_path), b"theirs", tmp_path)
    stranger = local(tmp_path, "stranger")
    acts: tuple[Callable[[], object], ...] = (
        lambda: stranger.path(name),
        lambda: stranger.delete(name),
        lambda: list(stranger.names()),
        lambda: put(stranger, b"ours", tmp_path),
    )
    for act in acts:
        with pytest.raises(Conflict):
            act()
    assert local(tmp_path).path(name).read_bytes() == b"theirs"


def test_place_that_holds_nothing_may_have_another_owner(tmp_path: Path) -> None:
    store = local(tmp_path)
    store.delete(put(store, b"words", tmp_path))
    assert local(tmp_path, "other").path(put(local(tmp_path, "other"), b"words", tmp_path)).read_bytes() == b"words"


def test_processes_that_begin_at_the_same_time_agree_on_the_owner(tmp_path: Path) -> None:
    stores = [local(tmp_path) for _ in range(8)]
    told: list[object] = []
    threads = [threading.Thread(target=lambda store=store: told.append(list(store.names()))) for store in stores]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [[]] * 8


def test_folder_that_is_not_mounted_is_not_begun_anew(tmp_path: Path) -> None:
    store = local(tmp_path)
    put(store, b"words", tmp_path)
    (tmp_path / "far").rename(tmp_path / "away")
    for each in (store, local(tmp_path)):
        with pytest.raises(StoreUnavailable):
            each.path(name_of(b"others"))
        with pytest.raises(StoreUnavailable):
            put(each, b"others", tmp_path)
    assert not (tmp_path / "far").exists()
    (tmp_path / "away").rename(tmp_path / "far")
    assert set(store.names()) == {name_of(b"words")}


# ---- what goes wrong


@pytest.mark.parametrize(
    "url",
    [
        "nothing at all",
        "/mnt/hunter2",
        "://hunter2",
        "colour://hunter2",
        "https://user:hunter2@host/place",
        "simplecache::s3://hunter2",
        "memory://hunter2",
        "s3://",
    ],
)
def test_url_that_is_none_is_refused_without_repeating_it(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        blobs_at(url, tmp_path / "blobs", MEBIBYTE)
    assert "hunter2" not in f"{caught.value.as_dict()}" and caught.value.__cause__ is None


def test_missing_package_is_named_with_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        blobs_at("abfs://hunter2/place", tmp_path / "blobs", MEBIBYTE)
    assert "adlfs" in caught.value.remedy and "hunter2" not in f"{caught.value.as_dict()}"


def test_no_url_is_the_data_folder(tmp_path: Path) -> None:
    assert isinstance(blobs_at("", tmp_path / "blobs", MEBIBYTE), FileBlobStore)


def test_store_that_fails_keeps_what_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = local(tmp_path)
    name = put(store, b"words", tmp_path)

    def failing(*args: object, **options: object) -> None:
        raise ConnectionError("hunter2")

    for call in ("put_file", "get_file", "info", "find", "rm_file"):
        monkeypatch.setattr(store._fs, call, failing)
    (tmp_path / "data" / "blob-cache" / name[:2] / name).unlink()
    source = tmp_path / "received"
    source.write_bytes(b"others")
    acts: tuple[Callable[[], object], ...] = (
        lambda: store.put(source, name_of(b"others")),
        lambda: store.path(name),
        lambda: store.delete(name),
        lambda: list(store.names()),
    )
    for act in acts:
        with pytest.raises(StoreUnavailable) as caught:
            act()
        assert "hunter2" not in f"{caught.value.as_dict()}" and caught.value.__cause__ is None
    assert source.read_bytes() == b"others"
