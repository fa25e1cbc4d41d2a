"""The result of a benchmark: what it holds, as JSON by ``SCHEMA`` and as a table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.figures import Round, ratios, summarised

RUNNER_OPTIONS = ("rounds", "against", "reference", "json", "size", "seed")
Against = tuple[str, str, Sequence[Round]]
"""The name of a reference, the commit that it ran, and its rounds."""

_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}
_FIGURES = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            **dict.fromkeys(("value", "min", "max"), _NUMBER),
            "unit": {"type": "string", "minLength": 1},
            "better": {"enum": ["lower", "higher", "neither"]},
        },
        "required": ["value", "min", "max", "unit", "better"],
        "additionalProperties": False,
    },
    "minProperties": 1,
}
_MACHINE = {
    **dict.fromkeys(("processor", "system", "python", "commit"), _TEXT),
    **dict.fromkeys(("cores", "memory_mb", "load_1_min"), _NUMBER),
    "libraries": {"type": "object", "additionalProperties": _TEXT},
}
_AGAINST = {
    "name": {"type": "string", "minLength": 1},
    "commit": {"type": "string"},
    "figures": _FIGURES,
    "ratio": {"type": "object", "additionalProperties": _NUMBER},
}
_RESULT = {
    "name": {"type": "string"},
    "command": {"type": "string"},
    "size": {"type": "string"},
    "seed": {"type": ["integer", "null"]},
    "rounds": {"type": "integer", "minimum": 1},
    "reference": {"type": ["string", "null"]},
    "options": {"type": "object"},
    "machine": {
        "type": "object",
        "properties": _MACHINE,
        "required": list(_MACHINE),
        "additionalProperties": False,
    },
    "figures": _FIGURES,
    "details": {"type": "object"},
    "not_measured": {"type": "array", "items": {"type": "string"}},
    "against": {
        "type": ["object", "null"],
        "properties": _AGAINST,
        "required": list(_AGAINST),
        "additionalProperties": False,
    },
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": _RESULT,
    "required": list(_RESULT),
    "additionalProperties": False,
}


def made(
    benchmark: Benchmark,
    command: str,
    options: argparse.Namespace,
    machine: Mapping[str, Any],
    rounds: Sequence[Round],
    against: Against | None,
) -> dict[str, Any]:
    """Return the result of some rounds; descriptions are those of the last one."""
    values = [one.values for one in rounds]
    hidden = {*RUNNER_OPTIONS, benchmark.secret}
    return {
        "name": benchmark.name,
        "command": command,
        "size": options.size,
        "seed": options.seed,
        "rounds": len(rounds),
        "reference": options.reference or None,
        "options": {name: _plain(value) for name, value in vars(options).items() if name not in hidden},
        "machine": machine,
        "figures": summarised(values, benchmark.units),
        "details": rounds[-1].details,
        "not_measured": sorted({name for one in rounds for name in one.not_measured}),
        "against": _compared(benchmark, values, against) if against else None,
    }


def _compared(benchmark: Benchmark, own: Sequence[Mapping[str, float]], against: Against) -> dict[str, Any]:
    name, commit, rounds = against
    other = [one.values for one in rounds]
    return {
        "name": name,
        "commit": commit,
        "figures": summarised(other, benchmark.units),
        "ratio": ratios(own, other),
    }


def as_json(result: Mapping[str, Any]) -> str:
    """Return strict JSON: a number that is not finite is an error."""
    return json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False)


def as_table(result: Mapping[str, Any]) -> str:
    """Return one line a figure, with its range over rounds, and beside it the reference where there is one."""
    against = result["against"]
    rows = [["figure", "value", "unit", "better"]]
    rows[0] += ["min", "max"] if result["rounds"] > 1 else []
    rows[0] += [str(against["name"]), "ratio"] if against else []
    for name, figure in result["figures"].items():
        row = [name, _shown(figure["value"]), figure["unit"], figure["better"]]
        row += [_shown(figure["min"]), _shown(figure["max"])] if result["rounds"] > 1 else []
        if against:
            other = against["figures"].get(name)
            row += [_shown(other["value"]) if other else "", _shown(against["ratio"].get(name))]
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    machine = result["machine"]
    where = (machine["processor"], f"{machine['cores']} cores", f"Python {machine['python']}", machine["commit"])
    details = [f"{name}: {value}" for name, value in result["details"].items()]
    missing = [f"not measured: {', '.join(result['not_measured'])}"] if result["not_measured"] else []
    return "\n".join([f"# {result['command']}", f"# {', '.join(filter(None, where))}", *table, *details, *missing])


def _shown(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 10_000 else f"{value:.4g}"


def _plain(value: Any) -> Any:
    """Return an option as JSON has it."""
    if isinstance(value, Path):
        return str(value)
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
