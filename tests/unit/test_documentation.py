"""What the documentation says is so."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from core.settings import Group, Settings

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_PLACE = re.compile(r"`((?:app|assets|benchmarks|core|docs|examples|tests)/[^\s`:]*)(?::(\w+))?`")
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def test_every_setting_is_documented_once_with_its_default() -> None:
    assert "EVOSPIKENET_TEST_MODE" in SETTINGS
    expected = []
    for name, field in Settings.model_fields.items():
        if name != "test_mode":
            default = "" if field.default is None else str(field.default)
            expected.append(f"| `EVORAG_{name.upper()}` | {default} | {field.description} |")
    assert sorted(re.findall(r"^\| `EVORAG_.*$", SETTINGS, re.MULTILINE)) == sorted(expected)


def test_the_tables_of_settings_are_the_groups() -> None:
    tables = [set(re.findall(r"^\| `EVORAG_(\w+)`", section, re.MULTILINE)) for section in SETTINGS.split("\n## ")[1:]]
    groups = [{name.upper() for name in group.model_fields} - {"TEST_MODE"} for group in Group.__subclasses__()]
    assert tables == [group for group in groups if group <= {name.upper() for name in Settings.model_fields}]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the functions, methods, classes and module constants that a Python file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in ast.walk(tree) if isinstance(node, defined)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return frozenset(names | {target.id for target in targets if isinstance(target, ast.Name)})


def wrong_places(text: str, root: Path) -> Iterator[str]:
    """Yield every `path` and `path:name` of a text that is not under ``root``."""
    for path, name in _PLACE.findall(text):
        place = root / path
        if not place.exists():
            yield path
        elif name and (place.suffix != ".py" or name not in names_in(place)):
            yield f"{path}:{name}"


def anchors_of(text: str) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong_links(guide: Path) -> Iterator[str]:
    """Yield the links of a page to files and headings that are not there."""
    text = guide.read_text(encoding="utf-8")
    for file, anchor in _LINK.findall(text):
        if file.startswith("http"):
            continue
        target = guide.parent / file if file else guide
        if not target.exists():
            yield file
        elif anchor and anchor not in anchors_of(target.read_text(encoding="utf-8")):
            yield f"{file}#{anchor}"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_place_that_a_guide_names_is_there(guide: Path) -> None:
    assert list(wrong_places(guide.read_text(encoding="utf-8"), ROOT)) == []
    assert list(wrong_links(guide)) == []


def test_the_map_names_many_places() -> None:
    assert len(_PLACE.findall((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))) > 150


def test_a_place_that_is_not_there_is_found(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "fuse.py").write_text("LIMIT = 1\n\n\nclass Fusion:\n    def fuse(self): ...\n")
    text = "`core/fuse.py` `core/fuse.py:fuse` `core/fuse.py:LIMIT` `core/fuse.py:melt` `core/gone.py` `core/`"
    assert list(wrong_places(text, tmp_path)) == ["core/fuse.py:melt", "core/gone.py"]


def test_the_readme_stays_within_two_screens() -> None:
    assert len(README.splitlines()) <= 120


@pytest.mark.long
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
