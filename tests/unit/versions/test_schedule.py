"""Scheduled versions are published by themselves, once, by whom they were scheduled, whatever happens in between."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import core
from core.errors import Conflict, InvalidInput
from core.model import Publication, UploadOutcome
from core.settings import Settings
from tests.builders import add, knowledge_base

ROOT = Path(__file__).parents[3]
LATER = timedelta(hours=1)


def shown(kb: core.KnowledgeBase, key: str = "a.txt") -> int | None:
    return kb.document(key).published_version


def until(happened: Callable[[], bool], timeout_s: float = 60.0) -> bool:
    end = time.monotonic() + timeout_s
    while not happened() and time.monotonic() < end:
        time.sleep(0.02)
    return happened()


@pytest.fixture
def moment() -> datetime:
    return datetime.now(UTC) + LATER


@pytest.fixture
def scheduled(kb: core.KnowledgeBase, moment: datetime) -> core.KnowledgeBase:
    """A document that shows version 1, and whose version 2 is to be published at ``moment``."""
    add(kb, "a", "first")
    kb.add_text("a", "second", publish_at=moment, actor="Ada")
    kb.work_off()
    return kb


def test_a_version_is_published_when_its_moment_comes(scheduled: core.KnowledgeBase, moment: datetime) -> None:
    version = scheduled.version("a.txt", 2)
    assert (version.is_draft, version.publish_at) == (True, moment)
    assert scheduled.publish_due(moment - timedelta(seconds=1)) == []
    assert shown(scheduled) == 1
    (done,) = scheduled.publish_due(moment)
    assert (done.action, done.version, done.actor) == ("publish", 2, "Ada")
    version = scheduled.version("a.txt", 2)
    assert (version.is_draft, version.publish_at, version.is_published) == (False, None, True)
    assert scheduled.publish_due(moment + LATER) == []


def test_versions_are_published_in_the_order_of_their_moments(kb: core.KnowledgeBase, moment: datetime) -> None:
    add(kb, "a", "first")
    kb.add_text("a", "second", publish_at=moment + LATER)
    kb.add_text("a", "third", publish_at=moment)
    kb.work_off()
    assert [done.version for done in kb.publish_due(moment + 2 * LATER)] == [3, 2]


def test_a_moment_can_be_changed_and_withdrawn(scheduled: core.KnowledgeBase, moment: datetime) -> None:
    assert scheduled.schedule("a.txt", 2, moment + LATER, actor="Ben").publish_at == moment + LATER
    assert scheduled.publish_due(moment) == []
    version = scheduled.schedule("a.txt", 2, None)
    assert (version.publish_at, version.is_draft) == (None, True)
    assert scheduled.publish_due(moment + 2 * LATER) == []


def test_a_moment_has_a_zone_and_lies_ahead(scheduled: core.KnowledgeBase) -> None:
    for wrong in (datetime.now() + LATER, datetime.now(UTC) - timedelta(seconds=1)):
        with pytest.raises(InvalidInput):
            scheduled.schedule("a.txt", 2, wrong)
    assert shown(scheduled) == 1


def test_what_is_shown_or_failed_is_not_scheduled(kb: core.KnowledgeBase, moment: datetime) -> None:
    add(kb, "a", "first")
    upload = kb.add_text("a", "second")
    kb.cancel(str(upload.job_id))
    for number in (1, 2):
        with pytest.raises(Conflict):
            kb.schedule("a.txt", number, moment)


def test_a_version_of_a_deleted_document_is_not_scheduled_before_it_is_restored(
    scheduled: core.KnowledgeBase, moment: datetime
) -> None:
    scheduled.delete("a.txt")
    with pytest.raises(Conflict):
        scheduled.schedule("a.txt", 2, moment)
    assert scheduled.schedule("a.txt", 2, None).publish_at is None
    scheduled.restore("a.txt")
    assert scheduled.schedule("a.txt", 2, moment).publish_at == moment


def test_what_is_uploaded_to_a_deleted_document_can_be_scheduled(
    scheduled: core.KnowledgeBase, moment: datetime
) -> None:
    scheduled.delete("a.txt")
    scheduled.add_text("a", "third", draft=True)
    scheduled.schedule("a.txt", 3, moment)
    scheduled.work_off()
    assert [done.version for done in scheduled.publish_due(moment)] == [3]


def test_an_upload_that_is_being_indexed_can_still_be_put_off(kb: core.KnowledgeBase, moment: datetime) -> None:
    add(kb, "a", "first")
    kb.add_text("a", "second")
    kb.schedule("a.txt", 2, moment)
    kb.work_off()
    assert shown(kb) == 1
    assert [done.version for done in kb.publish_due(moment)] == [2]


def test_a_version_that_is_not_ready_waits_and_is_published_then(kb: core.KnowledgeBase, moment: datetime) -> None:
    add(kb, "a", "first")
    kb.add_text("a", "second", publish_at=moment)
    assert kb.publish_due(moment) == []
    kb._worker.work_off()
    assert [done.version for done in kb.publish_due(moment)] == [2]


def test_uploading_the_same_bytes_again_changes_the_moment(scheduled: core.KnowledgeBase, moment: datetime) -> None:
    upload = scheduled.add_text("a", "second", publish_at=moment + LATER)
    assert upload.outcome is UploadOutcome.UNCHANGED
    assert scheduled.version("a.txt", 2).publish_at == moment + LATER


@pytest.mark.parametrize("act", ["publish", "delete", "purge"])
def test_publishing_deleting_and_purging_cancel_what_is_scheduled(
    scheduled: core.KnowledgeBase, moment: datetime, act: str
) -> None:
    if act == "delete":
        scheduled.delete("a.txt")
    else:
        getattr(scheduled, act)("a.txt", 2)
    assert scheduled.version("a.txt", 2).publish_at is None
    assert scheduled.publish_due(moment) == []


def test_an_unpublished_document_is_shown_again_at_its_moment(scheduled: core.KnowledgeBase, moment: datetime) -> None:
    scheduled.unpublish("a.txt")
    scheduled.publish_due(moment)
    assert shown(scheduled) == 2


@pytest.mark.parametrize("act", ["withdraw", "publish", "purge"])
def test_a_decision_that_a_person_takes_in_between_goes_first(
    scheduled: core.KnowledgeBase, moment: datetime, act: str
) -> None:
    commit = scheduled.catalog.publications.commit

    def meeting(*args: object, **options: object) -> Publication | None:
        scheduled.catalog.publications.commit = commit  # type: ignore[method-assign]
        if act == "withdraw":
            scheduled.schedule("a.txt", 2, None)
        else:
            getattr(scheduled, act)("a.txt", 2)
        return commit(*args, **options)  # type: ignore[arg-type]

    scheduled.catalog.publications.commit = meeting  # type: ignore[method-assign]
    assert scheduled.publish_due(moment) == []
    assert shown(scheduled) == (2 if act == "publish" else 1)
    assert [entry.version for entry in scheduled.publications("a.txt")].count(2) == (1 if act == "publish" else 0)


@pytest.mark.long
def test_the_thread_publishes_on_time_and_is_woken_by_a_new_moment(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, job_workers=1) as kb:
        kb.finish(str(kb.add_text("a", "first").job_id), timeout_s=30)
        at = datetime.now(UTC) + timedelta(seconds=2)
        upload = kb.add_text("a", "second", publish_at=at, actor="Ada")
        kb.finish(str(upload.job_id), timeout_s=30)
        assert until(lambda: shown(kb) == 2)
        newest = kb.publications("a.txt")[0]
        assert (newest.actor, newest.at >= at) == ("Ada", True)
        kb.schedule("a.txt", 1, datetime.now(UTC) + timedelta(seconds=2))
        assert until(lambda: shown(kb) == 1)


def test_what_came_due_while_nothing_ran_is_published_at_the_next_start(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "first")
        at = datetime.now(UTC) + timedelta(seconds=4)
        kb.add_text("a", "second", publish_at=at)
        kb._worker.work_off()
        assert shown(kb) == 1 or datetime.now(UTC) >= at
    time.sleep(max((at - datetime.now(UTC)).total_seconds(), 0))
    with knowledge_base(tmp_path, job_workers=1) as kb:
        assert until(lambda: shown(kb) == 2)
        assert [entry.version for entry in kb.publications("a.txt")] == [2, 1]


KILLED = """
import os, signal, sys, time
from datetime import UTC, datetime, timedelta
from pathlib import Path
import core
from core.settings import Settings

folder, step = Path(sys.argv[1]), sys.argv[2]
kb = core.build(Settings(data_dir=folder, embedder="hash"))
kb.finish(kb.add_text("a", "First text.").job_id)
kill = lambda *args, **options: os.kill(os.getpid(), signal.SIGKILL)
commit = kb.catalog.publications.commit

def after(*args, **options):
    commit(*args, **options)
    kill()

upload = kb.add_text("a", "Second text.", publish_at=datetime.now(UTC) + timedelta(hours=1))
kb.finish(upload.job_id)
if step == "prepare":
    kb.catalog.publications.prepare = kill
if step == "before":
    kb.catalog.publications.commit = kill
if step == "after":
    kb.catalog.publications.commit = after
if step == "indexed":
    kb._projector.flush_soon = kill
kb.schedule("a.txt", 2, datetime.now(UTC) + timedelta(seconds=2))
time.sleep(60)
"""


@pytest.mark.long
@pytest.mark.parametrize("step", ["prepare", "before", "after", "indexed"])
def test_a_version_is_published_once_even_if_the_process_is_killed_at_it(tmp_path: Path, step: str) -> None:
    folder = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), step], cwd=ROOT, timeout=120)
    assert done.returncode == -signal.SIGKILL
    with core.build(Settings(data_dir=folder, embedder="hash")) as kb:
        assert until(lambda: shown(kb) == 2)
        kb._projector.flush()
        assert [entry.version for entry in kb.publications("a.txt")] == [2, 1]
        trace = core.EvoRAG(kb=kb).search("text")
        assert {(hit.placed.doc_key, hit.placed.version) for hit in trace.hits} == {("a.txt", 2)}
