"""What can be said of the scripts without a browser: their pure parts work, and they are formatted and linted."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests import programs

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests" / "javascript"
WRITTEN = ("assets/modules", "assets/head/boot.js", "tests/javascript")
"""What is ours; ``assets/vendor`` stays as it was given out."""


def done(*command: str) -> str:
    """Run a program in the checkout and return what it says. Fails where the program does."""
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, f"{found.stdout}\n{found.stderr}"
    return found.stdout


@programs.needs("node")
def test_pure_parts_of_the_scripts() -> None:
    files = sorted(map(str, TESTS.glob("*.test.js")))
    said = done("node", "--test", *files)
    assert len(files) >= 4 and "fail 0" in said and "pass 0" not in said, said


@programs.needs("biome")
def test_scripts_are_formatted_and_linted() -> None:
    done("biome", "check", "--config-path=tests/javascript/biome-rules.json", *WRITTEN)
