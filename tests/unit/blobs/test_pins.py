"""What one process holds, no process removes."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from core.blobs.pins import BlobPins
from tests.builders import begin, knowledge_base

BLOB, OTHER = "ab" * 32, "ac" * 32


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_blob_is_removed_only_while_nobody_holds_it(tmp_path: Path, is_shared: bool) -> None:
    one = BlobPins(tmp_path / "holds" if is_shared else None)
    two = BlobPins(tmp_path / "holds") if is_shared else one
    removed: list[str] = []
    with one.held(BLOB):
        one.take(BLOB)
        one.release(BLOB)
        assert not two.unless_held(BLOB, lambda: removed.append(BLOB))
        assert two.unless_held(OTHER, lambda: removed.append(OTHER))
    assert two.unless_held(BLOB, lambda: removed.append(BLOB))
    assert removed == [OTHER, BLOB]
    one.close()
    two.close()


def test_what_a_process_held_that_is_gone_is_held_no_more(tmp_path: Path) -> None:
    gone, alive = BlobPins(tmp_path / "holds"), BlobPins(tmp_path / "holds")
    gone.take(BLOB)
    gone.close()
    assert alive.unless_held(BLOB, lambda: None)
    alive.close()


def test_a_blob_that_is_being_removed_is_taken_afterwards(tmp_path: Path) -> None:
    one, two = BlobPins(tmp_path / "holds"), BlobPins(tmp_path / "holds")
    removing, taken = Event(), Event()

    def take() -> None:
        assert removing.wait(30)
        two.take(BLOB)
        taken.set()

    def remove() -> None:
        removing.set()
        assert not taken.wait(0.2)

    other = Thread(target=take)
    other.start()
    assert one.unless_held(BLOB, remove)
    other.join(30)
    assert taken.is_set()
    one.close()
    two.close()


def test_what_a_process_holds_is_held_until_all_that_may_name_it_has_ended(tmp_path: Path) -> None:
    begin(tmp_path / "data")
    kb = knowledge_base(tmp_path, catalog_url=f"sqlite:///{tmp_path / 'data' / 'catalog.db'}")
    other = BlobPins(kb._folder.root / "holds")
    removed: list[bool] = []
    kb._pins.take(BLOB)
    dispose = kb.catalog.close

    def close_last() -> None:
        removed.append(other.unless_held(BLOB, lambda: None))
        dispose()

    kb.catalog.close = close_last  # type: ignore[method-assign]
    kb.close()
    assert removed == [False]
    assert other.unless_held(BLOB, lambda: None)
    other.close()
