"""Seals of folders and files: what was changed, cut or removed since is seen."""

from __future__ import annotations

from pathlib import Path

from core.platform.sealing import is_whole, is_whole_file, seal, seal_file


def sealed(folder: Path) -> Path:
    (folder / "rows").write_bytes(b"0123456789" * 100)
    (folder / "text").write_text("A line.")
    seal(folder)
    return folder / "rows"


def test_sealed_folder_is_whole_until_a_file_changes(tmp_path: Path) -> None:
    rows = sealed(tmp_path)
    assert is_whole(tmp_path)
    before = rows.read_bytes()
    for damaged in (b"", before[:-1], before[:500] + b"X" + before[501:]):
        rows.write_bytes(damaged)
        assert not is_whole(tmp_path)
    rows.unlink()
    assert not is_whole(tmp_path)
    rows.write_bytes(before)
    assert is_whole(tmp_path)


def test_damaged_seal_is_no_seal(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / "seal.json").write_text("{")
    assert not is_whole(tmp_path)


def test_folder_of_before_there_were_seals_is_taken_as_it_is(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / "seal.json").unlink()
    assert is_whole(tmp_path)


def test_sealed_file_is_whole_until_it_or_its_seal_changes(tmp_path: Path) -> None:
    part, path = tmp_path / "1a2b.part", tmp_path / "1.json"
    part.write_bytes(b"0123456789" * 100)
    assert not is_whole_file(path)
    seal_file(part, path.name)
    assert not is_whole_file(path)
    part.replace(path)
    assert is_whole_file(path)
    before, told = path.read_bytes(), (tmp_path / "1.json.sum").read_bytes()
    for damaged in (b"", before[:-1], before[:500] + b"X" + before[501:]):
        path.write_bytes(damaged)
        assert not is_whole_file(path)
    path.write_bytes(before)
    for seal_of in (b"", told[:-1], b"\xff" * 10):
        (tmp_path / "1.json.sum").write_bytes(seal_of)
        assert not is_whole_file(path)
    (tmp_path / "1.json.sum").unlink()
    assert not is_whole_file(path)
