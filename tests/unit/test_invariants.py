"""What must hold of every line of the code, whoever writes it; read from the code itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
LOGGED = {
    # Names of errors, and what they say of stores, models and files of our own.
    "__name__", "code", "error_id", "incident", "message", "remedy", "strerror",
    # Numbers.
    "changed", "id", "least", "most", "number", "port", "rows", "refused", "removed",
    "version_id", "wait", "wait_s", "_LONGEST_WAIT_S", "_RECOVERY_S",
    # A store, a folder of ours, the limit that a comparison broke, the kind of an error, a variable of the environment.
    "store", "root", "reason", "type", "told", "error", "variable",
}  # fmt: skip
"""The last words of all expressions that log calls may be given; a new one is added once it is clear that no user
wrote what it holds."""

Found = Iterator[tuple[int, str]]


def attribute(node: ast.expr) -> str:
    """Return the last word of a name: ``served`` of ``self.served``."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def methods(tree: ast.AST) -> Iterator[tuple[ast.Call, str, str]]:
    """Yield the calls of methods, with the last word of what they are called on, and the method."""
    for call in calls(tree):
        if isinstance(call.func, ast.Attribute):
            yield call, attribute(call.func.value).lstrip("_"), call.func.attr


def searches_without_scope(tree: ast.AST) -> Found:
    """A search of a store names the parts and the documents that the asker may see."""
    for call, owner, method in methods(tree):
        if method == "search" and owner in ("vectors", "keywords") and len(call.args) + len(call.keywords) < 4:
            yield call.lineno, ast.unparse(call)


def searches(tree: ast.AST) -> Found:
    for call, owner, method in methods(tree):
        if method == "search" and owner in ("vectors", "keywords"):
            yield call.lineno, ast.unparse(call)


def removals_of_originals(tree: ast.AST) -> Found:
    for call, owner, method in methods(tree):
        if owner == "blobs" and method in ("delete", "unlink"):
            yield call.lineno, ast.unparse(call)
    # Neither may the removal be handed to another.
    called = {id(call.func) for call in calls(tree)}
    for node in ast.walk(tree):
        is_handed = isinstance(node, ast.Attribute) and node.attr == "delete" and id(node) not in called
        if is_handed and attribute(node.value).lstrip("_") == "blobs":
            yield node.lineno, ast.unparse(node)


def child_processes(tree: ast.AST) -> Found:
    starts = ("fork", "forkpty", "posix_spawn", "posix_spawnp", "popen", "system")
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if any(name.split(".")[0] in ("subprocess", "multiprocessing") for name in names):
            yield node.lineno, ast.unparse(node)
        is_of_os = isinstance(node, ast.Attribute) and attribute(node.value) == "os"
        if is_of_os and (node.attr in starts or node.attr.startswith(("exec", "spawn"))):
            yield node.lineno, ast.unparse(node)


def user_text_in_logs(tree: ast.AST) -> Found:
    for call, owner, method in methods(tree):
        if owner not in ("log", "logger") or method not in LOG_METHODS:
            continue
        form, *values = call.args
        if not isinstance(form, ast.Constant) or any(is_doubtful(value) for value in values):
            yield call.lineno, ast.unparse(call)


def is_doubtful(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return attribute(value.func) != "len"
    if isinstance(value, ast.Subscript):
        return not (isinstance(value.slice, ast.Constant) and value.slice.value in LOGGED)
    if isinstance(value, ast.Name) and value.id == "error":
        return True
    return attribute(value) not in LOGGED


def hold(rule: Callable[[ast.AST], Found], excused: dict[str, str]) -> None:
    """Fail with every place that breaks a rule, and every excuse that no place needs.

    ``excused`` gives modules, or folders of modules, with the reason.
    """
    used = set()
    wrong = []
    for path in sorted(path for top in ("core", "app") for path in (ROOT / top).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        excuse = next((each for each in excused if name.startswith(each)), None)
        for line, text in rule(ast.parse(path.read_text(encoding="utf-8"))):
            if excuse is None:
                wrong.append(f"{name}:{line}: {text}")
            else:
                used.add(excuse)
    wrong += sorted(f"nothing needs the excuse of {each}" for each in excused.keys() - used)
    assert not wrong, "\n".join(wrong)


def test_no_store_is_searched_without_its_visibility() -> None:
    hold(searches_without_scope, {})
    hold(
        searches,
        {
            "core/query/search/retrieve.py": "what it finds is held against the catalogue before anybody sees it",
            "core/explain/": "one document, which the asker may see, is searched",
        },
    )


def test_originals_are_removed_in_one_place() -> None:
    hold(
        removals_of_originals,
        {
            "core/blobs/": "knows what names and holds a blob",
            "core/backup/import_archive.py": "takes back what an import has just written",
        },
    )


def test_child_processes_begin_in_one_place() -> None:
    hold(
        child_processes,
        {
            "core/platform/": "starts them with an environment, limits and an end",
            "core/ingest/parsers/legacy.py": "runs within such a child",
            "core/adapters/ocr/tesseract.py": "runs within such a child",
            "core/ingest/parsers/pdf_readers.py": "run within such a child, and end with it",
            "core/adapters/generation/command_generator.py": "the user's own program",
            "core/adapters/generation/command_launch.py": "the user's own program",
            "core/adapters/generation/packaged_smollm2.py": "unpacks a model once",
        },
    )


def test_no_user_text_is_logged() -> None:
    hold(
        user_text_in_logs,
        {
            "core/accounts.py": "who signed in, and whose rights were changed",
            "core/catalog/engine.py": "the database's own words; its parameters are hidden",
            "core/catalog/reached.py": "how many versions and publications are missing",
            "core/catalog/snapshots.py": "a folder of the data folder, by a name of the code's own",
            "app/security/refusals.py": "who was refused, by account; all else is the server's own words",
        },
    )


BREACHES = {
    searches_without_scope: ["self._serving().keywords.search(text, 10)", "vectors.search(vector, 10, parts)"],
    removals_of_originals: ["self._blobs.delete(sha256)", "holds.unless_held(name, partial(blobs.delete, name))"],
    child_processes: ["import subprocess", "from multiprocessing import Process", "os.fork()", "os.execv(a, b)"],
    user_text_in_logs: [
        "log.info('asked: %s', query.text)",
        "log.info(f'asked: {number}')",
        "self.log.warning('%s', error)",
        "log.error('%s', document.title)",
        "logger.debug('%s', str(message))",
    ],
}


@pytest.mark.parametrize(
    ("rule", "breach"), [(rule, breach) for rule, breaches in BREACHES.items() for breach in breaches]
)
def test_rules_find_what_they_forbid(rule: Callable[[ast.AST], Found], breach: str) -> None:
    assert list(rule(ast.parse(breach)))
