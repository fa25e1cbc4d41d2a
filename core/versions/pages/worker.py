"""The child process that draws pages; it has no network and bounded means. ``core.versions.pages.kept`` starts it."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

from core.blobs.block_file import read_blocks
from core.errors import EvoRAGError, ParserFailed, ParserLimit
from core.ingest.parsers import legacy
from core.ingest.parsers.revisions import shows_deletions
from core.ingest.recognition.pictures import pixels_of
from core.model.codec import to_dict
from core.model.file_types import KIND_OF
from core.model.pages import PageSize
from core.platform.sandboxed_child import Telling, limit, serve
from core.versions.pages.drawing import PdfPages
from core.versions.pages.layout_words import LayoutFindings, compared

MOST_PIXELS = 16_000_000
_FILE_BYTES = 512 * 1024 * 1024
_CONVERTER_MEMORY = 4 * 1024**3
_QUALITY = 88


def answer(order: dict[str, Any], _: Telling) -> dict[str, Any]:
    """Carry out one order; what it makes is written to ``target``."""
    try:
        limit(order["seconds"], order["memory_bytes"], _FILE_BYTES, started_memory_bytes=_CONVERTER_MEMORY)
        return _TASKS[order["task"]](order)
    except EvoRAGError as error:
        return {"error": error.as_dict(), "spent": isinstance(error, ParserLimit)}
    except MemoryError:
        return {"error": ParserLimit("Drawing the page needs more memory than it may.").as_dict(), "spent": True}
    except Exception as error:
        # Only the type: what libraries say of a damaged file may quote it.
        return {"error": ParserFailed(f"The page could not be drawn ({type(error).__name__}).").as_dict()}


def _convert(order: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="evorag-convert-") as folder:
        source, extension = Path(order["source"]), order["extension"]
        seconds, is_low = order["seconds"], order["is_low"]
        converted = legacy.convert(source, extension, "pdf", Path(folder), seconds, is_low=is_low)
        Path(order["target"]).write_bytes(converted.read_bytes())
    return {}


def _sizes(order: dict[str, Any]) -> dict[str, Any]:
    source = Path(order["source"])
    if KIND_OF.get(order["extension"]) == "image":
        with Image.open(source) as image:
            found = []
            for number in range(getattr(image, "n_frames", 1)):
                image.seek(number)
                found.append(PageSize(*map(float, image.size)))
    else:
        found = PdfPages(source).sizes()
    Path(order["target"]).write_text(json.dumps(to_dict(found)), encoding="ascii")
    return {}


def _draw(order: dict[str, Any]) -> dict[str, Any]:
    source, number, width = Path(order["source"]), order["number"], order["width"]
    if KIND_OF.get(order["extension"]) == "image":
        image = Image.fromarray(pixels_of(source, order["extension"], str(number)))
        image.thumbnail((width, MOST_PIXELS // width))
    else:
        image = PdfPages(source).draw(number, width, MOST_PIXELS)
    image.save(order["target"], "WEBP", quality=_QUALITY, method=2)
    return {}


def _text(order: dict[str, Any]) -> dict[str, Any]:
    is_image = KIND_OF.get(order["extension"]) == "image"
    runs = [] if is_image else PdfPages(Path(order["source"])).text(order["number"])
    Path(order["target"]).write_text(json.dumps(to_dict(runs)), encoding="ascii")
    return {}


def _find(order: dict[str, Any]) -> dict[str, Any]:
    if KIND_OF.get(order["extension"]) == "image":
        return {"found": []}
    pages = PdfPages(Path(order["source"]))
    end = time.monotonic() + order["seconds"] * 0.8
    found: list[int] = []
    for number in range(1, order["pages"] + 1):
        if pages.holds(number, order["wanted"]):
            found.append(number)
        if len(found) == order["most"] or time.monotonic() > end:
            break
    return {"found": found}


def _compare(order: dict[str, Any]) -> dict[str, Any]:
    if shows_deletions(Path(order["original"]), order["extension"]):
        # Deleted words stand on the pages of a layout, struck out; they are not read.
        return {"found": to_dict(LayoutFindings(0, (), is_repeated=False))}
    pages = PdfPages(Path(order["source"]))
    said = (block.text for block in read_blocks(Path(order["parsed"])))
    return {"found": to_dict(compared(said, pages.plain_texts()))}


_TASKS = {"compare": _compare, "convert": _convert, "sizes": _sizes, "draw": _draw, "text": _text, "find": _find}


if __name__ == "__main__":
    serve(answer)
