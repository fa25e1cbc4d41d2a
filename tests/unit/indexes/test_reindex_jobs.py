"""A vocabulary takes effect when its job has ended, whatever happens on the way, and questions go on meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import core
from core import bootstrap
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.catalog.jobs.ledger import Attempt
from core.errors import Cancelled, StoreUnavailable
from core.indexes import reindex_jobs
from core.indexes.active_vocabulary import words_of
from core.model import JobKind, JobState, Query
from core.platform import failpoints
from core.platform.data_folder import DataFolder
from core.settings import Settings
from tests.builders import add, knowledge_base

NAME = "さくら荘本館"
TEXTS = {f"guide-{n}.txt": f"{n}号室の案内。さくらと本館と荘の話 {n}。" for n in range(5)} | {
    "inn.txt": f"会場は{NAME}です。",
    "laptop.txt": "A laptop is replaced after four years.",
}


def terms_of(kb: core.KnowledgeBase, question: str = NAME, key: str = "inn.txt") -> set[str]:
    """The terms by which a question finds a document."""
    trace = kb.queries.run(Query(question), answering=False)
    own = {hit.placed.id for hit in trace.candidates if hit.placed.doc_key == key}
    return {part.term for hit in trace.keyword.hits if hit.chunk_id in own for part in hit.terms}


def cancel(kb: core.KnowledgeBase, job_id: str) -> None:
    kb.cancel(job_id)


def held(kb: core.KnowledgeBase) -> set[str]:
    """The word of the rejected vocabulary if rows hold it, once all that waits is written."""
    kb._projector.flush()
    indexed = words_of(kb.catalog.vocabulary.indexed())
    kb._keywords.use(indexed, words_of(core.model.Vocabulary(((NAME, ""),))))
    found = {term for key in TEXTS for term in terms_of(kb, NAME, key)}
    kb._keywords.use(indexed, indexed)
    return found & {NAME}


def begun_and_waiting(kb: core.KnowledgeBase, at_point: Callable[[str, Callable[[], None]], None]) -> str:
    """Write one slice of a new vocabulary and leave the rest of its job to the next process, which has queued it."""
    job_id = kb.insight.reindex_words()
    at_point("vocabulary.slice.written", kb._worker._stop.set)
    kb.work_off()
    kb._worker._stop.clear()
    kb.catalog.jobs.put_back([job_id])
    begun = kb.catalog.vocabulary.begun()
    assert kb.job(job_id).state is JobState.QUEUED and begun is not None and begun[0] == job_id
    return job_id


def filled(folder: Path) -> core.KnowledgeBase:
    kb = knowledge_base(folder)
    for name, text in TEXTS.items():
        kb.add_text(name, text)
    kb.work_off()
    kb.insight.set_vocabulary([(NAME, "")], [["laptop", "notebook computer"]])
    return kb


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the keyword index of test mode on the disk, and write rows in slices of three."""
    monkeypatch.setattr(bootstrap, "_keywords", keywords_on_disk)
    monkeypatch.setattr(reindex_jobs, "SLICE", 3)


def keywords_on_disk(settings: Settings, folder: DataFolder, *_: str) -> TantivyKeywordIndex:
    return TantivyKeywordIndex(folder.keywords)


@pytest.fixture
def at_point(request: pytest.FixtureRequest) -> Callable[[str, Callable[[], None]], None]:
    """Act when a point is reached for the first time."""
    request.addfinalizer(lambda: failpoints.on_failpoint(None))

    def listen(name: str, act: Callable[[], None]) -> None:
        def reached(point: str) -> None:
            if point == name:
                failpoints.on_failpoint(None)
                act()

        failpoints.on_failpoint(reached)

    return listen


def test_words_and_synonyms_take_effect_with_the_end_of_the_job(tmp_path: Path, on_disk: None) -> None:
    with filled(tmp_path) as kb:
        assert NAME not in terms_of(kb)
        job_id = kb.insight.reindex_words()
        assert kb.insight.reindex_words() == job_id
        kb.work_off()
        job = kb.job(job_id)
        assert (job.kind, job.state, job.done, job.total) == (JobKind.REINDEX, JobState.DONE, len(TEXTS), len(TEXTS))
        assert NAME in terms_of(kb)
        assert kb.queries.run(Query(NAME), answering=False).hits[0].placed.doc_key == "inn.txt"
        assert terms_of(kb, "Which notebook computer is replaced?", "laptop.txt") == {"laptop", "replac"}
        vocabulary = kb.insight.vocabulary()
        assert vocabulary.number == vocabulary.indexed_number == 1
        kb.insight.set_vocabulary(vocabulary.words, vocabulary.synonyms)
        assert kb.insight.vocabulary().number == 1
    with knowledge_base(tmp_path) as kb:
        assert NAME in terms_of(kb)


def test_questions_and_uploads_go_on_while_rows_are_written(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    found: list[set[str]] = []
    with filled(tmp_path) as kb:

        def meanwhile() -> None:
            found.append(terms_of(kb))
            kb.add_text("late.txt", f"あとから{NAME}に来た。")

        at_point("vocabulary.slice.written", meanwhile)
        kb.insight.reindex_words()
        kb.work_off()
        assert found == [{"さくら", "荘", "本館"}]
        assert NAME in terms_of(kb) and NAME in terms_of(kb, key="late.txt")


def test_cancelled_job_leaves_everything_as_it_was(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    with filled(tmp_path) as kb:
        before = kb.queries.run(Query(NAME), answering=False)
        job_id = kb.insight.reindex_words()
        at_point("vocabulary.slice.written", lambda: cancel(kb, job_id))
        kb.work_off()
        kb._projector.flush()
        assert kb.job(job_id).state is JobState.CANCELLED
        after = kb.queries.run(Query(NAME), answering=False)
        assert [hit.terms for hit in after.keyword.hits] == [hit.terms for hit in before.keyword.hits]
        assert kb.insight.vocabulary().indexed_number == 0
        kb.retry(job_id)
        kb.work_off()
        assert kb.job(job_id).state is JobState.DONE and NAME in terms_of(kb)


def test_job_that_fails_says_why_and_can_be_started_again(
    tmp_path: Path, on_disk: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise StoreUnavailable("The keyword index is away.")

    with filled(tmp_path) as kb:
        job_id = kb.insight.reindex_words()
        with monkeypatch.context() as patch:
            patch.setattr(kb._projector, "flush_keywords", broken)
            kb.work_off()
        job = kb.job(job_id)
        assert job.state is JobState.FAILED and job.error and job.error["code"] == "store_unavailable"
        assert kb.catalog.vocabulary.begun() is None
        kb.retry(job_id)
        kb.work_off()
        assert NAME in terms_of(kb)


def test_newer_vocabulary_gets_a_job_of_its_own(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    with filled(tmp_path) as kb:
        ids = [kb.insight.reindex_words()]

        def meanwhile() -> None:
            kb.insight.set_vocabulary([("本館", ""), ("荘の話", "")], [])
            ids.append(kb.insight.reindex_words())

        at_point("vocabulary.slice.written", meanwhile)
        kb.work_off()
        assert ids[0] != ids[1]
        assert [kb.job(job_id).state for job_id in ids] == [JobState.DONE, JobState.DONE]
        assert kb.insight.vocabulary().indexed_number == 2
        assert "荘の話" in terms_of(kb, "荘の話", "guide-1.txt") and NAME not in terms_of(kb)


def test_synonyms_alone_need_no_row_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "laptop.txt", TEXTS["laptop.txt"])
        monkeypatch.setattr(kb._keywords, "upsert", lambda rows: pytest.fail("a row is written"))
        kb.insight.set_vocabulary([], [["laptop", "notebook computer"]])
        kb.insight.reindex_words()
        kb.work_off()
        assert terms_of(kb, "notebook computer", "laptop.txt") == {"laptop"}


KILLED = """
import os, pathlib, signal, sys
from core import bootstrap; from core.platform import failpoints as points
from core.indexes import reindex_jobs as reindexing
from tests.builders import knowledge_base
from tests.unit.indexes.test_reindex_jobs import keywords_on_disk
bootstrap._keywords, reindexing.SLICE = keywords_on_disk, 3
kb = knowledge_base(pathlib.Path(sys.argv[1]))
kb.insight.reindex_words()
points.on_failpoint(lambda name: os.kill(os.getpid(), signal.SIGKILL) if name == sys.argv[2] else None)
kb.work_off()
"""


@pytest.mark.long
def test_job_that_was_killed_goes_on_at_the_next_start(tmp_path: Path, on_disk: None) -> None:
    filled(tmp_path).close()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), "vocabulary.slice.asked"],
        env={**os.environ, "PYTHONPATH": "."},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    with knowledge_base(tmp_path) as kb:
        assert NAME not in terms_of(kb)
        assert kb.add_text("late.txt", f"あとから{NAME}に来た。")
        kb.work_off()
        job = kb.jobs()[1]
        assert (job.kind, job.state, job.attempts) == (JobKind.REINDEX, JobState.DONE, 2)
        assert NAME in terms_of(kb) and NAME in terms_of(kb, key="late.txt")


@pytest.mark.long
def test_rows_of_a_job_that_was_cancelled_and_killed_are_written_back(tmp_path: Path, on_disk: None) -> None:
    filled(tmp_path).close()
    subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), "vocabulary.slice.written"],
        env={**os.environ, "PYTHONPATH": "."},
        check=False,
    )
    with knowledge_base(tmp_path) as kb:
        kb.cancel(kb.jobs()[0].id)
    with knowledge_base(tmp_path) as kb:
        kb._projector.flush()
        rows = {term for key in TEXTS for term in terms_of(kb, NAME, key)}
        kb._keywords.use(words_of(kb.catalog.vocabulary.written()), words_of(kb.insight.vocabulary()))
        assert NAME not in rows | {term for key in TEXTS for term in terms_of(kb, NAME, key)}
        assert kb.catalog.vocabulary.begun() is None


def test_rows_are_written_back_where_a_begun_job_is_cancelled_while_it_waits(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    with filled(tmp_path) as kb:
        kb.cancel(begun_and_waiting(kb, at_point))
        assert kb.catalog.vocabulary.begun() is None
        kb.insight.set_vocabulary([], [])
        kb.insight.reindex_words()
        kb.work_off()
        assert not held(kb)


def test_rows_that_another_job_left_are_written_even_where_the_words_are_those_of_the_index(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    with filled(tmp_path) as kb:
        left = begun_and_waiting(kb, at_point)
        kb.catalog.jobs.end(left, JobState.CANCELLED, version_state="cancelled")
        assert held(kb)
        kb.insight.set_vocabulary([], [])
        job_id = kb.insight.reindex_words()
        kb.work_off()
        assert kb.job(job_id).state is JobState.DONE and kb.catalog.vocabulary.begun() is None
        assert not held(kb)


def test_what_a_former_process_left_is_tidied_before_a_worker_takes_a_job(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    left: list[object] = []
    with filled(tmp_path) as kb:
        kb.catalog.jobs.end(begun_and_waiting(kb, at_point), JobState.CANCELLED, version_state="cancelled")
        next_id = kb.insight.reindex_words()
        at_point("jobs.requeued", lambda: left.append(kb.catalog.vocabulary.begun()))
        kb._worker.start()
        assert left == [None]
        kb.work_off()
        assert kb.job(next_id).state is JobState.DONE and held(kb)
        assert kb.insight.vocabulary().indexed_number == 1


def test_job_ends_only_what_it_has_begun_itself(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    with filled(tmp_path) as kb:
        table, job_id = kb.catalog.vocabulary, kb.insight.reindex_words()

        def meanwhile() -> None:
            attempt = Attempt(job_id, kb.job(job_id).attempts)
            table.give_up("another job")
            assert table.begun() is not None
            table.give_up(job_id)
            with pytest.raises(Cancelled):
                table.finish(attempt)

        at_point("vocabulary.slice.written", meanwhile)
        kb.work_off()
        assert kb.job(job_id).state is JobState.CANCELLED
        assert kb.insight.vocabulary().indexed_number == 0


def test_job_that_breaks_unexpectedly_leaves_no_rows_behind(
    tmp_path: Path, on_disk: None, at_point: Callable[[str, Callable[[], None]], None]
) -> None:
    def broken() -> None:
        raise ValueError("unforeseen")

    with filled(tmp_path) as kb:
        job_id = kb.insight.reindex_words()
        at_point("vocabulary.slice.written", broken)
        kb.work_off()
        assert kb.job(job_id).state is JobState.FAILED and kb.catalog.vocabulary.begun() is None
        assert not held(kb)
