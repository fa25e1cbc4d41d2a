"""What becomes of a knowledge base of which one file was deleted, cut off, emptied, or has one bit flipped.

Every kind of file of a small data folder, with every kind of damage, in a process of its own: opened, asked, read, and
watched until it is whole again. ``whole``: nothing was noticed. ``rebuilt``: it became whole by itself, and questions
were answered meanwhile. ``told``: an error with a code and a remedy, and the remedy was tried where it is one for a
program. ``wrong``: a raw error, a silent loss, wrong bytes, or nothing for ``--patience`` seconds. At last a version is
purged: what is left of it then in any file, those of snapshots, journal, pages and what a recovery set aside among
them, is ``wrong`` too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks import damaged_folder, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.damaged_folder import SPOKEN, fill, live
from benchmarks.kept_files import kind_of

LONGER_S = 60.0
"""Time that a case has beyond its patience, on a machine with other work."""
FILLING_S = 300.0


def deleted(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def earlier_catalogue(folder: Path) -> None:
    """Put the catalogue of an earlier day in its place."""
    shutil.copyfile(next((folder / "snapshots").glob("*.db")), folder / "catalog.db")
    for log in ("catalog.db-wal", "catalog.db-shm"):
        (folder / log).unlink(missing_ok=True)


def earlier_originals(folder: Path) -> None:
    """Leave the originals and parsed texts of an earlier day."""
    with closing(sqlite3.connect(next((folder / "snapshots").glob("*.db")))) as catalog:
        kept = {name for row in catalog.execute("SELECT sha256, parsed_sha256 FROM versions") for name in row}
    for path in (folder / "blobs").glob("??/*"):
        if path.name not in kept:
            path.unlink()


EARLIER: Mapping[str, Callable[[Path], None]] = {
    "catalog.db": earlier_catalogue,
    "blobs/original": earlier_originals,
}
"""What was put back from an earlier day than the rest of the folder, by the kind of file."""
DAMAGES: Mapping[str, Callable[[Path], None]] = {each.__name__: each for each in (deleted, cut, emptied, flipped)}
OF_AN_EARLIER_DAY = "earlier"


def furnished(folder: Path) -> Path:
    """Fill a data folder in a process that ends without closing it, so that the catalogue has a log."""
    if "told" in (failed := _child(fill, folder, patience_s=FILLING_S)):
        raise SystemExit(f"The folder could not be filled: {failed['told']}")
    return folder


def kinds(folder: Path) -> dict[str, Path]:
    """Return one file of each kind that holds something, by the name of the kind. Raises: ``UnknownKind``."""
    found: dict[str, Path] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if (kind := kind_of(path, folder)) and path.stat().st_size:
            found.setdefault(kind, path)
    return found


def measured(context: Context) -> dict[str, Any]:
    options = context.options
    filled = furnished(context.workspace / "filled")
    chosen = [kind for kind in kinds(filled) if not options.only or any(kind.startswith(each) for each in options.only)]
    outcomes: list[dict[str, Any]] = []
    for kind in chosen[: options.kinds or None]:
        for damage in options.damages:
            if damage == OF_AN_EARLIER_DAY and kind not in EARLIER:
                continue
            place = context.workspace / "damaged"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(filled, place)
            if damage == OF_AN_EARLIER_DAY:
                EARLIER[kind](place)
            else:
                DAMAGES[damage](place / kinds(filled)[kind].relative_to(filled))
            found = _child(live, place, kind, options.patience)
            outcomes.append({"file": kind, "damage": damage, **found})
            print(
                f"{kind:45} {damage:8} {found['outcome']:8} {found['seconds']:6.1f} s  {found['told']}", file=sys.stderr
            )
    counted = Counter(each["outcome"] for each in outcomes)
    return {
        "files": len(chosen[: options.kinds or None]),
        "cases": len(outcomes),
        **{f"outcomes/{name}": counted[name] for name in ("whole", "rebuilt", "told", "wrong")},
        "lost_documents": sum(each["lost"] for each in outcomes),
        "slowest_s": max(each["seconds"] for each in outcomes),
        "table": "; ".join(
            f"{each['file']} {each['damage']}: {each['outcome']} ({each['told']})"
            for each in outcomes
            if each["outcome"] in ("told", "wrong")
        )
        or "all became whole by themselves",
    }


def _child(act: Callable[..., None], folder: Path, kind: str = "", patience_s: float = LONGER_S) -> dict[str, Any]:
    """Do something in a process of its own, which has imported already what everybody needs."""
    os.environ["OMP_NUM_THREADS"] = "1"
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(
        ["core.bootstrap", "pymilvus", "milvus_lite.db", "tantivy", damaged_folder.__name__]
    )
    ours, theirs = processes.Pipe(duplex=False)
    process = processes.Process(target=act, args=(theirs, folder, kind, patience_s))
    process.start()
    theirs.close()
    try:
        if not ours.poll(patience_s + LONGER_S):
            return {"outcome": SPOKEN, "seconds": patience_s + LONGER_S, "lost": 0, "told": "it hangs"}
        return dict(ours.recv())
    except EOFError:
        return {"outcome": SPOKEN, "seconds": 0.0, "lost": 0, "told": "the process ended"}
    finally:
        process.kill()
        process.join()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="*", default=[], help="kinds of files by the beginnings of their names")
    parser.add_argument("--kinds", type=int, default=0, help="how many kinds of files; 0 is all")
    ways = [*DAMAGES, OF_AN_EARLIER_DAY]
    parser.add_argument("--damages", nargs="*", choices=ways, default=ways)
    parser.add_argument("--patience", type=float, default=30.0, help="seconds in which a case has to become whole")


BENCHMARK = Benchmark(
    "damage",
    measured,
    add_options,
    smallest={"kinds": 2, "damages": ["emptied"]},
    small={"damages": ["deleted", "flipped"]},
    scale="kinds",
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
