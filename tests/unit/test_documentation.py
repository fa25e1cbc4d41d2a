"""What the documentation says is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from core.settings import Settings

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_setting_is_documented_with_its_default() -> None:
    for name, field in Settings.model_fields.items():
        if name == "test_mode":
            assert "EVOSPIKENET_TEST_MODE" in README
            continue
        default = "" if field.default is None else str(field.default)
        assert f"| `EVORAG_{name.upper()}` | {default} | {field.description} |" in README


def test_the_python_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]+\n)+)", README, re.DOTALL)
    assert example is not None
    done = subprocess.run(
        [sys.executable, "-c", example[1]], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [line.strip() for line in example[2].splitlines()], done.stderr


def test_every_dependency_has_its_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = [line for line in project.splitlines() if re.match(r'\s+"[A-Za-z].*[=<>]', line)]
    assert len(lines) > 25
    assert [line for line in lines if not re.search(r"# .{5,}", line)] == []
