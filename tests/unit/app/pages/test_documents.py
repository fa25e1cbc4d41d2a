"""The list of documents: rows, tags, text entries, and a delete that can be undone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.components.document.grid import row_of, tags_of
from tests.builders import add
from tests.unit.app.drawn import by_id, open_page, press, press_one_of, text

PAGE_DOCUMENTS = 100
ENTRY = {"documents-entry-save.n_clicks": 1}


@pytest.fixture
def two(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "Orchard.txt", "The orchard holds 240 trees.")
    add(kb, "旅費規程.txt", "海外出張の日当は 62 米ドルとする。")
    return kb


def keys(page) -> set[str]:
    return {row["key"] for row in by_id(page, "documents-grid").rowData}


def notice(answer: dict) -> str:
    return json.dumps(answer["sideUpdate"]["notice"], ensure_ascii=False)


def test_empty_list_says_what_belongs_there(window: Dash) -> None:
    page = open_page(window, "/documents")
    assert by_id(page, "documents-list").className == "is-empty" and "No documents yet" in text(page)


def test_every_document_is_a_row_with_its_state_and_versions(window: Dash, two) -> None:
    add(two, "Orchard.txt", "The orchard holds 250 trees.")
    rows = {row["key"]: row for row in by_id(open_page(window, "/documents"), "documents-grid").rowData}
    assert set(rows) == {"orchard.txt", "旅費規程.txt"}
    orchard = rows["orchard.txt"]
    assert (orchard["published"], orchard["versions"], orchard["state"]) == (2, 2, "published")
    assert rows["旅費規程.txt"]["language"] == "Japanese"


def test_row_says_what_waits_behind_the_published_version(kb: core.KnowledgeBase) -> None:
    def waiting() -> dict:
        return {
            name: value for name, value in row_of(kb.document("hours.txt")).items() if name in ("scheduled", "hidden")
        }

    add(kb, "hours.txt", "The shop opens at eight.")
    assert waiting() == {}
    kb.add_text("hours.txt", "The shop opens at nine.", draft=True)
    kb.work_off()
    assert waiting() == {"hidden": 2} and row_of(kb.document("hours.txt"))["state"] == "published"
    due = datetime.now(UTC) + timedelta(days=1)
    kb.schedule("hours.txt", 2, due)
    assert waiting() == {"scheduled": due.isoformat()}
    kb.publish("hours.txt", 2)
    assert waiting() == {}


def test_row_carries_a_name_as_it_is(kb: core.KnowledgeBase) -> None:
    add(kb, "<b>a & b #50%.txt", "text of some length")
    row = row_of(kb.documents()[0])
    assert row["name"] == "<b>a & b #50%.txt"


def test_deleted_documents_are_listed_on_demand(window: Dash, two) -> None:
    two.delete("orchard.txt")
    assert keys(open_page(window, "/documents")) == {"旅費規程.txt"}
    assert keys(open_page(window, "/documents?deleted=1")) == {"orchard.txt", "旅費規程.txt"}


def test_deleted_documents_come_back_by_undo(window: Dash, client: FlaskClient, two) -> None:
    chosen = {"action": "delete", "keys": ["orchard.txt", "旅費規程.txt"], "at": 1}
    answer = press(window, client, "documents-chosen.data", {"documents-chosen.data": chosen})
    assert two.documents() == [] and "Deleted 2 documents" in notice(answer)
    button = next(
        part["props"]["id"]
        for part in answer["sideUpdate"]["notice"]["children"]["props"]["children"]
        if part and part["props"].get("id")
    )
    press_one_of(client, button, {})
    assert {document.doc_key for document in two.documents()} == {"orchard.txt", "旅費規程.txt"}


def test_restore_brings_chosen_documents_back(window: Dash, client: FlaskClient, two) -> None:
    two.delete("orchard.txt")
    chosen = {"action": "restore", "keys": ["orchard.txt"], "at": 1}
    answer = press(window, client, "documents-chosen.data", {"documents-chosen.data": chosen})
    assert answer["response"]["documents-changes"]["data"]["keys"] == ["orchard.txt"]
    assert two.document("orchard.txt").state == "published"


def test_tags_written_into_the_list_are_kept(window: Dash, client: FlaskClient, two) -> None:
    change = [{"data": {"key": "orchard.txt"}, "value": "fruit, 果樹園、 fruit,,", "oldValue": "", "colId": "tags"}]
    press(window, client, "documents-grid.cellValueChanged", {"documents-grid.cellValueChanged": change})
    assert two.document("orchard.txt").tags == ("fruit", "果樹園")


def test_tags_are_split_at_western_and_japanese_commas() -> None:
    assert tags_of(" a,b、c，a ,, ") == ("a", "b", "c")


def test_text_entry_is_saved_and_saved_again_as_its_next_version(window: Dash, client: FlaskClient, kb) -> None:
    for text_of_entry in ("Open at nine.", "Open at ten."):
        sent = {**ENTRY, "documents-entry-name.value": "Hours", "documents-entry-text.value": text_of_entry}
        answer = press(window, client, "documents-entry-save.n_clicks", sent)
        kb.work_off()
        assert "documents-entry" in answer["response"] and "Saved “Hours”" in notice(answer)
    document = kb.documents()[0]
    assert document.version_count == 2 and kb.text_of(document.doc_key) == "Open at ten."


def test_same_text_again_is_told_to_be_unchanged(window: Dash, client: FlaskClient, kb) -> None:
    sent = {**ENTRY, "documents-entry-name.value": "Hours", "documents-entry-text.value": "Open at nine."}
    press(window, client, "documents-entry-save.n_clicks", sent)
    assert "already says this" in notice(press(window, client, "documents-entry-save.n_clicks", sent))


@pytest.mark.parametrize(("name", "entry"), [("", "text"), ("name", "  "), ("name", "x" * 65_536)])
def test_refused_text_entry_stays_open_with_its_error(window: Dash, client: FlaskClient, kb, name, entry) -> None:
    sent = {**ENTRY, "documents-entry-name.value": name, "documents-entry-text.value": entry}
    response = press(window, client, "documents-entry-save.n_clicks", sent)["response"]
    assert response["documents-entry"]["hidden"] is False
    assert "error-line" in json.dumps(response["documents-entry-error"])
    assert kb.documents() == []


def test_text_entry_opens_with_its_present_text(window: Dash, two) -> None:
    page = open_page(window, "/documents?edit=orchard.txt")
    assert by_id(page, "documents-entry").hidden is False
    assert by_id(page, "documents-entry-text").value == "The orchard holds 240 trees."
    assert by_id(page, "documents-entry-name").disabled is True


def test_uploaded_file_is_not_edited_as_text(window: Dash, kb, tmp_path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\nSome text.")
    kb.add_path(path)
    kb.work_off()
    assert "only text entries are edited here" in text(open_page(window, "/documents?edit=notes.md"))


def test_rows_of_finished_jobs_are_brought_up_to_date(window: Dash, client: FlaskClient, kb) -> None:
    kb.add_text("late.txt", "It arrived after the page was opened.")
    kb.work_off()
    sent = {"documents-seen.data": "2020-01-01T00:00:00+00:00", "documents-tick.n_intervals": 1}
    response = press(window, client, "documents-tick.n_intervals", sent)["response"]
    assert response["documents-changes"]["data"]["keys"] == ["late.txt"]
    later = {**sent, "documents-seen.data": "2999-01-01T00:00:00+00:00"}
    assert "documents-changes" not in press(window, client, "documents-tick.n_intervals", later)["response"]


def test_states_of_what_no_question_sees_are_told_apart(window: Dash, kb) -> None:
    for name in ("draft.txt", "planned.txt"):
        kb.add_text(name, f"Text of {name}.", draft=True)
    add(kb, "hidden.txt", "Text that is hidden.")
    kb.work_off()
    kb.unpublish("hidden.txt")
    kb.schedule("planned.txt", 1, datetime.now(UTC) + timedelta(hours=1))
    rows = by_id(open_page(window, "/documents"), "documents-grid").rowData
    assert {row["key"]: row["state"] for row in rows} == {
        "draft.txt": "draft",
        "planned.txt": "scheduled",
        "hidden.txt": "unpublished",
    }


def test_purged_documents_are_listed_only_with_the_deleted_ones(window: Dash, two) -> None:
    two.purge("orchard.txt")
    assert keys(open_page(window, "/documents")) == {"旅費規程.txt"}
    rows = by_id(open_page(window, "/documents?deleted=1"), "documents-grid").rowData
    assert {row["key"]: row["state"] for row in rows}["orchard.txt"] == "purged"


def test_text_entry_is_saved_as_a_draft_and_edited_further(window: Dash, client: FlaskClient, two) -> None:
    sent = {
        "documents-entry-draft.n_clicks": 1,
        "documents-entry-name.value": "Orchard",
        "documents-entry-text.value": "The orchard holds 300 trees.",
        "documents-entry-note.value": "counted again",
    }
    answer = press(window, client, "documents-entry-draft.n_clicks", sent)
    two.work_off()
    assert "as a draft, version 2" in notice(answer)
    assert two.document("orchard.txt").published_version == 1
    assert two.version("orchard.txt", 2).note == "counted again"
    page = open_page(window, "/documents?edit=orchard.txt")
    assert by_id(page, "documents-entry-text").value == "The orchard holds 300 trees."


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_list_speaks_both_languages(window: Dash, two, lang: str) -> None:
    page = open_page(window, "/documents", lang)
    names = [column["headerName"] for column in by_id(page, "documents-grid").columnDefs]
    assert names[0] == {"en": "Name", "ja": "名前"}[lang]


# ---- searched, narrowed, sorted and paged by the server


@pytest.fixture
def many(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """More documents than a page has, written in one go."""
    kb.add_texts([(f"part {number:03}", "", f"Part {number} of the machine.") for number in range(PAGE_DOCUMENTS + 5)])
    kb.work_off()
    return kb


def names_in(rows: list[dict]) -> list[str]:
    return [row["name"] for row in rows]


def shown_at(window: Dash, client: FlaskClient, query: dict[str, str]) -> dict:
    """What the page shows of a query, drawn whole and asked for again: both are the same."""
    page = open_page(window, "/documents?" + urlencode(query))
    answer = press(window, client, "documents-asked.data", {"documents-asked.data": query})["response"]
    assert answer["documents-grid"]["rowData"] == by_id(page, "documents-grid").rowData
    assert answer["documents-words"]["data"] == by_id(page, "documents-words").data
    return answer


def test_pages_hold_every_document_once(window: Dash, client: FlaskClient, many) -> None:
    first = shown_at(window, client, {"sort": "name", "order": "asc"})
    second = shown_at(window, client, {"sort": "name", "order": "asc", "page": "2"})
    names = names_in(first["documents-grid"]["rowData"]) + names_in(second["documents-grid"]["rowData"])
    assert names == [f"part {number:03}.txt" for number in range(PAGE_DOCUMENTS + 5)]
    assert "101–105 of 105" in json.dumps(second["documents-pager"], ensure_ascii=False)
    beyond = shown_at(window, client, {"sort": "name", "order": "asc", "page": "99"})
    assert names_in(beyond["documents-grid"]["rowData"]) == names_in(second["documents-grid"]["rowData"])


def test_a_search_finds_names_titles_and_tags_of_any_width(window: Dash, client: FlaskClient, two) -> None:
    two.set_tags("orchard.txt", ["果樹 ｶﾞｰﾃﾞﾝ"])

    def found(search: str) -> list[str]:
        return names_in(shown_at(window, client, {"q": search})["documents-grid"]["rowData"])

    assert found("旅費") == ["旅費規程.txt"] == found("規程　旅")
    assert found("ガーデン") == ["Orchard.txt"] == found("ＯＲＣＨ") == found("果樹 orch")
    assert found("旅費 orch") == [] == found("%") == found("_")


def test_a_list_is_narrowed_by_state_language_and_tag(window: Dash, client: FlaskClient, two) -> None:
    two.set_tags("orchard.txt", ["fruit"])
    two.unpublish("orchard.txt")
    for query in ({"state": "unpublished"}, {"language": "en"}, {"tag": "fruit"}):
        assert names_in(shown_at(window, client, query)["documents-grid"]["rowData"]) == ["Orchard.txt"]
    nothing = shown_at(window, client, {"state": "failed"})
    assert nothing["documents-grid"]["rowData"] == [] and nothing["documents-list"]["className"] == "finds-nothing"
    assert "Clear search and filters" in json.dumps(nothing["documents-pager"])


@pytest.mark.parametrize("query", [{"page": "-1"}, {"page": "9" * 30}, {"sort": "words"}, {"order": "up"}])
def test_an_address_of_no_sense_shows_the_list(window: Dash, client: FlaskClient, two, query) -> None:
    assert len(shown_at(window, client, query)["documents-grid"]["rowData"]) == 2
