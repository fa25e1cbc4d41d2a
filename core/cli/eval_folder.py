"""``evorag eval``: builds a temporary knowledge base from a question set and measures it.

What cannot be read, indexed or asked is left out and told with its file and line; the rest is measured.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import EvoRAG, Settings, build
from core.cli import output
from core.errors import InvalidInput, QuotaExceeded, TooLarge, UnreadableDocument
from core.evaluation.measure_folder import document_name, evaluate
from core.evaluation.question_folder import PASSAGES, QUESTIONS, LeftOut, answerable_from, check_some, read_set
from core.ingest.validate import clean_name, doc_key

if TYPE_CHECKING:
    from core.evaluation.question_folder import Passage
    from core.knowledge_base import KnowledgeBase
    from core.model import Upload

_OF_A_PASSAGE = (InvalidInput, TooLarge, UnreadableDocument)


def run(folder: Path, sample: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Return the measures of a question set as plain data; ``left_out`` lists what is no part of them.

    Raises: ``InvalidInput`` where nothing is left to measure.
    """
    read = read_set(folder)
    left_out = list(read.left_out)
    with tempfile.TemporaryDirectory(prefix="evorag-eval-") as data_dir:
        kb = build(Settings(data_dir=Path(data_dir)))
        try:
            started = time.perf_counter()
            keys = fill(kb, read.passages, left_out)
            indexing_s = time.perf_counter() - started
            questions = answerable_from(keys, read.questions, left_out)
            if sample is not None and sample < len(questions):
                questions = random.Random(seed).sample(questions, sample)
            with output.bar("Asking") as progress:
                report = evaluate(kb, EvoRAG(kb=kb), keys, questions, progress)
        finally:
            kb.close()
    left_out += report.left_out
    check_some(report.outcomes, QUESTIONS, left_out)
    told = [asdict(each) for each in left_out]
    return {**report.as_dict(), "left_out": told, "seed": seed, "indexing_s": indexing_s}


def fill(kb: KnowledgeBase, passages: Sequence[Passage], left_out: list[LeftOut] | None = None) -> dict[str, str]:
    """Add each passage as a text entry, wait until all are indexed, and return their ``doc_key`` by passage id.

    Those that cannot be added or indexed are put into ``left_out``. Raises: ``InvalidInput`` where there is no such
    list, and where nothing is left.
    """
    refused: list[LeftOut] = []
    added = _added(kb, _different(passages, refused), refused)
    ended = output.follow(kb, [upload.pending_job for _, upload in added if upload.pending_job])
    errors = {job.id: (job.error or {}).get("message", job.state) for job in ended if job.state != "done"}
    keys: dict[str, str] = {}
    for passage, upload in added:
        if upload.job_id in errors:
            refused.append(_left_out(passage, f"it could not be indexed: {errors[upload.job_id]}"))
        else:
            keys[passage.id] = upload.doc_key
    if left_out is None and refused:
        raise InvalidInput(f"{len(refused)} of {len(passages)} passages could not be indexed. {refused[0]}")
    if left_out is not None:
        left_out += refused
        check_some(keys, PASSAGES, left_out)
    return keys


def _different(passages: Sequence[Passage], refused: list[LeftOut]) -> list[Passage]:
    """Return the passages without those whose names would make them versions of others."""
    lines: dict[str, int] = {}
    kept = []
    for passage in passages:
        try:
            key = doc_key(clean_name(document_name(passage)))
        except InvalidInput as error:
            refused.append(_left_out(passage, f"its id cannot name a document: {error.message}"))
            continue
        if key in lines:
            refused.append(_left_out(passage, f"its document would be that of line {lines[key]}."))
            continue
        lines[key] = passage.line
        kept.append(passage)
    return kept


def _added(kb: KnowledgeBase, passages: Sequence[Passage], refused: list[LeftOut]) -> list[tuple[Passage, Upload]]:
    """Add the passages together, and one by one where one of them is refused."""
    try:
        uploads = kb.add_texts([(document_name(each), each.title, each.text) for each in passages])
    except QuotaExceeded:
        raise
    except _OF_A_PASSAGE:
        return _one_by_one(kb, passages, refused)
    return list(zip(passages, uploads, strict=True))


def _one_by_one(kb: KnowledgeBase, passages: Sequence[Passage], refused: list[LeftOut]) -> list[tuple[Passage, Upload]]:
    added = []
    for passage in passages:
        try:
            added.append((passage, kb.add_text(document_name(passage), passage.text, title=passage.title)))
        except QuotaExceeded:
            raise
        except _OF_A_PASSAGE as error:
            refused.append(_left_out(passage, error.message))
    return added


def _left_out(passage: Passage, reason: str) -> LeftOut:
    return LeftOut(PASSAGES, passage.line, passage.id, reason)
