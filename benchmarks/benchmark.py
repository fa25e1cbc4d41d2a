"""What a benchmark declares, and how one is found: a module of this folder that has a ``BENCHMARK``."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

HERE = Path(__file__).parent
SIZES = ("smallest", "small", "full")
_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Context:
    """What a measure is given: its options, the seed of what it draws, and an empty folder that is removed later."""

    options: argparse.Namespace
    seed: int
    workspace: Path


Measure = Callable[[Context], Mapping[str, Any]]
"""Returns figures by their names, grouped as they belong together; what is no number describes them."""
Unit = tuple[str, str]
"""The unit of a figure, and whether ``lower`` or ``higher`` is better, or ``neither``."""


@dataclass(frozen=True)
class Benchmark:
    """A measure with its options and sizes.

    ``full`` is what the defaults of the options say; ``smallest`` and ``small`` set other defaults. A number as size
    is one for the option ``scale``, read by ``number``. ``seed`` is None where nothing is drawn. ``references`` are
    other ways to the same figures, by their names. ``units`` are of figures whose name matches an expression.
    ``needs_folders`` tells from the options whether there is nothing to measure without a folder.
    The option ``secret`` is left out of results.
    """

    name: str
    measure: Measure
    add_options: Callable[[argparse.ArgumentParser], None]
    smallest: Mapping[str, Any]
    small: Mapping[str, Any]
    scale: str
    number: Callable[[str], Any] = int
    seed: int | None = None
    takes_folders: bool = False
    needs_folders: Callable[[argparse.Namespace], bool] = lambda _: True
    references: Mapping[str, Measure] = field(default_factory=lambda: _EMPTY)
    units: Mapping[str, Unit] = field(default_factory=lambda: _EMPTY)
    secret: str = ""

    def defaults(self, size: str) -> Mapping[str, Any]:
        """Return the defaults of the options at a size. Raises: ``ValueError`` where it is neither name nor number."""
        named = {"smallest": self.smallest, "small": self.small, "full": _EMPTY}
        return named[size] if size in named else {self.scale: self.number(size)}


def names() -> tuple[str, ...]:
    """Return the names of all benchmarks, without importing them."""
    return tuple(sorted(path.stem for path in HERE.glob("*.py") if _declares(ast.parse(path.read_text("utf-8")))))


def summary(name: str) -> str:
    """Return the first sentence of a benchmark's docstring: what it measures."""
    return (ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text("utf-8"))) or "").split("\n\n")[0]


def find(name: str) -> Benchmark:
    """Import a benchmark."""
    found = import_module(f"benchmarks.{name}").BENCHMARK
    assert isinstance(found, Benchmark) and found.name == name, f"benchmarks/{name}.py declares another benchmark"
    return found


def _declares(tree: ast.Module) -> bool:
    targets = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
    return any(isinstance(target, ast.Name) and target.id == "BENCHMARK" for target in targets)
