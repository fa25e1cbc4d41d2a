"""The child process that recognises: one order is one picture, and the engine stays loaded between them."""

from __future__ import annotations

import os
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from core.errors import EvoRAGError, ParserFailed, ParserLimit
from core.ingest.recognition.pictures import pixels_of
from core.ingest.recognition.read_picture import read_picture
from core.platform.sandboxed_child import Telling, limit, serve
from core.ports import Ocr

NICENESS = 15
"""Recognition is the last of all: passages are embedded at 10, documents parsed at 5."""
_FILE_BYTES = 64 * 1024 * 1024
_engines: dict[str, Ocr] = {}


def answer(order: dict[str, Any], _: Telling) -> dict[str, Any]:
    """Recognise one picture and return what it shows."""
    try:
        limit(order["timeout_s"], order["memory_bytes"], _FILE_BYTES)
        pixels = pixels_of(Path(order["source"]), order["extension"], order["name"], Path(order["embedded"]))
        return {"picture": asdict(read_picture(pixels, _engine(order["engine"], order["threads"])))}
    except EvoRAGError as error:
        return {"error": error.as_dict(), "spent": isinstance(error, ParserLimit)}
    except MemoryError:
        return {"error": ParserLimit("Recognising the picture needs more memory than it may.").as_dict(), "spent": True}
    except Exception as error:
        # The engine meets odd pictures with whatever its next step raises; the type alone holds no user text.
        return {"error": ParserFailed(f"The picture could not be read ({type(error).__name__}).").as_dict()}


def _engine(name: str, threads: int) -> Ocr:
    """Return the engine that the composition root has chosen: a module and a class in it."""
    if name not in _engines:
        module, _, kind = name.partition(":")
        engine: Ocr = getattr(import_module(module), kind)(threads)
        _engines[name] = engine
    return _engines[name]


if __name__ == "__main__":
    os.nice(NICENESS)
    serve(answer)
