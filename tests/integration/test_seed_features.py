"""The features of the seed systems, by the names that these use: each has an example on its page, and that is tried."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import docx
import pytest

from core.cli import main
from tests.unit.test_documentation import wrong_places

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
SEEDS = Path(os.environ.get("EVORAG_TEST_SEEDS", ROOT.parent / "shared" / "seeds"))
"""Descriptions of the seed systems; they are no part of the repository."""
IN_PYTHON = ("add_user_text", "update_document", "retrieve", "generate", "rag", "get_all_data", "delete_document")
ELSEWHERE = (
    "return_debug_info",
    "llm_type",
    "upload_file",
    "chunks_indexed",
    "upload_status",
    "/ws/progress/{job_id}",
    "Celery",
    "Split Upload API",
    "rag_upload_file",
    "rag_markdown_sdk",
    ".markdown",
    "checksum",
    "doc_key",
    "source_path",
    "<filename>#v<version>",
    "Rich Difference",
    "Precomputation",
    "rollback",
    "reindex",
    "chunk_text_auto",
    "kuromoji",
    "BM25",
    "RRF",
    "3 retries",
    "3000 characters",
    "Extractive-First",
    "25%",
    "Irrelevant Content Filtering",
    "rag_with_vis",
    "DataMonitorHook",
    "rag_neuron_data.pt",
    "visualize_rag_neurons.py",
    "artifact_manifest.json",
    "EVOSPIKENET_TEST_MODE",
    "FTS5",
    "sum-free sets",
    "allow_advanced_syntax",
    "--semantic",
    "--hybrid",
    "--no-llm",
    "--llm-cmd",
    "ASK_PROMPT_MAX_BYTES",
    "[1]",
    ".env",
    "days_back",
    "recently",
    "published_at",
    "Cross-Encoder",
    "_compress_document",
    "Semantic Cache",
    "/chat/stream",
    "Chat History",
    "Intent Routing",
    "Ollama",
    "gracefully",
)
DIFFERENT = (
    "auto_id",
    "paraphrase-multilingual-MiniLM-L12-v2",
    "nprobe=10",
    "Flush",
    "repetition_penalty=1.5",
    "TF-IDF",
    "MockCollection",
    "reindex_elasticsearch.py",
    "get_latest_version",
    "python-magic",
    "FastAPI",
    "react-diff-viewer",
    "dcc.Interval",
    "porter unicode61",
    "bm25(chunks_fts)",
    "brute-force scan",
    "shlex.split",
    "problem_id",
    "fallback sources",
    "erdos loop",
    "ERDOS_LOAD_DOTENV",
    "LLM Classification",
    "_extract_intents",
    '"days_back": 3',
    "tiktoken",
    "LLM Summarization",
    "JWT",
    "AccountUseCase",
    "Qdrant",
    "0ms LLM time",
    "trending entities",
    "Neo4j",
)
"""What EvoRAG has in another form, or does not have, for a reason that the page gives."""
ENDLESS = ("serve", "worker")
"""Commands of the page that do not end; their own tests run them."""
HEAVY = ("--record",)
"""Options that load a language model; ``tests/integration/test_recordings.py`` tries them."""
ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \|(?: (.+) \|)?$", re.MULTILINE)


def rows(section: str) -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.split(f"## {section}\n")[1].split("\n## ")[0])


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the descriptions of the seed systems are not here")
def test_every_name_is_one_of_a_seed_system() -> None:
    told = "\n".join(path.read_text(encoding="utf-8") for path in SEEDS.glob("*.txt"))
    assert [name for name in (*IN_PYTHON, *ELSEWHERE, *DIFFERENT) if name not in told] == []


def test_page_has_one_example_a_name() -> None:
    assert [name for name, _, _ in rows("Feature by feature")] == list(ELSEWHERE)
    assert [name for name, _, _ in rows("Deliberately different")] == list(DIFFERENT)
    assert all(len(reason) > 20 for _, reason, _ in rows("Deliberately different"))
    code = PAGE.split("```")[1]
    assert [name for name in IN_PYTHON if f"rag.{name}(" not in code] == []
    assert list(wrong_places(PAGE, ROOT)) == []


def test_each_feature_is_tried_by_a_command_of_the_page_or_by_a_test_that_it_names() -> None:
    for name, example, tried in rows("Feature by feature"):
        if tried == "here":
            assert "`evorag " in example, name
        else:
            assert re.fullmatch(r"`tests/[\w/]+\.py:test_\w+`", tried), name


def test_the_python_of_the_page_prints_what_stands_below_it(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]+\n)+)", PAGE, re.DOTALL)
    assert example is not None
    done = subprocess.run(
        [sys.executable, "-c", example[1]], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [line.strip() for line in example[2].splitlines()], done.stderr


def evorag(words: list[str]) -> tuple[int, str]:
    """Run a command of the page in this process; return its status and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as ending:
        main(words)
    return int(ending.value.code or 0), printed.getvalue()


def test_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [shlex.split(found) for found in re.findall(r"`(?:\w+=\S+ )?evorag ([^`]+)`", PAGE)]
    monkeypatch.setenv("EVOSPIKENET_TEST_MODE", "1")
    monkeypatch.setenv("EVORAG_DATA_DIR", str(tmp_path / "data"))
    assert evorag(["sample", "--help"])[0] == 0
    for fee in ("ten", "twelve"):
        text = f"The yearly fee is {fee} euros. Sum-free sets cost nothing."
        docx_of(tmp_path / "fees.docx", text)
        status, printed = evorag(["add", str(tmp_path / "fees.docx")])
        assert status == 0, printed
    assert len(commands) > 15
    for words in commands:
        is_run = words[0] not in ENDLESS and not set(words) & set(HEAVY)
        status, printed = evorag(words if is_run else [words[0], "--help"])
        assert status == 0 and printed.strip(), (words, printed)
        if words[0] == "diff":
            assert "ten" in printed and "twelve" in printed
        if words[:2] == ["search", "sum-free sets"]:
            assert "fees.docx" in printed


def docx_of(path: Path, text: str) -> None:
    document = docx.Document()
    document.add_paragraph(text)
    document.save(str(path))


def test_routes_and_settings_of_the_page_exist() -> None:
    routes = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app" / "api").rglob("*.py"))
    assert all(route in routes for route in ("/upload_file", "/upload_status/", "/ws/progress/", "/me"))
    settings = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    named = set(re.findall(r"EVORAG_[A-Z_]+", PAGE))
    assert [name for name in sorted(named) if f"`{name}`" not in settings] == []
    assert "fts5" in (ROOT / "core" / "settings" / "groups.py").read_text(encoding="utf-8")
