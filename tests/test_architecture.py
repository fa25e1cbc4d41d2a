"""The dependency rules of the design, read from the imports themselves."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted(path for top in ("core", "app") for path in (ROOT / top).rglob("*.py"))

LAYERS = [
    {"core.codec", "core.errors", "core.model", "core.settings"},
    {
        "core.ports",
        "core.text",
        "core.snn",
        "core.data_folder",
        "core.access",
        "core.points",
        "core.memory",
        "core.fingerprints",
    },
    {"core.catalog"},
    {
        "core.projection",
        "core.bundling",
        "core.ingest",
        "core.query",
        "core.generation",
        "core.conversations",
        "core.insight",
        "core.evaluating",
        "core.sample",
        "core.versions",
        "core.uploads",
        "core.accounts",
        "core.recordings",
        "core.training",
        "core.consistency",
        "core.generations",
        "core.following",
        "core.starting",
    },
    {"core.jobs"},
    {"core.knowledge_base", "core.rag"},
    {"core.bootstrap", "core.assembly", "core.seed"},
    {"core.evaluation", "core.client", "core.bundle", "core.worker"},
    {"core.cli"},
]
"""From the ground up: a module imports its own layer and those before it."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Yield the full names that a module imports, but for those that only a type checker sees."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def layer_of(module: str) -> int | None:
    for level, names in enumerate(LAYERS):
        if any(module == name or module.startswith(f"{name}.") or module.startswith(f"{name}_") for name in names):
            return level
    return None


@pytest.mark.parametrize("path", [path for path in MODULES if name_of(path).startswith("core")], ids=name_of)
def test_core_never_imports_the_web(path: Path) -> None:
    forbidden = {"app", "dash", "flask", "werkzeug", "plotly"}
    # The hashes of passwords are Werkzeug's, behind a port.
    if name_of(path) == "core.adapters.werkzeug_passwords":
        forbidden -= {"werkzeug"}
    assert not [name for name in imports(path) if name.split(".")[0] in forbidden]


def test_only_bootstrap_imports_adapters() -> None:
    importers = {
        name_of(path)
        for path in MODULES
        for name in imports(path)
        if name.startswith("core.adapters") and not name_of(path).startswith("core.adapters")
    }
    assert importers == {"core.bootstrap"}


@pytest.mark.parametrize("path", [path for path in MODULES if "adapters" in path.parts], ids=name_of)
def test_adapters_know_ports_values_and_text_alone(path: Path) -> None:
    allowed = ("core.ports", "core.model", "core.errors", "core.text", "core.snn", "core.adapters")
    assert not [name for name in imports(path) if name.startswith("core") and not name.startswith(allowed)]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_layers_look_down_only(path: Path) -> None:
    own = layer_of(name_of(path))
    if own is None:
        return
    above = [name for name in imports(path) if (layer_of(name) or 0) > own]
    # The class opens the environment's knowledge base where none is handed in.
    assert [name for name in above if (name_of(path), name) != ("core.rag", "core.bootstrap")] == []


@pytest.mark.parametrize("path", [path for path in MODULES if name_of(path).startswith("app")], ids=name_of)
def test_app_sees_only_the_public_core(path: Path) -> None:
    allowed = {"core", "core.access", "core.model", "core.errors", "core.settings", "core.cli"}
    assert not [name for name in imports(path) if name.split(".")[0] == "core" and name not in allowed]


def test_pages_never_import_each_other_and_components_never_call_core() -> None:
    for path in MODULES:
        name = name_of(path)
        if name.startswith("app.pages."):
            assert not [other for other in imports(path) if other.startswith("app.pages")]
        if name.startswith("app.components"):
            used = [other for other in imports(path) if other.startswith("core")]
            assert not [other for other in used if other not in ("core.model", "core.errors")], name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_are_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_public_names_can_be_imported() -> None:
    import core

    assert all(getattr(core, name) for name in core.__all__)


def test_importing_core_loads_no_heavy_library() -> None:
    heavy = ("torch", "sqlalchemy", "pymilvus", "tantivy", "numpy", "transformers", "faiss", "pydantic")
    code = f"import sys, core; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_only_settings_reads_the_environment() -> None:
    readers = {
        name_of(path)
        for path in MODULES
        if "os.environ" in path.read_text(encoding="utf-8") or "getenv(" in path.read_text(encoding="utf-8")
    }
    assert readers <= {"core.settings", "core.ingest.child", "core.ingest.parsers.legacy"}
