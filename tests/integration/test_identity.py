"""A data folder is opened with its own catalogue alone, and nothing of it is lost where another one is named."""

from __future__ import annotations

import io
import json
import logging
import shutil
import sqlite3
from pathlib import Path

import pytest

import core
from app.main import create_app
from core.bootstrap import opened_accounts
from core.cli.commands import main
from core.cli.transfer import export_to, import_from, migrate
from core.errors import CatalogDamaged, Conflict, WrongCatalog
from core.settings import Settings
from tests.builders import add, begin, knowledge_base, settings


def filled(folder: Path, **changes: object) -> set[str]:
    """Fill a knowledge base, and return its files of originals."""
    with knowledge_base(folder, **changes) as kb:
        for at in range(5):
            add(kb, f"fees {at}", f"The fee number {at} is {at + 10} euros.")
        return set(kb._blobs.names())


def blobs(folder: Path) -> set[str]:
    return {path.name for path in (folder / "data" / "blobs").glob("??/*")}


def forget_identity(folder: Path) -> None:
    """Make a data folder what an earlier release would have left."""
    (folder / "data" / "identity").unlink()
    with sqlite3.connect(folder / "data" / "catalog.db") as catalog:
        catalog.execute("DELETE FROM index_settings WHERE key = 'identity'")
    catalog.close()


def refused(chosen: Settings, *words: str) -> None:
    with pytest.raises(WrongCatalog) as caught:
        core.build(chosen)
    assert all(word in caught.value.message for word in words), caught.value.message
    assert "EVORAG_CATALOG_URL" in caught.value.remedy


@pytest.mark.parametrize("is_legacy", [False, True])
def test_catalogue_that_was_moved_away_is_not_begun_anew_beside_originals(tmp_path: Path, is_legacy: bool) -> None:
    before = filled(tmp_path)
    if is_legacy:
        forget_identity(tmp_path)
    data = tmp_path / "data"
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        if (data / name).exists():
            (data / name).rename(tmp_path / name)
    refused(settings(tmp_path), str(data), "catalog.db", "is missing")
    assert blobs(tmp_path) == before
    assert not list(data.glob("catalog.db*"))
    (tmp_path / "catalog.db").rename(data / "catalog.db")
    with knowledge_base(tmp_path) as kb:
        assert kb.text_of("fees 3.txt") == "The fee number 3 is 13 euros."
        assert kb.check_files().unnamed == 0


@pytest.mark.parametrize("is_migrated", [False, True])
def test_empty_catalogue_is_refused_beside_originals(tmp_path: Path, is_migrated: bool) -> None:
    before = filled(tmp_path)
    other = tmp_path / "other.db"
    if is_migrated:
        begin(tmp_path / "new")
        shutil.copyfile(tmp_path / "new" / "catalog.db", other)
    else:
        sqlite3.connect(other).close()
    refused(settings(tmp_path, catalog_url=f"sqlite:///{other}"), str(tmp_path / "data"), "other.db", "is empty")
    assert blobs(tmp_path) == before
    with knowledge_base(tmp_path) as kb:
        assert len(kb.documents()) == 5


@pytest.mark.parametrize("is_legacy", [False, True])
def test_catalogue_of_another_knowledge_base_is_refused(tmp_path: Path, is_legacy: bool) -> None:
    before = filled(tmp_path / "ours")
    with knowledge_base(tmp_path / "theirs") as kb:
        add(kb, "prices", "Theirs costs nothing.")
    if is_legacy:
        forget_identity(tmp_path / "ours")
        forget_identity(tmp_path / "theirs")
    foreign = tmp_path / "theirs" / "data" / "catalog.db"
    refused(settings(tmp_path / "ours", catalog_url=f"sqlite:///{foreign}"), str(foreign))
    with pytest.raises(WrongCatalog), opened_accounts(settings(tmp_path / "ours", catalog_url=f"sqlite:///{foreign}")):
        pass
    assert blobs(tmp_path / "ours") == before
    for name, count in (("ours", 5), ("theirs", 1)):
        with knowledge_base(tmp_path / name) as kb:
            assert len(kb.documents()) == count


def test_catalogue_of_another_is_not_migrated_before_it_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "ours")
    with knowledge_base(tmp_path / "theirs") as kb:
        add(kb, "prices", "Theirs costs nothing.")
    foreign = tmp_path / "theirs" / "data" / "catalog.db"
    with sqlite3.connect(foreign) as catalog:
        catalog.execute("DROP TABLE leftovers")
        catalog.execute("UPDATE alembic_version SET version_num = '0008'")
    catalog.close()
    refused(settings(tmp_path / "ours", catalog_url=f"sqlite:///{foreign}"), str(foreign))
    with sqlite3.connect(foreign) as catalog:
        assert catalog.execute("SELECT version_num FROM alembic_version").fetchall() == [("0008",)]
    catalog.close()


def test_older_copy_of_the_catalogue_opens_when_it_is_kept_on_purpose_and_what_came_after_it_stays(
    tmp_path: Path,
) -> None:
    filled(tmp_path)
    shutil.copyfile(tmp_path / "data" / "catalog.db", tmp_path / "older.db")
    with knowledge_base(tmp_path) as kb:
        add(kb, "later", "This came after the copy.")
        everything = set(kb._blobs.names())
    shutil.copyfile(tmp_path / "older.db", tmp_path / "data" / "catalog.db")
    with pytest.raises(CatalogDamaged, match="lacks the newest"), knowledge_base(tmp_path):
        pass
    with pytest.raises(SystemExit) as ended:
        main(["recover", "--as-is", "--data-dir", str(tmp_path / "data")])
    assert ended.value.code in (0, None)
    with knowledge_base(tmp_path) as kb:
        assert len(kb.documents()) == 5 and set(kb._blobs.names()) == everything
        assert kb.check_files().unnamed == 2
        assert add(kb, "later", "This came after the copy.").version == 1
        assert kb.check_files().unnamed == 0


def test_folder_and_catalogue_of_an_earlier_release_get_the_same_identity(tmp_path: Path) -> None:
    filled(tmp_path)
    forget_identity(tmp_path)
    with knowledge_base(tmp_path) as kb:
        identity = kb.catalog.identity
    assert len(identity) == 32 and (tmp_path / "data" / "identity").read_text() == identity
    with knowledge_base(tmp_path) as kb:
        assert kb.catalog.identity == identity


@pytest.mark.parametrize("which", ["folder", "catalogue"])
def test_identity_that_one_of_the_two_has_lost_is_given_back(tmp_path: Path, which: str) -> None:
    filled(tmp_path)
    identity = (tmp_path / "data" / "identity").read_text()
    if which == "folder":
        (tmp_path / "data" / "identity").unlink()
    else:
        with sqlite3.connect(tmp_path / "data" / "catalog.db") as catalog:
            catalog.execute("DELETE FROM index_settings WHERE key = 'identity'")
        catalog.close()
    with knowledge_base(tmp_path) as kb:
        assert kb.catalog.identity == identity == (tmp_path / "data" / "identity").read_text()


def test_catalogue_moves_to_another_database_beside_its_folder(tmp_path: Path) -> None:
    filled(tmp_path)
    elsewhere = settings(tmp_path, catalog_url=f"sqlite:///{tmp_path / 'moved.db'}")
    migrate(settings(tmp_path), elsewhere)
    with core.build(elsewhere) as kb:
        assert len(kb.documents()) == 5 and kb.check_files().unnamed == 0


def test_what_is_imported_has_an_identity_of_its_own(tmp_path: Path) -> None:
    filled(tmp_path / "old")
    file = io.BytesIO()
    export_to(settings(tmp_path / "old"), file)
    begin(tmp_path / "new" / "data")
    import_from(settings(tmp_path / "new"), io.BytesIO(file.getvalue()))
    marks = [(tmp_path / name / "data" / "identity").read_text() for name in ("old", "new")]
    assert marks[0] != marks[1]
    with knowledge_base(tmp_path / "new") as kb:
        assert kb.catalog.identity == marks[1] and len(kb.documents()) == 5


def test_originals_at_a_url_carry_the_identity_and_are_refused_to_others(tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'far'}"
    filled(tmp_path / "ours", blob_url=url)
    identity = (tmp_path / "ours" / "data" / "identity").read_text()
    assert (tmp_path / "far" / "owner").read_text() == identity
    far = {path.name for path in (tmp_path / "far").glob("??/*")}
    with pytest.raises(Conflict, match=identity[:8]):
        knowledge_base(tmp_path / "stranger", blob_url=url)
    for each in (tmp_path / "ours" / "data").glob("catalog.db*"):
        each.rename(tmp_path / each.name)
    refused(settings(tmp_path / "ours", blob_url=url), "is missing")
    assert {path.name for path in (tmp_path / "far").glob("??/*")} == far
    # A new folder of the same catalogue, as on another machine.
    with core.build(
        settings(tmp_path / "second", blob_url=url, catalog_url=f"sqlite:///{tmp_path / 'catalog.db'}")
    ) as kb:
        assert kb.original("fees 1.txt", 1)[0].read_bytes() == b"The fee number 1 is 11 euros."


def test_owner_of_a_bucket_of_an_earlier_release_becomes_the_identity(tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'far'}"
    filled(tmp_path, blob_url=url)
    forget_identity(tmp_path)
    for place in (tmp_path / "far" / "owner", tmp_path / "data" / "blob-owner"):
        place.write_text("0123456789abcdef" * 2)
    with knowledge_base(tmp_path, blob_url=url) as kb:
        assert kb.catalog.identity == "0123456789abcdef" * 2
        assert add(kb, "more", "More text.").version == 1


def test_database_of_an_earlier_day_is_said_until_it_has_come_as_far(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    catalog_url = f"sqlite:///{elsewhere}"

    def told(kb: core.KnowledgeBase) -> tuple[str, str]:
        health = create_app(kb).server.test_client().get("/health").json
        return health["status"], health["stores"][0]["state"]

    filled(tmp_path, catalog_url=catalog_url)
    with knowledge_base(tmp_path, catalog_url=catalog_url) as kb:
        assert told(kb) == ("ok", "ok")
    shutil.copyfile(elsewhere, tmp_path / "earlier.db")
    with knowledge_base(tmp_path, catalog_url=catalog_url) as kb:
        add(kb, "later", "This came on another day.")
    with knowledge_base(tmp_path, catalog_url=catalog_url):
        assert "earlier day" not in caplog.text
    shutil.copyfile(tmp_path / "earlier.db", elsewhere)
    with knowledge_base(tmp_path, catalog_url=catalog_url) as kb:
        assert "(1 and 1): its database may be of an earlier day" in caplog.text
        assert told(kb) == ("degraded", "earlier")
        assert "later.txt" not in {document.name for document in kb.documents()}
        add(kb, "again", "And this is the present.")
    with knowledge_base(tmp_path, catalog_url=catalog_url) as kb:
        assert told(kb) == ("ok", "ok")


@pytest.mark.parametrize("content", [b"", b"{", b'{"of": 1}', b"\xff" * 40])
def test_damaged_mark_of_how_far_a_database_had_come_is_written_anew(tmp_path: Path, content: bytes) -> None:
    catalog_url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    filled(tmp_path, catalog_url=catalog_url)
    mark = tmp_path / "data" / "reached"
    mark.write_bytes(content)
    with knowledge_base(tmp_path, catalog_url=catalog_url) as kb:
        assert json.loads(mark.read_bytes()) == {"of": kb.catalog.identity, "version": 5, "sequence": 5}


def test_refusal_names_no_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from core.catalog.engine import Database
    from core.catalog.folder_identity import _place

    caplog.set_level(logging.DEBUG)
    database = Database("postgresql+psycopg://ada:hunter2@db.example:5432/evorag?password=hunter2")
    assert _place(database) == "the catalogue “evorag” on db.example"
    database.close()
