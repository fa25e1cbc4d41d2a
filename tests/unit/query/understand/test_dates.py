"""Relative dates become moments between which documents changed; what only looks like one is left alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from core.query.understand.dates import named_date

NOW = datetime(2026, 11, 21, 15, 30, tzinfo=timezone(timedelta(hours=9)))  # a Saturday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=NOW.tzinfo)


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("What was decided according to last week's minutes?", "2026-11-09"),
        ("What do the minutes of last week's meeting say?", "2026-11-09"),
        ("meals in the reports since yesterday", "2026-11-20"),
        ("prices in the documents since 2026-05-02", "2026-05-02"),
        ("complaints in the reports from the last two weeks", "2026-11-07"),
        ("complaints in the reports since 3 days ago", "2026-11-18"),
        ("figures in this month's reports", "2026-11-01"),
        ("figures in last month's sales reports", "2026-10-01"),
        ("prices in today's notices", "2026-11-21"),
        ("先月の資料で売上はいくらですか", "2026-10-01"),
        ("先月の文書", "2026-10-01"),
        ("先月の報告書に書かれた売上は", "2026-10-01"),
        ("今年の案内では休業日はいつですか", "2026-01-01"),
        ("昨日の議事録では何が決まりましたか", "2026-11-20"),
        ("3日前からの報告書で苦情は", "2026-11-18"),
        ("過去2週間の資料で苦情は何件ですか", "2026-11-07"),
        ("2026年3月以降の資料で価格は", "2026-03-01"),
        ("先々週の議事録の要点は", "2026-11-02"),
        ("過去1か月の報告書の中で苦情は", "2026-10-21"),
    ],
)
def test_a_date_is_the_moment_since_when(question: str, after: str) -> None:
    date = named_date(question, NOW)
    assert date is not None
    assert (date.after, date.before) == (day(after), None)


@pytest.mark.parametrize(
    ("question", "after", "before"),
    [
        ("Which rules were changed last week?", "2026-11-09", "2026-11-16"),
        ("What changed in the law last week?", "2026-11-09", "2026-11-16"),
        ("Has the travel policy been revised last month?", "2026-10-01", "2026-11-01"),
        ("どの規程が先月変更されましたか", "2026-10-01", "2026-11-01"),
        ("昨日何が変わりましたか", "2026-11-20", "2026-11-21"),
        ("What was updated yesterday?", "2026-11-20", "2026-11-21"),
        ("先月更新された規程は", "2026-10-01", "2026-11-01"),
        ("去年変更された規程は", "2025-01-01", "2026-01-01"),
    ],
)
def test_with_a_word_of_changing_the_date_also_ends(question: str, after: str, before: str) -> None:
    date = named_date(question, NOW)
    assert date is not None and date.before is not None
    assert (date.after, date.before) == (day(after), day(before) - timedelta(microseconds=1))


@pytest.mark.parametrize(
    "question",
    [
        "I lost my badge yesterday, what do I have to do?",
        "How do I hand in a receipt for last month's taxi?",
        "What did the board decide last week?",
        "meals since yesterday",
        "What do I have to do when my address changed last week?",
        "I got a new badge yesterday; which rules apply?",
        "When must last month's report be handed in?",
        "昨日会社の鍵をなくしました。どうすればいいですか",
        "先月の出張費はいつまでに精算しますか",
        "去年入社した社員の有給休暇は何日ですか",
        "先月の報告書はいつまでに提出しますか",
        "昨日住所を変更しました。どの資料が必要ですか",
        "先月登録した車の保険は",
        "昨日の会議で何が決まりましたか",
        "My contract was changed last month, when do I get paid?",
        "昨日の通知は何時までに返事しますか",
    ],
)
def test_a_date_of_what_happened_is_no_date_of_documents(question: str) -> None:
    assert named_date(question, NOW) is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What happened with Apple stock recently?", "recently"),
        ("What changed recently?", "recently"),
        ("Which policies were recently changed?", "recently"),
        ("recently updated policies", "recently"),
        ("Any news on parking lately?", "lately"),
        ("最近変わった規程は", "最近"),
        ("最近のお知らせを教えて", "最近の"),
        ("この頃更新された資料はどれですか", "この頃"),
        ("最近の議事録の要点は", "最近の"),
        ("最近何か決まりましたか", "最近"),
        ("What have we decided recently?", "recently"),
        ("最近発表されたことは", "最近"),
        ("最近、駐車場について何か決まりましたか", "最近"),
    ],
)
def test_recently_is_the_last_thirty_days(question: str, words: str) -> None:
    date = named_date(question, NOW)
    assert date is not None and date.id == "updated:recently"
    assert question[date.start : date.end] == words
    assert (date.after, date.before) == (day("2026-10-22"), None)


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("Is there anything about parking in the last 3 days?", "2026-11-18"),
        ("In the last 3 days, what was reported about parking?", "2026-11-18"),
        ("What was said about the budget in the past two weeks?", "2026-11-07"),
        ("Show me updates on travel from the last 3 days", "2026-11-18"),
        ("Summarize what happened in the last 3 days", "2026-11-18"),
        ("What did the board decide in the last 3 days?", "2026-11-18"),
        ("この3日間で何が変わりましたか", "2026-11-18"),
        ("駐車場について過去3日間に何か発表されましたか", "2026-11-18"),
    ],
)
def test_news_of_the_last_days_stand_in_no_older_document(question: str, after: str) -> None:
    date = named_date(question, NOW)
    assert date is not None and (date.after, date.before) == (day(after), None)


@pytest.mark.parametrize(
    "question",
    [
        "I recently moved; which form do I need?",
        "Who recently joined the board?",
        "recently discovered planets",
        "How has inflation developed lately?",
        "What happened to my claim recently?",
        "What must I do if I recently changed my address?",
        "I lost my badge in the last 3 days, what do I have to do?",
        "How many employees who joined in the last 3 months have a badge?",
        "最近入社した社員の有給休暇は何日ですか",
        "最近引っ越しました。どの書類が必要ですか",
        "最近登録した車の保険は",
        "最近まで社長だった人は",
        "この頃の若者は",
        "What have I decided recently?",
        "In the last 3 days of the month, when do banks close?",
        "What must be done in the last 3 days before departure?",
        "この3日間の旅程は",
        "出発前の3日間に何をしますか",
    ],
)
def test_what_recently_happened_to_somebody_is_no_date_of_documents(question: str) -> None:
    assert named_date(question, NOW) is None


def test_what_is_new_since_a_month_is_what_changed() -> None:
    date = named_date("What is new since March 2026?", NOW)
    assert date is not None and (date.after, date.before) == (day("2026-03-01"), None)


@pytest.mark.parametrize(
    "question",
    [
        "Who won the cup in 1999?",
        "When did the last war end?",
        "What happened since 1990?",
        "What is said in the documents since 1990?",
        "Which reports of last week are above those of this month?",
        "prices in the documents since March 2031",
        "prices in the documents since March 2019",
        "直近6年間の資料で受賞は何回ですか",
        "出発の3日前までに何をしますか",
        "創業3年前の社長は誰ですか",
        "1945年8月から何が変わりましたか",
        "in the documents since 2026-13-40",
        "先生の名前は",
    ],
)
def test_what_is_no_plain_relative_date_is_not_read(question: str) -> None:
    assert named_date(question, NOW) is None


def test_the_id_is_the_same_for_the_same_words_on_another_day() -> None:
    first, later = named_date("先週の資料", NOW), named_date("先週の議事録は", NOW + timedelta(days=9))
    assert first is not None and later is not None
    assert first.id == later.id and first.after != later.after


def test_a_month_before_the_longest_day_is_a_day_that_there_is() -> None:
    date = named_date("in the reports of the past 1 months", day("2026-03-31"))
    assert date is not None and date.after == day("2026-02-28")


def test_a_month_with_two_first_midnights_begins_with_the_earlier() -> None:
    now = datetime(2026, 11, 1, 0, 30, tzinfo=ZoneInfo("America/Havana"), fold=1)
    date = named_date("figures in this month's reports", now)
    assert date is not None and date.after.astimezone(UTC) == datetime(2026, 11, 1, 4, tzinfo=UTC)
