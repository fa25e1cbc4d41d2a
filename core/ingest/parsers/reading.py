"""What every parser is given: the document, what reading it may cost, and a place for what it learns on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.model import Block

MEBIBYTE = 1024 * 1024
MAX_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """What reading one document may cost; a breach fails that document alone."""

    timeout_s: float = 300.0
    memory_bytes: int = 2048 * MEBIBYTE
    output_bytes: int = 2048 * MEBIBYTE
    table_cells: int = 2_000_000


@dataclass(slots=True)
class ParserInput:
    """One document being read; ``metadata`` is complete when the blocks have been taken."""

    path: Path
    extension: str
    limits: ParserLimits
    metadata: dict[str, Any] = field(default_factory=dict)

    def note(self, **values: Any) -> None:
        """Keep what is known of the document: empty values are left out, times become ISO 8601."""
        for key, value in values.items():
            if isinstance(value, datetime):
                value = (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
            if isinstance(value, str):
                value = " ".join(value.split())[:500]
            if value not in (None, ""):
                self.metadata[key] = value

    def warn(self, message: str) -> None:
        """Tell the reader that something of the document is missing or doubtful."""
        warnings = self.metadata.setdefault("warnings", [])
        if message not in warnings and len(warnings) < MAX_WARNINGS:
            warnings.append(message)


DocumentParser = Callable[[ParserInput], Iterator[Block]]
"""One parser a family of formats: a generator that never holds more of the document than its format forces it to."""
