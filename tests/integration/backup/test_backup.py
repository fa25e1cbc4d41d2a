"""Backups of a knowledge base that goes on: each is of one moment, whatever happens while it is made."""

from __future__ import annotations

import io
import stat
import threading
from itertools import count
from pathlib import Path
from typing import BinaryIO

import pytest

from core.access import acting
from core.cli.transfer import import_from, to_file
from core.errors import Conflict, Forbidden
from core.model import Principal, Role
from core.model.backup import BackupReport
from core.platform.failpoints import on_failpoint
from core.versions import purge
from tests.builders import add, begin, knowledge_base, settings
from tests.integration.backup.house import tree


def restored(archive: bytes, folder: Path) -> dict[str, tuple[int, str]]:
    """Return what the documents of a backup show, and the text of it."""
    begin(folder / "data")
    import_from(settings(folder), io.BytesIO(archive))
    with knowledge_base(folder) as kb:
        return {
            each.doc_key: (each.published_version, kb.text_of(each.doc_key))
            for each in kb.documents()
            if each.published_version
        }


def test_backups_beside_changes_are_whole_and_of_one_moment(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "kb", job_workers=1) as kb:
        stop = threading.Event()

        def change() -> None:
            for number in count(1):
                for name in ("left.txt", "right.txt"):
                    kb.wait([kb.add_text(name, f"State {number} of {name}.").job_id])
                kb.purge("left.txt", number - 1) if number > 1 else None
                if stop.is_set():
                    return

        changing = threading.Thread(target=change)
        changing.start()
        archives = [b"".join(kb.backup()) for _ in range(2)]
        stop.set()
        changing.join()
    for number, archive in enumerate(archives):
        shown = restored(archive, tmp_path / str(number))
        for name, (version, text) in shown.items():
            assert text == f"State {version} of {name}."
        left, right = (shown.get(name, (0, ""))[0] for name in ("left.txt", "right.txt"))
        assert left - right in (0, 1)


def test_what_is_purged_while_it_is_made_is_in_no_backup_or_wholly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "_LOG_ATTEMPTS", 1)
    with knowledge_base(tmp_path / "kb") as kb:
        add(kb, "kept.txt", "This stays.")
        add(kb, "gone.txt", "This goes.")
        blob = kb.original("gone.txt", 1)[0]
        on_failpoint(lambda name: blob.exists() and kb.purge("gone.txt") if name == "bundle.rows" else None)
        try:
            archive = b"".join(kb.backup())
        finally:
            on_failpoint(None)
        assert not blob.exists()
    assert restored(archive, tmp_path / "new") == {"kept.txt": (1, "This stays.")}
    assert b"This goes." not in archive


def test_what_is_purged_while_it_is_sent_is_still_in_it(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "kb") as kb:
        add(kb, "gone.txt", "This goes.")
        pieces = kb.backup()
        begun = next(pieces)
        kb.purge("gone.txt")
        archive = begun + b"".join(pieces)
        assert not list((tmp_path / "kb" / "data" / "incoming").glob("moving-*"))
    assert restored(archive, tmp_path / "new") == {"gone.txt": (1, "This goes.")}


def test_one_backup_at_a_time_and_one_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a.txt", "Some words.")
        before = tree(tmp_path)
        pieces = kb.backup()
        next(pieces)
        with pytest.raises(Conflict):
            next(kb.backup())
        pieces.close()
        assert tree(tmp_path) == before
        assert len(b"".join(kb.backup())) > 0
        with acting(Principal("ann", Role.EDITOR, 1)), pytest.raises(Forbidden):
            kb.backup()


def test_archive_goes_into_no_file_that_others_put_there(tmp_path: Path) -> None:
    target, others = tmp_path / "all.tar", tmp_path / "others"
    target.symlink_to(others)
    for name in (".all.tar.begun", ".all.tar.part"):
        (tmp_path / name).symlink_to(others)

    def write(file: BinaryIO) -> BackupReport:
        (begun,) = set(tmp_path.glob(".evorag-*"))
        assert stat.S_IMODE(begun.stat().st_mode) == 0o600
        return BackupReport({}, 0, file.write(b"everything"), 0, 0)

    assert to_file(target, write).size_bytes == 10
    assert target.read_bytes() == b"everything" and not target.is_symlink() and not others.exists()
    with pytest.raises(TypeError):
        to_file(target, len)  # type: ignore[arg-type]
    assert target.read_bytes() == b"everything" and not list(tmp_path.glob(".evorag-*"))
