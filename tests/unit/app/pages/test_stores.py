"""The page Stores without a browser: the newest check, what is wrong, and what came of mending it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from core.access import acting
from core.model import Fault, Principal, Role
from tests.builders import add
from tests.contracts.consistency import of_version, plant
from tests.unit.app.drawn import by_id, open_page, press, press_one_of, text


def test_page_says_what_a_check_is_before_the_first_one(window: Dash) -> None:
    assert "Not checked yet" in text(open_page(window, "/stores"))
    assert "検査" in text(open_page(window, "/stores", "ja"))


@pytest.mark.parametrize(("lang", "words"), [("en", "Keyword search"), ("ja", "キーワード検索")])
def test_page_says_how_the_stores_are_now(window: Dash, lang: str, words: str) -> None:
    assert words in text(open_page(window, "/stores", lang))


def test_fault_is_shown_with_its_version_and_mended_by_a_button(
    kb: core.KnowledgeBase, window: Dash, client: FlaskClient
) -> None:
    add(kb, "leave.txt", "There are 14 days of leave.")
    plant(kb, "keyword", Fault.STALE, of_version(kb, "leave.txt", 1))
    press(window, client, "stores-check.n_clicks", {"stores-check.n_clicks": 1})
    assert "Checking the stores" in text(open_page(window, "/stores"))
    kb.work_off()
    found = open_page(window, "/stores")
    assert "One row is wrong" in text(found) and "leave.txt, version 1" in text(found)
    assert by_id(found, "stores-mend") is not None
    assert "修復" in text(open_page(window, "/stores", "ja"))
    press(window, client, "stores-mend.n_clicks", {"stores-mend.n_clicks": 1})
    kb.work_off()
    assert "the second check finds nothing wrong" in text(open_page(window, "/stores"))


def test_store_is_written_anew_by_its_button(kb: core.KnowledgeBase, window: Dash, client: FlaskClient) -> None:
    press_one_of(client, {"type": "stores-anew", "store": "vector"}, {})
    assert kb.store_report().store == "vector"
    assert "Writing a store anew" in text(open_page(window, "/stores"))


@pytest.mark.long
def test_files_that_nothing_names_and_originals_that_are_gone_are_listed(
    kb: core.KnowledgeBase, window: Dash, client: FlaskClient, tmp_path: Path
) -> None:
    add(kb, "leave.txt", "There are 14 days of leave.")
    press(window, client, "stores-check.n_clicks", {"stores-check.n_clicks": 1})
    kb.work_off()
    assert "the catalogue names every file" in text(open_page(window, "/stores"))
    original, _ = kb.original("leave.txt", 1)
    stranger = original.parent.parent / "ab" / ("ab" * 32)
    stranger.parent.mkdir(exist_ok=True)
    original.rename(stranger)
    press(window, client, "stores-check.n_clicks", {"stores-check.n_clicks": 1})
    kb.work_off()
    shown = text(open_page(window, "/stores"))
    assert "One original is missing" in shown and "leave.txt, version 1" in shown
    assert "One file is not named in the catalogue" in shown and "ab" * 32 in shown and "27 B" in shown
    assert "原本" in text(open_page(window, "/stores", "ja"))
    told = client.get("/api/v1/stores/files").get_json()
    assert (told["missing"], told["unnamed"], told["unnamed_files"][0]["name"]) == (1, 1, "ab" * 32)


@pytest.mark.parametrize("role", [Role.READER, Role.EDITOR])
def test_page_is_for_administrators(window: Dash, role: Role) -> None:
    with acting(Principal("somebody", role, 7)):
        shown = text(open_page(window, "/stores"))
    assert "administrator" in shown.lower()
    assert "not checked" not in shown


RULES = "\n\n".join(f"Rule {n}. The lamp of room {n} is cleaned every {n + 2} weeks by its keeper." for n in range(40))


@pytest.fixture
def outdated(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> core.KnowledgeBase:
    """A knowledge base whose document was read by another reader."""
    add(kb, "rules", RULES)
    kb.catalog.documents.update_version(kb.version("rules.txt", 1).id, reader="1.1.400")
    return kb


def test_documents_of_an_earlier_reader_are_read_anew_used_and_taken_back(
    outdated: core.KnowledgeBase, window: Dash, client: FlaskClient
) -> None:
    kb = outdated
    assert "1 document was read by an earlier EvoRAG" in text(open_page(window, "/stores"))
    assert "1件の文書は以前の EvoRAG" in text(open_page(window, "/stores", "ja"))
    press_one_of(client, {"type": "readings-act", "act": "begin"}, {})
    assert "1 document is being read anew" in text(open_page(window, "/stores"))
    kb.work_off()
    found = text(open_page(window, "/stores"))
    assert "1 document is read anew and waits" in found and "the same words" in found
    for act, tick, reading in (("show", "show", 2), ("undo", "undo", 1)):
        press_one_of(client, {"type": "readings-act", "act": act}, {})
        for _ in range(2):
            press(
                window,
                client,
                "readings-tick.n_intervals",
                {"readings-tick.n_intervals": 1, "readings-work.data": tick},
            )
        assert kb.version("rules.txt", 1).reading == reading
    assert "1 document went back to its former reading" in text(open_page(window, "/stores"))


def test_reading_that_nobody_used_is_discarded(outdated: core.KnowledgeBase, window: Dash, client: FlaskClient) -> None:
    outdated.readings.begin()
    outdated.work_off()
    press_one_of(client, {"type": "readings-act", "act": "drop"}, {})
    assert (outdated.readings.report().waiting, outdated.readings.report().outdated) == (0, 1)


def test_page_says_when_every_document_was_read_by_this_reader(kb: core.KnowledgeBase, window: Dash) -> None:
    add(kb, "rules", RULES)
    assert "Every document shown was read by this version of EvoRAG" in text(open_page(window, "/stores"))


def test_link_of_an_old_citation_shows_the_reading_it_was_made_from(outdated: core.KnowledgeBase, window: Dash) -> None:
    address = "/documents/rules.txt?version=1&chunk=0&start=0&end=7"
    outdated.readings.begin()
    outdated.work_off()
    assert "earlier reading" not in text(open_page(window, address))
    outdated.readings.show()
    assert "earlier reading" in text(open_page(window, address))
    assert "earlier reading" not in text(open_page(window, address + "&reading=2"))
    assert "earlier reading" not in text(open_page(window, address + "&reading=now"))
    assert "earlier reading" not in text(open_page(window, "/documents/rules.txt?version=1"))


def test_what_nothing_names_is_taken_back_and_removed_from_the_page(
    kb: core.KnowledgeBase, window: Dash, client: FlaskClient, tmp_path: Path
) -> None:
    text_of, name = b"The quince is nobody's.", hashlib.sha256(b"The quince is nobody's.").hexdigest()
    place = tmp_path / "data" / "blobs" / name[:2]
    place.mkdir(exist_ok=True)
    (place / name).write_bytes(text_of)
    (tmp_path / "data" / "transfers" / "half").write_bytes(b"half of an upload")
    press(window, client, "stores-check.n_clicks", {"stores-check.n_clicks": 1})
    kb.work_off()
    found = open_page(window, "/stores")
    assert by_id(found, "stores-restore") is not None and "in quarantine" in text(found)
    assert "隔離" in text(open_page(window, "/stores", "ja"))
    chosen = {"stores-quarantine-file.value": name, "stores-quarantine-name.value": "quince.txt"}
    press(window, client, "stores-restore.n_clicks", {"stores-restore.n_clicks": 1, **chosen})
    press(window, client, "stores-empty.submit_n_clicks", {"stores-empty.submit_n_clicks": 1})
    kb.work_off()
    assert kb.text_of("quince.txt") == text_of.decode()
    assert kb.quarantine.list() == []
