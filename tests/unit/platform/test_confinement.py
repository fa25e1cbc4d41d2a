"""What reads files is confined by the kernel: a hostile reader gets at nothing but its original and its scratch."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.model import StoreHealth
from core.platform import confinement
from core.platform.child_process import Child
from core.platform.confinement import Rooms
from tests.unit.platform.hostile_child import attempts

needs_kernel = pytest.mark.skipif(bool(confinement.missing()), reason="this kernel does not confine processes")
ALLOWED = {"read an original", "write into its scratch folder", "have a program work"}


@pytest.fixture
def root() -> Iterator[Path]:
    """A data folder with what a hostile reader may want of it; files below /tmp could be removed."""
    place = Path(tempfile.mkdtemp(prefix="evorag-", dir="/dev/shm"))
    root = place / "data"
    for name in ("blobs", "incoming"):
        (root / name).mkdir(parents=True)
    (root / "catalog.db").write_text("everything", "utf-8")
    (root / "blobs" / "original").write_text("an original", "utf-8")
    # A link beside it that leads back must not open it.
    (place / "current").symlink_to(place)
    yield root
    shutil.rmtree(place)


@pytest.fixture
def child(root: Path) -> Iterator[Child]:
    rooms = Rooms(root, (root / "blobs",), (root / "incoming",))
    child = Child("tests.unit.platform.hostile_child", root / "incoming", rooms)
    yield child
    child.kill()


@pytest.mark.long
@needs_kernel
def test_hostile_reader_gets_at_its_original_and_its_scratch_alone(root: Path, child: Child) -> None:
    found = {name: child.ask({"root": str(root), "attempt": name}, 60)["refused"] for name in attempts(root)}
    assert {name for name, refused in found.items() if not refused} == ALLOWED
    assert (root / "catalog.db").read_text("utf-8") == "everything"
    assert (root / "blobs" / "original").read_text("utf-8") == "an original"
    assert sorted(path.name for path in root.iterdir()) == ["blobs", "catalog.db", "incoming"]


@pytest.mark.long
@needs_kernel
def test_child_without_rooms_is_kept_from_calls_and_sockets(root: Path) -> None:
    child = Child("tests.unit.platform.hostile_child")
    try:
        refused = {name for name in attempts(root) if child.ask({"root": str(root), "attempt": name}, 60)["refused"]}
    finally:
        child.kill()
    assert {"open a socket", "look into its parent", "leave its name spaces", "mount"} <= refused
    assert "read the catalogue" not in refused


def test_what_cannot_be_confined_is_said_once_in_the_log_and_among_the_stores(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(confinement, "missing", lambda: ["landlock"])
    confinement.health.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            told = [confinement.health() for _ in range(2)]
    finally:
        confinement.health.cache_clear()
    assert told[0] == told[1] and told[0].state == "open" and "landlock" in told[0].detail
    assert len(caplog.records) == 1


@needs_kernel
def test_confined_reader_is_told_among_the_stores() -> None:
    assert confinement.health() == StoreHealth("parser", "Landlock, seccomp", "ok")


def test_rooms_are_an_argument_of_a_program() -> None:
    rooms = Rooms(Path("/data"), (Path("/data/blobs"),), (Path("/data/in coming"),))
    assert Rooms.of_text(rooms.as_text()) == rooms
