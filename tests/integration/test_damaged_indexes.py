"""Damaged indexes are written anew from the catalogue, and say so meanwhile: files deleted, cut, emptied or flipped."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import core
from benchmarks.damage import cut, deleted, emptied
from core.adapters.keyword.tantivy_files import damage_in
from core.model import Trace
from core.settings import Settings
from tests.builders import begin

Damage = Callable[[Path], None]


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8] ^= 1
    path.write_bytes(bytes(data))


@contextmanager
def opened(data: Path) -> Iterator[core.KnowledgeBase]:
    with core.build(Settings(data_dir=data, embedder="hash", job_workers=0, min_free_bytes=0)) as kb:
        kb._background.join()
        yield kb


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("filled") / "data"
    begin(data)
    with opened(data) as kb:
        for at in range(3):
            kb.add_file(f"fees{at}.md", io.BytesIO(f"The fee number {at} is {at + 10} euros.".encode()))
        kb.work_off()
        kb._projector.flush()
    return data


@pytest.fixture
def data(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "data")
    return tmp_path / "data"


def asked(kb: core.KnowledgeBase) -> Trace:
    trace = core.EvoRAG(kb=kb).search("What is the fee number 2?")
    assert "fees2.md" in {hit.placed.name for hit in trace.hits}, "one leg at least answers"
    return trace


def whole_again(kb: core.KnowledgeBase) -> None:
    """Wait until both legs answer and both stores hold what they should."""
    deadline = time.monotonic() + 60
    while not all(each.is_sound and each.waiting == 0 for each in kb.check()):
        trace = asked(kb)
        for leg in (trace.vector, trace.keyword):
            assert leg.hits or leg.error or leg.refilling, f"the {leg.name} leg is empty in silence"
        assert time.monotonic() < deadline, [(each.error, each.faults, each.waiting) for each in kb.check()]
        time.sleep(0.1)
    trace = asked(kb)
    assert trace.keyword.hits and not trace.keyword.error
    assert trace.vector.hits and not trace.vector.error


KINDS = ("meta.json", "idx", "term", "fast", "fieldnorm", "store", "pos")


@pytest.mark.parametrize("damage", [deleted, cut, emptied, flipped])
def test_damaged_keyword_index_is_written_anew_at_the_start(data: Path, damage: Damage) -> None:
    for kind in KINDS:
        files = [path for path in (data / "keywords" / "head").iterdir() if path.name.endswith(kind)]
        assert files, kind
        damage(next(path for path in files if not path.name.startswith(".")))
        with opened(data) as kb:
            whole_again(kb)


@pytest.mark.parametrize("part", ["head", "history"])
def test_keyword_index_of_which_a_part_is_gone_is_written_anew(data: Path, part: str) -> None:
    shutil.rmtree(data / "keywords" / part)
    with opened(data) as kb:
        whole_again(kb)


def test_files_of_a_sound_index_are_sound_and_each_flipped_bit_of_their_content_is_seen(data: Path) -> None:
    folder = data / "keywords" / "head"
    assert damage_in(folder, 1 << 30) == ""
    path = next(folder.glob("*.term"))
    before = path.read_bytes()
    for at in range(0, len(before) - 100, 7):
        changed = bytearray(before)
        changed[at] ^= 1
        path.write_bytes(bytes(changed))
        assert damage_in(folder, 1 << 30) == path.name
    assert damage_in(folder, 0) == "", "beyond the limit only the ends of files are looked at"
    path.write_bytes(before[:-20])
    assert damage_in(folder, 0) == path.name


def test_keyword_index_that_panics_while_it_serves_is_an_answer_of_the_other_leg_and_is_written_anew(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panic = type("PanicException", (BaseException,), {})
    with opened(data) as kb:
        store = kb._active.now().keywords._inner  # type: ignore[attr-defined]
        search = type(store._parts[next(iter(store._parts))]).search

        def panics(*_: object) -> None:
            monkeypatch.setattr("core.adapters.keyword.tantivy._PartIndex.search", search)
            raise panic("index out of bounds")

        monkeypatch.setattr("core.adapters.keyword.tantivy._PartIndex.search", panics)
        trace = asked(kb)
        assert trace.keyword.error is not None
        assert "written anew" in trace.keyword.error["remedy"]
        deadline = time.monotonic() + 60
        while ("keyword", 1) in kb._projector._lost or kb.health().outbox:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        whole_again(kb)


@pytest.mark.parametrize("kind", ["*.parquet", "*.idx", "manifest.json", "schema.json"])
def test_damaged_milvus_lite_is_written_anew_at_the_start(data: Path, kind: str) -> None:
    for damage in (cut, emptied, deleted):
        with opened(data) as kb:
            kb.check("vector")  # whoever reads makes the files of the clusters
        damage(next((data / "vectors").rglob(kind)))
        with opened(data) as kb:
            whole_again(kb)


def test_vectors_are_not_thrown_away_where_the_system_refuses_something(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.adapters.vector.milvus import MilvusVectorIndex, Patience
    from core.errors import StoreUnavailable

    files = {path for path in (data / "vectors").rglob("*") if path.is_file()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.adapters.vector.milvus_lite_shards.MilvusLiteServer", full)
    with pytest.raises(StoreUnavailable):
        MilvusVectorIndex(data / "vectors", 384, patience=Patience(attempts=2, pause_s=0.0))
    assert {path for path in (data / "vectors").rglob("*") if path.is_file()} == files
