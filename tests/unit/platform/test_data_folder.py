"""The data folder: what a killed process had begun lies in it and is gone at the next start."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

import core
from core import bootstrap
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.errors import DataFolderInUse
from core.platform.data_folder import DataFolder
from core.settings import Settings
from core.text.analysis import ANALYSER_ID

ROOT = Path(__file__).parents[3]

READER = """
import sys, time
from pathlib import Path
import core
from core.settings import Settings

kb = core.build(Settings(data_dir=Path(sys.argv[1]), test_mode=True, job_workers=0))
for text in ("First text.", "Second text."):
    kb.add_text("a", text)
    kb.work_off()
kb.compare("a.txt", 1, 2)
print("ready", flush=True)
time.sleep(60)
"""

KILLED = """
import os, sys
from pathlib import Path
from core.platform.data_folder import DataFolder

folder = DataFolder(Path(sys.argv[1]), shared=True)
(folder.incoming / "half").touch()
os.kill(os.getpid(), 9)
"""


def test_temporary_folders_of_children_do_not_outlive_a_killed_process(tmp_path: Path) -> None:
    folder, system = tmp_path / "data", tmp_path / "tmp"
    system.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", READER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(system)},
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert list(system.iterdir()) == []
    assert len(list((folder / "incoming").glob("child-*"))) == 2
    with core.build(Settings(data_dir=folder, test_mode=True, job_workers=0)):
        assert list((folder / "incoming").iterdir()) == []


def test_a_child_that_still_writes_does_not_keep_the_folder_from_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    incoming = tmp_path / "incoming"
    (incoming / "child-1").mkdir(parents=True)
    ended = threading.Event()

    def write() -> None:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            (incoming / "child-1").mkdir(parents=True, exist_ok=True)
            (incoming / "child-1" / "text").write_text("text")
        ended.set()

    def writing() -> None:
        while not ended.is_set():
            try:
                write()
            except OSError:
                continue

    thread = threading.Thread(target=writing)
    thread.start()
    folder = DataFolder(tmp_path)
    thread.join()
    assert folder.incoming.is_dir()
    folder.close()


def test_several_processes_share_a_folder_after_the_first_has_put_it_in_order(tmp_path: Path) -> None:
    first = DataFolder(tmp_path, shared=True)
    assert first.is_alone
    (first.incoming / "half").write_text("half")
    opened: list[DataFolder] = []
    other = threading.Thread(target=lambda: opened.append(DataFolder(tmp_path, shared=True)))
    other.start()
    other.join(0.3)
    assert opened == []
    first.share()
    other.join(30)
    (second,) = opened
    assert not first.is_alone and not second.is_alone
    assert first.incoming != second.incoming and (first.incoming / "half").exists()
    with pytest.raises(DataFolderInUse):
        DataFolder(tmp_path)
    first.close()
    second.close()
    assert list((tmp_path / "incoming").iterdir()) == []


def test_what_a_killed_process_of_several_was_receiving_is_removed_by_the_next_one(tmp_path: Path) -> None:
    alive = DataFolder(tmp_path, shared=True)
    alive.share()
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path], cwd=ROOT).returncode == -signal.SIGKILL
    assert len(list((tmp_path / "incoming").glob("*/half"))) == 1
    last = DataFolder(tmp_path, shared=True)
    assert {path.stem for path in (tmp_path / "incoming").iterdir()} == {alive.incoming.name, last.incoming.name}
    alive.close()
    last.close()


def test_a_folder_of_one_process_is_nobody_elses(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    for shared in (False, True):
        with pytest.raises(DataFolderInUse, match=str(os.getpid())):
            DataFolder(tmp_path, shared=shared)
    folder.close()
    DataFolder(tmp_path, shared=True).close()


def test_a_new_folder_that_nothing_came_of_goes_while_others_wait_for_it(tmp_path: Path) -> None:
    root = tmp_path / "new"
    first = DataFolder(root, shared=True)
    opened: list[DataFolder] = []
    other = threading.Thread(target=lambda: opened.append(DataFolder(root, shared=True)))
    other.start()
    other.join(0.2)
    with pytest.raises(ValueError), first.as_it_was():
        first.blobs.mkdir()
        raise ValueError
    assert not first.blobs.exists()
    first.close()
    other.join(30)
    assert opened[0].is_alone
    with pytest.raises(DataFolderInUse):
        DataFolder(root)
    opened[0].close()


@pytest.mark.parametrize("is_shared", [True, False])
def test_what_was_there_or_others_may_have_made_stays_whatever_fails(tmp_path: Path, is_shared: bool) -> None:
    if not is_shared:
        (tmp_path / "kept").touch()
    folder = DataFolder(tmp_path, shared=is_shared)
    with pytest.raises(ValueError), folder.as_it_was():
        folder.share()
        (tmp_path / "kept").touch()
        raise ValueError
    assert (tmp_path / "kept").exists() and (tmp_path / "lock").exists()
    folder.close()


def test_a_discarded_folder_is_gone_at_once_and_what_is_left_of_it_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path)
    folder = DataFolder(tmp_path)
    TantivyKeywordIndex(folder.keywords, "another").close()

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(shutil, "rmtree", killed)
        bootstrap._keyword_store(settings, folder, "", ANALYSER_ID)
    assert not folder.keywords.exists()
    folder.close()
    folder = DataFolder(tmp_path)
    assert list(folder.incoming.iterdir()) == []
    TantivyKeywordIndex(folder.keywords, "another").close()
    with closing(bootstrap._keyword_store(settings, folder, "", ANALYSER_ID)) as index:
        assert sum(index.count().values()) == 0
    assert list(folder.incoming.iterdir()) == []
    folder.close()
