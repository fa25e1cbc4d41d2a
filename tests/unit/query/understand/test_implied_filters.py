"""Filters that a question names narrow the search, can be taken away, and never leave nothing to search."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update

import core
from core import Filters, Query
from core.access import acting
from core.catalog.schema import documents
from core.errors import InvalidInput
from core.model import AnalysisStep, AnswerStep, DoneStep, PassagesStep, Principal, ReadFilter, Role
from tests.builders import add, knowledge_base

ADA, BEN = Principal("ada", Role.EDITOR, 2), Principal("ben", Role.EDITOR, 3)


def fill(kb: core.KnowledgeBase) -> core.EvoRAG:
    kb.add_text("travel policy", "Meals abroad are paid up to 62 dollars a day.")
    kb.add_text("旅費規程", "食事の費用は一日62ドルまで支払われます。")
    add(kb, "fair.md", "Meals at the fair cost 5 dollars. 食事の費用は5ドルです。")
    return core.EvoRAG(kb=kb)


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.EvoRAG]:
    with knowledge_base(tmp_path_factory.mktemp("filters")) as opened:
        yield fill(opened)


def read(rag: core.EvoRAG, question: str, **how: object) -> tuple[tuple[ReadFilter, ...], set[str]]:
    trace = rag.search(Query(question, **how))  # type: ignore[arg-type]
    return trace.analysis.read_filters, {hit.placed.doc_key for hit in trace.hits}


@pytest.mark.parametrize(
    ("question", "doc_key"),
    [
        ("What do meals cost in the travel policy?", "travel policy.txt"),
        ("According to the Travel Policy, what do meals cost?", "travel policy.txt"),
        ("What do meals cost in fair.md?", "fair.md"),
        ("What do meals cost in “fair”?", "fair.md"),
        ("旅費規程の中で食事の費用はいくらですか", "旅費規程.txt"),
        ("食事は旅費規程によるといくらですか", "旅費規程.txt"),
        ("旅費規程では食事はいくらですか", "旅費規程.txt"),
    ],
)
def test_a_document_is_read_by_what_it_is_called(rag: core.EvoRAG, question: str, doc_key: str) -> None:
    found, keys = read(rag, question)
    assert [(each.id, each.kind, each.is_applied) for each in found] == [(f"document:{doc_key}", "document", True)]
    assert found[0].words in question
    assert keys == {doc_key}


@pytest.mark.parametrize(
    "question",
    [
        "What do meals cost at the fair?",
        "Who pays for travel?",
        "In which policy are meals?",
        "What do meals cost in the parking policy?",
        "食事の費用は規程の中でいくらですか",
        "How do I write a PDF?",
        "エクセルの使い方は",
        "Excelのスプレッドシートとは何ですか",
        "ワードの意味は",
        "meals: how do I remove a password from PDF files?",
        "freeze the rows of meals in Excel sheets",
        "食事のPDFファイルにパスワードを付ける方法は?",
        "食事の表をPDFの中で消すには",
        "Can I send receipts for meals in the PDF format?",
        "食事の領収書はPDFファイルで提出しますか",
        "食事の費用はPDFファイルでの提出が可能ですか",
        "食事の費用をPDFファイルで申請できますか",
        "食事の費用をCSVファイルで取り込めますか",
        "食事の費用をExcelファイルで入力してもよいですか",
        "食事の請求書はPDFファイルで受け取れますか",
        "食事の請求書はPDFの文書での提出が可能ですか",
        "Are macros for meals allowed in our Excel files?",
        "How do I claim yesterday's meals?",
        "昨日の食事の費用は",
    ],
)
def test_what_names_no_document_narrows_nothing(rag: core.EvoRAG, question: str) -> None:
    found, keys = read(rag, question)
    assert (found, len(keys)) == ((), 3)


def test_a_name_that_several_documents_have_is_not_read(kb: core.KnowledgeBase) -> None:
    rag = fill(kb)
    add(rag.kb, "travel-policy.md", "Another one about meals.")
    assert read(rag, "What do meals cost in the travel policy?")[0] == ()


@pytest.mark.parametrize("question", ["meals in the Markdown files", "マークダウンの資料の中で食事はいくら"])
def test_a_kind_of_file_is_read(rag: core.EvoRAG, question: str) -> None:
    found, keys = read(rag, question)
    assert [each.id for each in found] == ["extension:markdown"]
    assert keys == {"fair.md"}


@pytest.mark.parametrize(
    "question",
    [
        "meals in the PDFs",
        "meals in our Excel sheet",
        "PDFの中で食事の費用は",
        "PDF の中で食事は",
        "エクセルの資料で食事の費用は",
        "PDF文書の中の食事の費用",
        "PDFファイルの中で食事の費用は",
    ],
)
def test_a_filter_that_leaves_nothing_is_left_out_and_says_so(rag: core.EvoRAG, question: str) -> None:
    found, keys = read(rag, question)
    assert [(each.kind, each.is_applied) for each in found] == [("extension", False)]
    assert len(keys) == 3


def test_dates_narrow_to_what_changed_since_and_are_not_searched_for(kb: core.KnowledgeBase) -> None:
    rag = fill(kb)
    with rag.kb.catalog.database.write() as tx:
        before = datetime.now(UTC) - timedelta(days=100)
        tx.execute(update(documents).where(documents.c.doc_key != "fair.md").values(updated_at=before))
    trace = rag.search("What do meals cost in the documents since yesterday?")
    assert [each.kind for each in trace.analysis.read_filters] == ["updated"]
    assert trace.analysis.searched == "What do meals cost in the documents ?"
    assert {hit.placed.doc_key for hit in trace.hits} == {"fair.md"}
    assert {term.term for hit in trace.keyword.hits for term in hit.terms}.isdisjoint({"yesterday"})
    assert rag.search("昨日の資料で食事の費用は").analysis.searched == "資料で食事の費用は"
    named = rag.search(f"meals in the documents since January {datetime.now().year}").analysis
    assert [each.kind for each in named.read_filters] == ["updated"] and named.searched == ""


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_days_begin_where_whoever_asks_is(rag: core.EvoRAG, zone: str) -> None:
    for question in ("What do meals cost in the documents since yesterday?", "Which documents changed yesterday?"):
        trace = rag.search(Query(question, zone=zone))
        there = trace.asked_at.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0)
        for each in trace.analysis.read_filters:
            assert each.filters.updated_after == there - timedelta(days=1)
        assert bool(trace.analysis.read_filters) is ("meals" in question)
    about = rag.ask(Query("When was fair.md last updated?", zone=zone)).answer.text
    at = rag.kb.documents()[0].updated_at.astimezone(ZoneInfo(zone))
    assert f"{at:%-d %B %Y at %H:%M}" in about


@pytest.mark.parametrize("zone", ["Asia/Nowhere", "../../etc/passwd", "Asia", "\0"])
def test_a_time_zone_that_nobody_knows_is_refused(rag: core.EvoRAG, zone: str) -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        rag.search(Query("What do meals cost?", zone=zone))


@pytest.mark.parametrize(
    ("question", "words", "searched"),
    [
        ("What was said about meals lately?", "lately", "What was said about meals ?"),
        ("最近の資料で食事の費用は", "最近の", "資料で食事の費用は"),
    ],
)
def test_recently_is_a_filter_that_is_shown(kb: core.KnowledgeBase, question: str, words: str, searched: str) -> None:
    rag = fill(kb)
    with rag.kb.catalog.database.write() as tx:
        before = datetime.now(UTC) - timedelta(days=100)
        tx.execute(update(documents).where(documents.c.doc_key != "fair.md").values(updated_at=before))
    trace = rag.search(question)
    assert [(each.id, each.words, each.is_applied) for each in trace.analysis.read_filters] == [
        ("updated:recently", words, True)
    ]
    assert trace.analysis.searched == searched
    assert {hit.placed.doc_key for hit in trace.hits} == {"fair.md"}
    left = rag.search(Query(question, dismissed=("updated:recently",)))
    assert len({hit.placed.doc_key for hit in left.hits}) == 3


def test_what_happened_yesterday_is_answered_from_older_documents(kb: core.KnowledgeBase) -> None:
    rag = fill(kb)
    with rag.kb.catalog.database.write() as tx:
        before = datetime.now(UTC) - timedelta(days=100)
        tx.execute(update(documents).where(documents.c.doc_key != "fair.md").values(updated_at=before))
    found, keys = read(rag, "I paid for meals abroad yesterday, what do I get?")
    assert found == () and "travel policy.txt" in keys


def test_what_no_document_of_that_time_answers_is_answered_from_the_others(kb: core.KnowledgeBase) -> None:
    kb.add_text("badges", "A lost badge is replaced by the security desk on the ground floor.")
    add(kb, "lunch.md", "The canteen serves soup at noon.")
    with kb.catalog.database.write() as tx:
        before = datetime.now(UTC) - timedelta(days=100)
        tx.execute(update(documents).where(documents.c.doc_key == "badges.txt").values(updated_at=before))
    question = "Who replaces a lost badge in this week's documents?"
    steps = list(core.EvoRAG(kb=kb).ask_events(question, keep=False))
    trace = steps[-1].trace
    assert [each.is_applied for each in trace.analysis.read_filters] == [False]
    assert [each.doc_key for each in trace.answer.citations] == ["badges.txt"]
    told = [type(step) for step in steps if not isinstance(step, AnswerStep)]
    assert told == [AnalysisStep, PassagesStep, AnalysisStep, PassagesStep, DoneStep]
    unanswerable = core.EvoRAG(kb=kb).ask("Who paints violins in this week's documents?", keep=False)
    assert [each.is_applied for each in unanswerable.analysis.read_filters] == [True]


def test_no_date_is_read_where_an_earlier_moment_is_asked(rag: core.EvoRAG) -> None:
    question = "What do meals cost in this week's documents?"
    assert [each.kind for each in read(rag, question)[0]] == ["updated"]
    assert read(rag, question, as_of=1)[0] == ()


def test_a_dismissed_filter_is_not_applied(rag: core.EvoRAG) -> None:
    question = "What do meals cost in the travel policy?"
    found, _ = read(rag, question)
    left, keys = read(rag, question, dismissed=(found[0].id,))
    assert (left, len(keys)) == ((), 3)


def test_nothing_is_read_where_it_is_switched_off(rag: core.EvoRAG) -> None:
    found, keys = read(rag, "What do meals cost in the travel policy?", read_filters=False)
    assert (found, len(keys)) == ((), 3)


def test_what_the_asker_chose_is_narrowed_and_never_widened(rag: core.EvoRAG) -> None:
    chosen = Filters(doc_keys=("fair.md",))
    found, keys = read(rag, "What do meals cost in the travel policy?", filters=chosen)
    assert [each.is_applied for each in found] == [False]
    assert keys == {"fair.md"}


@pytest.mark.long
def test_another_persons_private_document_is_no_name(kb: core.KnowledgeBase) -> None:
    rag = fill(kb)
    for name in ("root", "ada", "ben"):
        rag.kb.accounts.create_user(name, f"the password of {name}", Role.ADMIN if name == "root" else Role.EDITOR)
    with acting(ADA):
        rag.kb.add_text("secret plan", "Meals in secret.", private=True)
    rag.kb.work_off()
    question = "meals in the secret plan"
    with acting(BEN):
        assert read(rag, question)[0] == ()
    with acting(ADA):
        assert [each.kind for each in read(rag, question)[0]] == ["document"]
