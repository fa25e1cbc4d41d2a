"""The dependency rules of the design, read from the imports themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MOST_LINES = 400
MOST_ARGUMENTS = 8

LAYERS = (
    ("core.errors", "core.settings", "core.model", "core.platform", "core.sample"),
    ("core.ports", "core.reading_ports", "core.api", "core.text", "core.snn", "core.access"),
    ("core.catalog", "core.adapters", "core.generators", "core.client"),
    (
        "core.accounts",
        "core.backup",
        "core.blobs",
        "core.indexes",
        "core.recordings",
        "core.second_factors",
        "core.sessions",
        "core.training",
    ),
    ("core.ingest", "core.query"),
    ("core.versions", "core.jobs", "core.explain", "core.evaluation", "core.knowledge_base"),
    ("core.assembly", "core.bootstrap", "core.rag", "core"),
    ("app", "core.cli"),
)
"""From the ground up: a module imports from its own layer and those below it, for types too."""


WIRING = ("core.assembly", "core.bootstrap", "core.knowledge_base")
"""What composes others: the fields of their dataclasses are arguments of constructors too."""

LATE_CALLBACKS: dict[str, str] = {}
"""Methods that take a callback for later, with the reason why no constructor can be given it."""


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


@cache
def modules() -> tuple[Module, ...]:
    """All modules, read by the first test, so that no other process of a run reads them."""
    paths = sorted(path for top in ("core", "app") for path in (ROOT / top).rglob("*.py"))
    texts = ((path, path.read_text(encoding="utf-8")) for path in paths)
    return tuple(Module(name_of(path), text, tuple(imports(text))) for path, text in texts)


def within(*folders: str) -> list[Module]:
    return [module for module in modules() if module.name.startswith(folders)]


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
        for module in modules()
        for name in module.imports
        if name.startswith("core.adapters") and not module.name.startswith("core.adapters")
    }
    assert importers == {"core.bootstrap"}


def test_adapters_know_ports_values_and_text_alone() -> None:
    allowed = (
        "core.ports",
        "core.reading_ports",
        "core.model",
        "core.errors",
        "core.text",
        "core.snn",
        "core.adapters",
    )
    # Whoever analyses thousands of rows in one call lets questions go first between two of them.
    allowed += ("core.platform.precedence",)
    # Models lie in the data folder, where files are held against their checksums.
    allowed += ("core.platform.sealing",)
    known = within("core.adapters")
    assert known
    hold(known, lambda _, name: name.startswith("core") and not name.startswith(allowed))


def test_every_module_has_a_layer() -> None:
    assert not [module.name for module in modules() if not room_of(module.name)]


def test_the_guide_draws_the_same_layers() -> None:
    guide = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| ((?:`(?:core|app)/[^`]*` ?)+)\|", guide.partition("## Layers")[2], re.MULTILINE)
    drawn = [{module_at(path) for path in re.findall(r"`([^`]+)`", row)} for row in rows[: len(LAYERS)]]
    assert drawn == [set(layer) for layer in LAYERS]


def test_layers_look_down_only() -> None:
    def is_above(module: Module, name: str) -> bool:
        return bool(room_of(name)) and layer_of(name) > layer_of(module.name)

    hold(modules(), is_above)


def test_rooms_make_no_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for module in modules():
        room = room_of(module.name)
        rooms.setdefault(room, set()).update({room_of(name) for name in module.imports} - {room, ""})
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
    lengths = {module.name: len(module.text.splitlines()) for module in modules()}
    long = [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > MOST_LINES]
    assert not long, "\n".join(long)


def classes(module: Module) -> Iterator[ast.ClassDef]:
    yield from (node for node in ast.walk(ast.parse(module.text)) if isinstance(node, ast.ClassDef))


def methods(of: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    yield from (node for node in of.body if isinstance(node, ast.FunctionDef))


def arguments(of: ast.FunctionDef) -> list[ast.arg]:
    """Return the arguments of a method, but for ``self``."""
    return [*of.args.posonlyargs, *of.args.args, *of.args.kwonlyargs][1:]


def long_constructors(module: Module) -> Iterator[str]:
    """Yield the constructors of a module that take too much, written or made by ``dataclass``."""
    for each in classes(module):
        taken = [len(arguments(method)) for method in methods(each) if method.name == "__init__"]
        if module.name in WIRING:
            taken.append(sum(isinstance(line, ast.AnnAssign) for line in each.body))
        if max(taken, default=0) > MOST_ARGUMENTS:
            yield f"{module.name}.{each.name}: {max(taken)} arguments"


@cache
def aliases_of_callable(module: Module) -> set[str]:
    """Return the names that a module gives to kinds of functions."""
    lines = [line for line in ast.parse(module.text).body if isinstance(line, ast.Assign)]
    made = [line for line in lines if ast.unparse(line.value).startswith("Callable[")]
    return {target.id for line in made for target in line.targets if isinstance(target, ast.Name)}


def callable_names(module: Module, known: Collection[Module]) -> set[str]:
    """Return the names that stand for functions in a module: ``Callable``, and its aliases, also imported ones."""
    aliases = {each.name: aliases_of_callable(each) for each in known}
    names = {"Callable", *aliases_of_callable(module)}
    for node in ast.walk(ast.parse(module.text)):
        if isinstance(node, ast.ImportFrom):
            names |= aliases.get(node.module or "", set()) & {alias.name for alias in node.names}
    return names


def names_in(node: ast.AST | None) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()


def late_callbacks(module: Module, function_names: set[str]) -> Iterator[str]:
    """Yield the methods that keep a function which they are given, in ``self`` or in something that it has."""
    for each in classes(module):
        for method in methods(each):
            given = {arg.arg for arg in arguments(method) if names_in(arg.annotation) & function_names}
            if method.name not in ("__init__", "__new__") and any(map(_kept_in_self(given), ast.walk(method))):
                yield f"{module.name}.{each.name}.{method.name}"


def _kept_in_self(given: set[str]) -> Callable[[ast.AST], bool]:
    def is_of_self(node: ast.AST) -> bool:
        return isinstance(node, (ast.Attribute, ast.Subscript, ast.Tuple)) and "self" in names_in(node)

    def keeps(node: ast.AST) -> bool:
        if isinstance(node, ast.Assign):
            is_plain = isinstance(node.value, (ast.Name, ast.Tuple))
            return is_plain and bool(names_in(node.value) & given) and any(map(is_of_self, node.targets))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            adds = node.func.attr in ("append", "add", "setdefault", "insert") and is_of_self(node.func.value)
            return adds and any(isinstance(each, ast.Name) and each.id in given for each in node.args)
        return False

    return keeps


def test_no_constructor_takes_more_than_eight_arguments() -> None:
    found = [line for module in modules() for line in long_constructors(module)]
    assert not found, "\n".join(found)


def test_no_callback_is_set_after_construction() -> None:
    found = {name for module in modules() for name in late_callbacks(module, callable_names(module, modules()))}
    wrong = sorted(found.symmetric_difference(LATE_CALLBACKS))
    assert not wrong, "\n".join(wrong)


def test_the_rules_of_wiring_see_what_they_forbid() -> None:
    many = ", ".join(f"p{number}" for number in range(MOST_ARGUMENTS + 1))
    fields = "\n".join(f"    p{number}: int" for number in range(MOST_ARGUMENTS + 1))
    assert list(long_constructors(Module("core.x", f"class A:\n    def __init__(self, {many}): ...", ())))
    assert list(long_constructors(Module("core.knowledge_base", f"class A:\n{fields}", ())))
    assert not list(long_constructors(Module("core.x", f"class A:\n{fields}", ())))
    for body in ("self._act = act", "self._acts.append(act)", "self._acts[kind] = act", "self.a, self.b = kind, act"):
        module = Module("core.x", f"class A:\n    def act_with(self, kind, act: Act | None):\n        {body}", ())
        assert list(late_callbacks(module, {"Act"})) == ["core.x.A.act_with"]
    named = Module("core.x", "Act = Callable[[], None]", ())
    importing = Module("core.y", "from core.x import Act", ())
    assert callable_names(named, ()) == callable_names(importing, [named]) == {"Callable", "Act"}


def test_public_names_can_be_imported() -> None:
    import core

    assert all(getattr(core, name) for name in core.__all__)


def test_importing_core_loads_no_heavy_library() -> None:
    heavy = ("torch", "sqlalchemy", "pymilvus", "tantivy", "numpy", "transformers", "faiss", "pydantic")
    code = f"import sys, core; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_only_settings_reads_the_environment() -> None:
    readers = {module.name for module in modules() if "os.environ" in module.text or "getenv(" in module.text}
    readers = {name for name in readers if not name.startswith("core.settings")}
    assert readers <= {"core.platform.child_process", "core.ingest.parsers.legacy"}


def test_no_statement_looks_for_what_a_query_does_not_return() -> None:
    """PostgreSQL looks through such a list for every row where it is large; a difference of sets it hashes."""
    lists = re.compile(r"\.not_in\((?!\(\"|_OPEN\)|GONE\)|\w+_ids\))|\bNOT IN \(\s*SELECT")
    assert lists.search("chunks.c.id.not_in(select(outbox.c.chunk_id))") and lists.search("a.not_in(shown_now)")
    found = [path.name for path in (ROOT / "core" / "catalog").rglob("*.py") if lists.search(path.read_text("utf-8"))]
    assert found == []


def test_few_see_all_settings() -> None:
    composing = {"core", "core.assembly", "core.bootstrap", "app.server"}
    facade = {"core.knowledge_base"}
    commands = {
        f"core.cli.{name}" for name in ("backup", "eval_folder", "remote", "session", "transfer", "worker_process")
    }
    seen = {module.name for module in modules() if names_settings(module.text)} - {"core.settings"}
    assert seen == composing | facade | commands


def names_settings(text: str) -> bool:
    """Say whether a module imports the class of all settings, from wherever."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))
    return any(alias.name == "Settings" for node in nodes for alias in node.names)


def test_no_public_class_name_is_twice_in_core() -> None:
    homes: dict[str, list[str]] = {}
    for module in within("core"):
        for node in ast.parse(module.text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module.name)
    twice = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert not twice, "\n".join(f"{name}: {', '.join(modules)}" for name, modules in sorted(twice.items()))
