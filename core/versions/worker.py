"""The child process that compares two versions or keeps the images of one; it has no network and bounded means.

It is started by ``core.versions.cache``.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from core.blobs.block_file import read_parts
from core.model import ChangeSummary, ComparedVersion
from core.model.codec import from_dict, to_dict
from core.platform.sandboxed_child import limit, serve
from core.versions.diff.budget import Budget
from core.versions.diff.difference import diff_lines
from core.versions.diff.lines import Lines
from core.versions.diff.progress import UNHEARD, Progress
from core.versions.diff.summary import ValueCollector, chapters_of, metadata_changes, strip_of, tally_of
from core.versions.diff.writing import write_places, write_rows

LARGEST_FILE_BYTES = 4 * 1024**3 - 1
"""Offsets of records have 32 bits."""
_SPENT_KIBIBYTES = 256 * 1024
_SAFE_SHARE = 0.9
_AS_MUCH_AGAIN = 2.0
_READ, _ALIGNED, _WRITTEN = 0.12, 0.6, 0.97
"""Which share of the whole is done by the end of these steps, as a rule."""


def answer(order: dict[str, Any], told: Callable[[int, int], None]) -> dict[str, Any]:
    """Carry out one order; ``lost`` says why it could not be, ``spent`` asks for a new process for the next one."""
    try:
        limit(order["seconds"], order["memory_bytes"], LARGEST_FILE_BYTES)
        if order["task"] == "compare":
            compare(order, Progress(told))
        else:
            images(order)
    except MemoryError:
        return {"lost": "memory", "spent": True}
    except Exception as error:
        # Only the type goes to the log: messages of libraries may quote the text.
        return {"lost": "crash", "type": type(error).__name__, "spent": True}
    gc.collect()
    return {"spent": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _SPENT_KIBIBYTES}


def compare(order: dict[str, Any], progress: Progress = UNHEARD) -> None:
    """Write all files of a comparison but the images' into ``order["folder"]``."""
    folder = Path(order["folder"])
    laps = _Laps()
    old = Lines.of_parts(read_parts(Path(order["old_parsed"])))
    progress(_READ / 2)
    new = Lines.of_parts(read_parts(Path(order["new_parsed"])))
    progress(_READ)
    laps.end("read")
    coarse = bool(order["coarse"])
    # What remains after aligning and writing, which take about as long again as reading: better coarse than anew.
    fine_seconds = order["fine_seconds"]
    if fine_seconds is not None:
        left = _SAFE_SHARE * order["aim_seconds"] - _AS_MUCH_AGAIN * laps.spent["read"] / 1000
        fine_seconds = max(min(fine_seconds, left), 0.0)
    budget = Budget(seconds=fine_seconds, words=not coarse, pairing=not coarse)
    difference = diff_lines(old, new, budget, progress.part(_READ, _ALIGNED))
    laps.end("align")
    values = ValueCollector()
    written = write_rows(folder, difference, values, progress.part(_ALIGNED, _WRITTEN))
    progress(_WRITTEN)
    laps.end("write")
    rows, headings = written.rows, written.headings
    values.see_unpaired(rows, difference)
    chapters = chapters_of(rows, headings)
    write_places(folder, difference, headings, chapters.of_heading)
    notices = dict.fromkeys(difference.notices)
    if coarse:
        notices |= {"coarse_alignment": None, "words_skipped": None}
    if values.was_skipped:
        notices["values_skipped"] = None
    if chapters.was_merged:
        notices["chapters_merged"] = None
    summary = ChangeSummary(
        old=_side(order["old"], old, written.old_words),
        new=_side(order["new"], new, written.new_words),
        is_equal=not bool(rows.differs.any()),
        rows=len(rows),
        tally=tally_of(rows),
        values=values.values(rows, headings),
        chapters=chapters.found,
        strip=strip_of(rows),
        metadata=metadata_changes(order["old"]["metadata"], order["new"]["metadata"]),
        notices=tuple(notices),
    )
    laps.end("summarise")
    summary = replace(summary, timings_ms=laps.spent)
    (folder / "summary.json").write_bytes(orjson.dumps(to_dict(summary)))


def _side(fields: dict[str, Any], lines: Lines, words: int) -> ComparedVersion:
    known = from_dict(ComparedVersion, fields)
    characters = int(lines.characters[-1]) + len(lines.text(len(lines) - 1)) if len(lines) else 0
    return replace(known, lines=len(lines), words=words, characters=characters)


def images(order: dict[str, Any]) -> None:
    """Write the images of one version and ``images.json`` into ``order["folder"]``."""
    from core.versions.diff.images import keep_images

    folder = Path(order["folder"])
    found, was_skipped = keep_images(Path(order["source"]), order["extension"], folder, order["seconds"] * 0.7)
    kept = {"images": to_dict(found), "skipped": was_skipped}
    (folder / "images.json").write_bytes(orjson.dumps(kept))


class _Laps:
    """Measures the steps of the work, in milliseconds."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._began = time.perf_counter()

    def end(self, name: str) -> None:
        now = time.perf_counter()
        self.spent[name] = round((now - self._began) * 1000, 1)
        self._began = now


if __name__ == "__main__":
    serve(answer)
