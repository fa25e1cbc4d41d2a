"""Evaluate and Analyser without a browser: what differences and outcomes mean, and what lines of a vocabulary say."""

from __future__ import annotations

import dataclasses
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import dash
import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.components.ask.vocabulary_form import synonyms_of, words_of
from app.components.evaluate.forms import EXAMPLE
from app.components.evaluate.run_comparison import meaning_of
from app.components.evaluate.run_outcomes import judged
from app.components.evaluate.words import options_of, written
from app.pages.evaluate.as_of import as_of_written
from core.access import acting
from core.model import (
    AsOf,
    EvaluationRun,
    JudgedQuestion,
    MeasureDifference,
    Principal,
    QuestionOutcome,
    Role,
    VersionRef,
)
from tests.unit.app.drawn import by_class, by_id, open_page, parts, press, press_one_of, text
from tests.unit.app.pages.test_shell import texts

ASKED = JudgedQuestion("1", "How often?", ("pump.txt",), ("every 14 days",))
RIGHT = QuestionOutcome(ASKED, "", {"fused": 12, "final": 3}, {}, True, False, "every 14 days", "extractive", 4.0)


def difference(name: str, new: float, low: float, high: float) -> MeasureDifference:
    return MeasureDifference(name, "answers", 0.5, new, low, high)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("12", 12),
        ("hours.txt#v2", VersionRef("hours.txt", 2)),
        ("2026-03-01", datetime(2026, 3, 1, 14, 59, 59, 999_999, tzinfo=UTC)),
        ("2026-03-01 09:00", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T09:00+02:00", datetime(2026, 3, 1, 7, tzinfo=UTC)),
    ],
)
def test_as_of_a_day_is_until_its_end_where_the_reader_is(window: Dash, written: str, expected: AsOf) -> None:
    with window.server.test_request_context("/", headers={"Cookie": "evorag_zone=Asia/Tokyo"}):
        assert as_of_written(written) == expected


@pytest.mark.parametrize("cookie", ["evorag_zone=Europe/Berlin", "evorag_zone=Nowhere"])
def test_as_of_a_day_on_which_clocks_change_is_until_its_end(
    window: Dash, monkeypatch: pytest.MonkeyPatch, cookie: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        with window.server.test_request_context("/", headers={"Cookie": cookie}):
            found = as_of_written("2026-03-29")
    time.tzset()
    assert found == datetime(2026, 3, 29, 21, 59, 59, 999_999, tzinfo=UTC)


def test_moment_that_a_run_was_asked_of_is_the_readers(window: Dash) -> None:
    as_of = datetime(2026, 3, 1, 14, 59, 59, 999_999, tzinfo=UTC)
    with window.server.test_request_context("/", headers={"Accept-Language": "en"}):
        [of_day, of_version] = options_of({"as_of": as_of.isoformat()}) + options_of({"as_of": "hours.txt#v2"})
    assert by_class(of_day, "when-exact")[0].dateTime == as_of.isoformat()
    assert text(of_version).split() == ["As", "of:", "hours.txt#v2"]


def test_as_of_today_is_until_now_and_of_tomorrow_there_is_nothing(window: Dash) -> None:
    today = datetime.now(ZoneInfo("Asia/Tokyo")).date()
    with window.server.test_request_context("/", headers={"Cookie": "evorag_zone=Asia/Tokyo"}):
        found = as_of_written(today.isoformat())
        assert isinstance(found, datetime) and timedelta() <= datetime.now(UTC) - found < timedelta(minutes=1)
        later = as_of_written((today + timedelta(days=2)).isoformat())
        assert isinstance(later, datetime) and later > datetime.now(UTC)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (difference("right", 0.7, 0.1, 0.3), ("ok", "better")),
        (difference("right", 0.3, -0.3, -0.1), ("error", "worse")),
        (difference("answerable_insufficient", 0.7, 0.1, 0.3), ("error", "worse")),
        (difference("right", 0.6, -0.1, 0.3), ("neutral", "chance")),
        (difference("right", 0.5, 0.0, 0.0), ("neutral", "same")),
        (difference("right", 0.7, -1.0, 1.0), ("neutral", "few")),
    ],
)
def test_meaning_knows_the_good_direction_and_chance(found: MeasureDifference, expected: tuple[str, str]) -> None:
    assert meaning_of(found) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "right"),
        ({"ranks": {"final": 11}}, "unfound"),
        ({"is_right": False}, "wrong"),
        ({"is_right": False, "is_insufficient": True}, "silent"),
        ({"question": JudgedQuestion("2", "Who won?", answerable=False), "is_insufficient": True}, "refused"),
        ({"question": JudgedQuestion("2", "Who won?", answerable=False), "is_right": False}, "invented"),
        ({"question": JudgedQuestion("3", "Who won?"), "is_right": None}, "unjudged"),
    ],
)
def test_outcome_is_named_by_what_went_wrong(changes: dict[str, object], expected: str) -> None:
    assert judged(dataclasses.replace(RIGHT, **changes))[1] == expected  # type: ignore[arg-type]


def test_values_carry_their_units_and_zero_has_no_sign() -> None:
    assert written("ndcg_at_10", 0.0123, signed=True) == "+0.012"
    assert written("ndcg_at_10", -0.0001, signed=True) == "0.000"
    assert written("right", -0.176, signed=True) == "−17.6 points"
    assert written("right", 0.875) == "88%"
    assert written("p50_ms", 18.2) == "18 ms"
    assert written("right", None) == "–"


def test_lines_of_a_vocabulary_may_come_from_people_and_from_spreadsheets() -> None:
    assert words_of("校正証明書、コウセイ\n\n light meter \nTSU\tティーエスユー") == [
        ("校正証明書", "コウセイ"),
        ("light meter", ""),
        ("TSU", "ティーエスユー"),
    ]
    assert synonyms_of("旅費, 出張費，交通費\nphotometer\tlight meter") == [
        ("旅費", "出張費", "交通費"),
        ("photometer", "light meter"),
    ]


def test_example_can_be_imported_as_it_is(kb: core.KnowledgeBase) -> None:
    made = kb.evaluations.import_set("Example", EXAMPLE.encode(), "csv")
    assert [question.answerable for question in kb.evaluations.questions(made.id)] == [True, True, True, False]


def ids(drawn: object) -> set[object]:
    return {part.id for part in parts(drawn) if isinstance(getattr(part, "id", None), str)}


def going(kb: core.KnowledgeBase) -> EvaluationRun:
    """A run that goes on, of which nothing was asked yet."""
    made = kb.evaluations.import_set("Example", EXAMPLE.encode(), "csv")
    run = EvaluationRun("a" * 32, made.id, made.name, made.created_at, 0, total=4, state="running")
    kb.catalog.evaluations.begin(run)
    return run


def test_page_of_a_run_follows_it_until_it_ends(window: Dash, client: FlaskClient, kb: core.KnowledgeBase) -> None:
    run = going(kb)
    page = open_page(window, f"/evaluate?run={run.id}")
    assert by_id(page, "evaluate-run-tick").disabled is False
    tick = {"evaluate-run-tick.n_intervals": 1, "evaluate-run-id.data": run.id}
    seen = press(window, client, "evaluate-run-tick.n_intervals", tick)["response"]
    assert "Cancel" in str(seen["evaluate-run-part"]) and seen["evaluate-run-tick"]["disabled"] is False
    button = {"type": "evaluate-cancel-shown", "run": run.id}
    cancelled = press_one_of(client, button, {"evaluate-run-id.data": run.id})["response"]
    assert "Cancelled" in str(cancelled) and kb.evaluations.run_of(run.id).state == "cancelled"
    over = press(window, client, "evaluate-run-tick.n_intervals", tick)["response"]
    assert over["evaluate-run-tick"]["disabled"] is True and "Cancelled" in str(over["evaluate-run-part"])
    kb.evaluations.delete_set(run.set_id)
    gone = press(window, client, "evaluate-run-tick.n_intervals", tick)["response"]
    assert gone["evaluate-run-tick"]["disabled"] is True


@pytest.mark.long
def test_a_run_is_deleted_once_asked_and_only_when_it_is_over(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    run = going(kb)
    assert "evaluate-run-delete" not in ids(open_page(window, f"/evaluate?run={run.id}"))
    kb.evaluations.cancel(run.id)
    page = open_page(window, f"/evaluate?run={run.id}")
    dialog = by_id(page, "evaluate-run-delete-dialog")
    assert "evaluate-run-delete" in ids(page) and dialog.is_open is False and run.set_name in text(dialog)
    values = {"evaluate-run-delete.n_clicks": 1}
    asked = press(window, client, "evaluate-run-delete.n_clicks", values)["response"]
    assert asked["evaluate-run-delete-dialog"]["is_open"] is True and kb.evaluations.runs(run.set_id)
    values = {"evaluate-run-delete-confirm.n_clicks": 1, "evaluate-run-id.data": run.id}
    values["evaluate-run-set.data"] = by_id(page, "evaluate-run-set").data
    gone = press(window, client, "evaluate-run-delete-confirm.n_clicks", values)["response"]
    assert gone["evaluate-go"]["href"] == f"/evaluate?set={run.set_id}"
    assert kb.evaluations.runs(run.set_id) == []


def test_a_reader_is_not_offered_to_delete_a_run(window: Dash, kb: core.KnowledgeBase) -> None:
    run = going(kb)
    kb.evaluations.cancel(run.id)
    page = next(page for page in dash.page_registry.values() if page["path"] == "/evaluate")
    with window.server.test_request_context(), acting(Principal("reader", Role.READER)):
        assert not {each for each in ids(page["layout"](run=run.id)) if "delete" in str(each)}


def test_only_who_may_cancel_a_run_is_offered_it(window: Dash, kb: core.KnowledgeBase) -> None:
    run = going(kb)
    page = next(page for page in dash.page_registry.values() if page["path"] == "/evaluate")
    for role, is_offered in ((Role.READER, False), (Role.EDITOR, True)):
        for address in ({"set": run.set_id}, {"run": run.id}):
            with window.server.test_request_context(), acting(Principal("somebody", role)):
                said = list(texts(page["layout"](**address)))
            assert ("Cancel" in said) is is_offered


def test_reader_sees_results_and_no_forms(window: Dash, kb: core.KnowledgeBase) -> None:
    made = kb.evaluations.import_set("Example", EXAMPLE.encode(), "csv")
    page = next(page for page in dash.page_registry.values() if page["path"] == "/evaluate")
    with window.server.test_request_context(), acting(Principal("reader", Role.READER)):
        said = " ".join(texts(page["layout"](set=made.id)))
    assert "4 questions" in said
    assert "Run the set" not in said and "Warn before" not in said and "Delete" not in said


def test_questions_without_a_judgement_are_counted_beside_the_measures(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    lines = "question,doc\nWhere is lunch served?,lunch.txt\nWho won?,\nWho lost?,\n"
    made = kb.evaluations.import_set("Open", lines.encode(), "csv")
    run = kb.evaluations.wait(kb.evaluations.run(made.id).id)
    page = " ".join(texts(open_page(window, f"/evaluate?run={run.id}")))
    assert "2 questions without a judgement" in page and page.count("Without a judgement") == 2
    listed = " ".join(texts(open_page(window, f"/evaluate?set={made.id}")))
    assert "2 questions without a judgement" in listed
