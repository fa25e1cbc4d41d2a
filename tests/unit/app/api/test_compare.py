"""The routes of comparisons: lines in stretches, steps round the changes, search, exports, images."""

from __future__ import annotations

import io
import json
import time
from urllib.parse import quote, unquote

import docx
import flask
import pytest
from dash import Dash
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

import core
from app.api.versions.diff import named
from tests.builders import add

OLD = "\n\n".join(
    ["Invoices are due within 30 days.", *(f"Clause {i} stays as it is." for i in range(40)), "The end of 2026."]
)
NEW = OLD.replace("30 days", "45 days").replace("The end of 2026.", "The end of 2027.") + "\n\nA last line is new."
ATTACK = '<img src=x onerror="window.__xss=1"><script>window.__xss=1</script>'


@pytest.fixture
def pair(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "terms.txt", OLD)
    add(kb, "terms.txt", NEW)
    return kb


def get(client: FlaskClient, what: str, doc: str = "terms.txt", **values: object) -> TestResponse:
    given = {"old": 1, "new": 2, **values}
    search = "&".join(f"{name}={quote(str(value))}" for name, value in given.items())
    return client.get(f"/api/v1/compare{what}?doc={quote(doc)}&{search}")


def lines(client: FlaskClient, **values: object) -> list[dict]:
    return get(client, "/rows", **values).get_json()["lines"]


@pytest.mark.long
def test_lines_come_in_stretches_that_join(client: FlaskClient, pair) -> None:
    whole = lines(client, folded=0, end=200)
    total = get(client, "/rows", folded=0).get_json()["total"]
    assert len(whole) == total
    halves = lines(client, folded=0, start=0, end=20) + lines(client, folded=0, start=20, end=200)
    assert halves == whole


@pytest.mark.long
def test_changed_words_are_marked_on_their_sides(client: FlaskClient, pair) -> None:
    first = lines(client)[0]
    assert first["change"] == "changed"
    assert ["removed", "30"] in first["old"] and ["added", "45"] in first["new"]
    merged = lines(client, mode="inline")[0]["merged"]
    assert "".join(text for op, text in merged if op != "added") == "Invoices are due within 30 days."
    assert "".join(text for op, text in merged if op != "removed") == "Invoices are due within 45 days."


def test_unchanged_lines_are_one_fold_that_opens(client: FlaskClient, pair) -> None:
    folded = lines(client)
    fold = next(line for line in folded if line["fold"] is not None)
    assert fold["fold"] > 30
    opened = lines(client, open=fold["row"], end=500)
    assert all(line["fold"] is None for line in opened)
    assert len(opened) == len(folded) + fold["fold"] - 1


def test_a_row_inside_a_fold_is_shown_by_opening_it(client: FlaskClient, pair) -> None:
    view = get(client, "/view", row=20).get_json()
    opened = ",".join(map(str, view["open"]))
    line = lines(client, open=opened, start=view["position"], end=view["position"] + 1)[0]
    assert line["row"] == 20 and line["fold"] is None


def test_a_jump_brings_the_lines_around_its_place(client: FlaskClient, pair) -> None:
    view = get(client, "/view", row=30, folded=0, block=10).get_json()
    assert view["start"] <= view["position"] < view["start"] + 10
    assert view["lines"] == lines(client, folded=0, start=view["start"], end=view["start"] + 10)
    step = get(client, "/step", folded=0, block=10).get_json()
    assert step["lines"] == lines(client, folded=0, start=0, end=10)


def test_a_narrow_column_takes_more_lines_and_loses_no_sign(client: FlaskClient, pair) -> None:
    narrow = [line for line in lines(client, width=12, folded=0, end=900) if line["row"] == 0]
    assert len(narrow) > 1
    assert "".join(text for line in narrow for _, text in line["new"]) == "Invoices are due within 45 days."


def test_steps_go_through_every_change_and_round(client: FlaskClient, pair) -> None:
    count = get(client, "/view").get_json()["changes"]
    at: object = ""
    seen = []
    for _ in range(count + 1):
        found = get(client, "/step", **{"from": at}).get_json()
        seen.append(found["index"])
        at = found["position"]
    assert seen == [*range(1, count + 1), 1]
    assert get(client, "/step", **{"from": at, "to": "previous"}).get_json()["index"] == count


def test_a_step_says_what_changed_and_which_of_how_many(client: FlaskClient, pair) -> None:
    text = get(client, "/step").get_json()["text"]
    assert "Change 1 of 2" in text and "“30” became “45”" in text


def test_a_step_goes_on_from_a_row_when_the_lines_were_numbered_anew(client: FlaskClient, pair) -> None:
    first = get(client, "/step").get_json()
    again = get(client, "/step", row=first["row"], width=12).get_json()
    assert again["index"] == 2 and again["row"] > first["row"]


def test_a_changed_cell_is_said_alone(client: FlaskClient, kb, tmp_path) -> None:
    for number, price in enumerate(("450", "480")):
        path = tmp_path / str(number) / "prices.md"
        path.parent.mkdir()
        path.write_text(f"| Item | Price |\n| --- | --- |\n| Support | {price} |\n", encoding="utf-8")
        kb.add_path(path)
        kb.work_off()
    assert get(client, "/step", doc="prices.md").get_json()["text"].endswith("“450” became “480”")


@pytest.mark.long
def test_search_finds_rows_on_either_side_whatever_the_case(client: FlaskClient, pair) -> None:
    assert get(client, "/find", q="CLAUSE 7 ").get_json()["rows"] == [8]
    assert get(client, "/find", q="30 days").get_json()["rows"] == [0]
    assert get(client, "/find", q="45 DAYS").get_json()["rows"] == [0]
    assert get(client, "/find", q="  ").get_json()["rows"] == []
    assert get(client, "/find", q="(.*").get_json()["rows"] == []


def test_summary_patch_and_page_are_downloads(client: FlaskClient, pair) -> None:
    for form in ("json", "patch", "html"):
        answer = get(client, f".{form}")
        assert answer.status_code == 200
        assert "attachment" in answer.headers["Content-Disposition"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "+Invoices are due within 45 days." in get(client, ".patch").text
    summary = json.loads(get(client, ".json").text)
    assert summary["tally"]["changed"] == 2 and summary["is_equal"] is False


def latin(answer: TestResponse) -> str:
    """The name of a download as a server may send it: a header holds no other letters."""
    header = answer.headers["Content-Disposition"]
    assert header.isascii() and "\n" not in header
    return unquote(header.split("filename*=UTF-8''")[1])


@pytest.mark.long
def test_downloads_of_a_document_with_a_japanese_name_bear_it(client: FlaskClient, kb, tmp_path) -> None:
    name = "保守契約書.docx"
    for number, half in enumerate(("left", "right")):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        document = docx.Document()
        document.add_paragraph(f"支払期限は{30 + number}日です。")
        picture = io.BytesIO()
        drawn = Image.new("RGB", (64, 64), "white")
        drawn.paste("black", (0, 0, 32, 64) if half == "left" else (32, 0, 64, 64))
        drawn.save(picture, "PNG")
        document.add_picture(picture)
        document.save(path)
        kb.add_path(path)
        kb.work_off()
    for form in ("html", "patch", "json"):
        answer = get(client, f".{form}", doc=name)
        assert answer.status_code == 200 and answer.data
        assert latin(answer) == f"{name}-v1-v2.{form}"
    image = client.get(f"/api/v1/documents/{quote(name)}/versions/2/images/1")
    assert image.status_code == 200 and image.mimetype == "image/png"
    assert all(value.isascii() for value in image.headers.values())


def test_name_of_a_download_holds_no_line_break_or_quote(window: Dash) -> None:
    with window.server.test_request_context():
        answer = named(flask.Response("x"), 'a"b\r\nSet-Cookie: x=1/\ud800é.txt')
    assert latin(answer) == "a_b__Set-Cookie: x=1__é.txt"


@pytest.mark.long
def test_exported_page_holds_what_a_document_says_as_text_alone(client: FlaskClient, kb) -> None:
    add(kb, "x.txt", f"Old {ATTACK}")
    add(kb, "x.txt", f"New {ATTACK}")
    page = get(client, ".html", doc="x.txt").text
    assert "<script" not in page and "<img" not in page and "&lt;img" in page


@pytest.mark.long
def test_two_documents_are_compared(client: FlaskClient, pair) -> None:
    add(pair, "other.txt", NEW)
    answer = get(client, ".json", other="other.txt", old=2, new=1)
    assert answer.get_json()["is_equal"] is True


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "values", "status"),
    [
        ("/rows", {"new": 9}, 404),
        ("/rows", {"other": "gone.txt"}, 404),
        ("/rows", {"old": "x"}, 400),
        ("/rows", {"old": ""}, 400),
        ("/rows", {"mode": "upside"}, 400),
        ("/rows", {"chapter": 999}, 400),
        ("/rows", {"only": "nonsense"}, 400),
        ("/rows", {"open": "1,-2"}, 400),
        ("/rows", {"start": 5, "end": 1}, 400),
        ("/rows", {"start": 0, "end": 100_000}, 400),
        ("/rows", {"width": "9" * 30}, 400),
        ("/step", {"from": "-1"}, 400),
    ],
)
def test_odd_requests_are_errors_with_a_remedy(
    client: FlaskClient, pair, what: str, values: dict[str, object], status: int
) -> None:
    answer = get(client, what, **values)
    assert answer.status_code == status
    assert answer.get_json()["remedy"]


def test_versions_that_hold_no_text_are_refused(client: FlaskClient, pair) -> None:
    pair.add_text("terms.txt", NEW + " more")
    assert get(client, "/rows", new=3).status_code == 409
    pair.work_off()
    pair.purge("terms.txt", 1)
    assert get(client, "/rows").status_code in (404, 409, 410)


def test_an_image_that_is_not_there_is_not_found(client: FlaskClient, pair) -> None:
    for address in ("terms.txt/versions/1/images/1", "terms.txt/versions/1/images/-1", "terms.txt/versions/1/images/x"):
        assert client.get(f"/api/v1/documents/{address}").status_code in (400, 404)


@pytest.mark.long
def test_lines_far_outside_are_none(client: FlaskClient, pair) -> None:
    assert lines(client, start=10_000, end=10_100) == []


@pytest.mark.long
def test_words_of_a_step_follow_the_language(window: Dash, pair) -> None:
    japanese = window.server.test_client()
    japanese.set_cookie("evorag_lang", "ja")
    assert "「30」が「45」になりました" in get(japanese, "/step").get_json()["text"]


PAIR = {"doc": "terms.txt", "old": 2, "new": 1}
"""Nobody has computed the way back ahead."""


def test_a_comparison_is_begun_without_waiting_and_is_there_when_its_share_is_one(client: FlaskClient, pair) -> None:
    assert get(client, "/progress", old=2, new=1).get_json() == {"progress": None}
    begun = client.post("/api/v1/compare/begin", json=PAIR)
    assert begun.status_code == 202 and begun.get_json()["progress"]["share"] < 1
    ends = time.monotonic() + 60
    while get(client, "/progress", old=2, new=1).get_json()["progress"]["share"] < 1:
        assert time.monotonic() < ends
        time.sleep(0.05)
    again = client.post("/api/v1/compare/begin", json=PAIR)
    assert again.status_code == 200 and again.get_json()["progress"]["share"] == 1


def test_a_comparison_that_is_being_computed_is_stopped(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    for version in (1, 2):
        add(kb, "long.txt", "\n".join(f"line {n} of this text has the number {n * version}" for n in range(1_200)))
    # One that was done before it could be stopped is no failure: then it is the turn of the other way round.
    stopped = [way for way in ((2, 1), (1, 2), (2, 2), (1, 1)) if is_stopped(client, *way)]
    assert stopped
    old, new = stopped[0]
    assert get(client, "/progress", "long.txt", old=old, new=new).get_json() == {"progress": None}
    assert client.post("/api/v1/compare/begin", json={"doc": "long.txt", "old": old, "new": new}).status_code == 202


def is_stopped(client: FlaskClient, old: int, new: int) -> bool:
    which = {"doc": "long.txt", "old": old, "new": new}
    client.post("/api/v1/compare/begin", json=which)
    ends = time.monotonic() + 60
    was_stopped = False
    while (found := get(client, "/progress", "long.txt", old=old, new=new).get_json()["progress"]) is not None:
        assert time.monotonic() < ends
        if found["share"] == 1:
            return False
        was_stopped |= client.post("/api/v1/compare/cancel", json=which).get_json()["cancelled"]
    return was_stopped


@pytest.mark.parametrize(
    ("given", "status"),
    [({"doc": "nowhere.txt"}, 404), ({"new": 9}, 404), ({"old": "x"}, 400), ({"more": 1}, 400)],
)
def test_a_comparison_of_what_is_not_there_is_neither_begun_nor_stopped(
    client: FlaskClient, pair, given: dict[str, object], status: int
) -> None:
    for way in ("begin", "cancel"):
        assert client.post(f"/api/v1/compare/{way}", json=PAIR | given).status_code == status
    if "more" not in given:
        assert client.get("/api/v1/compare/progress", query_string=PAIR | given).status_code == status
