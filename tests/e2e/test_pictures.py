"""The command that takes the pictures of README and docs anew, on the sample, without the models."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from benchmarks.pictures import HEIGHT, PICTURES, WIDTH
from tests.e2e.conftest import CHROMIUM, ROOT


def test_every_picture_that_is_shown_is_one_that_the_command_takes() -> None:
    shown = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        shown |= {Path(found).stem for found in re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)", page.read_text("utf-8"))}
    assert shown == set(PICTURES) == {path.stem for path in (ROOT / "docs").glob("*.png")}


def test_a_picture_shows_the_app_as_it_is(tmp_path: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    # A process of its own, as whoever gives the command has: other tests have a browser's loop in theirs.
    command = [sys.executable, "-m", "benchmarks.pictures", "ask", "--into", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "EVOSPIKENET_TEST_MODE": "1"}, check=True, timeout=600)
    path = tmp_path / "ask.png"
    with Image.open(path) as image:
        assert image.size == (WIDTH, HEIGHT)
        assert len(image.convert("RGB").getcolors(1 << 24) or ()) > 20
    assert path.stat().st_size < 200_000
