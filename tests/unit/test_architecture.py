"""The dependency rules of the design, read from the imports themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MOST_LINES = 400

LAYERS = (
    ("core.errors", "core.settings", "core.model", "core.platform", "core.sample"),
    ("core.ports", "core.api", "core.text", "core.snn", "core.access"),
    ("core.catalog", "core.adapters", "core.generators", "core.client"),
    (
        "core.accounts",
        "core.backup",
        "core.blobs",
        "core.indexes",
        "core.recordings",
        "core.training",
    ),
    ("core.ingest", "core.query"),
    ("core.versions", "core.jobs", "core.explain", "core.evaluation", "core.knowledge_base"),
    ("core.assembly", "core.bootstrap", "core.rag", "core"),
    ("app", "core.cli"),
)
"""From the ground up: a module imports from its own layer and those below it, for types too."""

UPWARD = {
    "core.ingest.add_documents -> core.versions.publishing",  # one facade
}


COMPARED = {"core.versions.result", "core.versions.diff.layout", "core.versions.diff.grid"}
"""What a comparison hands out to be shown."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module by its full name, and the full names that it imports."""

    name: str
    text: str
    imports: tuple[str, ...]


def module_at(path: str) -> str:
    return path.removesuffix(".py").rstrip("/").replace("/", ".").removesuffix(".__init__")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str) -> Iterator[str]:
    """Yield what a module imports: at once, later, or for its types alone."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            folder = ROOT.joinpath(*node.module.split("."))
            modules = [alias.name for alias in node.names if (folder / f"{alias.name}.py").exists()]
            yield from (f"{node.module}.{name}" for name in modules)
            if len(modules) < len(node.names):
                yield node.module


def modules() -> Iterator[Module]:
    for path in sorted(path for top in ("core", "app") for path in (ROOT / top).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield Module(name_of(path), text, tuple(imports(text)))


MODULES = tuple(modules())


def within(*folders: str) -> list[Module]:
    return [module for module in MODULES if module.name.startswith(folders)]


def room_of(module: str) -> str:
    """Return the longest name of a layer that a module is, or lies in; empty where none is."""
    names = [name for layer in LAYERS for name in layer if module == name or module.startswith(f"{name}.")]
    return max((name for name in names if name != "core" or module == "core"), key=len, default="")


def layer_of(module: str) -> int:
    return next(level for level, names in enumerate(LAYERS) if room_of(module) in names)


def in_core(name: str) -> bool:
    return name.split(".")[0] == "core"


def is_value(name: str) -> bool:
    return name == "core.model" or name.startswith("core.model.")


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


def test_every_module_has_a_layer() -> None:
    assert not [module.name for module in MODULES if not room_of(module.name)]


def test_the_guide_draws_the_same_layers() -> None:
    guide = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| ((?:`(?:core|app)/[^`]*` ?)+)\|", guide.partition("## Layers")[2], re.MULTILINE)
    drawn = [{module_at(path) for path in re.findall(r"`([^`]+)`", row)} for row in rows[: len(LAYERS)]]
    assert drawn == [set(layer) for layer in LAYERS]


def test_layers_look_down_only() -> None:
    def is_above(module: Module, name: str) -> bool:
        return bool(room_of(name)) and layer_of(name) > layer_of(module.name)

    hold(MODULES, is_above, UPWARD)


def test_rooms_make_no_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for module in MODULES:
        room = room_of(module.name)
        found = {room_of(name) for name in module.imports if f"{module.name} -> {name}" not in UPWARD}
        rooms.setdefault(room, set()).update(found - {room, ""})
    assert len(tuple(TopologicalSorter(rooms).static_order())) == len(rooms)


def test_app_sees_only_the_public_core() -> None:
    public = {"core", "core.access", "core.errors", "core.settings", "core.cli", *COMPARED}
    hold(within("app"), lambda _, name: in_core(name) and not is_value(name) and name not in public)


def test_pages_never_import_each_other() -> None:
    def is_another(module: Module, name: str) -> bool:
        page = ".".join(module.name.split(".")[:3])
        return name.startswith("app.pages") and not name.startswith(f"{page}.")

    hold(within("app.pages."), is_another)


def test_components_never_call_core() -> None:
    known = {"core.errors", *COMPARED}
    hold(within("app.components"), lambda _, name: in_core(name) and not is_value(name) and name not in known)


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
