"""Questions about the knowledge base itself are told from all others, and the catalogue answers them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

import core
from core import Query
from core.access import acting
from core.catalog.schema import documents
from core.model import AnswerType, Intent, Principal, Role
from core.query.understand.intent import REASON, intent_of
from tests.builders import add, knowledge_base

ADA, BEN = Principal("ada", Role.EDITOR, 2), Principal("ben", Role.EDITOR, 3)


def fill(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "travel policy", "Meals abroad are paid up to 62 dollars a day.")
    add(kb, "travel policy", "Meals abroad are paid up to 70 dollars a day.")
    add(kb, "旅費規程", "日当は62米ドルです。")
    return core.EvoRAG(kb=kb)


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.EvoRAG]:
    with knowledge_base(tmp_path_factory.mktemp("intent")) as opened:
        yield fill(opened)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many documents are there?", "There are 2 documents, with 3 versions in all."),
        ("How many files do you have", "There are 2 documents, with 3 versions in all."),
        ("文書は全部で何件ありますか？", "文書は2件、版は3件あります。"),
        ("How many versions does the travel policy have?", "“travel policy” has 2 versions."),
        ("how many versions of the travel policy are there", "“travel policy” has 2 versions."),
        ("旅費規程は何版ありますか", "「旅費規程」には1版あります。"),
        ("「旅費規程」のバージョンはいくつですか", "「旅費規程」には1版あります。"),
        ("Which documents changed last week?", "No document has changed (last week)."),
    ],
)
def test_the_catalogue_answers(rag: core.EvoRAG, question: str, answer: str) -> None:
    trace = rag.ask(question)
    assert trace.analysis.intent is Intent.KNOWLEDGE_BASE
    assert (trace.answer.text, trace.answer.type) == (answer, AnswerType.EXTRACTIVE)
    assert (trace.answer.reason, trace.answer.citations) == (REASON, ())


@pytest.mark.long
def test_it_tells_when_a_document_was_changed_and_what_was_lately(kb: core.KnowledgeBase) -> None:
    rag = fill(kb)
    moment = datetime.now(UTC) - timedelta(days=400)
    with rag.kb.catalog.database.write() as tx:
        tx.execute(update(documents).where(documents.c.doc_key == "旅費規程.txt").values(updated_at=moment))
    local = moment.astimezone()
    assert f"{local.day} {local:%B %Y}" not in rag.ask("When was the travel policy last updated?").answer.text
    assert f"{local.year}年{local.month}月{local.day}日" in rag.ask("旅費規程はいつ更新されましたか").answer.text
    assert rag.ask("Which documents were changed this week?").answer.text == "1 document changed: “travel policy”."
    assert rag.ask("今週変わった文書はどれですか").answer.text == "1件の文書が変わりました: 「travel policy」。"


@pytest.mark.parametrize(
    "question",
    [
        "How many documents did the commission review?",
        "How many versions of the engine were built?",
        "When was the bridge changed?",
        "What changed in the law last week?",
        "この法律はいつ改正されましたか",
        "法案は何件ありますか",
        "エンジンは何版ありますか",
        "How many documents are there in the archive of the ministry?",
        "先週変わった天気はどれですか",
    ],
)
def test_other_questions_go_to_the_documents(question: str) -> None:
    assert intent_of(question, datetime.now(UTC)) is Intent.DOCUMENTS


def test_small_talk_is_told_apart() -> None:
    assert intent_of("hello there!", datetime.now(UTC)) is Intent.SMALL_TALK
    assert intent_of("ありがとうございます", datetime.now(UTC)) is Intent.SMALL_TALK


def test_an_unknown_document_is_asked_of_the_documents(rag: core.EvoRAG) -> None:
    trace = rag.ask("How many versions does the parking policy have?")
    assert trace.analysis.intent is Intent.DOCUMENTS
    assert trace.answer.reason != REASON


def test_an_earlier_moment_is_asked_of_the_documents(rag: core.EvoRAG) -> None:
    assert rag.ask(Query("How many documents are there?", as_of=1)).answer.reason != REASON


@pytest.mark.long
def test_other_peoples_private_documents_are_not_counted(kb: core.KnowledgeBase) -> None:
    rag = fill(kb)
    for name in ("root", "ada", "ben"):
        rag.kb.accounts.create_user(name, f"the password of {name}", Role.ADMIN if name == "root" else Role.EDITOR)
    with acting(ADA):
        rag.kb.add_text("secret plan", "Meals in secret.", private=True)
    rag.kb.work_off()
    with acting(BEN):
        assert rag.ask("How many documents are there?", keep=False).answer.text.startswith("There are 2 documents")
        assert "secret" not in rag.ask("Which documents changed this week?", keep=False).answer.text
        assert rag.ask("How many versions has the secret plan?", keep=False).answer.reason != REASON
