"""A data folder and an archive that commit bb92060 wrote open with this one, and nothing in them is lost."""

from __future__ import annotations

import json
import lzma
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import core
from app.main import create_app
from core.cli.transfer import export_to, import_from
from core.model import GenerationState
from core.text.analysis import ANALYSER_ID
from tests.kept.facts import facts, missing, travelled
from tests.kept.furnish import ADMIN, LONG_TEXT, PASSWORD, RECEIVED, Caller, furnish, settings
from tests.kept.names import of_files, of_routes

pytestmark = pytest.mark.every_run

HERE = Path(__file__).parent
KINDS = ("folder", "archive")


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    """What was written down at that commit: secrets of keys, and what the routes said."""
    told: dict[str, Any] = json.loads(lzma.decompress((HERE / "facts.json.xz").read_bytes()))
    return told


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kb(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """The kept folder, or a new one that the kept archive was taken into."""
    place = tmp_path_factory.mktemp(kind)
    with tarfile.open(HERE / "kept.tar.xz") as packed:
        # Ours, so that it needs no filter, which Python has since 3.11.4.
        packed.extractall(place)
    if kind == "archive":
        shutil.rmtree(place / "data")
        with (place / "archive.tar").open("rb") as file:
            import_from(settings(place / "data"), file)
    with core.build(settings(place / "data")) as opened:
        yield opened


@pytest.fixture(scope="module")
def ada(kb: core.KnowledgeBase, before: dict[str, Any]) -> Caller:
    """A program with the administrator's key of that time."""
    call = Caller(create_app(kb).server.test_client(), before["secrets"]["importer"])
    call.wait_until_ready()
    return call


@pytest.fixture(scope="module")
def said(kind: str, before: dict[str, Any]) -> dict[str, Any]:
    """What the routes must still say."""
    told: dict[str, Any] = before["facts"] if kind == "folder" else travelled(before["facts"])
    return told


@pytest.fixture(scope="module")
def now(ada: Caller) -> dict[str, Any]:
    return facts(ada)


def test_everything_is_said_as_before(now: dict[str, Any], said: dict[str, Any]) -> None:
    # Its index is of an earlier analyser, and built anew beside the one that serves.
    kept = {name: told for name, told in said.items() if name != "generations"}
    # Comparisons are made anew by rules that also read numbers in words.
    kept["diffs"] = {key: {**found, "values": now["diffs"][key]["values"]} for key, found in said["diffs"].items()}
    # Behind the passage that answers may stand others: they are ordered by rules that know more words.
    kept["passages"], found_now = first_of(said["passages"]), {**now, "passages": first_of(now["passages"])}
    assert list(missing(kept, found_now)) == [], "\n".join(missing(kept, found_now))
    for key, found in said["diffs"].items():
        assert all(value in now["diffs"][key]["values"] for value in found.get("values", ()))


def first_of(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {key: passages[:1] for key, passages in found.items()}


def test_index_of_the_earlier_analyser_is_replaced(kb: core.KnowledgeBase, kind: str, said: dict[str, Any]) -> None:
    if kind == "folder":
        assert said["generations"]["generations"][0]["analyser"] == "ipadic-parts+snowball-english/1" != ANALYSER_ID
    kb.work_off()
    serving = [each.analyser for each in kb.generations.list() if each.state is GenerationState.SERVING]
    assert serving == [ANALYSER_ID]


def test_accounts_of_questions_are_whole(now: dict[str, Any], said: dict[str, Any]) -> None:
    """The reader of accounts fills what it misses with defaults, so that a lost field would only look empty."""
    assert len(said["traces"]) >= 20
    assert list(missing(said["traces"], now["traces"])) == []
    legs = [trace["keyword"] for trace in now["traces"].values() if "keyword" in trace]
    assert any(leg["hits"] and leg["hits"][0]["terms"] for leg in legs) and any(leg["error"] for leg in legs)


def test_people_sign_in_with_their_passwords_and_keys(kb: core.KnowledgeBase, before: dict[str, Any]) -> None:
    browser = Caller(create_app(kb).server.test_client())
    assert browser.sign_in(ADMIN, "a wrong password") == 401
    assert browser.sign_in("eve", PASSWORD) == 401
    assert browser.raw("GET", "me").status_code == 401
    assert browser.sign_in(ADMIN, PASSWORD) == 303
    assert browser("GET", "me")["name"] == ADMIN
    for name, status in (("importer", 200), ("bens", 200), ("revoked", 401)):
        client = create_app(kb).server.test_client()
        assert Caller(client, before["secrets"][name]).raw("GET", "me").status_code == status, name


def test_both_stores_hold_what_the_catalogue_says(kb: core.KnowledgeBase, ada: Caller) -> None:
    job = ada("POST", "stores/repair", json={"dry_run": True})["job_id"]
    kb.work_off()
    assert ada("GET", f"jobs/{job}")["state"] == "done"
    checks = ada("GET", f"stores/report?job_id={job}")["before"]
    assert [check["store"] for check in checks] == ["vector", "keyword"]
    for check in checks:
        faults = ("missing", "orphaned", "stale", "misplaced", "versions_wrong")
        assert [check[name] for name in faults] == [0] * 5 and check["error"] == ""
        assert check["stored"] == check["expected"] > 0 and check["versions_checked"] > 0


def test_work_that_was_queued_is_done(kb: core.KnowledgeBase, ada: Caller, now: dict[str, Any]) -> None:
    kb.work_off()
    assert not [job for job in ada("GET", "jobs?limit=1000")["jobs"] if job["state"] in ("queued", "running")]
    waiting = ada("GET", "documents/waiting.txt")
    assert (waiting["published_version"], waiting["tags"]) == (1, ["late"])
    boiler = ada("GET", "documents?search=boiler")["documents"][0]
    assert (boiler["owner"], boiler["tags"], boiler["published_version"]) == (ADMIN, ["manual"], 1)
    assert ada("POST", "search", json={"question": "When is the boiler lit?"})["hits"]
    assert ada("GET", "documents/hours.txt/versions/4")["publish_at"].startswith("2199-05-01")


def test_upload_under_way_is_continued(kind: str, kb: core.KnowledgeBase, ada: Caller, now: dict[str, Any]) -> None:
    uploads = [each for each in now["uploads"]["uploads"] if each["state"] == "receiving"]
    if kind == "archive":
        assert uploads == []
        return
    (upload,) = uploads
    assert upload["offset_bytes"] == RECEIVED
    ada.go_on(f"uploads/{upload['id']}", LONG_TEXT.encode()[RECEIVED:], RECEIVED)
    kb.work_off()
    pump = ada("GET", "documents/pump.txt")
    assert (pump["tags"], pump["latest_version"]) == (["manual", "pump"], 2)
    assert ada("GET", "documents/pump.txt/versions/2/original") == LONG_TEXT.encode()


def test_documents_go_on_where_they_were(kb: core.KnowledgeBase, ada: Caller, now: dict[str, Any]) -> None:
    ada("POST", "texts", json={"name": "fees.txt", "text": "The yearly fee is fourteen euros."})
    kb.work_off()
    assert ada("GET", "documents/fees.txt")["published_version"] == 5
    ada("POST", "documents/fees.txt/rollback", json={"version": 1})
    ada("POST", "documents/deleted.txt/restore")
    kb.work_off()
    hits = ada("POST", "search", json={"question": "What is the yearly fee?"})["hits"]
    assert (hits[0]["placed"]["doc_key"], hits[0]["placed"]["version"]) == ("fees.txt", 1)


def test_no_written_name_is_lost(tmp_path: Path) -> None:
    """Columns, and fields of JSON in rows, files and archives: one may come in, none may go or be renamed."""
    furnish(tmp_path / "data", tmp_path)
    with (tmp_path / "archive.tar").open("wb") as file:
        export_to(settings(tmp_path / "data"), file)
    kept = set((HERE / "names.txt").read_text(encoding="utf-8").splitlines())
    assert sorted(kept - of_files(tmp_path / "data", tmp_path / "archive.tar")) == []


def test_no_name_that_programs_use_is_lost(tmp_path: Path) -> None:
    """What routes take and answer, by their description: a field may come in, none may go or be renamed."""
    then = json.loads(lzma.decompress((HERE / "routes.json.xz").read_bytes()))
    with core.build(settings(tmp_path / "data", test_mode=True)) as kb:
        described = Caller(create_app(kb).server.test_client())("GET", "openapi.json")
    assert sorted(of_routes(then) - of_routes(described)) == []
