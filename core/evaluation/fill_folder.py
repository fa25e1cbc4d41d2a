"""A knowledge base filled with the passages of a question folder; each passage is a document of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.errors import InvalidInput, QuotaExceeded, TooLarge, UnreadableDocument
from core.evaluation.measure_folder import document_name
from core.evaluation.question_folder import PASSAGES, SkippedLine, check_some
from core.ingest.validate import clean_name, doc_key
from core.model import Job

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi
    from core.evaluation.question_folder import QuestionSetPassage
    from core.model import Upload


Wait = Callable[[Sequence[str]], Sequence[Job]]

_OF_A_PASSAGE = (InvalidInput, TooLarge, UnreadableDocument)


def fill(
    kb: KnowledgeBaseApi,
    passages: Sequence[QuestionSetPassage],
    left_out: list[SkippedLine] | None = None,
    wait: Wait | None = None,
) -> dict[str, str]:
    """Add each passage as a text entry, wait until all are indexed, and return their ``doc_key`` by passage id.

    ``wait`` returns the jobs once they have ended, and may show how far they are; by default ``kb.wait`` does.
    Those that cannot be added or indexed are put into ``left_out``. Raises: ``InvalidInput`` where there is no such
    list, and where nothing is left.
    """
    refused: list[SkippedLine] = []
    added = _added(kb, _different(passages, refused), refused)
    ended = (wait or kb.wait)([upload.pending_job for _, upload in added if upload.pending_job])
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


def _different(passages: Sequence[QuestionSetPassage], refused: list[SkippedLine]) -> list[QuestionSetPassage]:
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


def _added(
    kb: KnowledgeBaseApi, passages: Sequence[QuestionSetPassage], refused: list[SkippedLine]
) -> list[tuple[QuestionSetPassage, Upload]]:
    """Add the passages together, and one by one where one of them is refused."""
    try:
        uploads = kb.add_texts([(document_name(each), each.title, each.text) for each in passages])
    except QuotaExceeded:
        raise
    except _OF_A_PASSAGE:
        return _one_by_one(kb, passages, refused)
    return list(zip(passages, uploads, strict=True))


def _one_by_one(
    kb: KnowledgeBaseApi, passages: Sequence[QuestionSetPassage], refused: list[SkippedLine]
) -> list[tuple[QuestionSetPassage, Upload]]:
    added = []
    for passage in passages:
        try:
            added.append((passage, kb.add_text(document_name(passage), passage.text, title=passage.title)))
        except QuotaExceeded:
            raise
        except _OF_A_PASSAGE as error:
            refused.append(_left_out(passage, error.message))
    return added


def _left_out(passage: QuestionSetPassage, reason: str) -> SkippedLine:
    return SkippedLine(PASSAGES, passage.line, passage.id, reason)
