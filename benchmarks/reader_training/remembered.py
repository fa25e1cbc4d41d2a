"""Keeps on disk what was found and read for each question of a fit: reading takes nine tenths of its time.

A folder belongs to one knowledge base. What was read is kept by the text of its stretch, beside the weights that read
it, so that other candidates are read anew and other weights all.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.adapters.reading.trained_reader import TrainedReader
from core.model import Hit, Stretch, StretchReading


class Remembering:
    """A reader that reads each stretch once; between runs, too, where it has a folder."""

    name = "remembering"

    def __init__(self, reader: TrainedReader, weights: Path, folder: Path | None = None) -> None:
        self._reader = reader
        self._weights = hashlib.sha256(weights.read_bytes()).hexdigest()[:8]
        self._folder = folder
        self._known: dict[str, dict[str, StretchReading]] = {}

    def read(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        path = _path(self._folder, question, f"read-{self._weights}")
        if question not in self._known:
            self._known[question] = _kept(path) or {}
        known = self._known[question]
        keys = [f"{stretch.above}\n{stretch.text}" for stretch in stretches]
        new = {key: stretch for key, stretch in zip(keys, stretches, strict=True) if key not in known}
        if new:
            known.update(zip(new, self._reader.read(question, list(new.values())), strict=True))
            _keep(path, known)
        return [known[key] for key in keys]


def searched(folder: Path | None, question: str, search: Callable[[], Sequence[Hit]]) -> Sequence[Hit]:
    """Return the hits that a search gave for a question before, else what it gives."""
    path = _path(folder, question, "found")
    hits: Sequence[Hit] | None = _kept(path)
    if hits is None:
        hits = search()
        _keep(path, hits)
    return hits


def _path(folder: Path | None, question: str, kind: str) -> Path | None:
    return None if folder is None else folder / f"{hashlib.sha256(question.encode()).hexdigest()[:24]}.{kind}"


def _kept(path: Path | None) -> Any:
    return pickle.loads(path.read_bytes()) if path is not None and path.is_file() else None


def _keep(path: Path | None, what: Any) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: a run may be ended at any time.
        written = path.with_suffix(".new")
        written.write_bytes(pickle.dumps(what))
        written.replace(path)
