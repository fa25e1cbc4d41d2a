"""Restoring documents that were deleted while their first version was on its way."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from sqlalchemy import delete

import core
from core.catalog.schema import jobs
from core.errors import Conflict
from core.platform import failpoints
from tests.builders import add
from tests.indexes import assert_indexes_follow_the_catalogue, assert_nothing_is_left_to_do

KEY = "medlar.txt"
TEXT = b"The medlar ripens in November. " * 200


def found(kb: core.KnowledgeBase) -> set[tuple[str, int]]:
    trace = core.EvoRAG(kb=kb).search("medlar")
    return {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}


def deleted_at(point: str, kb: core.KnowledgeBase) -> Callable[[str], None]:
    def reached(name: str) -> None:
        if name == point:
            failpoints.on_failpoint(None)
            kb.delete(KEY)

    return reached


def test_what_was_deleted_before_it_was_indexed_is_listed_as_deleted_and_comes_back(kb: core.KnowledgeBase) -> None:
    kb.add_file(KEY, io.BytesIO(TEXT))
    kb.delete(KEY)
    kb.work_off()
    assert kb.documents() == []
    assert [document.state for document in kb.documents(include_deleted=True)] == ["deleted"]
    done = kb.restore(KEY)
    assert (done.action, done.version, done.subject) == ("restore", None, 1)
    assert kb.document(KEY).state == "indexing"
    kb.work_off()
    assert kb.document(KEY).state == "published"
    assert found(kb) == {(KEY, 1)}
    assert_nothing_is_left_to_do(kb)
    assert_indexes_follow_the_catalogue(kb)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(
    "point",
    ["ingest.keywords.asked", "ingest.early.published", "ingest.indexing.entered", "ingest.job.ending"],
)
def test_a_deletion_at_any_stage_of_the_first_version_is_undone(
    kb: core.KnowledgeBase, point: str, early: bool
) -> None:
    kb.add_file(KEY, io.BytesIO(TEXT), early=early)
    failpoints.on_failpoint(deleted_at(point, kb))
    try:
        kb.work_off()
    finally:
        failpoints.on_failpoint(None)
    if not (point == "ingest.early.published" and not early):
        assert kb.documents() == []
        kb.restore(KEY)
    kb.work_off()
    version = kb.version(KEY, 1)
    assert version.is_published and version.embedded_chunks == version.chunk_count > 0
    assert found(kb) == {(KEY, 1)}
    assert_nothing_is_left_to_do(kb)
    assert_indexes_follow_the_catalogue(kb)


def test_it_comes_back_where_the_ledger_has_forgotten_its_job(kb: core.KnowledgeBase) -> None:
    kb.add_file(KEY, io.BytesIO(TEXT))
    kb.delete(KEY)
    with kb.catalog.database.write() as tx:
        tx.execute(delete(jobs))
    kb.restore(KEY)
    kb.work_off()
    assert kb.version(KEY, 1).is_published


def test_a_draft_is_a_draft_again(kb: core.KnowledgeBase) -> None:
    kb.add_file(KEY, io.BytesIO(TEXT), draft=True)
    kb.work_off()
    kb.delete(KEY)
    assert kb.restore(KEY).version is None
    assert kb.document(KEY).state == "draft"
    assert not kb.version(KEY, 1).is_published


def test_where_nothing_is_kept_the_answer_says_that_nothing_can_be_brought_back(kb: core.KnowledgeBase) -> None:
    kb.add_file(KEY, io.BytesIO(TEXT))
    kb.delete(KEY)
    kb.purge(KEY)
    with pytest.raises(Conflict, match="nothing to bring back"):
        kb.restore(KEY)


def test_an_upload_during_a_deletion_is_shown_after_the_restoring(kb: core.KnowledgeBase) -> None:
    kb.add_file(KEY, io.BytesIO(TEXT))
    kb.delete(KEY)
    kb.add_file(KEY, io.BytesIO(TEXT + b"And in December."))
    kb.restore(KEY)
    kb.work_off()
    assert found(kb) == {(KEY, 2)}


def test_a_cancelled_upload_stays_out_of_the_list(kb: core.KnowledgeBase) -> None:
    kb.cancel(str(kb.add_file(KEY, io.BytesIO(TEXT)).job_id))
    add(kb, "other", "text")
    assert [document.doc_key for document in kb.documents(include_deleted=True)] == ["other.txt"]
