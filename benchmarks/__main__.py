"""``python -m benchmarks NAME …`` runs a benchmark, ``python -m benchmarks --list`` tells what there is."""

from __future__ import annotations

import argparse
import sys

from benchmarks import benchmark, runner


def main() -> None:
    every = benchmark.names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, add_help=False)
    parser.add_argument("name", nargs="?", choices=every, metavar="NAME", help="NAME --help shows its options")
    parser.add_argument("--list", action="store_true", help="print the names, and what each measures")
    first = sys.argv[1:2]
    given = parser.parse_args(first if first != ["--help"] else [])
    if given.name:
        runner.main(benchmark.find(given.name), sys.argv[2:])
    elif given.list:
        print("\n".join(f"{name:13} {benchmark.summary(name)}" for name in every))
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
