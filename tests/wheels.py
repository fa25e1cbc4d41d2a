"""The package as somebody else installs it: built, put into a clean environment, and found there alone.

Nothing is fetched: it is built with the setuptools that is here, and what it depends on is lent by this environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKED = ("core", "app", "assets")
"""The folders whose every file an installed EvoRAG has."""
PROJECT = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
_PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input")
_SDIST = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
_ENV = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EVO"))}
"""Neither the path of the tests nor their mode reaches what is installed."""


def checkout(folder: Path) -> Path:
    """Copy what the package is built from, since a build leaves folders behind."""
    for name in PACKED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in PROJECT:
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, folder)
    return folder


def build_wheel(source: Path, into: Path) -> Path:
    """Return the wheel that ``pip wheel`` makes of a checkout or of a source distribution."""
    _run(sys.executable, *_PIP, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", into, source)
    return next(into.glob("*.whl"))


def build_sdist(source: Path, into: Path) -> Path:
    """Return the source distribution of a checkout."""
    _run(sys.executable, "-c", _SDIST, into, cwd=source)
    return next(into.glob("*.tar.gz"))


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel in a new environment and return its folder of programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    programs = folder / "bin"
    _run(sys.executable, *_PIP, "--python", programs / "python", "install", "--no-deps", "--no-index", wheel)
    # A folder that a .pth names comes last, and its own .pth files, one of which may name this checkout, are not read.
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return programs


def environment(**changes: str) -> dict[str, str]:
    """The variables for a program of such an environment."""
    return _ENV | changes


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=_ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:]
