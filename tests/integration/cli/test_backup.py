"""Moving house from the command line."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import KnowledgeBase
from core.errors import BadBundle
from core.model import Health
from tests.builders import begin, knowledge_base
from tests.live import served


def documents(evorag: Any, folder: Path) -> list[str]:
    return [each["doc_key"] for each in json.loads(evorag("list", "--data-dir", folder, "--json")[1])]


def test_export_and_import_into_a_new_folder(filled: Any, tmp_path: Path) -> None:
    file, new = tmp_path / "all.tar", tmp_path / "new"
    status, out, err = filled("export", file)
    assert (status, out) == (0, "") and "2 documents" in err and f"{file.stat().st_size:,} bytes" in err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    status, out, err = filled("import", file, "--data-dir", new, "--json")
    assert status == 0 and json.loads(out)["rows"]["documents"] == 2
    assert documents(filled, new) == documents(filled, tmp_path / "data") != []
    status, _, err = filled("import", file, "--data-dir", new)
    assert status == 1 and err.startswith("conflict:")


def test_archive_that_is_none_is_refused_in_words(evorag: Any, tmp_path: Path) -> None:
    (tmp_path / "no.tar").write_bytes(b"no archive at all" * 100)
    status, out, err = evorag("import", tmp_path / "no.tar", "--data-dir", tmp_path / "new")
    assert (status, out) == (1, "") and err.splitlines()[0].startswith(f"{BadBundle.code}: ")
    assert not (tmp_path / "new").exists()
    assert evorag("import", tmp_path / "nothing.tar")[0] == 1


def test_migrate_takes_settings_from_arguments_and_files(filled: Any, tmp_path: Path) -> None:
    (tmp_path / "new.env").write_text(f"# the new house\n\nEVORAG_DATA_DIR={tmp_path / 'new'}\n", "utf-8")
    status, _, err = filled("migrate", "--to", f"@{tmp_path / 'new.env'}", "--to", "top_k=7")
    assert status == 0, err
    assert documents(filled, tmp_path / "new") == documents(filled, tmp_path / "data")


def test_migrate_stays_while_a_store_has_not_been_looked_at(
    filled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, told = KnowledgeBase.health, list[Health]()

    def health(kb: KnowledgeBase) -> Health:
        found = real(kb)
        if not told:
            # So it is between the vector store, which has all, and the keyword store, which nobody asked.
            stores = tuple(replace(one, state="waiting" if one.name == "keyword" else "ok") for one in found.stores)
            found = replace(found, stores=stores, outbox=0)
        told.append(found)
        return found

    monkeypatch.setattr(KnowledgeBase, "health", health)
    status, _, err = filled("migrate", "--to", f"EVORAG_DATA_DIR={tmp_path / 'new'}")
    assert status == 0, err
    assert len(told) > 1 and told[-1].outbox == 0
    assert {store.name: store.state for store in told[-1].stores}["keyword"] == "ok"


def test_migrate_takes_an_empty_value_of_a_file_for_not_set(filled: Any, tmp_path: Path) -> None:
    (tmp_path / "new.env").write_text(
        f"EVORAG_DATA_DIR={tmp_path / 'new'}\nEVORAG_TOP_K=\nASK_PROMPT_MAX_BYTES=\nEVORAG_CATALOG_URL=\n", "utf-8"
    )
    status, _, err = filled("migrate", "--to", f"@{tmp_path / 'new.env'}")
    assert status == 0, err
    assert documents(filled, tmp_path / "new") == documents(filled, tmp_path / "data")


def test_migrate_repeats_no_secret_where_it_is_misunderstood(evorag: Any, data_dir: Path) -> None:
    begin(data_dir)
    for given in ("colour=hunter2", "EVORAG_PORT=hunter2", "EVORAG_CATALOG_URL=hunter2"):
        status, out, err = evorag("migrate", "--to", given)
        assert status == 1 and err.startswith("invalid_input:")
        assert "hunter2" not in out + err


def test_backup_of_a_server_is_what_import_takes(evorag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "backup.tar"
    with knowledge_base(tmp_path / "server") as kb:
        kb.add_text("a.txt", "Some words.")
        kb.work_off()
        with served(kb) as url:
            status, out, err = evorag("backup", file, "--url", url, "--json")
            assert status == 0, err
            assert json.loads(out)["size_bytes"] == file.stat().st_size
            assert evorag("backup", "-", "--url", url)[0] == 1
    begin(tmp_path / "new")
    assert evorag("import", file, "--data-dir", tmp_path / "new")[0] == 0
    assert documents(evorag, tmp_path / "new") == ["a.txt"]
    monkeypatch.setenv("EVORAG_URL", "http://127.0.0.1:9")
    assert evorag("export", file)[0] == 1
