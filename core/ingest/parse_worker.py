"""The child process that parses: it reads one order a line and answers each with one line, without a network.

It is started by ``core.ingest.sandbox`` and never imports more than the parser of the document before it.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path
from typing import Any

from core.blobs.block_file import write_blocks, write_places
from core.errors import EmptyDocument, EvoRAGError, ParserFailed, ParserLimit
from core.ingest.parsers import parse
from core.ingest.parsers.embedded import Embedded
from core.ingest.parsers.reading import ParserInput, ParserLimits, page_ranges
from core.ingest.recognition.lines import read_pictures
from core.platform.processors import usable_processors
from core.platform.sandboxed_child import Telling, limit, serve

_CONVERTER_MEMORY = 4 * 1024**3
PROCESSES = min(usable_processors(), 4)
"""Processes that read a long document; more would wait for the one that puts their pages together."""
NICENESS = 5
"""Questions go first; passages, which are embedded at 10, wait for what has yet to be found by its words."""


def answer(order: dict[str, Any], tell: Telling) -> dict[str, Any]:
    """Parse one document and say how it went; the target is complete or absent."""
    limits = ParserLimits(**order["limits"])
    target = Path(order["target"])
    part = target.with_name(target.name + ".part")
    recognised = order.get("recognised")
    pictures = None if recognised is None else read_pictures(Path(recognised)) if recognised else {}
    reading = ParserInput(
        Path(order["source"]),
        order["extension"],
        limits,
        processes=PROCESSES,
        recognised_pictures=pictures,
        embedded=None if pictures is None else Embedded(pictures, Path(order["pictures"])),
        told=tell,
    )
    started = _cpu_s()
    _forget_peak()
    try:
        limit(
            limits.timeout_s,
            limits.memory_bytes,
            limits.output_bytes + 1024,
            started_memory_bytes=_CONVERTER_MEMORY,
        )
        with part.open("wb", buffering=256 * 1024) as file:
            count, characters = write_blocks(parse(reading), file, limits.output_bytes)
            write_places(reading.places, file)
        if reading.places:
            reading.note(recognised=page_ranges(reading.places))
        wanted = embedded.wanted if (embedded := reading.embedded) is not None else []
        if reading.pictures or (wanted and not characters):
            return {"pictures": reading.pictures or wanted}
        if not characters:
            raise EmptyDocument("No text was found in the document.")
        part.replace(target)
        reading.note(blocks=count, characters=characters)
        if wanted:
            reading.metadata["embedded"] = wanted
        return {"metadata": {**reading.metadata, "cpu_s": round(_cpu_s() - started, 3), "peak_bytes": _peak_bytes()}}
    except EvoRAGError as error:
        wanted = reading.pictures or (reading.embedded.wanted if reading.embedded is not None else [])
        if wanted and isinstance(error, EmptyDocument):
            return {"pictures": wanted}
        return {"error": error.as_dict(), "spent": isinstance(error, ParserLimit)}
    except MemoryError:
        return {"error": ParserLimit("The document needs more memory than parsing may use.").as_dict(), "spent": True}
    except RecursionError:
        return {"error": ParserFailed("The document is nested too deeply.").as_dict()}
    except OSError as error:
        kind = ParserLimit if error.errno == 27 else ParserFailed
        return {"error": kind("The document could not be read through.").as_dict()}
    except Exception as error:
        # Parsers meet damaged files with whatever their libraries raise; the type alone holds no user text.
        return {"error": ParserFailed(f"The document is damaged ({type(error).__name__}).").as_dict()}
    finally:
        part.unlink(missing_ok=True)


def _cpu_s() -> float:
    """Return the processor time of this process and of what it started."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int:
    """Return the highest resident memory since it was last forgotten, where the system tells."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    os.nice(NICENESS)
    serve(answer)
