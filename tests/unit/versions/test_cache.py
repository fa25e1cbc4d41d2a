"""Comparisons on demand: made once by a child with bounded means, kept, evicted and forgotten."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from core.blobs.block_file import unpacked_bytes
from core.errors import DiffLimit, EvoRAGError, NotFound
from core.model import Block, ComparisonProgress
from core.platform import child_process as children
from core.versions import cache as kept
from core.versions.cache import RULES, Compared, ComparisonCache, DiffLimits
from core.versions.underway import Run
from tests.unit.versions.compared import block_file, paragraphs
from tests.unit.versions.diff.test_images import chart, pdf

MEBIBYTE = 1024 * 1024


class Folder:
    """Blobs by plain names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def put(self, source: Path, sha256: str) -> None:
        source.replace(self.folder / sha256)

    def path(self, sha256: str) -> Path:
        if not (self.folder / sha256).exists():
            raise NotFound("no such blob")
        return self.folder / sha256

    def delete(self, sha256: str) -> None:
        (self.folder / sha256).unlink()

    def version(self, number: int, blocks: list[Block], original: Path | None = None) -> Compared:
        block_file(self.folder / f"parsed-{number}", blocks)
        extension = original.suffix[1:] if original else "txt"
        if original:
            original.replace(self.folder / f"original-{number}")
        return Compared(number, "doc", "doc", number, f"parsed-{number}", f"original-{number}", extension)


@pytest.fixture
def blobs(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "blobs")


@pytest.fixture
def comparisons(tmp_path: Path, blobs: Folder) -> Iterator[ComparisonCache]:
    found = ComparisonCache(tmp_path / "kept", blobs)
    yield found
    found.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes each order that a child is given."""
    orders: list[str] = []
    begin = children.Child.begin

    def noted(self: children.Child, order: dict[str, object], timeout_s: float) -> None:
        orders.append(f"{order['task']}{' coarse' if order.get('coarse') else ''}")
        begin(self, order, timeout_s)

    monkeypatch.setattr(children.Child, "begin", noted)
    return orders


def test_a_comparison_is_computed_once_and_kept(
    tmp_path: Path, blobs: Folder, comparisons: ComparisonCache, started: list[str]
) -> None:
    old, new = blobs.version(1, paragraphs("one thing")), blobs.version(2, paragraphs("other thing"))
    assert not comparisons.is_kept(old, new)

    first = comparisons.get(old, new)

    assert comparisons.is_kept(old, new) and not comparisons.is_kept(new, old)
    assert comparisons.get(old, new) is first
    again = ComparisonCache(tmp_path / "kept", blobs)
    assert again.get(old, new).summary == first.summary
    again.close()
    assert started == ["compare"]


def test_those_who_ask_at_the_same_time_wait_for_one_computation(
    blobs: Folder, comparisons: ComparisonCache, started: list[str]
) -> None:
    old, new = blobs.version(1, paragraphs("one thing")), blobs.version(2, paragraphs("other thing"))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(comparisons.get(old, new))) for _ in range(6)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(map(id, found))) == 1 and started == ["compare"]


def test_all_who_wait_are_told_of_a_failure_and_the_next_one_tries_again(
    blobs: Folder, comparisons: ComparisonCache
) -> None:
    old, new = blobs.version(1, paragraphs("a")), blobs.version(2, paragraphs("b"))
    blobs.delete("parsed-2")
    with pytest.raises(NotFound):
        comparisons.get(old, new)

    blobs.version(2, paragraphs("b"))

    assert comparisons.get(old, new).summary.tally.changed + comparisons.get(old, new).summary.tally.added


def test_what_was_half_written_is_removed_at_start(tmp_path: Path, blobs: Folder) -> None:
    half = tmp_path / "kept" / "1-2-abc.part"
    half.mkdir(parents=True)
    (half / "rows.npy").write_bytes(b"half")

    ComparisonCache(tmp_path / "kept", blobs).close()

    assert not half.exists()


def test_a_failed_computation_leaves_nothing(tmp_path: Path, blobs: Folder, comparisons: ComparisonCache) -> None:
    old, new = blobs.version(1, paragraphs("a")), blobs.version(2, paragraphs("b"))
    (blobs.folder / "parsed-2").write_bytes(b"\x1f\x8b no gzip")

    with pytest.raises(EvoRAGError):
        comparisons.get(old, new)

    assert list((tmp_path / "kept").iterdir()) == []


def test_the_least_recently_used_are_evicted(tmp_path: Path, blobs: Folder) -> None:
    text = [Block(f"Line {number} of a text that takes some space on the disk.") for number in range(2_000)]
    versions = [blobs.version(number, [*text, Block(f"End {number}")]) for number in range(1, 5)]
    comparisons = ComparisonCache(tmp_path / "kept", blobs, DiffLimits(kept_bytes=700_000))

    for number, (old, new) in enumerate(pairwise(versions)):
        comparisons.get(old, new)
        if number:
            comparisons.get(versions[0], versions[1])
        os.utime(tmp_path / "kept" / f"1-2-r{RULES}", (time.time() + number, time.time() + number))

    kept = {folder.name for folder in (tmp_path / "kept").iterdir()}
    assert kept == {f"1-2-r{RULES}", f"3-4-r{RULES}"}
    comparisons.close()


@pytest.mark.long
def test_versions_that_are_forgotten_leave_no_trace(
    tmp_path: Path, blobs: Folder, comparisons: ComparisonCache
) -> None:
    versions = [blobs.version(number, paragraphs(f"text {number}")) for number in (1, 2, 11)]
    pictured = blobs.version(12, paragraphs("text"), pdf(tmp_path / "a.pdf", [[chart(1)]]))
    for old, new in ((versions[0], versions[1]), (versions[1], versions[2]), (versions[2], pictured)):
        comparisons.get(old, new)

    comparisons.forget([1, 12])

    assert {folder.name for folder in (tmp_path / "kept").iterdir()} == {f"2-11-r{RULES}"}
    with pytest.raises(NotFound):
        comparisons.get(versions[0], versions[1])


def test_what_a_killed_process_of_several_has_left_goes_with_the_version(tmp_path: Path, blobs: Folder) -> None:
    left = [tmp_path / "kept" / name for name in (f"1-2-r{RULES}-12345678.part", "images-1-abcdef01.part")]
    other = tmp_path / "kept" / f"3-12-r{RULES}-12345678.part"
    comparisons = ComparisonCache(tmp_path / "kept", blobs, is_alone=False)
    for folder in (*left, other):
        folder.mkdir()
        (folder / "new.txt").write_text("What is removed for good.")
    comparisons.forget([1])
    comparisons.close()
    assert list((tmp_path / "kept").iterdir()) == [other]


def test_a_comparison_in_the_background_is_there_for_the_next_who_asks(
    blobs: Folder, comparisons: ComparisonCache, started: list[str]
) -> None:
    old, new = blobs.version(1, paragraphs("a")), blobs.version(2, paragraphs("b"))

    comparisons.compute_soon(old, new)
    deadline = time.monotonic() + 60
    while not comparisons.is_kept(old, new) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert comparisons.get(old, new).count and started == ["compare"]


@pytest.mark.long
def test_images_are_paired_and_can_be_fetched_by_version(
    tmp_path: Path, blobs: Folder, comparisons: ComparisonCache, started: list[str]
) -> None:
    old = blobs.version(1, paragraphs("text"), pdf(tmp_path / "a.pdf", [[chart(1)], [chart(2)]]))
    new = blobs.version(2, paragraphs("text"), pdf(tmp_path / "b.pdf", [[chart(1)], [chart(2, taller=1)]]))

    found = comparisons.get(old, new)

    assert [pair.change.value for pair in found.summary.images] == ["equal", "changed"]
    assert found.image("new", 2).read_bytes() != found.image("old", 2).read_bytes()
    assert comparisons.image(new, 2).read_bytes() == found.image("new", 2).read_bytes()
    with pytest.raises(NotFound):
        comparisons.image(new, 3)
    comparisons.get(new, old)
    assert started.count("images") == 2


def test_a_fine_comparison_that_takes_too_much_memory_is_made_coarsely(
    tmp_path: Path, blobs: Folder, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = blobs.version(1, paragraphs("one old line")), blobs.version(2, paragraphs("one new line"))
    comparisons = ComparisonCache(tmp_path / "kept", blobs)
    begin = children.Child.begin

    def poor(self: children.Child, order: dict[str, object], timeout_s: float) -> None:
        means = order["memory_bytes"] if order["coarse"] else 64 * MEBIBYTE
        begin(self, {**order, "memory_bytes": means}, timeout_s)

    monkeypatch.setattr(children.Child, "begin", poor)

    found = comparisons.get(old, new)

    assert {"coarse_alignment", "words_skipped"} <= set(found.summary.notices)
    assert started == ["compare", "compare coarse"]
    comparisons.close()


@pytest.mark.parametrize(("lines", "times"), [(10, 1), (100, 10)])
def test_large_texts_get_as_much_more_time_as_they_are_larger(
    lines: int, times: int, tmp_path: Path, blobs: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (blobs.version(number, [Block(f"{number:09}")] * lines) for number in (1, 2))
    ordinary = sum(unpacked_bytes(blobs.path(version.parsed_sha256)) for version in (old, new)) // times
    monkeypatch.setattr(kept, "_ORDINARY_BYTES", ordinary)
    aims: list[float] = []
    begin = children.Child.begin

    def noted(self: children.Child, order: dict[str, float], timeout_s: float) -> None:
        aims.append(order["aim_seconds"])
        begin(self, order, timeout_s)

    monkeypatch.setattr(children.Child, "begin", noted)
    comparisons = ComparisonCache(tmp_path / "kept", blobs, DiffLimits(seconds=20.0))
    comparisons.get(old, new)
    comparisons.close()

    assert aims == [pytest.approx(20.0 * times, rel=0.01)]


def test_what_is_too_large_even_coarsely_is_refused(tmp_path: Path, blobs: Folder) -> None:
    text = [Block(f"{number} " * 40) for number in range(20_000)]
    old, new = blobs.version(1, text), blobs.version(2, text[::-1])
    comparisons = ComparisonCache(tmp_path / "kept", blobs, DiffLimits(seconds=0.02))

    with pytest.raises(DiffLimit):
        comparisons.get(old, new)

    comparisons.close()


def test_closing_ends_a_computation(tmp_path: Path, blobs: Folder) -> None:
    text = [Block(f"{number} " * 40) for number in range(60_000)]
    old, new = blobs.version(1, text), blobs.version(2, text[::-1])
    comparisons = ComparisonCache(tmp_path / "kept", blobs)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            comparisons.get(old, new)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not comparisons._process.at_work:
        time.sleep(0.01)
    comparisons.close()
    thread.join(timeout=30)

    assert not thread.is_alive()
    assert isinstance(errors[0], EvoRAGError)


LONG = 150_000
"""Lines of which fewer are compared before anybody has been told how far it is."""


def _long_pair(blobs: Folder) -> tuple[Compared, Compared]:
    sides = ([Block(f"{number} {word} " * 12) for number in range(LONG)] for word in ("north gate", "south door"))
    old, new = sides
    return blobs.version(1, old), blobs.version(2, new)


def _progress_of(comparisons: ComparisonCache, pair: tuple[Compared, Compared], share: float) -> ComparisonProgress:
    """Wait until so much is done."""
    deadline = time.monotonic() + 120
    while True:
        found = comparisons.progress(*pair)
        if found is not None and found.share >= share:
            return found
        assert time.monotonic() < deadline and not comparisons.is_kept(*pair)
        time.sleep(0.02)


def test_a_comparison_says_how_far_it_is_and_is_stopped_within_a_second(tmp_path: Path, blobs: Folder) -> None:
    pair = _long_pair(blobs)
    comparisons = ComparisonCache(tmp_path / "kept", blobs, DiffLimits(seconds=300.0))
    assert comparisons.progress(*pair) is None and not comparisons.cancel(*pair)

    comparisons.start(*pair)
    begun = _progress_of(comparisons, pair, 0.01)
    assert 0 < begun.share < 1 and begun.elapsed_s > 0
    assert comparisons.cancel(*pair)
    asked = time.monotonic()
    while comparisons.progress(*pair) is not None:
        assert time.monotonic() < asked + 30
        time.sleep(0.02)

    assert not comparisons.is_kept(*pair) and not comparisons._process.at_work
    assert not list((tmp_path / "kept").iterdir())
    comparisons.close()


def test_who_waits_for_a_comparison_that_another_stops_gets_it_all_the_same(tmp_path: Path, blobs: Folder) -> None:
    pair = _long_pair(blobs)
    comparisons = ComparisonCache(tmp_path / "kept", blobs, DiffLimits(seconds=300.0))
    found: list[int] = []
    comparisons.start(*pair)
    _progress_of(comparisons, pair, 0.01)
    waiting = threading.Thread(target=lambda: found.append(comparisons.get(*pair).count))
    waiting.start()
    time.sleep(0.1)

    assert comparisons.cancel(*pair)
    waiting.join(timeout=240)

    assert found and found[0] >= LONG
    comparisons.close()


def test_what_is_left_follows_from_the_share_that_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("core.versions.underway.time.monotonic", lambda: now[0])
    run = Run()
    now[0] = 104.0
    run.told(200, 1_000)
    now[0] = 105.0

    assert run.progress() == ComparisonProgress(5.0, 0.2, 15.0)
    run.begin_attempt()
    assert run.progress() == ComparisonProgress(5.0, 0.0, None)
