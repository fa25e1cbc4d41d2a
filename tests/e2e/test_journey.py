"""A stranger's way: sample, upload of a real book, questions in two languages, the account, the citation."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import programs
from tests.e2e.conftest import ARTEFACTS, seen, window

BOOK = programs.place("/usr/share/debian-reference/debian-reference.en.pdf")
CHAPTERS = range(76, 92)
"""Pages of the book on packages; all of it would be embedded for minutes."""
INDEXING_S = 900
CARDS = ("Query analysis", "Vector search", "Keyword search", "Fusion", "Generation")


def ask(page: Page, question: str) -> None:
    page.goto("/ask")
    page.locator("textarea").first.fill(question)
    page.locator("textarea").first.press("Enter")
    expect(page.locator("#ask-answer-card")).to_be_visible(timeout=60_000)


def wait_until_indexed(page: Page) -> None:
    deadline = time.monotonic() + INDEXING_S
    while page.evaluate("async () => (await (await fetch('/api/v1/jobs?active=1')).json()).jobs.length"):
        assert time.monotonic() < deadline, "indexing did not end"
        page.wait_for_timeout(500)


@pytest.mark.begins_anew("server")
def test_1_an_empty_start_offers_the_sample_and_one_click_loads_it(page: Page) -> None:
    page.goto("/")
    page.locator("#load-sample").click()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    wait_until_indexed(page)
    page.goto("/documents")
    expect(page.get_by_text("price-list.xlsx").first).to_be_visible()
    jobs = page.evaluate("async () => (await (await fetch('/api/v1/jobs?limit=200')).json()).jobs")
    assert {job["state"] for job in jobs} == {"done"}
    documents = page.evaluate("async () => (await (await fetch('/api/v1/documents')).json()).documents")
    assert len(documents) >= 20
    assert {document["language"] for document in documents} == {"en", "ja"}
    assert any(document["published_version"] == 2 for document in documents)


def test_2_chapters_of_a_real_book_are_uploaded_and_their_bars_reach_the_end(page: Page, tmp_path: Path) -> None:
    if not BOOK.is_file():
        pytest.skip("debian-reference is not installed")
    import pymupdf

    with pymupdf.open(BOOK) as book:
        book.select(list(CHAPTERS))
        book.save(tmp_path / BOOK.name, garbage=4)
    page.goto("/upload")
    page.locator("[data-upload-picker=files]").set_input_files(tmp_path / BOOK.name)
    row = page.locator("[data-upload-rows] [role=progressbar]").first
    expect(row).to_be_visible()
    page.screenshot(path=ARTEFACTS / "upload-working.png")
    expect(page.locator("[data-upload-rows] .meaning-ok").first).to_be_visible(timeout=INDEXING_S * 1_000)
    page.screenshot(path=ARTEFACTS / "upload-done.png")
    found = page.evaluate("async () => (await (await fetch('/api/v1/documents')).json()).documents")
    book_entry = next(document for document in found if document["doc_key"] == BOOK.name)
    assert book_entry["state"] == "published"
    assert book_entry["chunk_count"] > 15


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Which command configures a package that has already been installed?", "debian-reference.en.pdf"),
        ("海外出張の日当はいくらですか？", "旅費規程.pdf"),
    ],
    ids=["english", "japanese"],
)
def test_3_an_answer_cites_the_passage_and_the_citation_opens_it(page: Page, question: str, document: str) -> None:
    if document.startswith("debian") and not BOOK.is_file():
        pytest.skip("debian-reference is not installed")
    ask(page, question)
    expect(page.locator(".evidence")).to_contain_text(document)
    citation = page.locator("#ask-answer-card a.citation").first
    expect(citation).to_be_visible()
    citation.click()
    expect(page.locator(".evidence-item.is-chosen mark.is-chosen").first).to_be_in_viewport()
    way = page.locator(".evidence-item.is-chosen .evidence-way").first
    cited = page.evaluate("() => document.querySelector('.evidence-item.is-chosen .evidence-way').href")
    way.click()
    page.wait_for_url(re.compile("/documents?[/?]"))
    expect(page.locator("mark").first).to_be_in_viewport()
    assert page.url == cited
    page.reload()
    expect(page.locator("mark").first).to_be_in_viewport()


def test_4_the_five_cards_open_and_the_trace_is_kept(page: Page) -> None:
    ask(page, "What does the travel policy say about hotels?")
    page.get_by_text("Show how this answer was found").click()
    for title in CARDS:
        expect(page.locator("#ask-cards").get_by_role("heading", name=title)).to_be_visible()
    expect(page.locator("#ask-cards .js-plotly-plot").first).to_be_visible()
    with page.expect_download() as downloading:
        page.locator("#ask-cards a[download]").click()
    trace = Path(downloading.value.path()).read_text(encoding="utf-8")
    assert '"keyword"' in trace
    page.goto("/history")
    expect(page.get_by_text("What does the travel policy say about hotels?").first).to_be_visible()


def test_5_a_text_entry_is_written_found_deleted_and_brought_back(page: Page) -> None:
    page.goto("/documents")
    page.evaluate(
        "async () => fetch('/api/v1/texts', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({name: 'Parking', text: 'Visitors park on level seven of the zelkova garage.'})})"
    )
    wait_until_indexed(page)
    ask(page, "Where do visitors park?")
    expect(page.locator("#ask-answer-card")).to_contain_text("level seven")


def test_6_hostile_text_is_never_run(page: Page) -> None:
    attack = '<img src=x onerror="window.__xss=1"><script>window.__xss=1</script> quokka'
    page.goto("/documents")
    page.evaluate(
        "async (text) => fetch('/api/v1/texts', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({name: text.slice(0, 60).replaceAll('/', ' '), text})})",
        attack,
    )
    wait_until_indexed(page)
    for path in ("/", "/documents", "/jobs", "/history", f"/ask?q={quote('quokka ' + attack)}"):
        page.goto(path)
        page.wait_for_timeout(1_500)
        assert page.evaluate("() => window.__xss") is None
    page.get_by_text("Show how this answer was found").click()
    expect(page.locator("#ask-cards .js-plotly-plot").first).to_be_visible()
    assert page.evaluate("() => window.__xss") is None


PAGES = {
    "start": "/",
    "upload": "/upload",
    "documents": "/documents",
    "document": "/documents/travel-policy.pdf",
    "ask": f"/ask?q={quote('What is the hotel limit?')}",
    "history": "/history",
    "jobs": "/jobs",
}


@pytest.mark.parametrize(("scheme", "width", "locale"), [("light", 1280, "en-GB"), ("dark", 400, "ja-JP")])
def test_7_every_page_is_accessible_and_fits(
    browser: Browser, server: str, scheme: str, width: int, locale: str
) -> None:
    # One window for all of them: its cache spares the time of loading everything again.
    context = window(browser, server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    wrong = {}
    for name, address in PAGES.items():
        page.goto(address)
        expect(page.locator("h1").first).to_be_visible()
        wrong[name] = seen(page, f"{name}-{scheme}-{width}")
    context.close()
    assert wrong == {name: [] for name in PAGES}


def test_8_the_first_key_focuses_the_question(page: Page) -> None:
    page.goto("/documents")
    expect(page.locator("h1").first).to_be_visible()
    page.keyboard.press("/")
    page.wait_for_url(re.compile("/$"))
    expect(page.locator("#ask-question")).to_be_focused()
