"""Checking, repairing and reindexing on the command line, on a data folder and on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import core
from core.model import Fault
from tests.builders import knowledge_base
from tests.contracts.consistency import of_version, plant
from tests.live import served


def test_sound_stores_are_told_in_one_line(filled: Any) -> None:
    status, out, err = filled("check")
    assert (status, out.splitlines()[-1]) == (0, "Every row is as the catalogue says."), err
    found = json.loads(filled("check", "--store", "keyword", "--json")[1])
    assert [(each["store"], each["missing"]) for each in found] == [("keyword", 0)]


def test_files_that_nothing_names_are_listed_and_stay(filled: Any, tmp_path: Path) -> None:
    found = json.loads(filled("check", "--json")[1])
    assert [each["store"] for each in found] == ["vector", "keyword", "files"]
    assert (found[2]["missing"], found[2]["unnamed"]) == (0, 0)
    folder = next(path for path in tmp_path.rglob("blobs") if path.is_dir())
    stranger = folder / "ab" / ("ab" * 32)
    stranger.parent.mkdir(exist_ok=True)
    stranger.write_bytes(b"somebody's original")
    for _ in range(2):
        status, out, err = filled("check")
        assert status == 0 and "Files that the catalogue does not name: 1." in out and "ab" * 32 in out, err
        assert stranger.exists()


def test_missing_original_is_named(filled: Any, tmp_path: Path) -> None:
    folder = next(path for path in tmp_path.rglob("blobs") if path.is_dir())
    for path in folder.glob("??/*"):
        path.unlink()
    status, out, _ = filled("check")
    assert status == 1 and "Originals that are missing: " in out


def test_reindex_writes_every_row_and_checks(filled: Any) -> None:
    status, out, err = filled("reindex", "--store", "vector")
    assert status == 0, err
    assert out.endswith("the second check finds 0 wrong.\n")


@pytest.mark.parametrize("command", ["check", "repair", "reindex"])
def test_unknown_store_is_refused(evorag: Any, command: str) -> None:
    status, _, err = evorag(command, "--store", "elastic")
    assert status == 1 and "vector, keyword" in err


def test_server_is_checked_and_mended_as_a_data_folder(evorag: Any, tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1) as kb, served(kb) as url:
        kb.wait([str(kb.add_text("handbook.txt", "There are 14 days of leave.").job_id)])
        plant(kb, "keyword", Fault.MISSING, of_version(kb, "handbook.txt", 1))
        status, out, _ = evorag("check", "--url", url)
        assert status == 1 and "1 rows are wrong" in out and "handbook.txt" in out
        assert evorag("repair", "--url", url)[0] == 1
        status, out, err = evorag("repair", "--apply", "--url", url)
        assert status == 0, err
        assert "1 rows were written or removed; the second check finds 0 wrong." in out
        with core.RagClient(url) as client:
            assert [each.is_sound for each in client.check()] == [True, True]
            assert client.store_report(client.reindex_elasticsearch()).store == "keyword"
