"""Parts of a knowledge base that are put back from an earlier day, and what is said of each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import core
from app.main import create_app
from core.errors import CatalogDamaged
from tests.builders import add, knowledge_base

KEPT = {"embedder": "hash", "test_mode": False, "generator": "none", "reader": "off", "ocr": "off"}


def yesterday(folder: Path, **changes: object) -> None:
    """Fill a knowledge base, copy its folder, and go on with it."""
    with knowledge_base(folder, **changes) as kb:
        for at in range(3):
            add(kb, f"fees {at}", f"The fee number {at} is {at + 10} euros.")
    shutil.copytree(folder / "data", folder / "yesterday")
    with knowledge_base(folder, **changes) as kb:
        add(kb, "later", "The quaggaquoll came on another day.")


def put_back(folder: Path, *names: str) -> None:
    for name in names:
        for kept in (folder / "data").glob(name):
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        for kept in (folder / "yesterday").glob(name):
            target = folder / "data" / kept.name
            shutil.copytree(kept, target) if kept.is_dir() else shutil.copy2(kept, target)


def told(kb: core.KnowledgeBase) -> str:
    return str(create_app(kb).server.test_client().get("/health").json["status"])


def test_whole_folder_is_whole_and_nothing_can_tell_that_it_is_of_an_earlier_day(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    yesterday(tmp_path)
    put_back(tmp_path, "*")
    with knowledge_base(tmp_path) as kb:
        assert told(kb) == "ok" and "earlier day" not in caplog.text
        assert {each.name for each in kb.documents()} == {f"fees {at}.txt" for at in range(3)}
        assert kb.check_files().unnamed == 0
        assert kb.original("fees 1.txt", 1)[0].read_bytes() == b"The fee number 1 is 11 euros."


def test_catalogue_alone_stops_the_start(tmp_path: Path) -> None:
    yesterday(tmp_path)
    put_back(tmp_path, "catalog.db*")
    with pytest.raises(CatalogDamaged, match="lacks the newest"), knowledge_base(tmp_path):
        pass


def test_originals_alone_are_missed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    yesterday(tmp_path)
    put_back(tmp_path, "blobs")
    with knowledge_base(tmp_path) as kb:
        kb._background.join()
        assert "of an earlier day" in caplog.text and told(kb) == "degraded"


def test_what_a_place_elsewhere_has_besides_an_earlier_folder_is_in_quarantine(tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'far'}"
    yesterday(tmp_path, blob_url=url)
    put_back(tmp_path, "*")
    with knowledge_base(tmp_path, blob_url=url) as kb:
        kb._background.join()
        assert kb.check_files().unnamed == 2 and kb.check_files().missing == 0
        assert add(kb, "later", "The quaggaquoll came on another day.").version == 1
        assert kb.check_files().unnamed == 0


@pytest.mark.parametrize(("folder", "store"), [("keywords*", "keyword"), ("vectors*", "vector")])
@pytest.mark.parametrize("later", ["added", "deleted"])
def test_index_alone_is_said_and_brought_up_to_date(
    tmp_path: Path, folder: str, store: str, later: str, caplog: pytest.LogCaptureFixture
) -> None:
    yesterday(tmp_path, **KEPT)
    if later == "deleted":
        # What was purged since is in the index of the earlier day again, and has to leave it.
        with knowledge_base(tmp_path, **KEPT) as kb:
            kb.purge("later.txt")
            kb.purge("fees 1.txt")
            kb.work_off()
    put_back(tmp_path, folder)
    with knowledge_base(tmp_path, **KEPT) as kb:
        kb._background.join()
        assert [record.levelname for record in caplog.records if "earlier day" in record.message] == ["ERROR"]
        assert f"The {store} index has 3 rows" in caplog.text
        kb.work_off()
        assert all(each.is_sound for each in kb.check())
    caplog.clear()
    with knowledge_base(tmp_path, **KEPT) as kb:
        kb._background.join()
        assert "earlier day" not in caplog.text


def test_indexes_of_today_are_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    yesterday(tmp_path, **KEPT)
    with knowledge_base(tmp_path, **KEPT) as kb:
        kb.delete("fees 1.txt")
        add(kb, "fees 2", "The fee number 2 is 99 euros.")
    with knowledge_base(tmp_path, **KEPT) as kb:
        kb._background.join()
        assert "earlier day" not in caplog.text
        assert not [job for job in kb.jobs() if job.kind == "repair"]
