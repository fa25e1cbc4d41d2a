"""The manuals that the questions of ``manuals_set`` are about, taken from Debian packages.

A package is looked for unpacked in a folder, as ``FOLDER/PACKAGE/usr/share/…`` or ``FOLDER/usr/share/…`` (so ``/`` is a
system on which it is installed), or is downloaded with ``apt-get download`` and unpacked with ``dpkg-deb``, never
installed. A package ``github:OWNER/NAME@COMMIT`` is a repository, whose checkout is looked for as ``FOLDER/OWNER+NAME``
and never downloaded. Man pages are rendered as text by ``man``, as nothing reads their source.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import note
from core import Settings, build
from core.knowledge_base import KnowledgeBase

SET = Path(__file__).parent / "manuals_set"
SETS = (SET, SET.with_name("manuals_set_2"), SET.with_name("manuals_set_3"))
REPOSITORY = "github:"
PAGE_WIDTH = "100"
PROGRAM_S = 600


@dataclass(frozen=True, slots=True)
class Manual:
    """A file of a package under the name that it has in the knowledge base."""

    name: str
    package: str
    path: str
    language: str
    half: str


def manuals(folder: Path = SET) -> list[Manual]:
    return [Manual(**json.loads(line)) for line in (folder / "documents.jsonl").read_text("utf-8").splitlines()]


def knowledge_base_of(wanted: Sequence[Manual], folder: Path | None, target: Path, settings: Settings) -> KnowledgeBase:
    """Open the knowledge base of ``settings``; fill a new one with the manuals, which are written into ``target``."""
    is_new = not (settings.data_dir / "catalog.db").exists()
    paths = collect(wanted, folder, target) if is_new else []
    kb = build(settings)
    started = time.perf_counter()
    for path in paths:
        kb.add_path(path)
    for job in kb.wait([job.id for job in kb.jobs(active=True)]):
        if job.state != "done":
            note(f"{job.id}: {(job.error or {}).get('message', job.state)}")
    if is_new:
        note(f"{len(paths)} manuals are indexed after {time.perf_counter() - started:.0f} s.")
    return kb


def collect(wanted: Sequence[Manual], folder: Path | None, target: Path) -> list[Path]:
    """Write the manuals into ``target``, as far as they can be had, and say in a line each what cannot.

    Raises: ``SystemExit`` where none can.
    """
    roots = _unpacked(wanted, folder) if folder else _downloaded(wanted, target.parent / "packages")
    target.mkdir(parents=True)
    written, missing = [], []
    for manual in wanted:
        source = next((root / manual.path for root in roots(manual) if (root / manual.path).is_file()), None)
        content = _content(source) if source else None
        if content is None:
            missing.append(manual.name)
            continue
        path = target / manual.name
        path.write_bytes(content)
        written.append(path)
    if not written:
        raise SystemExit(
            "None of the manuals is there: give --folder, which repositories need, or run this where apt-get download "
            "reaches Debian."
        )
    if missing:
        note(f"{len(missing)} of {len(wanted)} manuals are missing: {', '.join(missing)}")
    return written


def _unpacked(wanted: Sequence[Manual], folder: Path) -> Callable[[Manual], Sequence[Path]]:
    return lambda manual: (folder / _folder_of(manual.package), folder)


def _folder_of(package: str) -> str:
    """Return the name of the folder that a package is unpacked in, or a repository checked out."""
    return package.removeprefix(REPOSITORY).partition("@")[0].replace("/", "+")


def _downloaded(wanted: Sequence[Manual], place: Path) -> Callable[[Manual], Sequence[Path]]:
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is not installed: give the folder of the unpacked packages as --folder.")
    place.mkdir(parents=True)
    packages = sorted({manual.package for manual in wanted if not manual.package.startswith(REPOSITORY)})
    if _run(["apt-get", "-q", "download", *packages], cwd=place) is None:
        for package in packages:
            if _run(["apt-get", "-q", "download", package], cwd=place) is None:
                note(f"{package} cannot be downloaded with apt-get.")
    for archive in place.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(archive), str(place / archive.name.partition("_")[0])], cwd=place)
    return lambda manual: (place / manual.package,)


def _content(source: Path) -> bytes | None:
    if source.parent.name.startswith("man") and source.suffix == ".gz":
        page = {"MANWIDTH": PAGE_WIDTH, "LC_ALL": "C.UTF-8"}
        return _run(["man", "--nh", "--nj", "-l", str(source.resolve())], env=page) if shutil.which("man") else None
    content = source.read_bytes()
    return gzip.decompress(content) if source.suffix == ".gz" else content


def _run(order: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None) -> bytes | None:
    """Return what a program writes; None where it fails."""
    try:
        done = subprocess.run(
            order, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, timeout=PROGRAM_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
