"""Runs a benchmark: once here, or in rounds and pairs of processes of their own, and prints what came out.

Each round of several is a process, so that memory and caches of the one are not those of the next. Against a
reference, both sides run in every round, the one that comes first by turns, so that load hits both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.benchmark import SIZES, Benchmark, Context
from benchmarks.figures import Round, taken_apart
from benchmarks.machine import ROOT, describe, note


def main(benchmark: Benchmark, arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure and print."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parse(benchmark, arguments)
    machine = describe()
    if options.against or options.rounds > 1:
        sides = _sides(benchmark, arguments, options)
        rounds, commits = _paired(sides, options.rounds)
        against = (options.against, commits[1], rounds[1]) if options.against else None
        found = result.made(benchmark, _command(benchmark, arguments), options, machine, rounds[0], against)
    else:
        with _stdout_to_stderr(), tempfile.TemporaryDirectory(prefix="evorag-benchmark-") as folder:
            measure = benchmark.references[options.reference] if options.reference else benchmark.measure
            report = measure(Context(options, options.seed, Path(folder)))
        found = result.made(benchmark, _command(benchmark, arguments), options, machine, [taken_apart(report)], None)
    written = result.as_json(found)
    if options.json == "-":
        print(written)
        return
    if options.json:
        Path(options.json).write_text(written + "\n", encoding="utf-8")
    print(result.as_table(found))


def parse(benchmark: Benchmark, arguments: Sequence[str]) -> argparse.Namespace:
    """Return all options; a size sets the defaults of the benchmark's own."""
    description = sys.modules[benchmark.measure.__module__].__doc__
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {benchmark.name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common(), _sized(benchmark)],
        allow_abbrev=False,
    )
    if benchmark.takes_folders:
        parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="question sets")
        parser.add_argument("--data", type=Path, action="append", default=[], help="the same as FOLDER")
    benchmark.add_options(parser)
    size = _sized(benchmark).parse_known_args(arguments)[0].size
    try:
        parser.set_defaults(**benchmark.defaults(size))
    except (ValueError, argparse.ArgumentTypeError):
        parser.error(f"--size is {', '.join(SIZES)} or a number, not {size!r}")
    options = parser.parse_args(arguments)
    if benchmark.takes_folders:
        options.folders += vars(options).pop("data")
        if not options.folders and benchmark.needs_folders(options):
            parser.error("a folder of a question set is needed")
    if options.json and options.json != "-" and Path(options.json).is_dir():
        parser.error(f"--json {options.json}: a folder; give --json last, or name a file")
    if options.rounds < 1:
        parser.error("--rounds is 1 or more")
    if options.reference and options.reference not in benchmark.references:
        parser.error(f"--reference {options.reference}: {_known(benchmark)}")
    if options.against and options.reference:
        parser.error("--against and --reference are two ways; give one")
    if options.against and options.against not in benchmark.references and not _is_checkout(options.against):
        parser.error(f"--against {options.against}: {_known(benchmark)}; no folder of a checkout with this runner")
    options.seed = benchmark.seed if options.seed is None else options.seed
    if benchmark.seed is None and options.seed is not None:
        parser.error(f"{benchmark.name} draws nothing, so it takes no --seed")
    return options


def _common() -> argparse.ArgumentParser:
    """Return the options that concern the runner alone."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    group = parser.add_argument_group("runner")
    group.add_argument("--rounds", type=int, default=1, help="runs, each in a process; figures are their medians")
    group.add_argument("--against", default="", help="measure a reference, or the checkout in this folder, in pairs")
    group.add_argument("--reference", default="", help="measure a reference alone")
    group.add_argument("--json", nargs="?", const="-", default="", metavar="FILE", help="print JSON, or write it there")
    return parser


def _sized(benchmark: Benchmark) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    group = parser.add_argument_group("what is measured")
    group.add_argument("--size", default="full", help=f"{', '.join(SIZES)} or a number for --{benchmark.scale}")
    group.add_argument("--seed", type=int, help=f"of what is drawn; by default {benchmark.seed}")
    return parser


def _known(benchmark: Benchmark) -> str:
    return f"references of {benchmark.name}: {', '.join(benchmark.references) or 'none'}"


def _is_checkout(folder: str) -> bool:
    return (Path(folder) / "benchmarks" / "__main__.py").is_file()


def _command(benchmark: Benchmark, arguments: Sequence[str]) -> str:
    shown = list(arguments)
    if benchmark.secret and f"--{benchmark.secret}" in shown:
        shown[shown.index(f"--{benchmark.secret}") + 1] = "…"
    return shlex.join(["python", "-m", "benchmarks", benchmark.name, *shown])


# ---- rounds in processes of their own


Side = tuple[Path, Sequence[str]]
"""The checkout whose code runs, and the command line after ``python``."""


def _sides(benchmark: Benchmark, arguments: Sequence[str], options: argparse.Namespace) -> list[Side]:
    own = ["-P", "-m", "benchmarks", benchmark.name, *_common().parse_known_args(arguments)[1], "--json", "-"]
    sides: list[Side] = [(ROOT, [*own, *(("--reference", options.reference) if options.reference else ())])]
    if options.against in benchmark.references:
        sides.append((ROOT, [*own, "--reference", options.against]))
    elif options.against:
        sides.append((Path(options.against).resolve(), own))
    return sides


def _paired(sides: Sequence[Side], count: int) -> tuple[list[list[Round]], list[str]]:
    """Run each side ``count`` times by turns; return the rounds of each and the commits that they ran."""
    rounds: list[list[Round]] = [[] for _ in sides]
    commits = ["" for _ in sides]
    spent: list[float] = []
    for number in range(count):
        order = range(len(sides)) if number % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            left = (count * len(sides) - len(spent)) * sum(spent) / len(spent) if spent else None
            time_left = "" if left is None else f", about {left:.0f} s left"
            who = ("measured", "reference")[side]
            note(f"round {number + 1} of {count}, {who}{time_left}")
            started = time.perf_counter()
            one = _in_process(*sides[side])
            spent.append(time.perf_counter() - started)
            values = {name: figure["value"] for name, figure in one["figures"].items()}
            rounds[side].append(Round(values, one["details"], one["not_measured"]))
            commits[side] = one["machine"]["commit"]
    return rounds, commits


def _in_process(root: Path, command: Sequence[str]) -> Mapping[str, Any]:
    run = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if run.returncode:
        raise SystemExit(f"a round ended with status {run.returncode}: {shlex.join(command)}")
    found: Mapping[str, Any] = json.loads(run.stdout)
    return found


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Send what libraries and child processes print to stderr, so that stdout has the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
