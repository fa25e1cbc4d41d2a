"""The data folder: what a killed process had begun lies in it and is gone at the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import core
from core.data_folder import DataFolder
from core.settings import Settings

ROOT = Path(__file__).parent.parent

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
