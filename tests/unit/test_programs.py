"""The run without Debian's programs: it finds none of them, and has every test that could."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import programs, shards

ROOT = programs.TESTS.parent
LOOKS = re.compile(r"shutil\.which|[\"'(]/(?:usr|opt|snap)/(?!share/doc/shared-mime-info)")
"""How a program or the files of a package are found without ``tests.programs``."""
SEE = "from tests import programs; print([programs.missing(name) for name in programs.PACKAGES])"


@pytest.fixture(scope="module")
def listed() -> set[Path]:
    """The files that ``make test-bare`` runs."""
    # Of all shards.
    elsewhere = {name: value for name, value in os.environ.items() if name != shards.SWITCH}
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs"], cwd=ROOT, env=elsewhere, capture_output=True, text=True, check=True
    )
    return {ROOT / name for name in done.stdout.split()}


def test_programs_are_looked_for_in_one_place() -> None:
    apart = {programs.TESTS / "programs.py", Path(__file__)}
    assert [
        (path.relative_to(ROOT).as_posix(), found.group())
        for path in sorted(programs.TESTS.rglob("*.py"))
        if path not in apart
        for line in path.read_text("utf-8").splitlines()
        if "programs." not in line and (found := LOOKS.search(line))
    ] == []


def test_every_test_that_looks_for_a_program_runs_bare(listed: set[Path]) -> None:
    for path in programs.TESTS.rglob("*.py"):
        text = path.read_text("utf-8")
        if path.parent != programs.TESTS / "e2e" and re.search(r"\bprograms\.(find|place|missing|needs)\(", text):
            used_in = (
                {path} if path.name.startswith("test_") else {test for test in listed if path.parent in test.parents}
            )
            assert used_in and used_in <= listed, path
    for folder in ("e2e", "servers"):
        assert set((programs.TESTS / folder).glob("test_*.py")) <= listed, "their fixtures look for programs"


def test_tests_of_the_sample_run_bare(listed: set[Path]) -> None:
    assert {"test_commands.py", "test_reading.py"} <= {path.name for path in listed}


def test_bare_run_finds_what_any_linux_has_and_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEE], cwd=ROOT, env={**os.environ, programs.SWITCH: "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([f"{name} is not installed" for name in programs.PACKAGES.values()])
    command = "import shutil; from tests import programs; print(shutil.which('sh'))"
    shell = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, env={**os.environ, programs.SWITCH: "1"}, capture_output=True
    )
    assert b"evorag-bare-" in shell.stdout


@pytest.mark.parametrize(
    ("broken", "steps"),
    [
        ("", ["setup", "test-bare", "test"]),
        ("test-bare", ["setup", "test-bare", "test"]),
        ("test", ["setup", "test-bare", "test"]),
        ("setup", ["setup"]),
    ],
)
def test_continuous_integration_ends_with_the_whole_run_and_fails_with_either(
    tmp_path: Path, broken: str, steps: list[str]
) -> None:
    for place, script in (("make", f'echo "$1"; [ "$1" != "{broken}" ]'), ("id", "echo 1000")):
        program = tmp_path / "bin" / place
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    (tmp_path / ".ci").mkdir()
    copied = shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    path = os.pathsep.join((str(tmp_path / "bin"), os.environ["PATH"]))
    done = subprocess.run(["bash", copied], env={"PATH": path}, capture_output=True, text=True)
    assert (done.returncode == 0) is (broken == "")
    assert done.stdout.split() == steps
    assert ("failed" in done.stderr) is (broken == "test-bare")
