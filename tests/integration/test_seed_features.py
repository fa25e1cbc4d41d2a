"""The features of the seed systems, by the names that these use: each has an example on its page, and that is tried."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.test_documentation import wrong_places

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
SEEDS = Path(os.environ.get("EVORAG_TEST_SEEDS", ROOT.parent / "shared" / "seeds"))
"""Descriptions of the seed systems; they are no part of the repository."""
IN_PYTHON = ("add_user_text", "update_document", "retrieve", "generate", "rag", "get_all_data", "delete_document")
ELSEWHERE = (
    "return_debug_info",
    "upload_file",
    "upload_status",
    "source_path",
    "diff",
    "rollback",
    "reindex",
    "chunk_text_auto",
    "RRF",
    "FTS5",
    "--semantic",
    "--hybrid",
    "--no-llm",
    "rag_markdown_sdk",
    "rag_with_vis",
    "DataMonitorHook",
    "rag_neuron_data.pt",
    "visualize_rag_neurons.py",
    "artifact_manifest.json",
    "EVOSPIKENET_TEST_MODE",
)


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the descriptions of the seed systems are not here")
def test_every_name_is_one_of_a_seed_system() -> None:
    told = "\n".join(path.read_text(encoding="utf-8") for path in SEEDS.glob("*.txt"))
    assert [name for name in (*IN_PYTHON, *ELSEWHERE) if name not in told] == []


def test_page_has_one_example_a_name() -> None:
    assert re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE) == list(ELSEWHERE)
    code = PAGE.split("```")[1]
    assert [name for name in IN_PYTHON if f"rag.{name}(" not in code] == []
    assert list(wrong_places(PAGE, ROOT)) == []


def test_the_python_of_the_page_prints_what_stands_below_it(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]+\n)+)", PAGE, re.DOTALL)
    assert example is not None
    done = subprocess.run(
        [sys.executable, "-c", example[1]], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [line.strip() for line in example[2].splitlines()], done.stderr


@pytest.mark.parametrize("command", re.findall(r"`(?:\w+=\w+ )?(evorag [^`]*)`", PAGE))
def test_commands_and_options_of_the_page_exist(command: str) -> None:
    words = command.split()
    told = subprocess.run(
        [sys.executable, "-m", "core.cli", words[1], "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert [word for word in words if word.startswith("--") and word not in told.stdout] == []


def test_routes_and_keyword_store_of_the_page_exist() -> None:
    routes = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app" / "api").rglob("*.py"))
    assert all(route in routes for route in ("/upload_file", "/upload_status/"))
    assert "fts5" in (ROOT / "core" / "settings" / "groups.py").read_text(encoding="utf-8")
