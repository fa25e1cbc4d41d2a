"""One document: its text as it is, its chunks, its versions, and what can be done with it."""

from __future__ import annotations

import json

import pytest
from dash import Dash, html
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

import core
from app.components.links import document_href
from app.components.passage import locator_text, marked, passage
from app.components.preview import PAGE_CHUNKS, page_start
from core.model import BlockKind, Chunk, Locator
from tests.app.drawn import by_class, by_id, open_page, parts, press, press_one_of, text
from tests.builders import add

TABLE = "Region | Q1\nTokyo | 1,204\nOsaka | 804"


def chunk(body: str, *, start: int = 0, kind: BlockKind = BlockKind.PARAGRAPH, header: str = "") -> Chunk:
    return Chunk(0, body, start, start + len(body), kind, Locator(heading_path=("Sales",)), header)


def view(key: str, version: int | None = None) -> dict:
    return {"document-view.data": [key, version, None, None]}


def plain(drawn) -> str:
    """The text below ``drawn`` with nothing between its pieces."""
    return "".join(part for part in _strings(drawn))


def _strings(drawn):
    if isinstance(drawn, list | tuple):
        for each in drawn:
            yield from _strings(each)
    elif isinstance(drawn, str):
        yield drawn
    elif drawn is not None:
        yield from _strings(getattr(drawn, "children", None))


def test_table_is_drawn_as_a_table_with_its_head() -> None:
    drawn = passage(chunk(f"Sales\n\n{TABLE}\n\nAll in thousands."))
    assert [text(cell) for cell in parts(drawn, html.Th)] == ["Region", "Q1"]
    assert [text(cell) for cell in parts(drawn, html.Td)] == ["Tokyo", "1,204", "Osaka", "804"]


def test_cut_table_repeats_its_head() -> None:
    drawn = passage(chunk("Osaka | 804", kind=BlockKind.TABLE, header="Region | Q1"))
    assert [text(cell) for cell in parts(drawn, html.Th)] == ["Region", "Q1"]
    assert [text(cell) for cell in parts(drawn, html.Td)] == ["Osaka", "804"]


def test_span_is_marked_in_the_cell_that_holds_it() -> None:
    at = 100 + TABLE.index("1,204")
    drawn = passage(chunk(TABLE, start=100, kind=BlockKind.TABLE), [(at, at + 5)])
    assert [mark.children for mark in parts(drawn, html.Mark)] == ["1,204"]


def test_several_spans_of_one_passage_are_marked() -> None:
    assert [
        piece if isinstance(piece, str) else [piece.children] for piece in marked("abcdef", 10, [(14, 15), (11, 12)])
    ] == [
        "a",
        ["b"],
        "cd",
        ["e"],
        "f",
    ]


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70)), max_size=4))
def test_marking_loses_no_character(body: str, spans: list[tuple[int, int]]) -> None:
    assert plain(marked(body, 0, spans)) == body


def test_markup_of_a_document_stays_text() -> None:
    body = "<script>alert(1)</script> ![x](http://e/x.png) **bold**"
    assert plain(passage(chunk(body))) == body


def test_locator_is_said_as_a_person_says_it() -> None:
    assert locator_text(Locator(page=3, page_end=4, heading_path=("A", "B"))) == "pp. 3–4 · A › B"
    assert locator_text(Locator(sheet="Budget", cells="A1:C9")) == "sheet “Budget” · A1:C9"
    assert locator_text(Locator(slide=2)) == "slide 2"


@pytest.fixture
def long(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "long.txt", "\n\n".join(f"Paragraph {i}. " + "The river rises in spring. " * 60 for i in range(40)))
    return kb


def test_long_document_is_shown_in_stretches(window: Dash, long) -> None:
    first = open_page(window, "/document?key=long.txt")
    assert len(by_class(first, "chunk")) == PAGE_CHUNKS
    assert [link.href for link in by_class(first, "pager")[0].children if hasattr(link, "href")] == [
        f"/documents/long.txt?version=1&chunk={PAGE_CHUNKS}"
    ]


def test_address_opens_the_stretch_that_holds_its_chunk(window: Dash, long) -> None:
    position = PAGE_CHUNKS + 3
    page = open_page(window, f"/document?key=long.txt&version=1&chunk={position}")
    assert "chunk-target" in by_id(page, f"chunk-{position}").className
    assert page_start(position) == PAGE_CHUNKS


@pytest.mark.parametrize(
    "address", ["chunk=99999", "chunk=x&start=-1&end=b", "version=&start=5&end=2", "chunk=0&start=0"]
)
def test_odd_addresses_still_show_the_document(window: Dash, long, address: str) -> None:
    page = open_page(window, f"/document?key=long.txt&{address}")
    assert "long" in text(page) and "cannot be shown" not in text(page)


def test_unknown_document_and_version_are_errors_with_a_remedy(window: Dash, long) -> None:
    for address in ("/document", "/document?key=gone.txt", "/document?key=long.txt&version=9"):
        assert "not_found" in text(open_page(window, address))


def test_any_name_has_an_address(window: Dash, kb) -> None:
    add(kb, "50% #1 & ä?=日本.txt", "text of some length")
    key = kb.documents()[0].doc_key
    assert "text of some length" in text(open_page(window, document_href(key)))


def test_address_with_the_name_as_a_query_shows_the_same(window: Dash, long) -> None:
    assert text(open_page(window, "/document?key=long.txt&chunk=1")) == text(
        open_page(window, "/documents/long.txt?chunk=1")
    )


def test_another_version_is_published_from_the_list(window: Dash, client: FlaskClient, kb) -> None:
    add(kb, "hours.txt", "Open at nine.")
    add(kb, "hours.txt", "Open at ten.")
    page = open_page(window, "/document?key=hours.txt&version=1")
    assert "Open at nine." in text(page) and "Answers use version 2" in text(page)
    press_one_of(client, {"type": "version-act", "action": "publish", "number": 1}, view("hours.txt"))
    assert kb.document("hours.txt").published_version == 1


def test_delete_offers_restore_and_restore_shows_it_again(window: Dash, client: FlaskClient, kb) -> None:
    add(kb, "hours.txt", "Open at nine.")
    sent = {"document-delete.n_clicks": 1, **view("hours.txt")}
    press(window, client, "document-delete.n_clicks", sent, "document-body")
    page = open_page(window, "/document?key=hours.txt")
    assert by_id(page, "document-restore").hidden is False and by_id(page, "document-delete").hidden is True
    press(
        window,
        client,
        "document-restore.n_clicks",
        {"document-restore.n_clicks": 1, **view("hours.txt")},
        "document-body",
    )
    assert kb.document("hours.txt").published_version == 1


def test_failed_version_says_why_and_what_to_do(window: Dash, kb, tmp_path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\n1 0 obj\n<< broken\n%%EOF\n")
    kb.add_path(path)
    kb.work_off()
    page = open_page(window, "/document?key=broken.pdf")
    error = kb.version("broken.pdf", 1).error
    assert error is not None and error["code"] in text(by_class(page, "document-main"))


def test_version_being_indexed_shows_its_stage(window: Dash, client: FlaskClient, kb) -> None:
    kb.add_text("slow.txt", "Still to be indexed.")
    page = open_page(window, "/document?key=slow.txt")
    assert by_id(page, "document-tick").disabled is False and by_class(page, "bar")
    kb.work_off()
    sent = {"document-tick.n_intervals": 1, **view("slow.txt")}
    response = press(window, client, "document-tick.n_intervals", sent)["response"]
    assert response["document-tick"]["disabled"] is True and "Still to be indexed." in json.dumps(response)


def test_tags_are_kept_when_the_field_is_left(window: Dash, client: FlaskClient, kb) -> None:
    add(kb, "hours.txt", "Open at nine.")
    sent = {"document-tags.value": "visitors, 来館者", **view("hours.txt")}
    response = press(window, client, "document-tags.value", sent)["response"]
    assert kb.document("hours.txt").tags == ("visitors", "来館者") and "Kept" in json.dumps(response)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_page_speaks_both_languages(window: Dash, long, lang: str) -> None:
    assert {"en": "Versions", "ja": "版"}[lang] in text(open_page(window, "/document?key=long.txt", lang))
