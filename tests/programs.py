"""The programs and files of the system that tests use; they are looked for here and nowhere else.

A bare run (``make test-bare``) is one on a machine that has no more than Python's packages: it finds none of them, and
neither does what it tests. ``python -m tests.programs`` prints the test files for which that makes a difference;
those of a shard where one is chosen.
"""

from __future__ import annotations

import ast
import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SWITCH = "EVORAG_TEST_BARE"
"""``1`` asks for a bare run; then it names the folder that takes the place of the system's programs."""
EVERYWHERE = (
    *("sh", "bash", "env", "true", "false", "test", "echo", "printf", "sleep", "cat", "tee", "head", "tail", "wc"),
    *(
        "ls",
        "cp",
        "mv",
        "rm",
        "ln",
        "mkdir",
        "rmdir",
        "dirname",
        "chmod",
        "touch",
        "kill",
        "ps",
        "id",
        "grep",
        "sed",
        "sync",
    ),
)
"""What any Linux has."""
PACKAGES = {
    "soffice": "LibreOffice",
    "chromium-headless-shell": "Chromium",
    "postgres": "PostgreSQL",
    "redis-server": "redis-server (Debian's package redis-server)",
    "nginx": "nginx (Debian's package nginx)",
    "java": "Java",
    "tesseract": "Tesseract (Debian's package tesseract-ocr)",
    "patch": "GNU patch",
    "faketime": "faketime (Debian's package faketime)",
    "docker": "Docker Compose",
    "hadolint": "hadolint",
    "node": "Node.js (Debian's package nodejs)",
    "biome": "Biome (npm's package @biomejs/biome)",
    "/usr/share/debian-reference": "debian-reference",
    "/usr/share/debian-reference/debian-reference.en.pdf": "debian-reference-en",
    "/usr/share/debian-reference/debian-reference.ja.pdf": "debian-reference-ja",
}
"""Programs and places to the names that people install them by."""


def is_bare() -> bool:
    return bool(os.environ.get(SWITCH))


def _hide() -> None:
    """Let this process and all that it starts find what any Linux has alone."""
    folder = tempfile.mkdtemp(prefix="evorag-bare-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in EVERYWHERE:
        if program := shutil.which(name):
            Path(folder, name).symlink_to(program)
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), folder))
    os.environ[SWITCH] = folder


def find(*names: str) -> str | None:
    """Return the first of the programs that is installed."""
    return next(filter(None, map(shutil.which, names)), None)


def place(path: str) -> Path:
    """Return where a package puts its files; in a bare run, a place where nothing is."""
    return Path("/nonexistent" + path) if is_bare() else Path(path)


def missing(name: str) -> str | None:
    """Say in one line that a program, or a place, is not there; None where it is."""
    is_there = place(name).exists() if name.startswith("/") else find(name) is not None
    return None if is_there else f"{PACKAGES.get(name, name)} is not installed"


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test, or a module's, where one of the programs or places is not there."""
    reason = next(filter(None, map(missing, names)), None)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


def bare_files() -> list[Path]:
    """Return the test files that look for programs: by themselves, through what they import, or by their fixtures."""
    return [path for path in sorted(TESTS.rglob("test_*.py")) if _looks(path) or any(map(_looks, _fixtures_of(path)))]


def bare_files_of_today() -> list[Path]:
    """Return those of the shard that is chosen, or all."""
    # A plugin of pytest, which rewrites its assertions when it is imported: not before.
    from tests import shards

    shards.settle()
    shard = shards.chosen()
    by_name = {path.relative_to(TESTS).as_posix(): path for path in bare_files()}
    return [by_name[name] for name, number in shards.dealt(by_name).items() if shard in (None, number)]


def _fixtures_of(path: Path) -> Iterator[Path]:
    """Yield the files of fixtures beside and above a test file; those of all tests only do the hiding."""
    for folder in path.parents:
        if folder == TESTS:
            return
        if (folder / "conftest.py").exists():
            yield folder / "conftest.py"


def _looks(path: Path) -> bool:
    return Path(__file__) in _reached(path)


@cache
def _reached(path: Path) -> frozenset[Path]:
    """Return the modules of the tests that a file imports, and what these import."""
    reached, waiting = set(), [path]
    while waiting:
        for other in _imported(waiting.pop()) - reached:
            reached.add(other)
            waiting.append(other)
    return frozenset(reached)


@cache
def _imported(path: Path) -> frozenset[Path]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    files = (TESTS.parent.joinpath(*name.split(".")).with_suffix(".py") for name in names if name.startswith("tests."))
    return frozenset(file for file in files if file.is_file() and file != TESTS / "conftest.py")


# When this is imported, since fixtures of a folder are imported before pytest is configured.
if os.environ.get(SWITCH) == "1":
    _hide()

if __name__ == "__main__":
    print(*(path.relative_to(TESTS.parent) for path in bare_files_of_today()))
