"""``evorag eval``: builds a temporary knowledge base from a question set and measures it."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import EvoRAG, Settings, build
from core.cli import output
from core.errors import InvalidInput
from core.evaluation import document_name, evaluate, read_passages, read_questions

if TYPE_CHECKING:
    from core.knowledge_base import KnowledgeBase
    from core.question_set import Passage


def run(folder: Path, sample: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Return the measures of a question set as plain data. Raises: ``InvalidInput``."""
    passages, questions = read_passages(folder), read_questions(folder)
    if sample is not None and sample < len(questions):
        questions = random.Random(seed).sample(questions, sample)
    with tempfile.TemporaryDirectory(prefix="evorag-eval-") as data_dir:
        kb = build(Settings(data_dir=Path(data_dir)))
        try:
            started = time.perf_counter()
            keys = fill(kb, passages)
            indexing_s = time.perf_counter() - started
            with output.bar("Asking") as progress:
                report = evaluate(kb, EvoRAG(kb=kb), keys, questions, progress)
        finally:
            kb.close()
    return {**report.as_dict(), "seed": seed, "indexing_s": indexing_s}


def fill(kb: KnowledgeBase, passages: list[Passage]) -> dict[str, str]:
    """Add each passage as a text entry, wait until all are indexed, and return their ``doc_key`` by passage id."""
    uploads = kb.add_texts([(document_name(passage), passage.title, passage.text) for passage in passages])
    ended = output.follow(kb, [upload.pending_job for upload in uploads if upload.pending_job])
    failed = sum(job.state != "done" for job in ended)
    if failed:
        raise InvalidInput(f"{failed} of {len(passages)} passages could not be indexed.")
    return {passage.id: upload.doc_key for passage, upload in zip(passages, uploads, strict=True)}
