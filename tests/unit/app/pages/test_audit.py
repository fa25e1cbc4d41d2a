"""The audit: every publication in words, narrowed by the address, more of it on demand."""

from __future__ import annotations

import json

import pytest
from dash import Dash, dcc, html
from flask.testing import FlaskClient

import core
from tests.builders import add
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, text


@pytest.fixture
def past(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """A document that was published twice, rolled back, unpublished and shown again; and another one."""
    add(kb, "hours.txt", "Open at nine.")
    add(kb, "hours.txt", "Open at ten.")
    kb.rollback("hours.txt", note="ten was wrong")
    kb.unpublish("hours.txt", actor="Sato")
    kb.restore("hours.txt")
    add(kb, "規程.txt", "日当は 62 米ドルとする。")
    return kb


def rows(page) -> list[list[str]]:
    body = by_id(page, "audit-rows")
    return [[" ".join(text(cell).split()) for cell in parts(row, html.Td)] for row in parts(body, html.Tr)]


def test_empty_audit_says_what_belongs_there(window: Dash) -> None:
    assert "Nothing was published yet" in text(open_page(window, "/audit"))


def test_every_publication_is_a_row_that_says_what_changed(window: Dash, past) -> None:
    listed = rows(open_page(window, "/audit"))
    assert [(row[2], row[3], row[4]) for row in listed] == [
        ("Published", "規程.txt", "nothing → Version 1"),
        ("Restored", "hours.txt", "nothing → Version 1"),
        ("Unpublished", "hours.txt", "Version 1 → nothing"),
        ("Rolled back", "hours.txt", "Version 2 → Version 1"),
        ("Published", "hours.txt", "Version 1 → Version 2"),
        ("Published", "hours.txt", "nothing → Version 1"),
    ]
    assert (listed[2][5], listed[3][6]) == ("Sato", "ten was wrong")
    assert listed[0][5] == "—"


def test_row_of_a_purge_names_the_version_that_went(window: Dash, past) -> None:
    past.purge("hours.txt", 2)
    row = rows(open_page(window, "/audit"))[0]
    assert (row[2], row[4]) == ("Purged version 2", "Version 1")


def test_row_leads_to_the_document_and_to_the_past(window: Dash, past) -> None:
    page = open_page(window, "/audit?doc=hours.txt&action=rollback")
    links = [link.href for link in parts(by_id(page, "audit-rows"), dcc.Link)]
    assert links == ["/documents/hours.txt?version=1", f"/ask?asof={past.publications('hours.txt')[2].seq}"]


def test_address_narrows_the_list_and_its_exports(window: Dash, past) -> None:
    page = open_page(window, "/audit?doc=hours.txt&action=publish")
    assert [row[4] for row in rows(page)] == ["Version 1 → Version 2", "nothing → Version 1"]
    exports = [link.href for link in parts(page, html.A) if getattr(link, "download", None)]
    assert exports == [f"/api/v1/audit.{kind}?doc=hours.txt&action=publish" for kind in ("csv", "json")]
    assert by_id(page, "audit-action").value == "publish"


def test_nothing_that_matches_offers_everything(window: Dash, past) -> None:
    page = open_page(window, "/audit?doc=規程.txt&action=delete")
    assert "Nothing matches" in text(page) and any(link.href == "/audit" for link in parts(page, dcc.Link))


@pytest.mark.parametrize("address", ["/audit?action=drop&doc=", "/audit?before=x&action=delete&action=publish"])
def test_odd_addresses_still_list(window: Dash, past, address: str) -> None:
    assert rows(open_page(window, address))


def test_unknown_document_is_an_error_with_a_remedy(window: Dash, past) -> None:
    assert "not_found" in text(open_page(window, "/audit?doc=gone.txt"))


@pytest.mark.long
def test_more_rows_are_added_below(window: Dash, client: FlaskClient, past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pages.audit.PAGE_ROWS", 4)
    page = open_page(window, "/audit")
    assert len(rows(page)) == 4 and by_id(page, "audit-more").hidden is False
    sent = {"audit-more.n_clicks": 1, "audit-next.data": by_id(page, "audit-next").data}
    response = press(window, client, "audit-more.n_clicks", sent)["response"]
    added = json.dumps(response["audit-rows"]["children"])
    assert added.count("audit-seq") == 2 and "Version 2" in added
    assert response["audit-more"]["hidden"] is True and response["audit-count"]["children"] == "All 6 entries"


def test_note_is_text_and_never_markup(window: Dash, past) -> None:
    past.publish("hours.txt", 2, note="<img src=x onerror=alert(1)>")
    assert rows(open_page(window, "/audit"))[0][6] == "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize(("lang", "word"), [("en", "Rolled back"), ("ja", "以前の版に戻した")])
def test_list_speaks_both_languages(window: Dash, past, lang: str, word: str) -> None:
    assert word in text(open_page(window, "/audit", lang))
    assert by_class(open_page(window, "/audit", lang), "audit-filters")


@pytest.mark.long
def test_documents_beyond_the_first_ones_are_found_by_their_names(window: Dash, client: FlaskClient, past) -> None:
    past.add_texts([(f"note {number:02}.txt", "", f"Note {number}.") for number in range(60)])
    past.work_off()
    page = open_page(window, "/audit?doc=hours.txt")
    options = by_id(page, "audit-document").options
    assert len(options) < 60
    assert "hours.txt" in [option["value"] for option in options]
    values = {"audit-document.search_value": "note 59", "audit-document.value": "hours.txt"}
    found = press(window, client, "audit-document.search_value", values)["response"]["audit-document"]["options"]
    assert [option["value"] for option in found] == ["hours.txt", "note 59.txt"]
