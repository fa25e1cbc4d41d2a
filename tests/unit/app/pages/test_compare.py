"""The Compare page: what is said first, the ways to look, the empty states, and the answers of two versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dash import Dash, dcc, html
from flask.testing import FlaskClient

import core
from app.components.compare.address import Pair, chosen, shown_by
from app.components.compare.image_slider import images
from app.components.compare.tables import table_grid
from app.components.shared.heat_strip import heat_strip
from core.model import Change, ComparisonProgress, ImagePair, ImageRef, StripCell
from tests.builders import add
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, press_one_of, text

OLD = """# Terms

Signed on 1 March 2026.

# Payment

Invoices are due within 30 days.

| Item | Price |
| --- | --- |
| Licence | 120 |
| Support | 450 |

# Term

It runs for 24 months.
"""
NEW = OLD.replace("1 March 2026", "2 May 2027").replace("30 days", "45 days").replace("450", "480")
ADDRESS = "/compare?doc=terms.md&old=1&new=2"
PAIR = {"compare-pair.data": {"doc": "terms.md", "old": 1, "new": 2, "other": None}}


@pytest.fixture
def terms(kb: core.KnowledgeBase, tmp_path: Any) -> core.KnowledgeBase:
    for number, content in enumerate((OLD, NEW)):
        path = tmp_path / str(number) / "terms.md"
        path.parent.mkdir()
        path.write_text(content, encoding="utf-8")
        kb.add_path(path)
        kb.work_off()
    return kb


def opened(window: Dash, client: FlaskClient, address: str, lang: str = "en") -> Any:
    """The page at ``address`` once its comparison has been computed."""
    kb = window.server.config["EVORAG_KB"]
    page = open_page(window, address, lang)
    found = by_id(page, "compare-pair").data
    if found:
        kb.compare(found["doc"], found["old"], found["new"], other=found["other"])
    return open_page(window, address, lang)


def test_a_choice_of_version_has_its_moment_as_its_title(window: Dash, terms) -> None:
    page = open_page(window, ADDRESS)
    made = {str(version.number): version.created_at.isoformat() for version in terms.versions("terms.md")}
    for side in ("old", "new"):
        choice = by_id(page, f"compare-{side}-version")
        assert {each["value"]: each["title"] for each in choice.options} == made
        assert choice.class_name == "when-days"


@pytest.mark.long
def test_numbers_and_dates_are_said_first(window: Dash, client: FlaskClient, terms) -> None:
    page = opened(window, client, ADDRESS)
    values = text(by_class(page, "compare-values"))
    for figure in ("30", "45", "450", "480"):
        assert figure in values
    assert "2026" in values and "2027" in values
    order = [part.className for part in parts(page, html.Section) if "compare-" in str(part.className)]
    assert "compare-values" in order[0]


@pytest.mark.long
def test_sentence_counts_what_changed(window: Dash, client: FlaskClient, terms) -> None:
    said = text(by_id(opened(window, client, ADDRESS), "compare-sentence"))
    assert "3 lines changed" in said and "numbers or dates changed" in said


@pytest.mark.long
def test_every_value_and_chapter_leads_to_its_row(window: Dash, client: FlaskClient, terms) -> None:
    page = opened(window, client, ADDRESS)
    jumps = by_class(page, "jump")
    rows = {getattr(part, "data-compare-row") for part in jumps}
    assert len(jumps) >= 5 and all(row.isdigit() for row in rows)
    assert "Payment" in text(by_class(page, "compare-chapters"))


@pytest.mark.long
def test_newest_and_the_one_before_are_taken_where_the_address_names_none(window: Dash, client, terms) -> None:
    page = opened(window, client, "/compare?doc=terms.md")
    assert by_id(page, "compare-pair").data == PAIR["compare-pair.data"]


def test_published_version_is_the_first_side_of_a_draft(kb: core.KnowledgeBase) -> None:
    for content in ("one", "two", "three"):
        add(kb, "a.txt", f"{content} is the text")
    kb.publish("a.txt", 1)
    assert chosen(kb.document("a.txt"), kb.versions("a.txt"), None, None) == Pair("a.txt", 1, 3)


def test_one_version_asks_for_another(window: Dash, kb) -> None:
    add(kb, "alone.txt", "Only this.")
    said = text(open_page(window, "/compare?doc=alone.txt"))
    assert "Only one version so far" in said and "Upload another version" in said


def test_without_a_document_those_with_versions_are_offered(window: Dash, terms) -> None:
    add(terms, "alone.txt", "Only this.")
    page = open_page(window, "/compare")
    links = [link.href for link in parts(page, dcc.Link)]
    assert links == ["/compare?doc=terms.md"]


def test_nothing_to_compare_offers_the_upload(window: Dash) -> None:
    assert "Nothing to compare yet" in text(open_page(window, "/compare"))


@pytest.mark.long
def test_equal_texts_say_so_and_what_differs(window: Dash, client: FlaskClient, kb, tmp_path) -> None:
    for number, content in enumerate(("# A\n\nThe same.\n", "# A\n\n\nThe same.\n\n")):
        path = tmp_path / str(number) / "same.md"
        path.parent.mkdir()
        path.write_text(content, encoding="utf-8")
        kb.add_path(path)
        kb.work_off()
    page = opened(window, client, "/compare?doc=same.md")
    assert "The text is the same" in text(page)
    assert not [part for part in parts(page) if getattr(part, "id", None) == "compare-grid"]


@pytest.mark.long
def test_same_version_on_both_sides_is_the_same_file(window: Dash, client: FlaskClient, terms) -> None:
    assert "byte for byte" in text(opened(window, client, "/compare?doc=terms.md&old=2&new=2"))


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("/compare?doc=gone.md", "not_found"),
        ("/compare?doc=terms.md&old=1&new=9", "not_found"),
        ("/compare?doc=terms.md&old=1&new=2&other=gone.md", "not_found"),
    ],
)
def test_unknown_documents_and_versions_are_errors_with_a_remedy(window: Dash, terms, address: str, code: str) -> None:
    assert code in text(open_page(window, address))


def test_purged_version_is_an_error_that_says_so(window: Dash, terms) -> None:
    terms.purge("terms.md", 1)
    assert "purged" in text(open_page(window, ADDRESS)).casefold()


@pytest.mark.long
def test_unfinished_comparison_shows_how_far_it_is_and_then_the_result(
    window: Dash, client: FlaskClient, terms, monkeypatch
) -> None:
    real = terms.compare
    monkeypatch.setattr(terms, "compare", lambda *given, **more: None)
    page = open_page(window, ADDRESS)
    assert "Comparing" in text(by_id(page, "compare-waiting")) and by_id(page, "compare-tick").disabled is False
    assert by_id(page, "compare-waiting").hidden is False
    sent = {"compare-tick.n_intervals": 1, "compare-cancel.n_clicks": None, "_pages_location.search": "", **PAIR}
    monkeypatch.setattr(terms, "comparison_progress", lambda *given, **more: ComparisonProgress(75.0, 0.25, 225.0))
    waiting = press(window, client, "compare-tick.n_intervals", sent)["response"]
    assert waiting["compare-left"]["children"] == "75 s so far · 25% · 4 min left"
    assert waiting["compare-progress"]["value"] == "25" and waiting["compare-tick"]["disabled"] is False
    assert waiting["compare-goes-on"]["hidden"] is False and "compare-body" not in waiting
    monkeypatch.undo()
    real("terms.md", 1, 2)
    done = press(window, client, "compare-tick.n_intervals", sent)["response"]
    assert "lines changed" in json.dumps(done["compare-body"]) and done["compare-tick"]["disabled"] is True
    assert done["compare-waiting"]["hidden"] is True


@pytest.mark.long
def test_stopped_comparison_can_be_begun_anew(window: Dash, client: FlaskClient, terms) -> None:
    sent = {"compare-tick.n_intervals": 1, "compare-cancel.n_clicks": 1, "_pages_location.search": "", **PAIR}
    stopped = press(window, client, "compare-cancel.n_clicks", sent)["response"]
    assert "was stopped" in json.dumps(stopped["compare-body"]) and stopped["compare-tick"]["disabled"] is True
    assert "compare?doc=terms.md" in json.dumps(stopped["compare-body"])


def go(window: Dash, client: FlaskClient, changed: str, **values: Any) -> str:
    fields = {"old-doc": "terms.md", "new-doc": "terms.md", "old-version": "1", "new-version": "2", **values}
    sent = {f"compare-{name}.value": value for name, value in fields.items()} | {"compare-swap.n_clicks": 1, **PAIR}
    answer = press(window, client, changed, sent, "compare-go")
    return answer["response"]["compare-go"]["data"]["address"] if answer else ""


@pytest.mark.long
def test_choosing_leads_to_the_address_of_what_was_chosen(window: Dash, client: FlaskClient, terms) -> None:
    assert go(window, client, "compare-swap.n_clicks") == "/compare?doc=terms.md&old=2&new=1"
    changed = go(window, client, "compare-new-version.value", **{"new-version": "1"})
    assert changed == "/compare?doc=terms.md&old=1&new=1"
    other = go(window, client, "compare-new-doc.value", **{"new-doc": "b.md"})
    assert other == "/compare?doc=terms.md&old=1&other=b.md"
    assert go(window, client, "compare-new-version.value") == ""


@pytest.mark.long
def test_two_documents_are_compared_by_what_they_show(window: Dash, client: FlaskClient, terms) -> None:
    add(terms, "b.txt", "Another text.")
    page = opened(window, client, "/compare?doc=terms.md&other=b.txt")
    assert by_id(page, "compare-pair").data == {"doc": "terms.md", "old": 2, "new": 1, "other": "b.txt"}
    assert "↔" in text(page)


@pytest.mark.long
def test_changed_cells_say_what_stood_there(window: Dash, client: FlaskClient, terms) -> None:
    opened(window, client, ADDRESS)
    with window.server.test_request_context():
        comparison = terms.compare("terms.md", 1, 2)
        table = next(table for table in comparison.tables() if table.changed)
        grid = by_id(table_grid(comparison.table(table.index), True), "compare-table-grid")
        only = by_id(table_grid(comparison.table(table.index), False), "compare-table-grid")
    cells = [cell for row in grid.rowData for name, cell in row.items() if name.startswith("c")]
    assert ["changed", "450", "480"] in cells and ["", "120", "120"] in cells
    assert [column["headerName"] for column in grid.columnDefs] == ["", "Item", "Price"] and len(grid.rowData) == 2
    assert len(only.rowData) == 1


@pytest.mark.long
def test_tables_and_answers_are_drawn_when_looked_at(window: Dash, client: FlaskClient, terms) -> None:
    opened(window, client, ADDRESS)
    for view, words in (("table", "Table 1 of 1"), ("answers", "What does it change in the answers?")):
        sent = {"compare-shown-view.data": view, "compare-drawn.data": [], **PAIR}
        answer = press(window, client, "compare-shown-view.data", sent, "compare-panel-table")
        assert words in json.dumps(answer)


def test_the_same_question_on_both_versions_shows_both_answers(window: Dash, client: FlaskClient, terms) -> None:
    sent = {
        "compare-ask.n_clicks": 1,
        "compare-question.value": "When are invoices due?",
        "compare-alone.value": True,
        **PAIR,
    }
    said = json.dumps(press(window, client, "compare-ask.n_clicks", sent))
    assert "30 days" in said and "45 days" in said and "The answer changes" in said


def test_no_question_is_asked_of_an_empty_field(window: Dash, client: FlaskClient, terms) -> None:
    sent = {"compare-ask.n_clicks": 1, "compare-question.value": " ", "compare-alone.value": True, **PAIR}
    assert "invalid_input" in json.dumps(press(window, client, "compare-ask.n_clicks", sent))


@pytest.mark.long
def test_saved_questions_are_added_listed_and_removed(window: Dash, client: FlaskClient, terms) -> None:
    sent = {"compare-save.n_clicks": 1, "compare-save-text.value": "When are invoices due?"}
    said = json.dumps(press(window, client, "compare-save.n_clicks", sent))
    assert "When are invoices due?" in said
    saved = terms.saved_questions()
    assert [question.text for question in saved] == ["When are invoices due?"]
    press_one_of(client, {"type": "compare-forget", "id": saved[0].id}, {})
    assert terms.saved_questions() == []


def test_impact_of_publishing_is_found_step_by_step(window: Dash, client: FlaskClient, terms) -> None:
    terms.publish("terms.md", 1)
    terms.save_question("When are invoices due?")
    terms.save_question("For how many months does it run?")
    run = press(window, client, "compare-impact-run.n_clicks", {"compare-impact-run.n_clicks": 1})["response"]
    state = run["compare-impact-next"]["data"]
    assert len(state["ids"]) == 2
    said = ""
    while state["at"] < 2:
        sent = {"compare-impact-next.data": state, "compare-subject.data": ["terms.md", 2]}
        answer = press(window, client, "compare-impact-next.data", sent)["response"]
        state = answer["compare-impact-done"]["data"]
        said += json.dumps(answer, ensure_ascii=False)
    assert "would change" in said and "1 of 2 answers would change." in said
    assert terms.document("terms.md").published_version == 1


def test_strip_is_one_slider_with_a_step_for_each_changed_part(window: Dash) -> None:
    cells = [StripCell(10, 0, 0, 0, None), StripCell(10, 4, 1, 0, 12), StripCell(10, 0, 0, 1, 25)]
    with window.server.test_request_context():
        strip = heat_strip(cells)
    steps = [part for part in parts(strip, html.Span) if hasattr(part, "data-cell")]
    assert strip.role == "slider" and [getattr(step, "data-compare-row") for step in steps] == ["12", "25"]
    assert "5 lines differ" in getattr(steps[0], "data-words")


def test_images_are_pairs_with_a_slider_or_stand_alone(window: Dash) -> None:
    one, two = ImageRef(1, 40, 20, "00", "a"), ImageRef(2, 40, 20, "ff", "b")
    pairs = [
        ImagePair(Change.EQUAL, one, one),
        ImagePair(Change.CHANGED, one, two, 9),
        ImagePair(Change.REMOVED, one, None),
    ]
    with window.server.test_request_context():
        drawn = images(pairs, Pair("a & b.docx", 1, 2))
    assert len(by_class(drawn, "image-pair")) == 2
    [differing] = by_class(drawn, "image-differing")
    assert differing.role == "img" and len(by_class(drawn, "image-compare")) == 1
    assert {image.src for image in parts(drawn, html.Img)} == {
        "/api/v1/documents/a%20%26%20b.docx/versions/1/images/1",
        "/api/v1/documents/a%20%26%20b.docx/versions/2/images/2",
    }
    layers = {id(image) for image in parts(differing, html.Img)}
    assert all(image.alt for image in parts(drawn, html.Img) if id(image) not in layers)
    assert "1 image is the same" in text(drawn)


@pytest.mark.parametrize(("given", "view"), [("table", "table"), ("nonsense", "text"), (["answers", "x"], "answers")])
def test_odd_ways_to_look_show_the_text(given: Any, view: str) -> None:
    assert shown_by(given, "upside", None, None).view == view
    assert shown_by(given, "upside", None, None).mode == ""


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_page_speaks_both_languages(window: Dash, client: FlaskClient, terms, lang: str) -> None:
    said = text(opened(window, client, ADDRESS, lang))
    assert {"en": "numbers or dates changed", "ja": "変わった数値・日付"}[lang] in said


def test_it_starts_with_the_documents_that_have_versions(window: Dash, client: FlaskClient, terms) -> None:
    terms.add_texts([(f"manual {number:02}", "", f"Text {number}.") for number in range(60)])
    terms.work_off()
    terms.add_texts([(f"manual {number:02}", "", f"Other text {number}.") for number in range(59)])
    terms.work_off()

    def names(drawn: Any) -> list[str]:
        return [text(each) for each in by_class(drawn, "user-text")]

    first, second = (open_page(window, f"/compare?page={page}") for page in (1, 2))
    assert len(names(first)) == 50 and len(set(names(first) + names(second))) == 60
    newest = max(terms.documents(), key=lambda document: (document.version_count > 1, document.updated_at, document.id))
    assert names(first)[0] == newest.title and "manual 59" not in " ".join(names(first) + names(second))
    assert len(names(open_page(window, "/compare?q=MANUAL 07"))) == 1
    answer = press(window, client, "compare-asked.data", {"compare-asked.data": {"q": "nothing at all"}})
    assert "No matches" in json.dumps(answer)


def test_it_starts_with_an_invitation_where_nothing_has_versions(window: Dash) -> None:
    assert "compare-asked" not in [getattr(part, "id", None) for part in parts(open_page(window, "/compare"))]
