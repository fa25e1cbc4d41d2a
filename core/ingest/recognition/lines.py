"""The file of what was recognised in the pictures of one document: a line of JSON for each picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.model.recognition import RecognisedLine

Lines = Mapping[str, Sequence[RecognisedLine] | None]
"""The lines of pictures by the names that the parser gave these; None of one that could not be read."""


def read_lines(path: Path) -> Lines:
    """Return what a file of ``Recognition`` holds; a line that was cut off or damaged is none."""
    found: dict[str, Sequence[RecognisedLine] | None] = {}
    for raw in path.read_bytes().split(b"\n"):
        # Without its lines a picture is asked for again.
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(raw)
            lines = entry["lines"]
            found[str(entry["name"])] = None if lines is None else [line_of(fields) for fields in lines]
    return found


def line_of(fields: Mapping[str, Any]) -> RecognisedLine:
    """Return a line from its fields."""
    return RecognisedLine(str(fields["text"]), tuple(fields["box"]), float(fields["confidence"]))
