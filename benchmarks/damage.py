"""What becomes of a knowledge base of which one file was deleted, cut off, emptied, or has one bit flipped.

Every kind of file of a small data folder, with every kind of damage, in a process of its own: opened, asked, read, and
watched until it is whole again. ``whole``: nothing was noticed. ``rebuilt``: it became whole by itself, and questions
were answered meanwhile. ``told``: an error with a code and a remedy, and the remedy was tried where it is one for a
program. ``wrong``: a raw error, a silent loss, wrong bytes, or nothing for ``--patience`` seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context

LONGER_S = 60.0
"""Time that a case has beyond its patience, on a machine with other work."""
DOCUMENTS = {f"fees{at}.md": f"# Fees\n\nThe fee number {at} for late return is {at + 10} euros.\n" for at in range(4)}
CHANGED = "# Fees\n\nThe fee number 1 is 111 euros now.\n"
SPOKEN = "wrong"
LEFT_OUT = (".lock", "LOCK", "socket")
"""What only its presence matters of."""


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


DAMAGES: Mapping[str, Callable[[Path], None]] = {each.__name__: each for each in (deleted, cut, emptied, flipped)}


def furnished(folder: Path) -> Path:
    """Fill a data folder in a process that ends without closing it, so that the catalogue has a log."""
    if "told" in (failed := _child(_fill, folder, LONGER_S)):
        raise SystemExit(f"The folder could not be filled: {failed['told']}")
    return folder


def kinds(folder: Path) -> dict[str, Path]:
    """Return one file of each kind, by the name of the kind."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_file() or path.name.endswith(LEFT_OUT) or not path.stat().st_size:
            continue
        if name.parts[0] == "blobs":
            kind = "blobs/parsed" if path.read_bytes()[:2] == b"\x1f\x8b" else "blobs/original"
        elif name.parts[0] == "keywords" and len(name.parts) == 3:
            kind = f"keywords/{name.parts[1]}/{path.name if 'json' in path.suffix else '*' + path.suffix}"
        elif name.parts[0] == "vectors":
            kind = f"vectors/{path.name if path.suffix == '.json' else '*' + path.suffix}"
        elif name.parts[0] in ("recordings", "comparisons"):
            kind = f"{name.parts[0]}/{'*' + path.suffix if name.parts[0] == 'recordings' else path.name}"
        else:
            kind = str(name)
        found.setdefault(kind, path)
    return found


def measured(context: Context) -> dict[str, Any]:
    options = context.options
    filled = furnished(context.workspace / "filled")
    chosen = [kind for kind in kinds(filled) if not options.only or any(kind.startswith(each) for each in options.only)]
    outcomes: list[dict[str, Any]] = []
    for kind in chosen[: options.kinds or None]:
        for damage in options.damages:
            place = context.workspace / "damaged"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(filled, place)
            DAMAGES[damage](place / kinds(filled)[kind].relative_to(filled))
            found = _child(_live, place, options.patience)
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


def _child(act: Callable[..., None], folder: Path, patience_s: float = 30.0) -> dict[str, Any]:
    """Do something in a process of its own, which has imported already what everybody needs."""
    os.environ["OMP_NUM_THREADS"] = "1"
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["core.bootstrap", "pymilvus", "milvus_lite.db", "tantivy", __spec__.name])
    ours, theirs = processes.Pipe(duplex=False)
    process = processes.Process(target=act, args=(theirs, folder, patience_s))
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


# ---- in a process of its own


def _settings(folder: Path) -> Any:
    from core.settings import Settings

    return Settings(data_dir=folder, embedder="hash", job_workers=0, min_free_bytes=0, llm_type="none")


def _fill(done: Connection, folder: Path, _patience_s: float) -> None:
    import core
    from core.catalog.snapshots import Snapshots

    kb = core.build(_settings(folder))
    kb._background.join()
    for name, text in DOCUMENTS.items():
        kb.add_file(name, io.BytesIO(text.encode()))
    kb.work_off()
    kb.catalog.database.truncate_log()
    Snapshots(kb._folder).take()
    kb.add_file("fees1.md", io.BytesIO(CHANGED.encode()))
    kb.work_off()
    kb.compare("fees1.md", 1, 2)
    core.EvoRAG(kb=kb).ask("What is the fee number 2?")
    _record(kb, folder)
    kb._projector.flush()
    # Stores and all but the catalogue are closed: it keeps its log, as after a kill.
    kb._active.close()
    done.send({})
    os._exit(0)


def _record(kb: Any, folder: Path) -> None:
    from core.snn.recording import save
    from tests.doubles import tiny_recording

    path = folder.parent / "recording.pt"
    save(tiny_recording(), path)
    with path.open("rb") as file:
        kb.recordings.import_file("recording", file)
    path.unlink()


def _live(done: Connection, folder: Path, patience_s: float) -> None:
    done.send(_outcome(folder, patience_s))
    # What was closed in another order, or is stuck, is nobody's concern.
    os._exit(0)


def _outcome(folder: Path, patience_s: float) -> dict[str, Any]:
    """Open what was damaged, use all of it, and say what happened."""
    import core
    from core.errors import EvoRAGError

    began = time.monotonic()

    def outcome(name: str, told: str = "", lost: int = 0) -> dict[str, Any]:
        return {"outcome": name, "seconds": round(time.monotonic() - began, 2), "lost": lost, "told": told}

    try:
        kb = core.build(_settings(folder))
    except EvoRAGError as error:
        told = f"{error.code}: {error.message} {error.remedy}"
        if error.code in ("catalog_damaged", "wrong_catalog"):
            return outcome(*_recovered(folder, told))
        return outcome("told", told)
    except BaseException as error:
        return outcome(SPOKEN, f"the start ends with {type(error).__name__}: {str(error)[:100]}")
    with contextlib.suppress(Exception):
        kb._background.join(patience_s)
    problems = list(dict.fromkeys(_problems(kb)))
    first = bool(problems)
    while [each for each in problems if not each.startswith("told ")] and time.monotonic() - began < patience_s:
        time.sleep(0.3)
        problems = list(dict.fromkeys(_problems(kb)))
    wrong = [each for each in problems if not each.startswith("told ")]
    lost = len(DOCUMENTS) - _documents(kb)
    if wrong:
        return outcome(SPOKEN, "; ".join(wrong)[:300], lost)
    if problems:
        return outcome("told", "; ".join(each.removeprefix("told ") for each in problems)[:300], lost)
    return outcome("rebuilt" if first else "whole", "", lost)


def _recovered(folder: Path, told: str) -> tuple[str, str, int]:
    """Do what the error says, and tell what is there then."""
    import core
    from core.bootstrap import originals_of
    from core.catalog.recovery import Recovery
    from core.platform.data_folder import DataFolder

    if "`identity`" in told:
        (folder / "identity").unlink()
    else:
        place = DataFolder(folder)
        blobs = originals_of(_settings(folder), place)
        recovery = Recovery(place, lambda sha256: blobs.size(sha256) is not None)
        recovery.carry_out(recovery.plan())
        place.close()
    with core.build(_settings(folder)) as kb:
        kb._background.join()
        kb.work_off()
        lost = len(DOCUMENTS) - _documents(kb)
        versions = len(kb.versions("fees1.md"))
        told = f"{told[:60]}… the remedy gave {_documents(kb)} documents back, and {versions} versions of what changed"
        return "told" if versions == 2 and not lost else SPOKEN, told, lost


def _documents(kb: Any) -> int:
    try:
        return len(kb.documents())
    except Exception:
        return 0


def _problems(kb: Any) -> Iterator[str]:
    """Yield what does not work now; what is told with a remedy begins with ``told``."""
    import core
    from core.errors import EvoRAGError

    def tried(name: str, act: Callable[[], str]) -> str:
        try:
            return act()
        except EvoRAGError as error:
            return f"told {error.code} ({name}): {error.message} {error.remedy}"
        except BaseException as error:
            return f"{name}: {type(error).__name__}: {str(error)[:80]}"

    rag = core.EvoRAG(kb=kb)

    def asked(number: int, euros: int) -> str:
        trace = rag.search(f"What is the fee number {number}?")
        said = [leg.name for leg in (trace.vector, trace.keyword) if leg.error or leg.refilling]
        found = {hit.placed.name for hit in trace.hits}
        if f"fees{number}.md" not in found:
            return f"fees{number}.md is not found"
        silent = [
            leg.name
            for leg in (trace.vector, trace.keyword)
            if leg.name not in said and not any(hit.chunk_id for hit in leg.hits)
        ]
        if silent:
            return f"the {silent[0]} leg is empty and says nothing"
        return f"a leg is not whole: {said}" if said else ""

    def read(name: str, text: str) -> str:
        original, _ = kb.original(name, 1)
        if original.read_bytes() != text.encode():
            return f"other bytes are given for {name}"
        return "" if "late return" in kb.text_of(name, 1) else f"other text is given for {name}"

    def compared() -> str:
        result = kb.compare("fees1.md", 1, 2)
        rows = result.rows(0, 50)
        return "" if any("111" in json.dumps(str(row)) for row in rows) else "the comparison lacks what changed"

    def listed() -> str:
        if len(kb.documents()) != len(DOCUMENTS):
            return f"{len(kb.documents())} documents are listed"
        return "" if len(kb.versions("fees1.md")) == 2 else "a version that was acknowledged is gone, in silence"

    def recorded() -> str:
        for recording in kb.recordings.list():
            kb.recordings.heat_map(recording.id)
            return ""
        return "the recording is gone, in silence"

    def checked() -> str:
        faults = [f"{each.store}: {each.faults} rows {each.error}" for each in kb.check() if not each.is_sound]
        return f"check: {faults}" if faults else ""

    yield from filter(
        None, [tried("documents", listed), *(tried("search", lambda at=at: asked(at, at + 10)) for at in (0, 2))]
    )
    for name, text in DOCUMENTS.items():
        if found := tried(f"read {name}", lambda name=name, text=text: read(name, text)):
            yield found
    for name, act in (("compare", compared), ("recording", recorded), ("check", checked)):
        if found := tried(name, act):
            yield found
    down = [store.name for store in kb.health().stores if store.state == "down"]
    if down:
        yield f"/health: {down} down"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="*", default=[], help="kinds of files by the beginnings of their names")
    parser.add_argument("--kinds", type=int, default=0, help="how many kinds of files; 0 is all")
    parser.add_argument("--damages", nargs="*", choices=list(DAMAGES), default=list(DAMAGES))
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
