"""A knowledge base whose originals are at a URL: read, purged, moved and restarted, and waiting while they are away."""

from __future__ import annotations

import io
import threading
import time
import zipfile
from pathlib import Path

import pytest

import core
from core.catalog import FileKind
from core.cli.transfer import export_to, import_from, migrate
from core.errors import Conflict, InvalidInput, StoreUnavailable
from core.model import JobState, TransferState
from core.platform import failpoints, retrying
from core.settings import Settings
from tests.builders import add, begin, knowledge_base, settings
from tests.unit.ingest.uploads.conftest import Killed, Machine, send
from tests.unit.ingest.uploads.conftest import begin as begin_upload
from tests.unit.versions.test_purge import files_with

MARK = "quaggaquoll"
LINES = "\n\n".join(f"Passage {number} of the handbook says nothing of note." for number in range(20))


def elsewhere(folder: Path, **changes: object) -> dict[str, object]:
    return {"blob_url": f"file://{folder / 'far'}", **changes}


def opened(folder: Path, **changes: object) -> core.KnowledgeBase:
    return knowledge_base(folder, **elsewhere(folder, **changes))


def there(folder: Path) -> set[str]:
    return {path.name for path in (folder / "far").glob("??/*")}


def test_versions_are_kept_at_the_url_and_read_from_there(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        kb.add_file("a.md", io.BytesIO(f"# First\n\n{LINES}".encode()))
        kb.work_off()
        kb.add_file("a.md", io.BytesIO(f"# Second\n\n{LINES}".encode()))
        kb.work_off()
        assert len(there(tmp_path)) == 4
        assert not (tmp_path / "data" / "blobs").exists()
    for copy in (tmp_path / "data" / "blob-cache").glob("??/*"):
        copy.unlink()
    with opened(tmp_path) as kb:
        assert kb.original("a.md", 1)[0].read_bytes().startswith(b"# First")
        assert kb.text_of("a.md").startswith("Second")
        assert len(there(tmp_path)) == 4


def test_what_is_purged_stands_neither_at_the_url_nor_in_the_cache(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        add(kb, "a.txt", f"{MARK} is the password.\n\n{LINES}")
        add(kb, "a.txt", f"There is no password any more.\n\n{LINES}")
        assert kb.original("a.txt", 1)[0].is_relative_to(tmp_path / "data" / "blob-cache")
        assert files_with(tmp_path / "far", MARK.encode())
        kb.purge("a.txt", 1)
        kb.work_off()
        assert files_with(tmp_path / "far", MARK.encode()) == []
        assert files_with(tmp_path / "data" / "blob-cache", MARK.encode()) == []
        assert kb.text_of("a.txt", 2).startswith("There is no password")


def test_what_a_killed_process_left_at_the_url_goes_and_what_is_not_known_stays(tmp_path: Path) -> None:
    orphan, stranger = "ab" * 32, "cd" * 32
    with opened(tmp_path) as kb:
        add(kb, "a.txt", LINES)
        kept = there(tmp_path)
        kb.catalog.leftovers.note(FileKind.BLOB, [orphan])
    for name in (orphan, stranger):
        (tmp_path / "far" / name[:2]).mkdir(exist_ok=True)
        (tmp_path / "far" / name[:2] / name).write_bytes(b"nobody's")
    with opened(tmp_path) as kb:
        assert there(tmp_path) == kept | {stranger}
        assert [each.name for each in kb.check_files().unnamed_files] == [stranger]


def test_archive_of_everything_goes_from_one_url_to_another(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        add(kb, "a.txt", LINES)
        text = kb.text_of("a.txt")
    begin(tmp_path / "new" / "data")
    old, new = settings(tmp_path, **elsewhere(tmp_path)), settings(tmp_path / "new", **elsewhere(tmp_path / "new"))
    migrate(old, new)
    assert there(tmp_path / "new") == there(tmp_path)
    file = io.BytesIO()
    export_to(new, file)
    begin(tmp_path / "third" / "data")
    import_from(settings(tmp_path / "third"), io.BytesIO(file.getvalue()))
    for folder, changes in ((tmp_path / "new", elsewhere(tmp_path / "new")), (tmp_path / "third", {})):
        with knowledge_base(folder, **changes) as kb:
            assert kb.text_of("a.txt") == text


def test_import_to_the_place_of_another_is_refused_and_leaves_it(tmp_path: Path) -> None:
    file = io.BytesIO()
    with opened(tmp_path) as kb:
        add(kb, "a.txt", LINES)
    export_to(settings(tmp_path, **elsewhere(tmp_path)), file)
    before = there(tmp_path)
    begin(tmp_path / "new" / "data")
    with pytest.raises(Conflict):
        import_from(settings(tmp_path / "new", **elsewhere(tmp_path)), io.BytesIO(file.getvalue()))
    assert there(tmp_path) == before


def test_url_that_is_none_keeps_the_knowledge_base_shut(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        knowledge_base(tmp_path, blob_url="colour://hunter2")
    with knowledge_base(tmp_path):
        pass


def test_url_is_read_from_a_file_of_secrets_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evorag_blob_url").write_text("sftp://ada:hunter2@host/place", "utf-8")
    monkeypatch.setenv("EVORAG_SECRETS_DIR", str(tmp_path))
    found = Settings()
    assert found.blob_url.get_secret_value() == "sftp://ada:hunter2@host/place"
    assert "hunter2" not in f"{found!r}{found.model_dump()}{found.model_dump_json()}"


def test_upload_while_the_store_is_away_is_refused_and_stores_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        add(kb, "a.txt", LINES)
        (tmp_path / "far").rename(tmp_path / "away")
        with pytest.raises(StoreUnavailable):
            kb.add_text("b.txt", MARK)
        (tmp_path / "away").rename(tmp_path / "far")
        assert [document.doc_key for document in kb.documents()] == ["a.txt"]
        assert files_with(tmp_path, MARK.encode()) == []
        add(kb, "b.txt", MARK)
        assert kb.text_of("b.txt") == MARK


def go_away(folder: Path) -> None:
    (folder / "far").rename(folder / "away")
    for copy in (folder / "data" / "blob-cache").glob("??/*"):
        copy.unlink()


def come_back(folder: Path) -> None:
    (folder / "away").rename(folder / "far")


def wait_until_it_waits(kb: core.KnowledgeBase, job_id: str) -> None:
    seen = 0
    while not any(event.code == "waiting_store" for event in kb.job_log(job_id)):
        assert kb.job(job_id).state in (JobState.QUEUED, JobState.RUNNING)
        seen = kb.jobs_changed(seen, 0.1)


def queued(kb: core.KnowledgeBase, is_archive: bool = False) -> str:
    if not is_archive:
        return str(kb.add_file("a.txt", io.BytesIO(LINES.encode())).job_id)
    with zipfile.ZipFile(file := io.BytesIO(), "w") as packed:
        packed.writestr("a.txt", LINES)
    file.seek(0)
    return str(kb.add_archive("a.zip", file).job_id)


def waiting(kb: core.KnowledgeBase, folder: Path, is_archive: bool = False) -> tuple[str, threading.Thread]:
    """Let a job meet a store that has gone away; return its id and who works on it."""
    job_id = queued(kb, is_archive)
    go_away(folder)
    worker = threading.Thread(target=kb.work_off, daemon=True)
    worker.start()
    wait_until_it_waits(kb, job_id)
    return job_id, worker


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "_PAUSE_S", 0.02)


@pytest.mark.parametrize("is_archive", [False, True])
@pytest.mark.usefixtures("impatient")
def test_job_waits_for_a_store_that_is_away(tmp_path: Path, is_archive: bool) -> None:
    with opened(tmp_path) as kb:
        job_id, worker = waiting(kb, tmp_path, is_archive)
        assert kb.job(job_id).state is JobState.RUNNING
        come_back(tmp_path)
        worker.join()
        assert kb.job(job_id).state is JobState.DONE
        assert kb.text_of("a.txt").startswith("Passage 0")


@pytest.mark.usefixtures("impatient")
def test_job_that_waits_for_a_store_can_be_cancelled(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        job_id, worker = waiting(kb, tmp_path)
        kb.cancel(job_id)
        worker.join()
        assert kb.job(job_id).state is JobState.CANCELLED
        come_back(tmp_path)
        kb.retry(job_id)
        kb.work_off()
        assert kb.text_of("a.txt").startswith("Passage 0")


@pytest.mark.usefixtures("impatient")
def test_job_that_waits_for_a_store_goes_on_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        job_id = queued(kb)
    go_away(tmp_path)
    with opened(tmp_path, job_workers=1) as kb:
        wait_until_it_waits(kb, job_id)
    come_back(tmp_path)
    with opened(tmp_path) as kb:
        kb.work_off()
        assert kb.job(job_id).state is JobState.DONE


def test_purge_while_the_store_is_away_is_finished_later(tmp_path: Path) -> None:
    with opened(tmp_path) as kb:
        add(kb, "a.txt", f"{MARK} is the password.")
        go_away(tmp_path)
        kb.purge("a.txt")
        assert files_with(tmp_path / "away", MARK.encode())
    come_back(tmp_path)
    with opened(tmp_path) as kb:
        kb.work_off()
        while kb.catalog.purges.pending():
            time.sleep(0.02)
        assert files_with(tmp_path, MARK.encode()) == []


@pytest.mark.parametrize("dies_at", ["", "uploads.blob.put"])
def test_upload_that_has_arrived_is_filed_when_the_store_is_back(tmp_path: Path, dies_at: str) -> None:
    machine = Machine(tmp_path, **elsewhere(tmp_path, min_free_bytes=0))
    add(machine.kb, "a.txt", LINES)
    transfer = begin_upload(machine.kb, MARK.encode(), "b.txt")
    try:
        if dies_at:
            machine.die_at(dies_at)
            with pytest.raises(Killed):
                send(machine.kb, transfer, MARK.encode())
            go_away(tmp_path)
            machine.restart()
        else:
            go_away(tmp_path)
            send(machine.kb, transfer, MARK.encode())
        assert machine.kb.transfers.get(transfer.id).state is TransferState.CHECKING
        come_back(tmp_path)
        machine.restart()
        machine.kb.work_off()
        assert machine.kb.transfers.get(transfer.id).state is TransferState.DONE
        assert machine.kb.text_of("b.txt") == MARK
    finally:
        failpoints.on_failpoint(None)
        machine.kb.close()
