"""The data folder is its owner's alone, whatever the umask, and one that is open is tightened."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.platform import private_file
from tests.builders import add, knowledge_base

ROOT = Path(__file__).parent.parent.parent
FILLING = """
import io, os, sys, zipfile
from pathlib import Path

os.umask(int(sys.argv[2], 8))
import core

settings = core.Settings(data_dir=Path(sys.argv[1]), embedder="hash", job_workers=1)
with core.build(settings) as kb:
    for text in ("The yearly fee is ten euros.", "The yearly fee is twelve euros."):
        kb.finish(kb.add_text("Fees", text).job_id)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("member.txt", "A member.")
    kb.finish(kb.add_archive("all.zip", io.BytesIO(packed.getvalue())).job_id)
    kb.compare("fees.txt", 1, 2)
    kb.check()
    kb.repair(dry_run=False)
    core.EvoRAG(kb=kb).ask("What is the yearly fee?")
"""


def open_paths(folder: Path) -> list[str]:
    """Return what others than the owner may reach, or what the owner may run, under a folder and the folder itself."""
    found = []
    for path in (folder, *folder.rglob("*")):
        mode = path.lstat().st_mode
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) != wanted:
            found.append(f"{path.relative_to(folder)} {stat.S_IMODE(mode):o}")
    return found


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_everything_that_is_written_is_the_owners_alone_whatever_the_umask(tmp_path: Path, umask: str) -> None:
    folder = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", FILLING, str(folder), umask], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list(folder.rglob("*"))) > 30
    assert open_paths(folder) == []


@pytest.mark.usefixtures("umask")
def test_open_folder_is_tightened_at_the_start_and_a_line_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "data"
    with knowledge_base(tmp_path) as kb:
        add(kb, "fees", "The yearly fee is ten euros.")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    caplog.clear()
    with knowledge_base(tmp_path) as kb:
        assert kb.text_of("fees.txt") == "The yearly fee is ten euros."
        assert open_paths(folder) == []
    assert f"{folder} was open to other users" in caplog.text
    caplog.clear()
    with knowledge_base(tmp_path):
        pass
    assert "open to other users" not in caplog.text


@pytest.mark.usefixtures("umask")
def test_file_system_that_refuses_is_told_of_and_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir(mode=0o755)

    def refusing(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(private_file.os, "chmod", refusing)
    with knowledge_base(tmp_path) as kb:
        add(kb, "fees", "The yearly fee is ten euros.")
    assert "the file system refuses to change the modes" in caplog.text


@pytest.mark.usefixtures("umask")
def test_file_system_that_only_pretends_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    monkeypatch.setattr(private_file.os, "chmod", lambda *_: None)
    private_file.tighten(tmp_path / "data")
    assert "refuses to change the modes of 1 files and folders" in caplog.text


@pytest.mark.usefixtures("umask")
def test_links_are_left_alone_but_a_folder_kept_elsewhere_is_tightened(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("original")
    own = tmp_path / "shared.txt"
    own.write_text("not ours")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "blobs").symlink_to(outside)
    (folder / "blobs" / "link").symlink_to(own)
    private_file.tighten(folder)
    assert stat.S_IMODE((outside / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(own.stat().st_mode) == 0o644
