"""The file of what was recognised in the pictures of one document: a line of JSON for each picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.model.recognition import Pictures, RecognisedLine, RecognisedPicture


def read_pictures(path: Path) -> Pictures:
    """Return what a file of ``Recognition`` holds; a line that was cut off or damaged is none."""
    found: dict[str, RecognisedPicture | None] = {}
    for raw in path.read_bytes().split(b"\n"):
        # Without its lines a picture is asked for again.
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(raw)
            found[str(entry["name"])] = None if entry["lines"] is None else picture_of(entry)
    return found


def picture_of(fields: Mapping[str, Any]) -> RecognisedPicture:
    """Return a picture from its fields; an earlier EvoRAG kept texts, boxes and confidences of lines alone."""
    return RecognisedPicture(
        tuple(_line_of(line) for line in fields["lines"]),
        tuple(tuple(place) for place in fields.get("rulings", ())),
        float(fields.get("skew", 0.0)),
    )


def _line_of(fields: Mapping[str, Any]) -> RecognisedLine:
    gaps = tuple(tuple(gap) for gap in fields.get("gaps", ()))
    looks = float(fields.get("size", 0.0)), bool(fields.get("bold", False)), gaps
    return RecognisedLine(str(fields["text"]), tuple(fields["box"]), float(fields["confidence"]), *looks)
