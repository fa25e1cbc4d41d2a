"""A catalogue that has lost what was acknowledged is noticed at the start, and the journal brings it back."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import core
from core.catalog.snapshots import Snapshots
from core.cli.commands import main
from core.errors import CatalogDamaged
from core.knowledge_base import KnowledgeBase
from core.model import Role
from tests.builders import add, knowledge_base, settings


def deleted(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 1
    path.write_bytes(bytes(data))


def data(folder: Path) -> Path:
    return folder / "data"


def command(folder: Path, *words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--data-dir", str(data(folder))])
    assert not ended.value.code


@contextmanager
def killed(folder: Path) -> Iterator[KnowledgeBase]:
    """Give a knowledge base of which the folder is left as a kill at the end of the block leaves it."""
    with knowledge_base(folder) as kb:
        yield kb
        shutil.copytree(data(folder), folder / "at-the-kill")
    shutil.rmtree(data(folder))
    (folder / "at-the-kill").rename(data(folder))


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line[9:]) for line in (data(folder) / "journal").read_bytes().splitlines()]


def filled(folder: Path) -> Path:
    """Leave a folder after a kill, with a snapshot before most of what was done; return the catalogue's log."""
    with killed(folder) as kb:
        add(kb, "fees", "The yearly fee is 12 euros.")
        add(kb, "gone", "This is deleted after the snapshot.")
        add(kb, "again", "The first text of the document.")
        kb.accounts.create_user("ada", "a long password of ada", Role.ADMIN)
        key, _ = kb.accounts.create_key("script", Role.READER, user="ada")
        kb.catalog.database.truncate_log()
        Snapshots(kb._folder, database=kb.catalog.database).take()
        add(kb, "later", "This came after the snapshot.")
        add(kb, "again", "The second text of the document.")
        kb.delete("gone.txt")
        kb.accounts.revoke(key.id)
    return data(folder) / "catalog.db-wal"


@pytest.mark.parametrize("damage", [deleted, emptied, cut])
def test_lost_log_is_noticed_and_what_was_acknowledged_comes_back(
    tmp_path: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    damage(filled(tmp_path))
    with pytest.raises(CatalogDamaged, match="lacks the newest versions") as caught, knowledge_base(tmp_path):
        pass
    assert "evorag recover" in caught.value.remedy
    command(tmp_path, "recover", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["lacks_what_was_acknowledged"] and told["catalog_is_sound"]
    assert told["without_original"] == 0 and not told["journal_begins_later"]
    command(tmp_path, "recover", "--yes", "--json")
    assert json.loads(capsys.readouterr().out)["lost"] == []
    _require_all(tmp_path)


@pytest.mark.parametrize("damage", [deleted, emptied, flipped, cut])
def test_lost_catalogue_comes_back_with_what_was_done_since_the_snapshot(
    tmp_path: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tmp_path).unlink()
    damage(data(tmp_path) / "catalog.db")
    command(tmp_path, "recover")
    out = capsys.readouterr().out
    assert "deleted or hidden (1)" in out and "revokes keys again (1)" in out
    command(tmp_path, "recover", "--yes")
    _require_all(tmp_path)


def _require_all(folder: Path) -> None:
    """See that everything is as it was acknowledged, now and after another start."""
    for _ in range(2):
        with knowledge_base(folder) as kb:
            kb.work_off()
            assert {each.name for each in kb.documents()} == {"fees.txt", "later.txt", "again.txt"}
            assert kb.text_of("later.txt") == "This came after the snapshot."
            assert kb.text_of("again.txt") == "The second text of the document."
            assert kb.text_of("again.txt", 1) == "The first text of the document."
            assert kb.accounts.keys("ada")[0].is_revoked
            assert core.EvoRAG(kb=kb).search("What came after the snapshot?").hits[0].placed.name == "later.txt"
            assert not kb.check_files().unnamed
            assert all(store.is_sound for store in kb.check())


def test_each_document_shows_in_the_end_what_it_showed(tmp_path: Path) -> None:
    with killed(tmp_path) as kb:
        for name in ("back", "waits", "hidden", "purged"):
            add(kb, name, "The first text.")
        kb.catalog.database.truncate_log()
        Snapshots(kb._folder, database=kb.catalog.database).take()
        add(kb, "back", "The second text.")
        add(kb, "back", "The third text.")
        kb.publish("back.txt", 2)
        add(kb, "hidden", "The second text.")
        kb.delete("hidden.txt")
        add(kb, "purged", "The second text.")
        add(kb, "brief", "It came and went since.")
        kb.delete("brief.txt")
        kb.add_text("waits", "The second text.")
        kb.add_text("waits", "The third text.")
    deleted(data(tmp_path) / "catalog.db-wal")
    deleted(data(tmp_path) / "catalog.db")
    command(tmp_path, "recover", "--yes")
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        shown = {name: kb.text_of(f"{name}.txt") for name in ("back", "waits", "purged")}
        assert shown == {"back": "The second text.", "waits": "The third text.", "purged": "The second text."}
        assert {each.name for each in kb.documents()} == {"back.txt", "waits.txt", "purged.txt"}
        assert {each.number: each.state for each in kb.versions("back.txt")} == {1: "ready", 2: "ready", 3: "ready"}
        newest = kb.audit(limit=1)[0].seq
        add(kb, "new", "A new text.")
        assert kb.audit(limit=1)[0].seq > newest > 12, "no number of a publication is given twice"


def test_what_was_restored_while_it_was_indexed_is_shown_after_a_recovery(tmp_path: Path) -> None:
    with killed(tmp_path) as kb:
        kb.catalog.database.truncate_log()
        Snapshots(kb._folder, database=kb.catalog.database).take()
        for name in ("back", "gone"):
            kb.add_text(name, f"The text of what is {name}.")
            kb.delete(f"{name}.txt")
            kb.restore(f"{name}.txt")
        kb.delete("gone.txt")
    (data(tmp_path) / "catalog.db-wal").unlink()
    command(tmp_path, "recover", "--yes")
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        assert [(each.doc_key, each.state) for each in kb.documents()] == [("back.txt", "published")]


def test_catalogue_of_another_day_is_refused_and_can_be_kept(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "fees", "The yearly fee is 12 euros.")
    older = (data(tmp_path) / "catalog.db").read_bytes()
    with knowledge_base(tmp_path) as kb:
        add(kb, "later", "This came on another day.")
    (data(tmp_path) / "catalog.db").write_bytes(older)
    with pytest.raises(CatalogDamaged, match="lacks"), knowledge_base(tmp_path):
        pass
    command(tmp_path, "recover", "--as-is")
    with knowledge_base(tmp_path) as kb:
        assert [each.name for each in kb.documents()] == ["fees.txt"]


@pytest.mark.parametrize("damage", [deleted, emptied, cut, flipped])
def test_damaged_journal_is_made_anew_from_the_catalogue(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    log = filled(tmp_path)
    damage(data(tmp_path) / "journal")
    with killed(tmp_path) as kb:
        assert {each.name for each in kb.documents()} == {"fees.txt", "later.txt", "again.txt"}
        assert {each["doc_key"] for each in lines(tmp_path) if each["kind"] == "version"} == {"later.txt", "again.txt"}
        add(kb, "last", "This came last.")
    log.unlink()
    command(tmp_path, "recover", "--yes")
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        assert {each.name for each in kb.documents()} == {"fees.txt", "later.txt", "again.txt", "last.txt"}


def test_folder_without_a_journal_opens_and_has_one_from_then_on(tmp_path: Path) -> None:
    log = filled(tmp_path)
    (data(tmp_path) / "journal").unlink()
    shutil.rmtree(data(tmp_path) / "snapshots")
    assert log.exists()
    with knowledge_base(tmp_path) as kb:
        assert len(kb.documents()) == 3
        assert [each["kind"] for each in lines(tmp_path)] == ["begin"]
        add(kb, "last", "This came last.")
        assert [each["kind"] for each in lines(tmp_path)] == ["begin", "version", "publication"]


def test_line_is_on_the_disk_before_an_upload_is_acknowledged_and_after_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        seen: list[tuple[int, int]] = []
        real = os.fsync

        def fsync(handle: int) -> None:
            real(handle)
            if os.path.samestat(os.fstat(handle), (data(tmp_path) / "journal").stat()):
                seen.append((len(lines(tmp_path)), len(kb.versions("fees.txt"))))

        monkeypatch.setattr(os, "fsync", fsync)
        kb.add_text("fees", "The yearly fee is 12 euros.")
        assert seen[0] == (2, 1)


def test_purge_and_snapshots_reach_the_journal(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "quokkaplume", "The secret is here.")
        assert b"quokkaplume" in (data(tmp_path) / "journal").read_bytes()
        kb.delete("quokkaplume.txt")
        kb.purge("quokkaplume.txt")
        kb._purge.finish()
        assert b"quokkaplume" not in (data(tmp_path) / "journal").read_bytes()
        assert not list(data(tmp_path).glob("journal.*"))
        snapshots = Snapshots(kb._folder, database=kb.catalog.database)
        for number in range(4):
            add(kb, f"text{number}", f"The text number {number}.")
            snapshots.take()
        named = [each["doc_key"] for each in lines(tmp_path) if each["kind"] == "version"]
        assert named == ["text3.txt"], "it goes back to the older of two snapshots"


class Full:
    """A file on a full disk."""

    def __init__(self, file: Any) -> None:
        self.tell, self.close = file.tell, file.close

    def write(self, _data: bytes) -> int:
        raise OSError(28, "No space left on device")


def test_disk_that_takes_no_line_stops_nobody_and_is_caught_up_with(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        journal = kb.catalog.database._journal
        assert journal is not None

        journal._file = Full(journal._file)
        kb.add_text("fees", "The yearly fee is 12 euros.")
        assert journal.is_behind and len(lines(tmp_path)) == 1
        add(kb, "later", "This came later.")
        assert not journal.is_behind
        assert [each["doc_key"] for each in lines(tmp_path) if each["kind"] == "version"] == ["fees.txt", "later.txt"]


def test_settings_of_tests_have_a_journal(tmp_path: Path) -> None:
    with core.build(settings(tmp_path)):
        assert (data(tmp_path) / "journal").stat().st_mode & 0o777 == 0o600
