"""The command line on a server: the same commands, the same output, another place."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import core
from core.client import RagClient
from core.errors import GenerationFailed
from core.ingest.parsers import legacy
from core.model import Role
from tests.builders import knowledge_base
from tests.doubles import QueuedGenerator, use
from tests.integration.cli.conftest import HANDBOOK, OLDER
from tests.live import served


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("server"), job_workers=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(kb: core.KnowledgeBase) -> Iterator[str]:
    with served(kb) as address:
        yield address


@pytest.fixture
def filled_server(evorag: Any, papers: Path, url: str, kb: core.KnowledgeBase) -> Any:
    """The command line, once the handbook has two versions and the rules one on the server."""
    if not kb.documents():
        (papers / "handbook.md").write_text(OLDER, "utf-8")
        assert evorag("add", papers, "--tag", "rules", "--url", url)[0] == 0
        (papers / "handbook.md").write_text(HANDBOOK, "utf-8")
        assert evorag("add", papers / "handbook.md", "--url", url)[0] == 0
    return lambda *arguments: evorag(*arguments, "--url", url)


def test_files_go_to_the_server(filled_server: Any, kb: core.KnowledgeBase, data_dir: Path) -> None:
    status, out, _ = filled_server("list", "--json")
    assert status == 0
    assert {document["name"] for document in json.loads(out)} == {"handbook.md", "旅費規程.md"}
    assert kb.document("handbook.md").tags == ("rules",)
    assert not data_dir.exists()


def test_a_question_is_answered_by_the_server(filled_server: Any) -> None:
    status, out, _ = filled_server("ask", "How many days of leave in the first year?")
    assert status == 0
    assert "14 days" in out and "handbook.md, version 2" in out
    assert json.loads(filled_server("search", "leave", "--json")[1])["hits"]


def test_a_generator_of_the_server_that_fails_is_told(filled_server: Any, kb: core.KnowledgeBase) -> None:
    asked = ("ask", "How many days of leave in the first year?", "--generator", "queued", "--fresh")
    use(kb, QueuedGenerator(GenerationFailed("It broke."), GenerationFailed("It broke.")))
    status, out, err = filled_server(*asked)
    assert status == 0 and "14 days" in out
    assert err.startswith("warning: the generator “queued” did not write this answer") and "It broke." in err
    assert filled_server(*asked, "--strict")[0] == 1


def test_what_the_server_leaves_out_of_the_sample_is_told(
    evorag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legacy, "PROGRAMS", ("no-such-program",))
    with knowledge_base(tmp_path) as other, served(other) as address:
        status, _, err = evorag("sample", "--no-wait", "--url", address)
        assert status == 0 and err.startswith(
            "left out: company-overview.ppt, incident-report-2026-014.doc: LibreOffice"
        )
        with RagClient(address) as client:
            assert client.sample_left_out() == other.sample_left_out() != []


def test_versions_are_compared_as_on_a_data_folder(filled_server: Any) -> None:
    _, out, _ = filled_server("diff", "handbook.md", "1", "2")
    assert "[-12-]{+14+} days" in out
    assert len(json.loads(filled_server("diff", "handbook.md", "1", "2", "--json")[1])["rows"]) == 1
    assert filled_server("diff", "handbook.md", "1", "2", "--patch")[1].startswith("--- handbook.md")
    assert "<html" in filled_server("diff", "handbook.md", "1", "2", "--html")[1]


def test_versions_are_shown_and_rolled_back(filled_server: Any, kb: core.KnowledgeBase) -> None:
    assert filled_server("rollback", "handbook.md")[0] == 0
    assert kb.document("handbook.md").published_version == 1
    assert filled_server("publish", "handbook.md", "2")[0] == 0
    assert "14 days" in filled_server("show", "handbook.md", "--text")[1]
    assert json.loads(filled_server("audit", "--json", "--limit", "1")[1])[0]["action"] == "publish"
    assert json.loads(filled_server("versions", "handbook.md", "--json")[1])[0]["number"] == 2
    assert filled_server("jobs", "--json")[0] == 0


def test_questions_are_saved_and_watched(filled_server: Any) -> None:
    assert filled_server("questions", "--save", "How many days of leave in the first year?")[0] == 0
    [impact] = json.loads(filled_server("impact", "handbook.md", "1", "--json")[1])
    assert impact["comparison"]["is_changed"]


def test_the_servers_error_is_reported(filled_server: Any) -> None:
    status, out, err = filled_server("show", "nothing.md")
    assert (status, out) == (1, "")
    assert err.startswith("not_found: ")


def test_the_environment_names_the_server_and_the_key(
    evorag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as guarded, served(guarded) as address:
        guarded.accounts.create_user("ada", "correct horse battery", Role.ADMIN)
        _, secret = guarded.accounts.create_key("robot", Role.READER, user="ada")
        monkeypatch.setenv("EVORAG_URL", address)
        missing, wrong = evorag("list")[2], evorag("list", "--key", secret[:-1] + "~")[2]
        assert missing.startswith("unauthorized: The server wants a key")
        assert wrong.startswith("unauthorized: The server does not take the key of --key")
        assert "EVORAG_KEY" in missing and "EVORAG_KEY" in wrong
        assert evorag("list", "--key", secret)[0] == 0
        monkeypatch.setenv("EVORAG_KEY", secret)
        assert evorag("list", "--json")[:2] == (0, "[]\n")
        status, out, err = evorag("delete", "a.md")
        assert status == 1
        assert secret not in out + err
        assert secret not in repr(core.Settings())


def test_a_private_document_belongs_to_the_owner_of_the_key(evorag: Any, tmp_path: Path, papers: Path) -> None:
    with knowledge_base(tmp_path / "guarded", job_workers=1) as guarded, served(guarded) as address:
        guarded.accounts.create_user("ada", "correct horse battery", Role.ADMIN)
        _, secret = guarded.accounts.create_key("robot", Role.EDITOR, user="ada")
        where = ("--url", address, "--key", secret)
        status, out, err = evorag("add", papers / "handbook.md", "--private", "--json", *where)
        assert status == 0, err
        assert json.loads(out)["uploads"][0]["doc_key"] == "~ada/handbook.md"
        status, _, err = evorag("add", papers, "--url", address)
        assert (status, err.count("unauthorized: ")) == (1, 1)


def test_a_data_folder_that_is_named_is_taken_rather_than_the_environments_server(
    evorag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVORAG_URL", "http://127.0.0.1:1")
    assert evorag("list", "--json", "--data-dir", tmp_path / "data")[:2] == (0, "[]\n")


def test_a_server_and_a_data_folder_are_too_much(evorag: Any, tmp_path: Path, url: str) -> None:
    status, _, err = evorag("list", "--url", url, "--data-dir", tmp_path)
    assert status == 2
    assert "--data-dir" in err


def test_what_works_on_data_folders_alone_says_so(evorag: Any, url: str) -> None:
    status, _, err = evorag("serve", "--url", url)
    assert status == 2
    assert "--url" in err


@pytest.mark.parametrize("place", ["folder", "server"])
def test_an_archive_is_added_with_all_that_it_holds(evorag: Any, tmp_path: Path, url: str, place: str) -> None:
    packed = tmp_path / f"papers-{place}.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("one", "two"):
            archive.writestr(f"{name}-{place}.md", HANDBOOK.replace("14", name))
    where = ("--url", url) if place == "server" else ()
    status, out, err = evorag("add", packed, "--tag", "packed", "--json", *where)
    assert status == 0, err
    assert {job["state"] for job in json.loads(out)["jobs"]} == {"done"}
    documents = json.loads(evorag("list", "--search", place, "--json", *where)[1])
    assert [(document["state"], document["tags"]) for document in documents] == [("published", ["packed"])] * 2
