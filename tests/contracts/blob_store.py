"""What every store of blobs does, whatever the technology; subclass it and give a ``store`` fixture."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotFound
from core.model import FileFault
from core.platform.retrying import Stopped
from core.ports import BlobStore

CONTENTS = (b"", b"some words", "日本語".encode() * 100_000, bytes(range(256)) * 4_096)


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put(store: BlobStore, content: bytes, folder: Path) -> str:
    source = folder / "received"
    source.write_bytes(content)
    store.put(source, name_of(content))
    assert not source.exists()
    return name_of(content)


class BlobStoreContract:
    def test_what_is_put_is_read_again(self, store: BlobStore, tmp_path: Path) -> None:
        names = [put(store, content, tmp_path) for content in CONTENTS]
        assert [store.path(name).read_bytes() for name in names] == list(CONTENTS)
        assert set(store.names()) == set(names)

    def test_putting_the_same_again_changes_nothing(self, store: BlobStore, tmp_path: Path) -> None:
        names = {put(store, b"the same", tmp_path) for _ in range(3)}
        assert set(store.names()) == names
        assert store.path(names.pop()).read_bytes() == b"the same"

    def test_empty_store_has_no_names(self, store: BlobStore) -> None:
        assert list(store.names()) == []

    def test_what_is_deleted_is_gone(self, store: BlobStore, tmp_path: Path) -> None:
        gone, kept = put(store, b"gone", tmp_path), put(store, b"kept", tmp_path)
        store.path(gone)
        for _ in range(2):
            store.delete(gone)
        with pytest.raises(NotFound):
            store.path(gone)
        assert set(store.names()) == {kept}
        assert put(store, b"gone", tmp_path) == gone
        assert store.path(gone).read_bytes() == b"gone"

    def test_what_never_was_is_not_found(self, store: BlobStore) -> None:
        with pytest.raises(NotFound):
            store.path(name_of(b"never"))

    def test_blob_that_is_whole_has_no_fault_and_one_that_is_not_there_is_missing(
        self, store: BlobStore, tmp_path: Path
    ) -> None:
        whole, paces = put(store, CONTENTS[3], tmp_path), list[float]()
        assert store.fault(whole, paces.append) is None
        assert len(paces) == 1 and paces[0] >= 0
        assert store.fault(name_of(b"never")) is FileFault.MISSING

    def test_what_pace_raises_ends_the_reading(self, store: BlobStore, tmp_path: Path) -> None:
        whole = put(store, CONTENTS[3], tmp_path)

        def stop(_seconds: float) -> None:
            raise Stopped

        with pytest.raises(Stopped):
            store.fault(whole, stop)

    @pytest.mark.parametrize("name", ["", "../" * 8 + "etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n", "０" * 64])
    def test_only_hashes_are_names(self, store: BlobStore, tmp_path: Path, name: str) -> None:
        source = tmp_path / "received"
        source.write_bytes(b"x")
        for act in (store.path, store.delete, lambda name: store.put(source, name)):
            with pytest.raises(InvalidInput):
                act(name)
        assert source.exists()

    def test_several_put_and_read_at_the_same_time(self, store: BlobStore, tmp_path: Path) -> None:
        wrong: list[object] = []

        def work(number: int) -> None:
            own, folder = f"text {number}".encode(), tmp_path / str(number)
            folder.mkdir()
            try:
                for content in (own, b"shared"):
                    if store.path(put(store, content, folder)).read_bytes() != content:
                        wrong.append(content)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(set(store.names())) == 9
