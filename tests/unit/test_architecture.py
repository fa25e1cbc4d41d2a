"""The dependency rules of the design, read from the imports themselves."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MOST_LINES = 400

LAYERS = [
    {"core.model.codec", "core.errors", "core.model", "core.settings"},
    {
        "core.ports",
        "core.text",
        "core.snn",
        "core.platform.data_folder",
        "core.access",
        "core.platform.failpoints",
        "core.platform.malloc",
        "core.model.fingerprint",
    },
    {"core.catalog"},
    {
        "core.indexes.projector",
        "core.backup",
        "core.ingest",
        "core.query",
        "core.generation",
        "core.query.conversations.conversations",
        "core.explain",
        "core.evaluation",
        "core.sample",
        "core.versions",
        "core.ingest.uploads",
        "core.accounts",
        "core.recordings.facade",
        "core.training.facade",
        "core.indexes.consistency",
        "core.indexes.generations",
        "core.platform.poller",
        "core.indexes.warm_up",
    },
    {"core.jobs.local_queue"},
    {"core.knowledge_base", "core.rag"},
    {"core.bootstrap", "core.assembly", "core.seed"},
    {"core.evaluation.measure_folder", "core.client", "core.cli.transfer", "core.cli.worker_process"},
    {"core.cli"},
]
"""From the ground up: a module imports its own layer and those before it."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module by its full name, and the full names that it imports, but for those that only a type checker sees."""

    name: str
    text: str
    imports: tuple[str, ...]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str) -> Iterator[str]:
    tree = ast.parse(text)
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


def modules() -> Iterator[Module]:
    for path in sorted(path for top in ("core", "app") for path in (ROOT / top).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield Module(name_of(path), text, tuple(imports(text)))


MODULES = tuple(modules())


def within(*folders: str) -> list[Module]:
    return [module for module in MODULES if module.name.startswith(folders)]


def layer_of(module: str) -> int | None:
    found = [
        (len(name), level)
        for level, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith((f"{name}.", f"{name}_"))
    ]
    return max(found)[1] if found else None


def hold(checked: Collection[Module], forbids: Callable[[Module, str], bool], excused: Collection[str] = ()) -> None:
    """Fail with every import that a rule forbids, ``importer -> imported``, and every excuse that none needs."""
    found = {f"{module.name} -> {name}" for module in checked for name in module.imports if forbids(module, name)}
    wrong = sorted(found.symmetric_difference(excused))
    assert not wrong, "\n".join(wrong)


def test_core_never_imports_the_web() -> None:
    web = {"app", "dash", "flask", "werkzeug", "plotly"}
    hashes = {"core.adapters.passwords -> werkzeug.security"}  # behind a port
    hold(within("core"), lambda _, name: name.split(".")[0] in web, hashes)


def test_only_bootstrap_imports_adapters() -> None:
    importers = {
        module.name
        for module in MODULES
        for name in module.imports
        if name.startswith("core.adapters") and not module.name.startswith("core.adapters")
    }
    assert importers == {"core.bootstrap"}


def test_adapters_know_ports_values_and_text_alone() -> None:
    allowed = ("core.ports", "core.model", "core.errors", "core.text", "core.snn", "core.adapters")
    known = within("core.adapters")
    assert known
    hold(known, lambda _, name: name.startswith("core") and not name.startswith(allowed))


def test_layers_look_down_only() -> None:
    def is_above(module: Module, name: str) -> bool:
        own = layer_of(module.name)
        return own is not None and (layer_of(name) or 0) > own

    opens = {"core.rag -> core.bootstrap"}  # the environment's knowledge base, where none is handed in
    hold(MODULES, is_above, opens)


def test_app_sees_only_the_public_core() -> None:
    allowed = {"core", "core.access", "core.model", "core.errors", "core.settings", "core.cli"}
    hold(within("app"), lambda _, name: name.split(".")[0] == "core" and name not in allowed)


def test_pages_never_import_each_other() -> None:
    def is_another(module: Module, name: str) -> bool:
        page = ".".join(module.name.split(".")[:3])
        return name.startswith("app.pages") and not name.startswith(f"{page}.")

    hold(within("app.pages."), is_another)


def test_components_never_call_core() -> None:
    allowed = ("core.model", "core.errors")
    hold(within("app.components"), lambda _, name: name.startswith("core") and name not in allowed)


def test_modules_are_small() -> None:
    lengths = {module.name: len(module.text.splitlines()) for module in MODULES}
    long = [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > MOST_LINES]
    assert not long, "\n".join(long)


def test_public_names_can_be_imported() -> None:
    import core

    assert all(getattr(core, name) for name in core.__all__)


def test_importing_core_loads_no_heavy_library() -> None:
    heavy = ("torch", "sqlalchemy", "pymilvus", "tantivy", "numpy", "transformers", "faiss", "pydantic")
    code = f"import sys, core; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_only_settings_reads_the_environment() -> None:
    readers = {module.name for module in MODULES if "os.environ" in module.text or "getenv(" in module.text}
    assert readers <= {"core.settings", "core.platform.child_process", "core.ingest.parsers.legacy"}
