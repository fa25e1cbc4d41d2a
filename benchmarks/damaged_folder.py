"""A data folder with a file of each kind, and what becomes of it: filled, damaged, opened and asked in processes."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SPOKEN = "wrong"
MARK = "quaggaquoll"
"""Stands in the document that is purged at last, and nowhere else."""
PURGED = "fees0.md"
DOCUMENTS = {f"fees{at}.md": f"# Fees\n\nThe fee number {at} for late return is {at + 10} euros.\n" for at in range(4)}
DOCUMENTS[PURGED] += f"\nIt is asked by the {MARK}.\n"
CHANGED = "# Fees\n\nThe fee number 1 is 111 euros now.\n"
PLAN = "plan.pdf"
HALF = "half.txt"
SENT = b"The first half of an upload. " * 40
COUNT = len(DOCUMENTS) + 1
PURGE_S = 60.0
"""Time for which a purge may wait for a store that is written anew."""


def settings(folder: Path) -> Any:
    from core.settings import Settings

    return Settings(
        data_dir=folder, embedder="hash", job_workers=0, min_free_bytes=0, llm_type="none", generator="none"
    )


# ---- filling


def fill(done: Connection, folder: Path, _kind: str, _patience_s: float) -> None:
    """Fill a data folder, and end without closing it, so that the catalogue has a log."""
    import core
    from core.catalog.snapshots import Snapshots

    kb = core.build(settings(folder))
    kb._background.join()
    for name, text in DOCUMENTS.items():
        kb.add_file(name, io.BytesIO(text.encode()))
    kb.add_file(PLAN, io.BytesIO(_plan("The plan of hall 3.", 0)))
    kb.work_off()
    kb.catalog.database.truncate_log()
    Snapshots(kb._folder).take()
    kb.add_file("fees1.md", io.BytesIO(CHANGED.encode()))
    kb.add_file(PLAN, io.BytesIO(_plan("The plan of hall 4.", 1)))
    kb.work_off()
    for name in ("fees1.md", PLAN):
        kb.compare(name, 1, 2)
    kb.page_image(PLAN, 2, 1)
    kb.page_text(PLAN, 2, 1)
    core.EvoRAG(kb=kb).ask("What is the fee number 2?")
    _record(kb, folder)
    _send_half(kb)
    _train(folder)
    _set_aside(folder)
    kb._projector.flush()
    # Stores and all but the catalogue are closed: it keeps its log, as after a kill.
    kb._active.close()
    done.send({})
    os._exit(0)


def _plan(text: str, seed: int) -> bytes:
    import numpy as np
    import pymupdf
    from PIL import Image

    picture = io.BytesIO()
    noise = np.random.default_rng(seed).integers(0, 255, (96, 96, 3), dtype=np.uint8)
    Image.fromarray(noise).save(picture, "PNG")
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    page.insert_text((40, 60), text, fontsize=14)
    page.insert_image(pymupdf.Rect(40, 90, 240, 290), stream=picture.getvalue())
    return bytes(document.tobytes())


def _record(kb: Any, folder: Path) -> None:
    from core.snn.recording import save
    from tests.doubles import tiny_recording

    path = folder.parent / "recording.pt"
    save(tiny_recording(), path)
    with path.open("rb") as file:
        kb.recordings.import_file("recording", file)
    path.unlink()


def _send_half(kb: Any) -> None:
    from hashlib import sha256

    from core.model import Filing

    digest = sha256(SENT * 2).hexdigest()
    upload = kb.transfers.create(HALF, 2 * len(SENT), filing=Filing(), sha256=digest)
    kb.transfers.append(upload.id, 0, io.BytesIO(SENT), size=len(SENT))


def _train(folder: Path) -> None:
    from core.snn.artifacts import Artifacts
    from tests.trained import begun, trained

    trained(folder / "models", "small", [("fees2.md", 1)], steps=2)
    Artifacts(folder / "models").choose("small")
    begun(folder / "models", "begun", [("fees2.md", 1)])


def _set_aside(folder: Path) -> None:
    """Leave what a recovery of an earlier day would have left."""
    aside = folder / "damaged" / "20260101T000000.000000Z"
    aside.mkdir(parents=True)
    for name, source in (("catalog.db", next((folder / "snapshots").iterdir())), ("journal", folder / "journal")):
        (aside / name).write_bytes(source.read_bytes())


# ---- living


def live(done: Connection, folder: Path, kind: str, patience_s: float) -> None:
    """Open what was damaged, use all of it, and say what happened."""
    done.send(_outcome(folder, kind, patience_s))
    # What was closed in another order, or is stuck, is nobody's concern.
    os._exit(0)


def _outcome(folder: Path, kind: str, patience_s: float) -> dict[str, Any]:
    import core
    from core.errors import EvoRAGError

    began = time.monotonic()

    def outcome(name: str, told: str = "", lost: int = 0) -> dict[str, Any]:
        return {"outcome": name, "seconds": round(time.monotonic() - began, 2), "lost": lost, "told": told}

    try:
        kb = core.build(settings(folder))
    except EvoRAGError as error:
        told = f"{error.code}: {error.message} {error.remedy}"
        if error.code in ("catalog_damaged", "wrong_catalog"):
            return outcome(*_recovered(folder, told))
        return outcome("told", told)
    except BaseException as error:
        return outcome(SPOKEN, f"the start ends with {type(error).__name__}: {str(error)[:100]}")
    with contextlib.suppress(Exception):
        kb._background.join(patience_s)
    problems = list(dict.fromkeys(_problems(kb, kind)))
    first = bool(problems)
    while [each for each in problems if not each.startswith("told ")] and time.monotonic() - began < patience_s:
        time.sleep(0.3)
        problems = list(dict.fromkeys(_problems(kb, kind)))
    wrong = [each for each in problems if not each.startswith("told ")]
    lost = COUNT - _documents(kb)
    if wrong or (wrong := _purged(kb, folder)):
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
        blobs = originals_of(settings(folder), place)
        recovery = Recovery(place, lambda sha256: blobs.size(sha256) is not None)
        recovery.carry_out(recovery.plan())
        place.close()
    with core.build(settings(folder)) as kb:
        kb._background.join()
        kb.work_off()
        found, versions = _documents(kb), len(kb.versions("fees1.md"))
        lost = COUNT - found
        told = f"{told[:60]}… the remedy gave {found} documents back, and {versions} versions of what changed"
        if left := _purged(kb, folder):
            return SPOKEN, "; ".join(left), lost
        return "told" if versions == 2 and not lost else SPOKEN, told, lost


def _documents(kb: Any) -> int:
    try:
        return len(kb.documents())
    except Exception:
        return 0


def _purged(kb: Any, folder: Path) -> list[str]:
    """Purge a document; tell where something of it is left."""
    try:
        kb.purge(PURGED)
        # A store that is met damaged then is written anew first: a server goes on with the purge by itself.
        until = time.monotonic() + PURGE_S
        while not kb._purge.finish() and time.monotonic() < until:
            kb.work_off()
            time.sleep(0.5)
        pending = kb.catalog.purges.pending()
    except Exception as error:
        return [f"the purge fails: {type(error).__name__}: {str(error)[:80]}"]
    left = [f"{path.relative_to(folder)} holds what was purged" for path in files_with(folder, MARK.encode())]
    return [*left, *(["the purge is not finished"] if pending else [])]


def files_with(folder: Path, mark: bytes) -> Iterator[Path]:
    """Yield the files in which the mark stands, plain, compressed, or in a column."""
    import pyarrow.parquet

    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        # One that is damaged holds what can be read of it.
        with contextlib.suppress(OSError, EOFError, ValueError):
            if data[:2] == b"\x1f\x8b":
                data += gzip.decompress(data)
            if path.suffix == ".parquet":
                data += str(pyarrow.parquet.read_table(path).to_pylist()).encode()
        if mark in data:
            yield path


def _problems(kb: Any, kind: str) -> Iterator[str]:
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

    def pictured() -> str:
        if not kb.compare(PLAN, 1, 2).summary.images:
            return "the comparison lacks its pictures"
        from PIL import Image

        for path in (kb.page_image(PLAN, 2, 1), kb.image(PLAN, 2, 1)):
            with Image.open(path) as image:
                image.load()
        runs = kb.page_text(PLAN, 2, 1).runs
        return "" if "hall 4" in " ".join(run.text for run in runs) else "the page has other words"

    def written() -> str:
        if [each.name for each in kb.training.artifacts()] != ["small"]:
            return "the trained model is gone, in silence"
        if kind.startswith("models/"):
            kb.generators.try_out("standard")
        return ""

    def sent() -> str:
        [upload] = [each for each in kb.transfers.mine(active=False) if each.name == HALF]
        if upload.state in ("done", "refused"):
            return f"told {upload.error}" if upload.error else ""
        if upload.offset_bytes != len(SENT):
            return "the upload has another length, in silence"
        if not kind.startswith("transfers/"):
            return ""
        kb.transfers.append(upload.id, len(SENT), io.BytesIO(SENT), size=len(SENT))
        ended = kb.transfers.wait(upload.id, 10.0)
        if ended.state == "refused":
            return f"told {ended.error}"
        kb.work_off()
        return "" if kb.original(HALF, 1)[0].read_bytes() == 2 * SENT else "other bytes are kept of the upload"

    def listed() -> str:
        if len(kb.documents()) != COUNT:
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
    others = ("pages", pictured), ("model", written), ("upload", sent)
    for name, act in (("compare", compared), ("recording", recorded), *others, ("check", checked)):
        if found := tried(name, act):
            yield found
    for store in kb.health().stores:
        if store.state == "down":
            yield f"/health: {store.name} is down"
        elif store.state in ("damaged", "earlier"):
            yield f"told by /health: {store.name} is {store.state}"
