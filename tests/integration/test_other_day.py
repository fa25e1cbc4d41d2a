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
def test_index_alone_is_found_by_a_check_and_brought_up_to_date_by_a_repair(
    tmp_path: Path, folder: str, store: str
) -> None:
    yesterday(tmp_path, **KEPT)
    put_back(tmp_path, folder)
    with knowledge_base(tmp_path, **KEPT) as kb:
        kb._background.join()
        (found,) = kb.check(store)
        assert (found.missing, [each.doc_key for each in found.versions]) == (1, ["later.txt"])
        kb.repair(store, dry_run=False)
        kb.work_off()
        assert all(each.is_sound for each in kb.check())
