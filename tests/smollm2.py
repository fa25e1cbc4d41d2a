"""The packaged SmolLM2, unpacked at most once a run for all tests that ask it in earnest."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from core.adapters.generation.packaged_smollm2 import BEGUN, PACKAGE, PackagedSmolLM2

FOLDER = "EVORAG_TEST_MODELS"


def missing() -> str:
    """Say what is not installed."""
    try:
        version(PACKAGE)
    except PackageNotFoundError:
        return PACKAGE
    return ", ".join(name for name in ("gguf", "accelerate") if find_spec(name) is None)


def shared() -> None:
    """Name the folder that all processes of a run share; it is removed when the process that began the run ends."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="evorag-models-")
        atexit.register(shutil.rmtree, os.environ[FOLDER], ignore_errors=True)


@cache
def models() -> Path:
    """Return a folder with the model in it, unpacked by two at the same time, where a killed process had begun one."""
    folder = Path(os.environ[FOLDER]) / "models"
    with suppress(FileExistsError):
        folder.mkdir()
        (folder / f"{BEGUN}left").mkdir()
    found: list[Path] = []
    both = [threading.Thread(target=lambda: found.append(PackagedSmolLM2(folder).folder())) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(found) == 2 and found[0] == found[1]
    return folder
