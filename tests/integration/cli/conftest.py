"""A command line on a data folder of its own, and papers to add."""

import os
import subprocess
import sys

import pytest

from core.cli import main
from tests.builders import begin

HANDBOOK = "# Handbook\n\n## Leave\n\nEach colleague has 14 days of leave in the first year.\n"
OLDER = HANDBOOK.replace("14 days", "12 days")
RULES = "# 規程\n\n日当は3,200円とする。宿泊料は実費を支給する。\n"


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOSPIKENET_TEST_MODE", "1")
    monkeypatch.setenv("EVORAG_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def evorag(data_dir, capsys):
    """Run a command and return its exit status, stdout and stderr."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return ending.value.code, printed.out, printed.err

    return run


@pytest.fixture
def papers(tmp_path):
    folder = tmp_path / "papers"
    (folder / "below").mkdir(parents=True)
    (folder / "handbook.md").write_text(HANDBOOK, "utf-8")
    (folder / "below" / "旅費規程.md").write_text(RULES, "utf-8")
    return folder


@pytest.fixture
def filled(evorag, papers, data_dir):
    begin(data_dir)
    status, _, err = evorag("add", papers, "--tag", "rules")
    assert status == 0, err
    return evorag


@pytest.fixture
def in_terminal(data_dir):
    """Run a command in a terminal, answer what it asks, and return its exit status and what the terminal showed."""
    pty = pytest.importorskip("pty")

    def run(*arguments, answer="", **environment):
        ours, theirs = pty.openpty()
        os.write(ours, answer.encode())
        process = subprocess.Popen(
            [sys.executable, "-m", "core.cli", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
        )
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65_536):
                shown += piece
        except OSError:
            pass  # The terminal hangs up when its last process ends.
        os.close(ours)
        return process.wait(timeout=30), shown.decode()

    return run
