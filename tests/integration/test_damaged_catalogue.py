"""A damaged catalogue is one clear error, at the start or as soon as it is met, and a snapshot takes its place."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalog import snapshots as module
from core.catalog.snapshots import Snapshots, is_sound
from core.catalog.taking_back import TakingBack
from core.cli.commands import main
from core.errors import CatalogDamaged, EvoRAGError, NotFound
from core.platform.data_folder import DataFolder
from tests.builders import add, knowledge_base


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def garbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64
    path.write_bytes(bytes(data))


def foreign(path: Path) -> None:
    path.write_bytes(b"This is no database, but a text about one." * 1_000)


def filled(folder: Path) -> Path:
    """Fill a knowledge base, with a snapshot before its last document; return its catalogue."""
    with knowledge_base(folder) as kb:
        add(kb, "fees", "The yearly fee is 12 euros.")
        Snapshots(kb._folder).take()
        add(kb, "later", "This came after the snapshot.")
    return folder / "data" / "catalog.db"


def command(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert not ended.value.code


@pytest.mark.parametrize("damage", [cut, garbled, foreign])
def test_damaged_catalogue_is_one_error_with_a_remedy_that_works(
    tmp_path: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = filled(tmp_path)
    damage(catalog)
    with pytest.raises(CatalogDamaged) as caught, knowledge_base(tmp_path) as kb:
        kb.documents()
        kb.text_of("later.txt")
    assert "evorag recover" in caught.value.remedy
    data = str(tmp_path / "data")
    command("recover", "--data-dir", data)
    assert "damaged" in capsys.readouterr().out
    assert not is_sound(catalog), "without --yes nothing is changed"
    command("recover", "--yes", "--data-dir", data)
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        assert {each.name for each in kb.documents()} == {"fees.txt", "later.txt"}
        assert kb.text_of("fees.txt") == "The yearly fee is 12 euros."
        assert kb.text_of("later.txt") == "This came after the snapshot."
    assert list((tmp_path / "data" / "damaged").rglob("catalog.db"))


def test_recover_without_a_sound_snapshot_changes_nothing(tmp_path: Path) -> None:
    catalog = filled(tmp_path)
    foreign(catalog)
    before = catalog.read_bytes()
    folder = DataFolder(tmp_path / "data")
    for path in Snapshots(folder).paths():
        cut(path)
    with pytest.raises(NotFound) as caught:
        Snapshots(folder).put_in_place(Snapshots(folder).newest_sound())
    assert "backup" in caught.value.remedy
    assert catalog.read_bytes() == before
    folder.close()


def test_damage_that_is_met_while_it_serves_is_503_with_the_remedy_and_told_by_health(tmp_path: Path) -> None:
    from app.main import create_app

    filled(tmp_path)
    with knowledge_base(tmp_path) as kb:
        client = create_app(kb).server.test_client()
        assert client.get("/health").status_code == 200
        kb.catalog.database.engine.dispose()
        garbled(tmp_path / "data" / "catalog.db")
        answer = client.get("/api/v1/documents")
        assert (answer.status_code, answer.json["code"]) == (503, "catalog_damaged")
        assert "evorag recover" in answer.json["remedy"]
        health = client.get("/health")
        assert health.status_code == 503
        assert health.json["stores"][0]["state"] == "down"


def test_two_snapshots_are_kept_and_are_taken_when_they_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        daily = Snapshots(kb._folder, 24 * 3600)
        daily.take_if_due()
        [first] = daily.paths()
        daily.take_if_due()
        assert daily.paths() == [first]
        now = module.time.time()
        monkeypatch.setattr(module.time, "time", lambda: now + 25 * 3600)
        daily.take_if_due()
        assert len(daily.paths()) == 2
        newest = daily.take()
        assert daily.paths()[0] == newest
        assert len(daily.paths()) == 2 and first not in daily.paths()
        assert all(is_sound(path) for path in daily.paths())
        Snapshots(kb._folder).take_if_due()
        assert len(daily.paths()) == 2


def test_purge_reaches_the_snapshots(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "fees", "The secret word is quokkaplume.")
        Snapshots(kb._folder).take()
        assert any(b"quokkaplume" in path.read_bytes() for path in Snapshots(kb._folder).paths())
        kb.delete("fees.txt")
        kb.purge("fees.txt")
        kb._purge.finish()
        Snapshots(kb._folder).take()
        assert not any(
            b"quokkaplume" in path.read_bytes() for path in (tmp_path / "data").rglob("*.db") if path.is_file()
        )


def test_purge_reaches_what_a_recovery_has_set_aside_and_what_killed_processes_have_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data"
    with knowledge_base(tmp_path) as kb:
        add(kb, "fees", "The secret word is quokkaplume.")
        add(kb, "other", "Something else.")
        Snapshots(kb._folder).take()
    foreign(data / "catalog.db")
    command("recover", "--yes", "--data-dir", str(data))
    newest = max((data / "snapshots").glob("*.db"))
    [aside] = (data / "damaged").iterdir()
    for left in (data / "snapshots" / "20260101T000000.000000Z.new", data / "catalog.new", aside / "catalog.db"):
        shutil.copyfile(newest, left)
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        kb.purge("fees.txt")
        assert kb.catalog.purges.pending() == []
        assert "set aside" in caplog.text and "quokkaplume" not in caplog.text
        assert [path for path in data.rglob("*") if path.is_file() and b"quokkaplume" in path.read_bytes()] == []
        assert not (data / "damaged").exists() and kb.text_of("other.txt") == "Something else."


def test_snapshot_is_taken_before_a_migration(tmp_path: Path) -> None:
    catalog = filled(tmp_path)
    back = TakingBack(f"sqlite:///{catalog}")
    back.carry_out("0012")
    back.close()
    shutil.rmtree(tmp_path / "data" / "snapshots", ignore_errors=True)
    with knowledge_base(tmp_path) as kb:
        assert {document.name for document in kb.documents()} == {"later.txt", "fees.txt"}
    [snapshot] = (tmp_path / "data" / "snapshots").glob("*.db")
    with sqlite3.connect(snapshot) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [("0012",)]
    copy.close()


def test_catalogue_that_was_not_closed_is_read_whole_in_the_background(tmp_path: Path) -> None:
    catalog = filled(tmp_path)
    Path(f"{catalog}-wal").touch()
    with knowledge_base(tmp_path) as kb:
        assert kb.catalog.database.ended_unclean
        kb.catalog.database.engine.dispose()
        garbled(catalog)
        Snapshots(kb._folder, 0.0, kb.catalog.database).take_if_due()
        assert kb.catalog.database.is_damaged
        with pytest.raises(EvoRAGError):
            kb.documents()
