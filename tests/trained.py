"""Small models that tests train in earnest, in their own process, within a second."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.model import TrainingCourse, TrainingLabels
from core.snn.jobs import TrainingJob, TrainingSource, begin_job
from core.snn.train import carry_out

TEXT = "The office opens at nine in the morning. 事務所は朝九時に開きます。\n" * 150
COURSE = TrainingCourse(steps=30, layers=1, width=32, window=32, batch=8, vocabulary=400, learning_rate=0.01)


def begun(
    models: Path, name: str = "small", documents: Sequence[tuple[str, int]] = (), **course: object
) -> TrainingJob:
    """Prepare a training on ``TEXT``, as if it stood in ``documents``."""
    sources = [TrainingSource(TEXT, ("hours",), document) for document in documents] or [
        TrainingSource(TEXT, ("hours",))
    ]
    return begin_job(models, TrainingLabels(name), replace(COURSE, **course), sources)


def trained(models: Path, name: str = "small", documents: Sequence[tuple[str, int]] = (), **course: object) -> Path:
    """Train a model, and return its folder."""
    assert carry_out(begun(models, name, documents, **course), stopped=threading.Event()) == "done"
    return models / "trained" / name
