"""Every kind of file that a data folder holds is in the list of those that are damaged, one by one, by a benchmark.

A new kind of file fails here until it is in ``benchmarks/kept_files.py``, which says what else has to know of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.damage import furnished, kinds
from benchmarks.kept_files import KEPT, UnknownKind, kind_of
from core.ingest.recognition.kept_pictures import Recognition
from core.ingest.recognition.lines import read_pictures
from tests.builders import add, knowledge_base
from tests.kept.furnish import furnish

ELSEWHERE = {"reached", "blob-owner"}
"""Of a catalogue or originals elsewhere."""
OF_A_WHILE = {"recognised/*.jsonl", "recognised/picture"}
"""Gone once a document is read."""
OF_OTHERS = re.compile(
    r"models/smollm2/.*|models/calibrations/.*|pages/document\\.pdf.*|models/training/.*|comparisons/images/.*"
)
"""Made with programs and packages that take minutes, or within a limit of time that a busy machine does not keep."""


def known(folder: Path) -> set[str]:
    """Return the kinds of all files of a folder. Raises: ``UnknownKind``."""
    return {kind_of(path, folder) for path in folder.rglob("*") if path.is_file()} - {""}


@pytest.mark.long
def test_every_file_of_a_folder_with_something_of_everything_is_of_a_kind_that_is_damaged(tmp_path: Path) -> None:
    found = known(furnished(tmp_path / "filled"))
    assert set(kinds(tmp_path / "filled")) <= found
    (tmp_path / "more").mkdir()
    furnish(tmp_path / "kept", tmp_path / "more")
    found |= known(tmp_path / "kept")
    missed = [kind for _, kind in KEPT if "\\" not in kind and kind not in found | ELSEWHERE | OF_A_WHILE]
    assert [kind for kind in missed if not OF_OTHERS.fullmatch(kind)] == []
    for kind in ("catalog.db-wal", "snapshots/*.db", "damaged/catalog.db", "pages/*.webp"):
        assert kind in found
    for name in ("models/trained/model.safetensors", "transfers/upload", "journal", "recordings/*.pt", "reserve"):
        assert name in found


def test_files_beside_a_catalogue_and_originals_elsewhere_are_known(tmp_path: Path) -> None:
    urls = {"catalog_url": f"sqlite:///{tmp_path / 'elsewhere.db'}", "blob_url": f"file://{tmp_path / 'far'}"}
    for text in ("The yearly fee is ten euros.", "The yearly fee is twelve euros."):
        with knowledge_base(tmp_path, **urls) as kb:
            add(kb, "fees", text)
            assert kb.text_of("fees.txt") == text
    assert known(tmp_path / "data") >= ELSEWHERE


def test_what_is_recognised_is_known_and_what_is_damaged_of_it_is_asked_for_again(tmp_path: Path) -> None:
    kept = Recognition("", tmp_path / "recognised", tmp_path)
    for name in ("1", "2", "3"):
        kept.leave("a" * 64, name)
    file = kept.lines_file("a" * 64)
    assert file is not None and known(tmp_path) == {"recognised/*.jsonl"}
    whole = file.read_bytes()
    for damaged in (
        b"[]",
        b"5",
        b'{"name": "2"}',
        b'{"lines": []}',
        b'{"name": "2", "lines": [{"text": 1}]}',
        b"\xff{",
    ):
        file.write_bytes(whole.splitlines()[0] + b"\n" + damaged + b"\n" + whole.splitlines()[2] + b"\n")
        assert set(read_pictures(file)) == {"1", "3"}, damaged


@pytest.mark.parametrize(
    "name", ["thoughts.bin", "blobs/aa/short", "pages/7/1.png", "snapshots/new.db.gz", "logs/1.log"]
)
def test_file_of_another_kind_is_not_known(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    with pytest.raises(UnknownKind):
        kind_of(path, tmp_path)
