"""The file of what was recognised in the pictures of one document: a line of JSON for each picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.model.recognition import RecognisedLine

Lines = Mapping[str, Sequence[RecognisedLine] | None]
"""The lines of pictures by the names that the parser gave these; None of one that could not be read."""


def read_lines(path: Path) -> Lines:
    """Return what a file of ``Recognition`` holds; a last line that a crash cut off is none."""
    found: dict[str, Sequence[RecognisedLine] | None] = {}
    for raw in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(raw)
        except ValueError:
            continue
        lines = entry["lines"]
        found[entry["name"]] = None if lines is None else [line_of(fields) for fields in lines]
    return found


def line_of(fields: Mapping[str, Any]) -> RecognisedLine:
    """Return a line from its fields."""
    return RecognisedLine(str(fields["text"]), tuple(fields["box"]), float(fields["confidence"]))
