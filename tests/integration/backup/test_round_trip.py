"""What moves out moves in: everything but indexes, sessions, uploads under way and leases."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import core
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.catalog import Catalog
from core.catalog.schema import jobs, metadata
from core.cli.transfer import export_to, import_from, migrate
from core.errors import CodeNeeded, Conflict, DataFolderInUse, InvalidInput, Unauthorized
from core.model import Part
from core.platform.data_folder import DataFolder
from core.settings import Settings
from tests.builders import add, begin, knowledge_base, settings
from tests.contracts.keyword_index import row
from tests.integration.backup.house import PASSWORD, rows, tree

ROOT = Path(__file__).parents[3]
KILLED = """
import os, sys
from pathlib import Path
from core.cli.transfer import import_from
from core.platform.failpoints import on_failpoint
from core.settings import Settings
on_failpoint(lambda name: name == "bundle.files" and os._exit(9))
with open(sys.argv[2], "rb") as file:
    import_from(Settings(data_dir=Path(sys.argv[1]), test_mode=True), file)
"""


def catalog_of(folder: Path) -> Catalog:
    return Catalog(f"sqlite:///{folder / 'data' / 'catalog.db'}")


def test_everything_arrives(house: Path, archive: bytes, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    moved = import_from(settings(tmp_path), io.BytesIO(archive))
    assert (moved.absent, moved.unfinished_uploads) == (0, 0)
    old, new = rows(catalog_of(house)), rows(catalog_of(tmp_path))
    # What the house holds nothing of proves nothing here.
    assert {name for name, found in old.items() if not found} == {
        "evaluation_outcomes",
        "evaluation_runs",
        "generator_servers",
        "vocabulary",
    }
    assert new == old
    for name in ("blobs", "recordings", "models"):
        assert tree(tmp_path / "data" / name) == tree(house / "data" / name)


def test_the_new_house_answers_and_goes_on(archive: bytes, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    import_from(settings(tmp_path), io.BytesIO(archive))
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        trace = core.EvoRAG(kb=kb).ask("When does the shop open?")
        assert trace.degraded == () and trace.hits[0].placed.chunk.text.startswith("The shop opens at ten")
        assert {store.state for store in kb.health().stores} == {"ok"}
        assert kb.document("waiting.txt").published_version == 1
        assert add(kb, "hours.txt", "The shop opens at noon.").version == 4
        assert kb.training.artifacts()[0].is_chosen
        kb.recordings.tokens(kb.recordings.list()[0].id)


def test_people_sign_in_as_before_and_sessions_end(archive: bytes, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    import_from(settings(tmp_path), io.BytesIO(archive))
    with knowledge_base(tmp_path) as kb:
        with kb.catalog.database.read() as tx:
            assert tx.execute(metadata.tables["sessions"].select()).all() == []
        with pytest.raises(Unauthorized):
            kb.accounts.sign_in("root", "wrong password")
        kb.accounts.sign_in("root", PASSWORD)
        # The number of who is gone is nobody else's, here as there.
        assert kb.accounts.create_user("new", PASSWORD).id == 4
        # A second factor moves with its user.
        with pytest.raises(CodeNeeded):
            kb.accounts.sign_in("guarded", PASSWORD)
        assert {(each.owner, each.is_shared) for each in kb.evaluations.sets()} == {("", True), ("root", False)}
        assert {(each.owner, each.is_shared) for each in kb.saved_questions()} == {("", True), ("root", False)}


def test_running_job_arrives_queued_and_nobody_s(house: Path, tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "one") as kb:
        job_id = kb.add_text("a.txt", "Some words.").job_id
        with kb.catalog.database.write() as tx:
            tx.execute(jobs.update().values(state="running", worker="w" * 32))
        archive = b"".join(kb.backup())
    begin(tmp_path / "two" / "data")
    import_from(settings(tmp_path / "two"), io.BytesIO(archive))
    (arrived,) = rows(catalog_of(tmp_path / "two"))["jobs"]
    assert (arrived["id"], arrived["state"], arrived["worker"]) == (job_id, "queued", None)


def test_archive_is_an_ordinary_tar_file(archive: bytes) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        names = tar.getnames()
    assert (names[0], names[-1]) == ("evorag.json", "manifest.json")
    assert not any("sessions" in name or "transfers" in name or "outbox" in name for name in names)


def test_lost_and_damaged_files_are_told_of_and_do_not_keep_the_rest(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "one") as kb:
        for name in ("lost.txt", "damaged.txt", "whole.txt"):
            add(kb, name, f"What is {name}.")
        lost, damaged = (kb.original(name, 1)[0] for name in ("lost.txt", "damaged.txt"))
        lost.unlink()
        damaged.write_bytes(b"Something else.")
        archive = b"".join(kb.backup())
    begin(tmp_path / "two" / "data")
    assert import_from(settings(tmp_path / "two"), io.BytesIO(archive)).absent == 2
    with knowledge_base(tmp_path / "two") as kb:
        assert {len(kb.chunk_ids(name, 1, 9)) for name in ("lost.txt", "damaged.txt")} == {1}
        assert kb.text_of("whole.txt") == "What is whole.txt."


def test_nul_of_an_older_text_becomes_a_sign_that_every_database_takes(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "one") as kb:
        add(kb, "a.txt", "Some words.")
        with kb.catalog.database.write() as tx:
            tx.execute(metadata.tables["versions"].update().values(note="a\0b", metadata={"k": ["\0"]}))
        archive = b"".join(kb.backup())
    begin(tmp_path / "two" / "data")
    import_from(settings(tmp_path / "two"), io.BytesIO(archive))
    (version,) = rows(catalog_of(tmp_path / "two"))["versions"]
    assert (version["note"], version["metadata"]) == ("a\ufffdb", {"k": ["\ufffd"]})


def test_place_that_holds_something_is_left_as_it_is(archive: bytes, tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "mine.txt", "Mine.")
    before = tree(tmp_path)
    with pytest.raises(Conflict):
        import_from(settings(tmp_path), io.BytesIO(archive))
    assert tree(tmp_path) == before
    with knowledge_base(tmp_path) as kb:
        assert [document.doc_key for document in kb.documents()] == ["mine.txt"]


def test_index_that_something_else_made_keeps_an_archive_out_and_its_rows(archive: bytes, tmp_path: Path) -> None:
    place = Settings(data_dir=tmp_path / "data", embedder="hash")
    begin(place.data_dir)
    keywords = place.data_dir / "keywords"
    with closing(TantivyKeywordIndex(keywords, "another")) as index:
        index.upsert([row(1, "harbour")])
    with pytest.raises(Conflict, match="keyword store"):
        import_from(place, io.BytesIO(archive))
    with closing(TantivyKeywordIndex(keywords, "another")) as index:
        assert index.count()[Part.HEAD] == 1


def test_place_that_somebody_works_in_is_left_alone(house: Path, archive: bytes, tmp_path: Path) -> None:
    with knowledge_base(tmp_path):
        with pytest.raises(DataFolderInUse):
            import_from(settings(tmp_path), io.BytesIO(archive))
        with pytest.raises(DataFolderInUse):
            export_to(settings(tmp_path), io.BytesIO())


def test_place_that_somebody_is_just_opening_is_left_alone(tmp_path: Path) -> None:
    place = settings(tmp_path, catalog_url="postgresql+psycopg://nobody@127.0.0.1:1/none")
    server = DataFolder(place.data_dir, shared=True)
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(import_from, place, io.BytesIO())
        while not refused.running():
            time.sleep(0.01)
        time.sleep(0.2)
        server.blobs.mkdir()
        (server.blobs / "original").write_text("Acknowledged.")
        server.share()
        assert isinstance(refused.exception(30), DataFolderInUse)
    assert (server.blobs / "original").exists()
    server.close()


def test_import_that_is_killed_leaves_nothing_and_is_done_again(archive: bytes, tmp_path: Path) -> None:
    file = tmp_path / "archive.tar"
    file.write_bytes(archive)
    begin(tmp_path / "data")
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "data", file], cwd=ROOT, check=False)
    assert killed.returncode == 9
    with knowledge_base(tmp_path) as kb:
        assert kb.documents() == [] and kb.recordings.list() == []
        assert tree(tmp_path / "data" / "blobs") == tree(tmp_path / "data" / "recordings") == {}
    import_from(settings(tmp_path), io.BytesIO(archive))
    with knowledge_base(tmp_path) as kb:
        assert kb.text_of("hours.txt", 1).startswith("The shop opens at nine")


def test_moving_straight_into_another_house(house: Path, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    before = tree(house)
    migrate(settings(house), settings(tmp_path))
    assert tree(house) == before
    assert rows(catalog_of(tmp_path)) == rows(catalog_of(house))


def test_moving_to_the_same_place_is_refused(house: Path) -> None:
    with pytest.raises(InvalidInput):
        migrate(settings(house), settings(house))
