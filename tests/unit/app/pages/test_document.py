"""One document: its text as it is, its chunks, its versions, and what can be done with it."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
from dash import Dash, dcc, html
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

import core
from app.components.document.preview import PAGE_CHUNKS, page_start
from app.components.shared.links import document_href
from app.components.shared.passage import locator_text, marked, passage
from app.components.shared.periods import periods
from core.model import BlockKind, Chunk, Locator, Publication
from tests.builders import add
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, press_one_of, text

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


def test_prose_after_code_is_not_drawn_as_code() -> None:
    alone = passage(chunk("Sales\n\ntotal = sum(rows)\nprint(total)", kind=BlockKind.CODE))
    mixed = passage(chunk("total = sum(rows)\n\nThe rows are those of one month.", kind=BlockKind.CODE))
    assert [plain(each) for each in parts(alone, html.Pre)] == ["total = sum(rows)\nprint(total)"]
    assert list(parts(mixed, html.Pre)) == []


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


@pytest.mark.long
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
    for view, state in (("", ""), ("&view=chunks", "&view=chunks")):
        first = open_page(window, f"/document?key=long.txt{view}")
        assert len(by_class(first, "chunk" if view else "reading-part")) == PAGE_CHUNKS
        assert [link.href for link in by_class(first, "pager")[0].children if hasattr(link, "href")] == [
            f"/documents/long.txt?version=1&chunk={PAGE_CHUNKS}{state}"
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


@pytest.mark.long
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


@pytest.fixture
def three(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """Two versions that were shown, and a third one that is a draft."""
    add(kb, "hours.txt", "Open at nine.")
    add(kb, "hours.txt", "Open at ten.")
    kb.add_text("hours.txt", "Open at eleven.", draft=True, note="as sales asked", label="Spring")
    kb.work_off()
    return kb


def act(client: FlaskClient, action: str, number: int, key: str = "hours.txt") -> dict:
    return press_one_of(client, {"type": "version-act", "action": action, "number": number}, view(key))


def on_document(client: FlaskClient, action: str, key: str = "hours.txt") -> dict:
    return press_one_of(client, {"type": "document-act", "action": action}, view(key))


def undo_of(answer: dict) -> dict:
    """The id of the button in a notice."""
    children = answer["sideUpdate"]["notice"]["children"]["props"]["children"]
    return next(part["props"]["id"] for part in children if part and part["props"].get("id"))


def item(page, number: int):
    return by_id(page, f"version-{number}")


def actions_of(page, number: int) -> set[str]:
    found = [part.id for part in parts(item(page, number)) if isinstance(getattr(part, "id", None), dict)]
    return {each["action"] for each in found}


def test_timeline_tells_every_version_newest_first(window: Dash, three) -> None:
    page = open_page(window, "/document?key=hours.txt")
    assert [part.id for part in by_class(page, "version")] == ["version-3", "version-2", "version-1"]
    draft, shown, earlier = (" ".join(text(item(page, number)).split()) for number in (3, 2, 1))
    assert "Draft" in draft and "as sales asked" in draft and "Spring" in draft and "no question sees this" in draft
    assert "Published" in shown and "Shown since" in shown
    assert "Earlier" in earlier and " – " in earlier and "—" not in earlier


@pytest.mark.long
def test_draft_is_marked_and_leads_to_what_it_would_change(window: Dash, three) -> None:
    page = open_page(window, "/document?key=hours.txt&version=3")
    banner = by_class(page, "draft-line")[0]
    assert "Draft: no question sees this" in text(banner) and "Open at eleven." in text(page)
    hrefs = [link.href for link in parts(banner) if hasattr(link, "href")]
    assert hrefs == ["/compare?doc=hours.txt&old=2&new=3&view=answers"]


def test_versions_are_compared_with_the_one_before_and_with_the_published_one(window: Dash, three) -> None:
    three.publish("hours.txt", 1)
    page = open_page(window, "/document?key=hours.txt")
    hrefs = [link.href for way in by_class(item(page, 3), "version-way") for link in parts(way, dcc.Link)]
    assert hrefs[:2] == ["/compare?doc=hours.txt&old=2&new=3", "/compare?doc=hours.txt&old=1&new=3"]


def test_a_draft_leads_to_what_it_would_do_to_the_results_of_question_sets(window: Dash, three) -> None:
    page = open_page(window, "/document?key=hours.txt")
    ways = {number: [link.href for link in parts(item(page, number), dcc.Link)] for number in (1, 2, 3)}
    assert "/evaluate?doc=hours.txt&version=3" in ways[3]
    assert not any("/evaluate" in href for href in [*ways[1], *ways[2]])


@pytest.mark.long
def test_buttons_are_those_that_the_version_allows(window: Dash, three) -> None:
    page = open_page(window, "/document?key=hours.txt")
    assert actions_of(page, 3) == {"publish", "schedule", "note", "purge"}
    assert actions_of(page, 2) == {"note"}
    assert actions_of(page, 1) == {"rollback", "schedule", "note", "purge"}


@pytest.mark.long
def test_rollback_is_taken_back_from_the_notice(window: Dash, client: FlaskClient, three) -> None:
    answer = on_document(client, "rollback")
    assert three.document("hours.txt").published_version == 1
    assert three.publications("hours.txt")[0].action == "rollback"
    press_one_of(client, undo_of(answer), {})
    assert three.document("hours.txt").published_version == 2


def test_what_takes_a_document_away_says_what_comes_of_it_side_by_side(window: Dash, kb) -> None:
    for price in ("900", "1,000"):
        add(kb, "prices.txt", f"A ticket costs {price} yen.")
    [foot] = by_class(open_page(window, "/documents/prices.txt"), "timeline-acts")
    rows = [text(row) for row in foot.children]
    for row, act, comes in zip(
        rows,
        ("Roll back to version 1", "Unpublish", "Delete", "Purge this document"),
        ("version 2 is kept", "stays in the list", "You can restore it", "cannot be undone"),
        strict=True,
    ):
        assert act in row and comes in row


@pytest.mark.long
def test_newer_version_is_shown_again_and_not_rolled_back_to(window: Dash, client: FlaskClient, kb) -> None:
    for price in ("900", "1,000"):
        add(kb, "prices.txt", f"A ticket costs {price} yen.")
    foot = text(by_class(open_page(window, "/documents/prices.txt"), "timeline-foot"))
    assert "Roll back to version 1" in foot
    assert "Roll back to this" not in text(open_page(window, "/documents/prices.txt"))
    kb.rollback("prices.txt")
    foot = text(by_class(open_page(window, "/documents/prices.txt"), "timeline-foot"))
    assert "Show version 2 again" in foot and "Roll back" not in foot
    answer = press_one_of(client, {"type": "document-act", "action": "rollback"}, view("prices.txt"))
    assert kb.document("prices.txt").published_version == 2
    told = json.dumps(answer["sideUpdate"]["notice"])
    assert "Version 2 is shown again" in told and "Rolled back" not in told


@pytest.mark.long
def test_tombstone_says_why_it_is_one(window: Dash, three) -> None:
    three.purge("hours.txt", 1, note="wrong <b>patient</b>")
    page = open_page(window, "/documents/hours.txt?version=1")
    assert text(by_id(page, "version-1")).count("wrong <b>patient</b>") == 1
    assert "wrong <b>patient</b>" in text(by_class(page, "state-empty"))
    assert "wrong" not in text(by_id(page, "version-2"))
    three.purge("hours.txt", note="closed")
    page = open_page(window, "/documents/hours.txt")
    assert "closed" in text(by_id(page, "version-2")) and "closed" not in text(by_id(page, "version-1"))


@pytest.mark.long
def test_one_version_is_rolled_back_to(window: Dash, client: FlaskClient, three) -> None:
    act(client, "publish", 3)
    act(client, "rollback", 1)
    assert [each.action for each in three.publications("hours.txt")[:2]] == ["rollback", "publish"]
    assert three.document("hours.txt").published_version == 1


@pytest.mark.long
def test_unpublished_document_says_so_and_is_shown_again(window: Dash, client: FlaskClient, three) -> None:
    answer = on_document(client, "unpublish")
    page = open_page(window, "/document?key=hours.txt&version=1")
    assert "No answer uses this document now" in text(page) and "Open at nine." in text(page)
    assert by_id(page, "document-restore").hidden is False
    press_one_of(client, undo_of(answer), {})
    assert three.document("hours.txt").published_version == 2


def test_deleted_document_still_shows_old_versions_by_link(window: Dash, three) -> None:
    three.delete("hours.txt")
    assert "Open at nine." in text(open_page(window, "/documents/hours.txt?version=1&chunk=0"))


@pytest.mark.long
def test_note_and_label_are_written_in_place(window: Dash, client: FlaskClient, three) -> None:
    opened = act(client, "note", 1)["response"]
    assert opened["document-open"]["data"] == {"form": "note", "number": 1}
    assert "version-label" in json.dumps(opened["document-body"])
    sent = {
        **view("hours.txt"),
        "document-open.data": opened["document-open"]["data"],
        "version-keep.n_clicks": 1,
        "version-label.value": " 2025 ",
        "version-note.value": "as signed",
    }
    closed = press(window, client, "version-keep.n_clicks", sent)["response"]
    version = three.version("hours.txt", 1)
    assert (version.label, version.note) == ("2025", "as signed")
    assert closed["document-open"]["data"] == {} and "version-keep" not in json.dumps(closed["document-body"])


def test_version_is_planned_and_the_plan_is_cancelled(window: Dash, client: FlaskClient, three) -> None:
    at = (datetime.now(UTC) + timedelta(hours=3)).isoformat()
    sent = {**view("hours.txt"), "document-open.data": {"form": "schedule", "number": 3}}
    press(window, client, "document-moment.data", {**sent, "document-moment.data": {"at": at}})
    page = open_page(window, "/document?key=hours.txt")
    assert "Will be published on" in text(item(page, 3)) and "Scheduled" in text(item(page, 3))
    assert by_id(page, "document-tick").disabled is False
    act(client, "unschedule", 3)
    assert three.version("hours.txt", 3).publish_at is None


def test_plan_in_the_past_is_refused_with_a_remedy(window: Dash, client: FlaskClient, three) -> None:
    sent = {**view("hours.txt"), "document-open.data": {"form": "schedule", "number": 3}}
    answer = press(
        window, client, "document-moment.data", {**sent, "document-moment.data": {"at": "2001-01-01T00:00:00Z"}}
    )
    assert "notice-error" in json.dumps(answer) and three.version("hours.txt", 3).publish_at is None


def test_page_follows_what_is_published_by_itself(window: Dash, client: FlaskClient, three) -> None:
    three.schedule("hours.txt", 3, datetime.now(UTC) + timedelta(hours=1))
    page = open_page(window, "/document?key=hours.txt")
    sent = {
        "document-tick.n_intervals": 1,
        "document-seen.data": by_id(page, "document-seen").data,
        "document-open.data": {},
        **view("hours.txt"),
    }
    assert "document-body" not in press(window, client, "document-tick.n_intervals", sent)["response"]
    three.publish_due(datetime.now(UTC) + timedelta(hours=2))
    response = press(window, client, "document-tick.n_intervals", sent)["response"]
    assert "Open at eleven." in json.dumps(response["document-body"])
    assert response["document-tick"]["disabled"] is True


def test_form_that_someone_writes_in_is_left_alone(window: Dash, client: FlaskClient, three) -> None:
    sent = {
        "document-tick.n_intervals": 1,
        "document-open.data": {"form": "note", "number": 1},
        **view("hours.txt"),
    }
    assert "document-body" not in press(window, client, "document-tick.n_intervals", sent)["response"]


def test_purge_asks_once_and_names_what_is_lost(window: Dash, client: FlaskClient, three) -> None:
    asked = act(client, "purge", 1)
    assert three.version("hours.txt", 1).state == "ready"
    dialog = asked["sideUpdate"]
    assert dialog["purge-dialog"]["is_open"] is True and dialog["purge-what"]["data"] == {"number": 1}
    assert "text, vectors and file" in json.dumps(dialog["purge-question"])
    sent = {
        **view("hours.txt"),
        "purge-confirm.n_clicks": 1,
        "purge-what.data": {"number": 1},
        "purge-reason.value": "held a name",
    }
    answer = press(window, client, "purge-confirm.n_clicks", sent)["response"]
    assert answer["purge-dialog"]["is_open"] is False
    assert three.version("hours.txt", 1).state == "purged"
    assert three.publications("hours.txt")[0].note == "held a name"


def test_purge_that_is_refused_says_so_inside_the_dialog(window: Dash, client: FlaskClient, three) -> None:
    sent = {**view("hours.txt"), "purge-confirm.n_clicks": 1, "purge-what.data": {"number": 2}}
    answer = press(window, client, "purge-confirm.n_clicks", sent)["response"]
    assert answer["purge-dialog"]["is_open"] is True and "conflict" in json.dumps(answer["purge-error"])


def test_link_to_a_purged_version_says_when_it_went_and_why_nothing_opens(window: Dash, three) -> None:
    three.purge("hours.txt", 1, actor="Sato")
    for address in ("version=1", "version=1&chunk=0&start=0&end=4"):
        page = open_page(window, f"/documents/hours.txt?{address}")
        said = " ".join(text(by_class(page, "document-main")).split())
        assert "Version 1 was removed for good" in said and "Sato" in said and "Open at nine." not in said
        assert ("passage that the link cites" in said) is ("chunk" in address)
    assert actions_of(page, 1) == set() and "Purged" in text(item(page, 1))


def test_purged_document_says_so_instead_of_an_error(window: Dash, client: FlaskClient, three) -> None:
    asked = on_document(client, "purge")
    assert "All 3 versions" in json.dumps(asked["sideUpdate"]["purge-question"])
    sent = {**view("hours.txt"), "purge-confirm.n_clicks": 1, "purge-what.data": {"number": None}}
    press(window, client, "purge-confirm.n_clicks", sent)
    page = open_page(window, "/documents/hours.txt")
    assert "was removed for good" in text(page) and "Purged" in text(page)
    assert by_id(page, "document-delete").hidden is True and by_id(page, "document-restore").hidden is True


@pytest.mark.long
def test_long_history_is_folded_and_opens_on_demand(window: Dash, client: FlaskClient, kb) -> None:
    for number in range(1, 16):
        kb.add_text("long.txt", f"This is text {number}.")
    kb.work_off()
    page = open_page(window, "/documents/long.txt?version=1")
    listed = [part.id for part in by_class(page, "version")]
    assert len(listed) == 13 and listed[-1] == "version-1"
    response = on_document(client, "everything", "long.txt")["response"]
    assert json.dumps(response["document-body"]).count('"id": "version-') == 15


@given(st.lists(st.sampled_from([None, 1, 2, 3]), max_size=12))
def test_periods_cover_exactly_what_was_shown(shown: list[int | None]) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    past = [
        Publication(seq, "hours.txt", version, "publish", start + timedelta(days=seq))
        for seq, version in enumerate(shown)
    ]
    found = periods(past[::-1])
    for day, version in enumerate(shown):
        noon = start + timedelta(days=day, hours=12)
        seen = {
            number
            for number, spans in found.items()
            for span in spans
            if span.start <= noon and (span.end is None or noon < span.end)
        }
        assert seen == ({version} if version is not None else set())
    for spans in found.values():
        assert all(later.start >= (earlier.end or later.start) for later, earlier in itertools.pairwise(spans))


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_timeline_speaks_both_languages(window: Dash, three, lang: str) -> None:
    page = open_page(window, "/documents/hours.txt", lang)
    assert {"en": "Draft", "ja": "下書き"}[lang] in text(item(page, 3))
