"""Files that nothing names: seen, taken back, removed by a person, and by nothing else."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from app.main import create_app
from core.cli.commands import main
from core.errors import NotFound, TypeMismatch
from tests.builders import add, knowledge_base

TEXT = b"The quince was uploaded after the snapshot."
NAME = hashlib.sha256(TEXT).hexdigest()


def left_behind(folder: Path) -> None:
    """Leave an original, an upload and a recording that no row names."""
    place = folder / "data" / "blobs" / NAME[:2]
    place.mkdir(parents=True, exist_ok=True)
    (place / NAME).write_bytes(TEXT)
    (folder / "data" / "transfers" / "half").write_bytes(b"half of an upload")
    (folder / "data" / "recordings" / "spikes.pt").write_bytes(b"a recording")


def original(folder: Path) -> Path:
    return folder / "data" / "blobs" / NAME[:2] / NAME


def test_it_stays_over_starts_until_it_is_taken_back(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First text.")
        left_behind(tmp_path)
    with knowledge_base(tmp_path) as kb:
        assert [each.name for each in kb.quarantine.list()] == [NAME, "half", "spikes"]
        with pytest.raises(TypeMismatch):
            kb.quarantine.restore(NAME, "quince.pdf")
        done = kb.quarantine.restore(NAME, "quince.txt")
        kb.work_off()
        assert (done.doc_key, kb.text_of("quince.txt")) == ("quince.txt", TEXT.decode())
        assert [each.name for each in kb.quarantine.list()] == ["half", "spikes"]
        with pytest.raises(NotFound):
            kb.quarantine.restore(NAME, "again.txt")


def test_emptying_removes_what_nothing_names_and_nothing_else(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First text.")
        left_behind(tmp_path)
        with pytest.raises(NotFound):
            kb.quarantine.empty([kb.version("a.txt", 1).sha256])
        assert kb.quarantine.empty(["half"]) == 1
        assert kb.quarantine.empty([]) == 0
        assert original(tmp_path).exists()
        assert kb.quarantine.empty() == 2
        assert not original(tmp_path).exists() and kb.quarantine.list() == []
        assert kb.text_of("a.txt") == "First text."


def test_after_a_purge_nothing_of_the_version_is_there(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        left_behind(tmp_path)
        kb.quarantine.restore(NAME, "quince.txt")
        kb.work_off()
        kb.purge("quince.txt")
        assert kb.catalog.purges.pending() == []
        # A recording that nobody names may quote what was purged, and goes with it.
        assert [each.name for each in kb.quarantine.list()] == ["half"]
    found = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and b"quince was" in path.read_bytes()]
    assert found == []


def test_pages_and_routes_are_for_administrators(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        left_behind(tmp_path)
        client = create_app(kb).server.test_client()
        client.environ_base["HTTP_SEC_FETCH_SITE"] = "same-origin"
        listed = client.get("/api/v1/stores/quarantine").json["files"]
        assert [each["kind"] for each in listed] == ["blob", "transfer", "recording"]
        sent = client.post("/api/v1/stores/quarantine/restore", json={"name": NAME, "file_name": "quince.txt"})
        assert (sent.status_code, sent.json["doc_key"]) == (202, "quince.txt")
        assert client.post("/api/v1/stores/quarantine/empty", json={"names": ["half"]}).json == {"count": 1}
        assert client.post("/api/v1/stores/quarantine/empty", json={}).json == {"count": 0}
        assert client.post("/api/v1/stores/quarantine/empty", json={"all": True}).json == {"count": 1}


def test_command_line_lists_takes_back_and_removes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with knowledge_base(tmp_path):
        left_behind(tmp_path)

    def command(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["quarantine", *words, "--data-dir", str(tmp_path / "data"), "--json"])
        assert not ended.value.code, capsys.readouterr().err
        return capsys.readouterr().out

    assert [each["name"] for each in json.loads(command("list"))] == [NAME, "half", "spikes"]
    assert json.loads(command("restore", NAME, "quince.txt"))["doc_key"] == "quince.txt"
    assert json.loads(command("empty", "--yes")) == {"count": 2}


@pytest.mark.parametrize("where", ["data/blobs", "bucket"])
def test_folder_or_bucket_of_an_earlier_day_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    chosen = {"blob_url": f"file://{tmp_path / where}"} if where == "bucket" else {}
    with knowledge_base(tmp_path, **chosen) as kb:
        add(kb, "a", "First text.")
        shutil.copytree(tmp_path / where, tmp_path / "earlier")
        add(kb, "b", "Second text.")
    shutil.rmtree(tmp_path / where)
    shutil.move(tmp_path / "earlier", tmp_path / where)
    with knowledge_base(tmp_path, **chosen) as kb:
        assert "of an earlier day" in caplog.text
        originals = next(store for store in kb.health().stores if store.name == "originals")
        assert originals.state == "damaged"
        kb.add_text("b", "Second text.")
        original, _ = kb.original("b.txt", 1)
        assert original.read_bytes() == b"Second text."
        assert {store.state for store in kb.health().stores if store.name == "originals"} == {"ok"}
